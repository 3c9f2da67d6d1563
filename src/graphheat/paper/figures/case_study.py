"""Figure 5: the case study's ego network, coloured by the heat that leaves its target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.paper.figures.ego import Ego, draw_edges, ego_network, free_place
from graphheat.paper.figures.style import COLUMN, SEQUENTIAL, SMALL, TEXT, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NODE = 2027  # row of Cora; the only test node with the neighbours' labels that the paper tells
S = 3.5
SHAPES = (("h", 260, "target a"), ("s", 130, "first order"), ("o", 140, "second order"))


def case_study_data(graph: Graph, index: int = NODE, s: float = S) -> Ego:
    """Return the two-order ego network of a node with ``heat``, [e^{-sL}]_ai, of every node i.

    ``mark`` names three nodes as the paper does: a, the target; b, its lightest first-order
    neighbour; c, its heaviest second-order neighbour. Ties go to the lower row number.
    """
    ego = ego_network(graph, index, 2)
    row = HeatKernel(graph, s, tol=1e-8).row(index).toarray().ravel()
    nodes = ego.nodes.assign(heat=row[ego.indices], mark="")
    nodes.loc[0, "mark"] = "a"
    for hop, mark, extreme in ((1, "b", np.argmin), (2, "c", np.argmax)):
        order = nodes.loc[nodes["hop"] == hop, "heat"]
        if len(order):
            nodes.loc[order.index[extreme(order.to_numpy())], "mark"] = mark
    return Ego(nodes, ego.edges)


def marked(ego: Ego, mark: str) -> pd.Series | None:
    """Return the row of node a, b or c, or None without such a node."""
    rows = ego.nodes[ego.nodes["mark"] == mark]
    return None if rows.empty else rows.iloc[0]


def draw_case_study(ego: Ego, ax: Axes | None = None, *, s: float = S) -> Axes:
    """Draw the network: colour is heat, the number in a node its label, squares first order."""
    if ax is None:
        ax = Figure(figsize=(COLUMN, 3.6), layout="constrained").subplots()
    nodes = ego.nodes
    norm = LogNorm(nodes["heat"].min(), nodes["heat"].max())
    colors = colormaps[SEQUENTIAL](norm(nodes["heat"].to_numpy()))
    draw_edges(ego, ax)
    for hop, (shape, size, _) in enumerate(SHAPES):
        ring = (nodes["hop"] == hop).to_numpy()
        x, y = ego.places[ring].T
        ax.scatter(
            x, y, s=size, marker=shape, c=colors[ring],
            edgecolors="black", linewidths=0.7, zorder=3,
        )  # fmt: skip
    for place, color, label in zip(ego.places, colors, nodes["label"], strict=True):
        light = color[:3] @ (0.299, 0.587, 0.114) > 0.5
        ax.text(
            place[0], place[1], str(label), ha="center", va="center", fontsize=TEXT,
            color="black" if light else "white", zorder=4,
        )  # fmt: skip
    words: list[NDArray[np.float64]] = []
    for mark in "bc":
        row = marked(ego, mark)
        if row is not None:
            words.append(free_place(ego, row["index"], words))
            ax.annotate(
                f"{mark}: {row['node']}\n{row['heat']:.4f}", (row["x"], row["y"]), tuple(words[-1]),
                fontsize=TEXT, ha="center", va="center", fontweight="bold", zorder=2.5,
                arrowprops={"arrowstyle": "-", "lw": 0.8, "shrinkB": 5},
            )  # fmt: skip
    # Words take part in the limits: the axes know of nodes and edges alone.
    corners = [place + np.array([[-0.5, -0.3], [0.5, 0.3]]) for place in words]
    ax.update_datalim(np.concatenate([ego.places, *corners]))
    ax.autoscale_view()
    ax.margins(0.06)
    handles = [
        Line2D([], [], marker=shape, ls="", mfc="white", mec="black", ms=5.5, label=name)
        for shape, _, name in SHAPES
    ]
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False,
        fontsize=TEXT, handletextpad=0.2, columnspacing=1.0,
    )  # fmt: skip
    plain(ax, title_of(ego, s))
    return ax


def compose(ego: Ego) -> Axes:
    """Draw the whole figure, network and scale, and return the axes of the network."""
    ax = draw_case_study(ego)
    add_heat_scale(ego, ax)
    return ax


def add_heat_scale(ego: Ego, ax: Axes) -> Axes:
    """Add the colour bar of heat beside the network and return its axes."""
    heat = ego.nodes["heat"]
    scale = ScalarMappable(LogNorm(heat.min(), heat.max()), cmap=SEQUENTIAL)
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.75, aspect=28, pad=0.02)
    ticks = [tick for tick in (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
             if heat.min() <= tick <= heat.max()]  # fmt: skip
    bar.ax.minorticks_off()
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.set_label("heat from a (log scale)", fontsize=TEXT)
    return bar.ax


def title_of(ego: Ego, s: float) -> str:
    """Return the finding in words, computed from the weights."""
    b, c = marked(ego, "b"), marked(ego, "c")
    words = f"node {ego.nodes['node'].iloc[0]}, s = {s:g}"
    if b is None or c is None:
        return words
    sign = ">" if c["heat"] > b["heat"] else "<"
    return f"{words}: second-order c {sign} first-order b"
