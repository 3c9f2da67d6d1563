"""Labelling a graph from nothing: what to label next, how far one is, and a server for a browser.

:func:`spread` is what the page computes itself.
"""

from graphheat.labeling.label_heat import spread
from graphheat.labeling.label_reach import Reach
from graphheat.labeling.suggestion import Suggestion, suggest

__all__ = ["Reach", "Suggestion", "spread", "suggest"]
