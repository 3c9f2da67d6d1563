"""Sizes, colours and files that the paper's figures share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import pandas as pd

from graphheat import plot
from graphheat.io import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN, PAGE = 3.5, 7.1  # inches: one column of a page, and both
SMALL, TEXT, TITLE = 6.0, 7.0, 7.5  # points

# The rest of Okabe and Ito's colours, beside those of graphheat.plot.
AMBER, SKY, PURPLE = "#E69F00", "#56B4E9", "#CC79A7"
# Even steps of lightness for every kind of colour vision; deep is much.
SEQUENTIAL = "cividis_r"

# Distance from the target: itself, first, second, third order. Lightness differs, too.
HOP_COLORS = (plot.ORANGE, plot.GREEN, PURPLE, AMBER)
HOP_NAMES = ("target", "1st order", "2nd order", "3rd order")


def write(
    folder: str | os.PathLike[str], name: str, ax: Axes, frames: Mapping[str, pd.DataFrame]
) -> list[Path]:
    """Write the figure of ``ax`` as SVG and PNG, and its data as CSV; each file whole.

    Parameters
    ----------
    name
        Of the files, without suffix.
    frames
        The data: the one called ``""`` becomes ``name.csv``, any other ``name-<key>.csv``.

    Returns
    -------
    list of Path
        In the order written. The same data give the same bytes.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    # matplotlib names the parts of an SVG at random unless it is given a salt.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        for suffix in ("svg", "png"):
            written.append(target / f"{name}.{suffix}")
            plot.save(ax, written[-1])
    for key, frame in frames.items():
        written.append(target / (f"{name}-{key}.csv" if key else f"{name}.csv"))
        with replacing(written[-1]) as aside:
            frame.to_csv(aside, index=False, float_format="%.9g", lineterminator="\n")
    return written


def plain(ax: Axes, title: str = "") -> Axes:
    """Take away frame and ticks, keep the picture's proportions, and set a title."""
    ax.set_aspect("equal")
    ax.set_axis_off()
    if title:
        ax.set_title(title, fontsize=TITLE)
    return ax


def small_ticks(ax: Axes) -> Axes:
    """Set ticks and labels in the sizes of a column."""
    ax.tick_params(labelsize=SMALL, length=2.5)
    ax.xaxis.label.set_fontsize(TEXT)
    ax.yaxis.label.set_fontsize(TEXT)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
