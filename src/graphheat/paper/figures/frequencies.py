"""Figure 1: what each model's filter does to the frequencies of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from graphheat import plot
from graphheat.graph import Graph
from graphheat.paper.figures.style import (
    AMBER,
    COLUMN,
    PURPLE,
    SKY,
    SMALL,
    TEXT,
    TITLE,
    small_ticks,
)
from graphheat.paper.spectrum import eigenvalues, responses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

S = 3.5


def filters_data(graph: Graph, s: float = S, *, learned: ArrayLike | None = None) -> pd.DataFrame:
    """Return the responses over the graph's spectrum, one row per eigenvalue.

    Parameters
    ----------
    learned
        The diagonal of a fitted Spectral CNN, shape (n,), in ascending order of eigenvalues.

    Returns
    -------
    DataFrame
        As of :func:`~graphheat.paper.spectrum.responses`. Two dense eigenvalue problems: about
        10 s for Cora.
    """
    frame = responses(eigenvalues(graph), eigenvalues(graph, self_loops=1), s, learned=learned)
    frame.attrs["s"] = float(s)
    frame.attrs["learned"] = learned is not None
    return frame


def draw_spectral_cnn(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw Eq. 2: one free weight per basic filter; learned ones as dots."""
    ax = _axes() if ax is None else ax
    if data.attrs.get("learned", False):
        ax.plot(
            data["eigenvalue"], data["spectral_cnn"], ".", color=plot.BLUE, ms=1.5, alpha=0.6,
            label="learned $\\theta_i$", rasterized=True,
        )  # fmt: skip
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.25 * (high - low))  # room for the legend
    else:
        ax.plot(
            data["eigenvalue"], data["spectral_cnn"], color=plot.BLUE, lw=1.6,
            label="$\\theta_i = 1$ (start)",
        )  # fmt: skip
        ax.set_ylim(0, 2)
    return _panel(ax, "Spectral CNN: free")


def draw_chebynet(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw Eq. 4: the powers of L that ChebyNet combines."""
    ax = _axes() if ax is None else ax
    styles = ((plot.GREY, ":"), (SKY, "--"), (plot.BLUE, "-"))
    for k, (color, line) in enumerate(styles):
        name = ("1", "$\\lambda$", "$\\lambda^2$")[k]
        ax.plot(data["eigenvalue"], data[f"chebynet_{k}"], color=color, ls=line, lw=1.6, label=name)
    return _panel(ax, "ChebyNet: powers of $L$")


def draw_gcn(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw Eq. 5, and the renormalised form over the eigenvalues of its own operator."""
    ax = _axes() if ax is None else ax
    ax.axhline(0, color="#BBBBBB", lw=0.6)
    ax.plot(data["eigenvalue"], data["gcn"], color=AMBER, lw=1.2, ls="--", label="$1 - \\lambda$")
    own = data["renormalised_eigenvalue"]
    ax.plot(
        own, data["gcn_renormalised"], color=plot.ORANGE, lw=2.4, alpha=0.9,
        label="$1 - \\tilde\\lambda$",
    )  # fmt: skip
    ax.plot(own.iloc[-1], data["gcn_renormalised"].iloc[-1], "o", color=plot.ORANGE, ms=4)
    ax.annotate(
        f"renormalised, over\nits own spectrum,\nends at {own.iloc[-1]:.2f}",
        (own.iloc[-1], data["gcn_renormalised"].iloc[-1]),
        xytext=(0.02, 0.03), textcoords="axes fraction", ha="left", va="bottom", fontsize=SMALL,
    )  # fmt: skip
    return _panel(ax, "GCN: $I - L$, renormalised")


def draw_graphheat(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw Eq. 11, and what the layer of Eq. 14 can make of it with two choices of θ."""
    ax = _axes() if ax is None else ax
    # Words at the right end of each line: a legend would lie on one of them.
    lines = (
        ("graphheat", plot.GREEN, "-", "$e^{-s\\lambda}$", 0.03),
        ("layer_half", plot.BLUE, "--", "$½ + ½\\,e^{-s\\lambda}$", 0.53),
        ("layer_high", PURPLE, ":", "$1 - e^{-s\\lambda}$", 0.84),
    )
    for column, color, line, name, height in lines:
        width = 2.2 if column == "graphheat" else 1.4
        ax.plot(data["eigenvalue"], data[column], color=color, ls=line, lw=width, label=name)
        ax.text(2.0, height, name, fontsize=TEXT, ha="right", va="bottom")
    return _panel(ax, f"GraphHeat: $s = {data.attrs.get('s', S):g}$", legend=False)


def draw_spectrum(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how many eigenvalues lie where, of L and of the renormalised operator."""
    ax = _axes() if ax is None else ax
    bins = np.linspace(0, 2, 61).tolist()
    ax.hist(data["eigenvalue"], bins, color="#BBBBBB", label="$\\lambda$ of $L$")
    ax.hist(
        data["renormalised_eigenvalue"], bins, histtype="step", color=plot.ORANGE, lw=1.0,
        label="$\\tilde\\lambda$ with self-loops",
    )  # fmt: skip
    ax.set(xlabel="eigenvalue (frequency)", ylabel="count", xlim=(-0.03, 2.03))
    ax.legend(fontsize=SMALL, frameon=False, loc="upper right")
    return small_ticks(ax)


def compose(data: pd.DataFrame) -> Axes:
    """Draw the whole figure, four filters above the spectrum, and return its first axes."""
    figure = Figure(figsize=(COLUMN, 4.4), layout="constrained")
    axes = figure.subplot_mosaic([["a", "b"], ["c", "d"], ["e", "e"]], height_ratios=[3, 3, 2])
    draw_spectral_cnn(data, axes["a"])
    draw_chebynet(data, axes["b"])
    draw_gcn(data, axes["c"])
    draw_graphheat(data, axes["d"])
    draw_spectrum(data, axes["e"])
    for name in "ac":
        axes[name].set_ylabel("response", fontsize=TEXT)
    first: Axes = axes["a"]
    return first


def _axes() -> Axes:
    return Figure(figsize=(COLUMN / 2, 1.6), layout="constrained").subplots()


def _panel(ax: Axes, title: str, *, legend: bool = True) -> Axes:
    ax.set_xlim(-0.03, 2.03)
    ax.set_xticks([0, 1, 2])
    ax.set_title(title, fontsize=TITLE)
    if legend:
        place: Literal["upper left", "upper right"]
        place = "upper left" if "Cheby" in title else "upper right"
        ax.legend(fontsize=SMALL, frameon=False, loc=place, handlelength=1.8, borderaxespad=0.2)
    return small_ticks(ax)
