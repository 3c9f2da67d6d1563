"""Pictures, as functions that take and return matplotlib ``Axes``.

Nothing here opens a window; :func:`save` writes a figure to a file, as a whole.
"""

from graphheat.plot.axes import BLUE, GREEN, GREY, ORANGE, new_axes, save
from graphheat.plot.diagnostics import confusion_matrix, path, reliability, training_curve
from graphheat.plot.sources import explanation

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "confusion_matrix",
    "explanation",
    "new_axes",
    "path",
    "reliability",
    "save",
    "training_curve",
]
