"""New axes, their colours, and the file that a figure goes to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from graphheat.io import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: distinguishable for colour-blind readers, and in print.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"


def new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    """Return the axes of a new figure that no window manager knows of."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax`` in the format of the file's suffix."""
    with replacing(path) as aside:
        # Without the hour in it, the same picture is the same file.
        undated = {"Date": None} if aside.suffix == ".svg" else None
        figure = ax.figure if isinstance(ax.figure, Figure) else ax.figure.figure
        figure.savefig(aside, dpi=150, metadata=undated)
