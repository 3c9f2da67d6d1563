"""The picture of an explanation: a node, its sources on rings, and bars by distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from graphheat.explain import Explanation
from graphheat.graph import Graph
from graphheat.graph.hops import breadth_first
from graphheat.plot.axes import BLUE, GREY, ORANGE, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AGAINST_AND_FOR = LinearSegmentedColormap.from_list("against, for", [ORANGE, "#F2F2F2", BLUE])

FAR = 5  # hops from which the bars are one
NAMED = 8  # sources whose ids are written beside them


def explanation(
    explained: Explanation, graph: Graph, ax: Axes | None = None, *, limit: int = 30
) -> Axes:
    """Draw the contributions of the sources around an explained node, with bars by distance.

    The node is in the middle, and its ``limit`` largest sources on rings by their distance from it;
    small grey nodes lie on the way to them. A source's colour is the sign of its
    contribution to the logit, its size the magnitude; squares are training nodes.

    Parameters
    ----------
    explained, graph
        An explanation, and the graph of its run.
    ax
        Where to draw; the bars go into an inset on its right.
    limit
        Sources to draw.
    """
    ax = new_axes(10.0, 6.4) if ax is None else ax
    joined = np.flatnonzero(explained.hops >= 0)[:limit]  # a source without a path has no ring
    shown = explained.sources[joined]
    given = dict(zip(shown.tolist(), explained.contributions[joined].tolist(), strict=True))
    trained = dict(zip(shown.tolist(), explained.training[joined].tolist(), strict=True))
    places = _around(graph, explained.index, shown)
    ax.add_collection(_edges(graph, places))
    farthest = int(explained.hops[joined].max(initial=1))
    for hop in range(1, 1 + farthest):
        ax.add_patch(Circle((0, 0), _radius(hop), fill=False, color="#E4E4E4", lw=0.8, zorder=0))
    on_the_way = np.array([places[node] for node in places.keys() - {explained.index, *given}])
    if len(on_the_way):
        ax.scatter(on_the_way[:, 0], on_the_way[:, 1], s=9, color=GREY, zorder=2)
    largest = max((abs(value) for value in given.values()), default=1.0)
    for node, value in reversed(given.items()):  # the largest on top
        share = abs(value) / largest
        ax.scatter(
            *places[node],
            s=20 + 480 * share,
            marker="s" if trained[node] else "o",
            color=AGAINST_AND_FOR(0.5 + 0.5 * np.sign(value) * np.sqrt(share)),
            edgecolors="black" if trained[node] else GREY,
            linewidths=1.6 if trained[node] else 0.6,
            zorder=3,
        )
    ax.scatter(
        *places[explained.index], s=1100, facecolors="none", edgecolors="black", lw=1.8, zorder=4
    )
    named = dict.fromkeys([explained.index, *shown[:NAMED].tolist()])
    for node in named:
        _name(ax, _short(explained.nodes[node]), places[node], given.get(node, 0.0) / largest)
    # The right third is for the bars.
    edge = 1.18 * _radius(farthest)
    ax.set(xlim=(-edge, 2.25 * edge), ylim=(-edge, edge), aspect="equal")
    ax.axis("off")
    ax.set_title(
        f"Node {_short(explained.node)}: {_word(explained.label)}, "
        f"probability {explained.probability:.2f}",
        fontsize=12,
    )
    ax.legend(
        handles=_legend(bool(len(on_the_way))),
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        ncols=5,
        frameon=False,
        fontsize=8,
    )
    _bars(ax.inset_axes((0.73, 0.14, 0.25, 0.72)), explained)
    return ax


def _around(graph: Graph, index: int, shown: NDArray[np.int64]) -> dict[int, tuple[float, float]]:
    """Return places on rings by distance, for ``shown`` and the nodes on the way to them.

    Each node has a sector for the leaves of its part of the tree of shortest paths, so that
    branches do not cross.
    """
    order, _, parents = breadth_first(graph.adjacency, index)
    wanted = {index, *shown.tolist()}
    for node in order[::-1].tolist():  # children before parents
        if node in wanted and node != index:
            wanted.add(int(parents[node]))
    reached = [node for node in order.tolist() if node in wanted]
    children: dict[int, list[int]] = {node: [] for node in reached}
    for node in reached[1:]:
        children[int(parents[node])].append(node)
    leaves: dict[int, int] = {}
    for node in reversed(reached):
        leaves[node] = sum(leaves[child] for child in children[node]) or 1
    places = {index: (0.0, 0.0)}
    sectors = {index: (0.0, 2 * np.pi)}
    ring = {index: 0}
    for node in reached:
        start, width = sectors[node]
        for child in children[node]:
            part = width * leaves[child] / leaves[node]
            sectors[child], ring[child] = (start, part), ring[node] + 1
            middle = start + part / 2
            far = _radius(ring[child])
            places[child] = (far * np.cos(middle), far * np.sin(middle))
            start += part
    return places


def _radius(hop: int) -> float:
    """Return how far from the middle a ring is; the inner ones, which say most, get more room."""
    return float(hop**0.75)


def _edges(graph: Graph, places: dict[int, tuple[float, float]]) -> LineCollection:
    """Return the edges among the nodes that have places."""
    nodes = list(places)
    part = graph.adjacency[nodes][:, nodes].tocoo()
    lines = [
        (places[nodes[a]], places[nodes[b]])
        for a, b in zip(part.row, part.col, strict=True)
        if a < b
    ]
    return LineCollection(lines, colors="#9A9A9A", linewidths=0.7, zorder=1)


def _name(ax: Axes, text: str, place: tuple[float, float], share: float) -> None:
    """Write an id beside a marker, away from the middle."""
    x, y = place
    far = np.hypot(x, y)
    away = np.array([x, y]) / far if far else np.array([0.0, -1.0])
    gap = 6 + 12 * np.sqrt(abs(share)) if far else 22
    ax.annotate(
        text,
        place,
        xytext=(gap * away[0], gap * away[1]),
        textcoords="offset points",
        ha="left" if away[0] > 0.3 else "right" if away[0] < -0.3 else "center",
        va="bottom" if away[1] > 0.3 else "top" if away[1] < -0.3 else "center",
        fontsize=8,
        zorder=5,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def _legend(on_the_way: bool) -> list[Line2D]:
    def mark(label: str, **look: Any) -> Line2D:
        return Line2D([], [], ls="", label=label, **look)

    marks = [
        mark("for the label", marker="o", color=BLUE, ms=8),
        mark("against it", marker="o", color=ORANGE, ms=8),
        mark("training node", marker="s", mfc="none", mec="black", mew=1.6, ms=8),
        mark("the node", marker="o", mfc="none", mec="black", mew=1.8, ms=12),
    ]
    return [*marks, mark("on the way", marker="o", color=GREY, ms=3)] if on_the_way else marks


def _bars(ax: Axes, explained: Explanation) -> None:
    """Draw the contributions by distance, and the constant where there is one."""
    parts: dict[str, float] = {}
    for hop, given in explained.by_hop().items():
        name = f"{FAR} hops or more" if hop >= FAR else _distance(hop)
        parts[name] = parts.get(name, 0.0) + given
    if explained.constant:
        parts["constant"] = explained.constant
    values = list(parts.values())
    bars = ax.barh(range(len(parts)), values, color=[BLUE if v >= 0 else ORANGE for v in values])
    ax.set_yticks(range(len(parts)), list(parts))
    ax.bar_label(bars, fmt="%+.2f", padding=3, fontsize=8)
    ax.axvline(0, color="black", lw=0.8)
    ax.invert_yaxis()
    ax.margins(x=0.3)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0, labelsize=9)
    ax.tick_params(axis="x", labelsize=8)
    ax.set_title(f"logit {explained.logit:+.2f}, by distance", fontsize=10)


def _distance(hop: int) -> str:
    return {-1: "no path", 0: "itself", 1: "1 hop"}.get(hop, f"{hop} hops")


def _short(name: object, length: int = 16) -> str:
    text = str(name)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _word(name: object) -> str:
    return str(name).replace("_", " ")
