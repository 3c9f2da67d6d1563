"""Figure 2: neighbours by heat, at a small and a large s, beside neighbours by hops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.paper.figures.ego import Ego, draw_edges, draw_ground, ego_network
from graphheat.paper.figures.style import COLUMN, HOP_COLORS, HOP_NAMES, TEXT, TITLE, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ORDERS = 3
MOST_NODES = 45  # that a column has room for
# The paper's own threshold keeps every first- and second-order neighbour on its three data sets,
# so that a picture of what heat leaves out needs a larger one.
EPS, SMALL_S, LARGE_S = 0.03, 0.2, 3.5
GROUNDS = ("#D9D9D9", "#9FB8CC")  # the larger set, and the smaller one upon it


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The data of Figure 2.

    Attributes
    ----------
    ego
        Its nodes have ``heat_small`` and ``heat_large``, the weights [e^{-sL}]_ai, ``in_small`` and
        ``in_large`` (weight ≥ eps), and ``behind_hub``: second order, beside the hub, which is the
        first-order neighbour of the highest degree (``hub``).
    examples, candidates
        How many nodes of the graph have an ego network of at most 45 nodes, and how many of these
        show what the figure shows.
    """

    ego: Ego
    small: float
    large: float
    eps: float
    examples: int
    candidates: int


def neighborhoods_data(
    graph: Graph,
    index: int | None = None,
    *,
    small: float = SMALL_S,
    large: float = LARGE_S,
    eps: float = EPS,
) -> Neighborhoods:
    """Compare heat neighbours with hops around one node.

    Parameters
    ----------
    index
        The target's row number. By default it is chosen among the nodes whose three-order ego
        network has at most 45 nodes and shows the paper's point: at the small s some first-order
        neighbours are in and some out; at the large s some third-order nodes are in, and some
        second-order nodes behind the hub are out. Of these the one with the most such nodes left
        out is taken, and of several the lowest row number.
    """
    rows = {s: HeatKernel(graph, s, tol=1e-7) for s in (small, large)}
    distances = shortest_path(graph.adjacency, unweighted=True)
    sizes = (distances <= ORDERS).sum(axis=1)
    left_out = np.zeros(graph.n, dtype=np.int64)
    candidates = np.flatnonzero(sizes <= MOST_NODES)
    for node in candidates:
        left_out[node] = _left_out(
            graph,
            distances[node],
            *(rows[s].row(int(node)).toarray().ravel() >= eps for s in (small, large)),
        )
    if index is None:
        if not left_out.any():
            raise GraphError(
                f"No node of {graph.name} has an ego network of {ORDERS} orders and at most "
                f"{MOST_NODES} nodes that shows heat against hops. Name one by index=."
            )
        index = int(left_out.argmax())
    ego = ego_network(graph, index, ORDERS)
    nodes = ego.nodes
    hub = _hub(graph, distances[index])
    for name, s in (("small", small), ("large", large)):
        weights = rows[s].row(index).toarray().ravel()[ego.indices]
        nodes = nodes.assign(**{f"heat_{name}": weights, f"in_{name}": weights >= eps})
    beside = np.isin(ego.indices, _beside(graph, hub)) if hub >= 0 else np.zeros(len(nodes), bool)
    nodes = nodes.assign(hub=nodes["index"] == hub, behind_hub=beside & (nodes["hop"] == 2))
    return Neighborhoods(
        Ego(nodes, ego.edges),
        float(small),
        float(large),
        float(eps),
        examples=int((left_out > 0).sum()),
        candidates=len(candidates),
    )


def compose(data: Neighborhoods) -> Axes:
    """Draw the whole figure, hops above heat, and return the axes of hops."""
    figure = Figure(figsize=(COLUMN, 6.3), layout="constrained")
    above: Axes
    below: Axes
    above, below = figure.subplots(2)
    draw_hops(data, above)
    draw_heat(data, below)
    below.text(
        0.5, -0.02, caption(data), transform=below.transAxes, ha="center", va="top", fontsize=TEXT
    )
    figure.legend(
        handles=order_legend(), loc="outside lower center", ncols=5, fontsize=TEXT, frameon=False,
        handletextpad=0.1, columnspacing=0.8,
    )  # fmt: skip
    return above


def draw_hops(data: Neighborhoods, ax: Axes | None = None) -> Axes:
    """Draw the neighbours within one and within two hops."""
    ax = _axes() if ax is None else ax
    hops = data.ego.nodes["hop"].to_numpy()
    within = [data.ego.indices[hops <= K] for K in (2, 1)]
    names = ("K = 2", "K = 1")
    return _draw(data.ego, within, names, "(a) by hops: all or none of an order", ax)


def draw_heat(data: Neighborhoods, ax: Axes | None = None) -> Axes:
    """Draw the neighbours whose heat is at least eps, for both s; others are hollow."""
    ax = _axes() if ax is None else ax
    nodes = data.ego.nodes
    within = [data.ego.indices[nodes[name].to_numpy()] for name in ("in_large", "in_small")]
    names = (f"s = {data.large:g}", f"s = {data.small:g}")
    return _draw(data.ego, within, names, f"(b) by heat ≥ {data.eps:g}", ax)


def counts(data: Neighborhoods) -> pd.DataFrame:
    """Return, for each order, how many nodes there are, and how many are in at either s."""
    by_hop = data.ego.nodes.groupby("hop")
    return pd.DataFrame(
        {
            "order": list(by_hop.groups),
            "nodes": by_hop.size().to_numpy(),
            "in_small": by_hop["in_small"].sum().to_numpy(),
            "in_large": by_hop["in_large"].sum().to_numpy(),
        }
    ).query("order > 0")


def caption(data: Neighborhoods) -> str:
    """Return what is seen, in words and numbers of the data."""
    lines = []
    for name, s in (("in_small", data.small), ("in_large", data.large)):
        parts = [
            f"{row[name]}/{row['nodes']} of order {row['order']}"
            for row in counts(data).to_dict("records")
        ]
        lines.append(f"s = {s:g}: " + ", ".join(parts))
    target = data.ego.nodes["node"][0]
    lines.append(
        f"node {target}: one of {data.examples} such among {data.candidates} small networks"
    )
    return "\n".join(lines)


def _axes() -> Axes:
    return Figure(figsize=(COLUMN, 3.2), layout="constrained").subplots()


def _draw(
    ego: Ego, within: list[NDArray[np.int64]], names: tuple[str, str], title: str, ax: Axes
) -> Axes:
    for members, color, size, level in zip(within, GROUNDS, (15, 10), (0, 1), strict=True):
        draw_ground(ego, members, ax, color=color, size=size, zorder=level)
    draw_edges(ego, ax)
    filled = ego.nodes["index"].isin(set(within[0])).to_numpy()
    hops = ego.nodes["hop"].to_numpy()
    for hop, color in enumerate(HOP_COLORS):
        for inside, face in ((True, color), (False, "white")):
            ring = (hops == hop) & (filled == inside)
            x, y = ego.places[ring].T
            ax.scatter(
                x, y, s=52 if hop == 0 else 30, marker="h" if hop == 0 else "o",
                facecolors=face, edgecolors="black" if inside else color, linewidths=0.8, zorder=3,
            )  # fmt: skip
    ax.margins(0.08)
    patches = [
        Patch(facecolor=color, edgecolor="#888888", linewidth=0.4, label=name)
        for color, name in zip(GROUNDS, names, strict=True)
    ]
    ax.legend(
        handles=patches[::-1], loc="upper left", fontsize=TEXT, frameon=False, handlelength=1.2,
        borderaxespad=0, title="neighbours", title_fontsize=TEXT, alignment="left",
    )  # fmt: skip
    plain(ax)
    ax.set_title(title, fontsize=TITLE, loc="left")
    return ax


def order_legend() -> list[Line2D]:
    """Return the marks of the orders, and of a node left out, for a legend."""
    marks = [
        Line2D([], [], marker="h" if hop == 0 else "o", ls="", mfc=color, mec="black", mew=0.7,
               ms=5.5, label=name)
        for hop, (color, name) in enumerate(zip(HOP_COLORS, HOP_NAMES, strict=True))
    ]  # fmt: skip
    hollow = Line2D(
        [], [], marker="o", ls="", mfc="white", mec="#666666", mew=0.8, ms=5.5, label="not in"
    )
    return [*marks, hollow]


def _beside(graph: Graph, node: int) -> NDArray[np.int64]:
    start, stop = graph.adjacency.indptr[node : node + 2]
    return graph.adjacency.indices[start:stop].astype(np.int64)


def _hub(graph: Graph, distances: NDArray[np.float64]) -> int:
    first = np.flatnonzero(distances == 1)
    if not len(first):
        return -1
    return int(first[np.diff(graph.adjacency.indptr)[first].argmax()])


def _left_out(
    graph: Graph,
    distances: NDArray[np.float64],
    in_small: NDArray[np.bool_],
    in_large: NDArray[np.bool_],
) -> int:
    """Return how many second-order nodes behind the hub are out, or 0 when the rest fails."""
    first, second, third = (distances == hop for hop in (1, 2, 3))
    if not (in_small & first).any() or (in_small | ~first).all():
        return 0
    if not (in_large & third).any():
        return 0
    behind = np.zeros(graph.n, dtype=bool)
    behind[_beside(graph, _hub(graph, distances))] = True
    return int((behind & second & ~in_large).sum())
