"""Pictures, as functions that take and return matplotlib ``Axes``.

Nothing here opens a window; :func:`save` writes a figure to a file, as a whole.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order
from sklearn import metrics

from graphheat import calibration
from graphheat.explain import Explanation
from graphheat.graph import Graph
from graphheat.io import replacing
from graphheat.training.run import ROLE_NAMES, Labelling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: told apart by colour-blind readers, and in print.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"
AGAINST_AND_FOR = LinearSegmentedColormap.from_list("against, for", [ORANGE, "#F2F2F2", BLUE])

FAR = 5  # hops from which an explanation's bars are one
NAMED = 8  # sources of an explanation whose ids are written beside them


def new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    """Return the axes of a new figure that no window manager knows of."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax`` in the format of the file's suffix."""
    with replacing(path) as aside:
        # Without the hour in it, the same picture is the same file.
        undated = {"metadata": {"Date": None}} if aside.suffix == ".svg" else {}
        ax.figure.savefig(aside, dpi=150, **undated)


def training_curve(run: Labelling, ax: Axes | None = None) -> Axes:
    """Draw losses and validation accuracy over the epochs, and mark the epoch that was kept."""
    ax = new_axes() if ax is None else ax
    epochs = np.arange(1, run.epochs + 1)
    ax.plot(epochs, run.history["train_loss"], color=GREY, lw=0.8, label="training loss")
    lines = list(ax.lines)
    ax.set(xlabel="epoch", ylabel="cross-entropy")
    ax.set_ylim(bottom=0)
    accuracy = np.array(run.history["val_accuracy"])
    if np.isfinite(accuracy).any():
        lines += ax.plot(epochs, run.history["val_loss"], color=BLUE, label="validation loss")
        right = ax.twinx()
        lines += right.plot(
            epochs, 100 * accuracy, color=ORANGE, lw=1.0, ls="--", label="validation accuracy"
        )
        right.set_ylabel("accuracy (%)")
        right.set_ylim(0, 100)
    kept = ax.axvline(run.best_epoch, color=GREEN, lw=1.2, ls=":")
    kept.set_label(f"kept: epoch {run.best_epoch}")
    ax.legend(
        handles=[*lines, kept],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    ax.set_title(f"{run.name}, recipe {run.recipe}, seed {run.seed}", fontsize=11)
    return ax


def confusion_matrix(run: Labelling, role: str = "test", ax: Axes | None = None) -> Axes:
    """Draw how many nodes of each class (rows) were given each label (columns)."""
    size = 1.6 + 0.62 * len(run.classes)
    ax = new_axes(size + 1.5, size) if ax is None else ax
    members = (run.roles == ROLE_NAMES.index(role)) & (run.labels >= 0)
    counts = metrics.confusion_matrix(
        run.labels[members], run.predicted[members], labels=range(len(run.classes))
    )
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    names = [str(name).replace("_", " ") for name in run.classes]
    ticks = range(len(names))
    ax.set_xticks(ticks, names, rotation=40, ha="right", fontsize=8)
    ax.set_yticks(ticks, names, fontsize=8)
    ax.set(xlabel="predicted", ylabel="true")
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(
                j, i, str(count), ha="center", va="center", fontsize=8,
                color="white" if share[i, j] > 0.55 else "black",
            )  # fmt: skip
    ax.set_title(f"{run.name}: {role} nodes", fontsize=11)
    return ax


def reliability(run: Labelling, ax: Axes | None = None, *, role: str = "test") -> Axes:
    """Draw how often nodes are right (bars) beside how sure the run is of them (the diagonal).

    Bars are the nodes of a role in 15 bins of confidence, after temperature scaling where a
    temperature is known; the number on a bar is how many nodes it holds, and the step line is the
    network's own confidence, unscaled. On the diagonal confidence is accuracy.
    """
    ax = new_axes(5.6, 5.0) if ax is None else ax
    nodes = run.members(role)
    own = calibration.reliability(run.probabilities, run.labels, nodes)
    scaled = run.probabilities if run.calibrated is None else run.calibrated
    shown = calibration.reliability(scaled, run.labels, nodes)
    held = shown.counts > 0
    width = shown.edges[1]
    ax.bar(
        shown.edges[:-1][held], shown.accuracy[held], width=width, align="edge", color=BLUE,
        alpha=0.75, edgecolor="white", lw=0.8,
        label="accuracy" if run.calibrated is None else f"after scaling, T = {run.temperature:.2f}",
    )  # fmt: skip
    if run.calibrated is not None:
        some = own.counts > 0
        ax.hlines(
            own.accuracy[some], own.edges[:-1][some], own.edges[1:][some],
            color=ORANGE, lw=2.0, label="before",
        )  # fmt: skip
    ax.plot([0, 1], [0, 1], color=GREY, lw=1.0, ls="--", label="perfect")
    for left, count, height in zip(
        shown.edges[:-1][held], shown.counts[held], shown.accuracy[held], strict=True
    ):
        # Inside a tall bar, above a short one: never outside the axes.
        inside = height > 0.12
        ax.text(
            left + width / 2, 0.015 if inside else height + 0.015, str(count), ha="center",
            va="bottom", fontsize=7, color="white" if inside else GREY, rotation=90,
        )  # fmt: skip
    chance = calibration.expected_by_chance(scaled, nodes)
    words = f"calibration error {own.error:.3f}"
    if run.calibrated is not None:
        words += f" before, {shown.error:.3f} after"
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    ax.set_title(
        f"{run.name}, recipe {run.recipe}, seed {run.seed}: {len(nodes):,} {role} nodes\n"
        f"{words}; by chance {chance:.3f}",
        fontsize=10,
    )
    return ax


def explanation(
    told: Explanation, graph: Graph, ax: Axes | None = None, *, limit: int = 30
) -> Axes:
    """Draw the surroundings of an explained node and what each source gave, with bars by distance.

    The node is in the middle, and its ``limit`` largest sources on rings by their distance from it;
    small grey nodes lie on the way to them. A source's colour says whether it spoke for or
    against the label, its size how much; squares are training nodes.

    Parameters
    ----------
    told, graph
        An explanation, and the graph of its run.
    ax
        Where to draw; the bars go into an inset on its right.
    limit
        Sources to draw.
    """
    ax = new_axes(10.0, 6.4) if ax is None else ax
    joined = np.flatnonzero(told.hops >= 0)[:limit]  # a source without a path has no ring
    shown = told.sources[joined]
    given = dict(zip(shown.tolist(), told.contributions[joined].tolist(), strict=True))
    trained = dict(zip(shown.tolist(), told.training[joined].tolist(), strict=True))
    places = _around(graph, told.index, shown)
    ax.add_collection(_edges(graph, places))
    farthest = int(told.hops[joined].max(initial=1))
    for hop in range(1, 1 + farthest):
        ax.add_patch(Circle((0, 0), _radius(hop), fill=False, color="#E4E4E4", lw=0.8, zorder=0))
    on_the_way = np.array([places[node] for node in places.keys() - {told.index, *given}])
    if len(on_the_way):
        ax.scatter(*on_the_way.T, s=9, color=GREY, zorder=2)
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
    ax.scatter(*places[told.index], s=1100, facecolors="none", edgecolors="black", lw=1.8, zorder=4)
    named = dict.fromkeys([told.index, *shown[:NAMED].tolist()])
    for node in named:
        _name(ax, _short(told.nodes[node]), places[node], given.get(node, 0.0) / largest)
    # The right third is for the bars.
    edge = 1.18 * _radius(farthest)
    ax.set(xlim=(-edge, 2.25 * edge), ylim=(-edge, edge), aspect="equal")
    ax.axis("off")
    ax.set_title(
        f"Node {_short(told.node)}: {_word(told.label)}, probability {told.probability:.2f}",
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
    _bars(ax.inset_axes((0.73, 0.14, 0.25, 0.72)), told)
    return ax


def _around(graph: Graph, index: int, shown: NDArray[np.int64]) -> dict[int, tuple[float, float]]:
    """Return places on rings by distance, for ``shown`` and the nodes on the way to them.

    Each node has a sector for the leaves of its part of the tree of shortest paths, so that
    branches do not cross.
    """
    order, parents = breadth_first_order(graph.adjacency, index, directed=False)
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
        xytext=gap * away,
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


def _bars(ax: Axes, told: Explanation) -> None:
    """Draw what the sources at each distance gave, and the constant where there is one."""
    parts: dict[str, float] = {}
    for hop, given in told.by_hop().items():
        name = f"{FAR} hops or more" if hop >= FAR else _distance(hop)
        parts[name] = parts.get(name, 0.0) + given
    if told.constant:
        parts["constant"] = told.constant
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
    ax.set_title(f"logit {told.logit:+.2f}, by distance", fontsize=10)


def _distance(hop: int) -> str:
    return {-1: "no path", 0: "itself", 1: "1 hop"}.get(hop, f"{hop} hops")


def _short(name: object, length: int = 16) -> str:
    text = str(name)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _word(name: object) -> str:
    return str(name).replace("_", " ")
