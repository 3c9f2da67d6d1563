"""Labelling a graph from nothing: what to label next, how far one is, and a server for a browser.

:func:`spread` is what the page computes itself.
"""

from graphheat.labeling.label_heat import spread

__all__ = ["spread"]
