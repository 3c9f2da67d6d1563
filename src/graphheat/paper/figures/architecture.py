"""Figure 3: the two-layer network, drawn with the numbers of a fitted one around one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from graphheat import plot
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.heat import HeatKernel
from graphheat.nn import HeatConv
from graphheat.nn.features import Input, as_input
from graphheat.paper.figures.case_study import NODE
from graphheat.paper.figures.ego import Ego, draw_edges, ego_network
from graphheat.paper.figures.style import PAGE, SEQUENTIAL, SMALL, TEXT, TITLE, plain, small_ticks
from graphheat.training.build import build_network, build_operator
from graphheat.training.network_run import NetworkRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT_OUT = 3  # nodes that heat does not select to be drawn, with the way to them


@dataclass(frozen=True, eq=False)
class Architecture:
    """The data of Figure 3.

    Attributes
    ----------
    ego
        Its nodes have ``heat`` ([e^{-sL}]_ai), ``selected`` (heat ≥ eps), and ``depth_0``,
        ``depth_1``, ``depth_2``: the probability of the target's predicted class, by the fitted
        weights, with heat in no layer, in the first, and in both. The last is the network's own.
    classes
        ``class``, ``probability`` and ``true``, one row per class, for the target.
    predicted, selected
        Name of the predicted class, and how many nodes are selected in the whole graph.
    """

    ego: Ego
    classes: pd.DataFrame
    predicted: str
    selected: int
    s: float
    eps: float


def architecture_data(graph: Graph, run: NetworkRun, index: int = NODE) -> Architecture:
    """Follow one node through a fitted network.

    Parameters
    ----------
    run
        Fitted on ``graph``.
    index
        The target's row number. Its two-order ego network is drawn, with the nearest three nodes
        that heat leaves out and the ways to them.
    """
    if run.fingerprint != graph.fingerprint:
        raise GraphError(f"The run was fitted on {run.name}, not on this {graph.name}.")
    # The implicit kernel drops nothing; 1e-4 is then what counts as selected.
    eps = run.settings.eps or 1e-4
    row = HeatKernel(graph, run.settings.s, tol=min(1e-6, eps / 10)).row(index).toarray().ravel()
    hops = hop_distances(graph.adjacency, index)
    out = np.flatnonzero((row < eps) & (hops > 0))
    nearest = out[np.lexsort((out, hops[out]))][:LEFT_OUT]
    ego = ego_network(graph, index, 2, also=nearest)
    code = int(run.predicted[index])
    depths = probabilities_by_depth(graph, run)
    nodes = ego.nodes.assign(
        heat=row[ego.indices],
        selected=row[ego.indices] >= eps,
        **{f"depth_{k}": depth[ego.indices, code] for k, depth in enumerate(depths)},
    )
    names = [str(name).replace("_", " ") for name in run.classes]
    classes = pd.DataFrame(
        {
            "class": names,
            "probability": depths[2][index],
            "true": np.arange(len(names)) == graph.labels[index],
        }
    )
    return Architecture(
        Ego(nodes, ego.edges),
        classes,
        names[code],
        selected=int((row >= eps).sum()) - int(row[index] >= eps),
        s=float(run.settings.s),
        eps=float(eps),
    )


def probabilities_by_depth(graph: Graph, run: NetworkRun) -> list[NDArray[np.float64]]:
    """Return class probabilities with heat in no layer, in the first, and in both, (n, c) each.

    Without heat e^{-ksL} is I, so that a layer is x ΣΘ_k: what the fitted weights make of a node
    alone. With heat in both layers it is the network (Eq. 15).
    """
    assert graph.features is not None  # the run was fitted on them
    features = as_input(run.scaling.apply(graph.features))
    model = build_network(features.shape[1], len(run.classes), run.settings)
    model.load_state_dict({name: torch.tensor(array) for name, array in run.weights.items()})
    model.eval()
    operator = build_operator(graph, run.settings)

    def alone(layer: HeatConv, x: Input) -> torch.Tensor:
        return x @ layer.weight.sum(dim=0)

    with torch.no_grad():
        by_itself = torch.relu(alone(model.first, features))
        warmed = torch.relu(model.first(features, operator))
        logits = [
            alone(model.second, by_itself),
            alone(model.second, warmed),
            model.second(warmed, operator),
        ]
    return [torch.softmax(each.double(), dim=1).numpy() for each in logits]


def draw_selection(data: Architecture, ax: Axes | None = None) -> Axes:
    """Draw (a): the nodes that e^{-sL} selects, solid; the others hollow."""
    ax = _axes() if ax is None else ax
    _draw_nodes(data, ax, "depth_0")
    return plain(ax, f"(a) selected: {data.selected:,}\nby $e^{{-sL}} \\geq$ {data.eps:g}")


def draw_layer(data: Architecture, layer: int, ax: Axes | None = None) -> Axes:
    """Draw (b) or (c): a layer's weighted average, the wider a dotted line the larger its weight.

    Parameters
    ----------
    layer
        1 or 2; the colours are those after it.
    """
    ax = _axes() if ax is None else ax
    nodes = data.ego.nodes
    chosen = nodes["selected"].to_numpy() & (nodes["hop"] > 0).to_numpy()
    target = data.ego.places[0]
    weights = nodes["heat"].to_numpy()[chosen]
    rays = LineCollection(
        [np.array([target, place]) for place in data.ego.places[chosen]],
        linewidths=0.4 + 2.6 * weights / max(weights.max(initial=0), 1e-12),
        colors=plot.BLUE, linestyles="dotted", alpha=0.8, zorder=1.5,
    )  # fmt: skip
    ax.add_collection(rays)
    _draw_nodes(data, ax, f"depth_{layer}")
    before, after = nodes[f"depth_{layer - 1}"][0], nodes[f"depth_{layer}"][0]
    letter, name = ("(b)", "first layer") if layer == 1 else ("(c)", "second layer")
    return plain(ax, f"{letter} {name}\n$a$: {before:.2f} → {after:.2f}")


def draw_label(data: Architecture, ax: Axes | None = None) -> Axes:
    """Draw (d): the target's class probabilities, the true class marked."""
    ax = _axes() if ax is None else ax
    classes = data.classes
    rows = np.arange(len(classes))[::-1]
    ax.barh(rows, classes["probability"], color=plot.BLUE, height=0.34)
    for row, name, value, true in zip(
        rows, classes["class"], classes["probability"], classes["true"], strict=True
    ):
        # Above its bar: beside it, long names would take the panel's room.
        ax.text(0, row + 0.2, f"{name} (true)" if true else name, fontsize=SMALL, va="bottom",
                fontweight="bold" if true else "normal")  # fmt: skip
        ax.text(value + 0.02, row, f"{value:.2f}", fontsize=SMALL, va="center")
    ax.set(xlim=(0, 1.15), ylim=(-0.4, len(classes) - 0.3))
    ax.set_yticks([])
    ax.set_xticks([0, 0.5, 1])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("probability")
    ax.set_title(f"(d) label of $a$\n{data.predicted}", fontsize=TITLE)
    return small_ticks(ax)


def compose(data: Architecture) -> Axes:
    """Draw the whole figure, four panels in a row, and return the first axes."""
    figure = Figure(figsize=(PAGE, 2.9), layout="constrained")
    axes = figure.subplot_mosaic(
        [["a", "b", "c", "d"], ["legend", "legend", "scale", "."]],
        width_ratios=[1.15, 1.15, 1.15, 0.85],
        height_ratios=[22, 1],
    )
    draw_selection(data, axes["a"])
    draw_layer(data, 1, axes["b"])
    draw_layer(data, 2, axes["c"])
    draw_label(data, axes["d"])
    scale = ScalarMappable(Normalize(0, 1), cmap=SEQUENTIAL)
    bar = figure.colorbar(scale, cax=axes["scale"], orientation="horizontal")
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.set_label(
        f"probability of {data.predicted}\nwith heat in 0 (a), 1 (b), 2 (c) layers", fontsize=TEXT
    )
    handles = [
        Line2D([], [], marker="h", ls="", mfc="#999999", mec="black", ms=6, label="target $a$"),
        Line2D([], [], marker="o", ls="", mfc="#999999", mec="black", ms=4.5, label="selected"),
        Line2D([], [], marker="o", ls="", mfc="white", mec="black", ms=4.5, label="left out"),
        Line2D([], [], color=plot.BLUE, ls=":", lw=1.5, label="weight in the average"),
    ]
    axes["legend"].set_axis_off()
    axes["legend"].legend(
        handles=handles, loc="center left", ncols=4, frameon=False, fontsize=TEXT,
        handletextpad=0.4, columnspacing=1.2,
    )  # fmt: skip
    first: Axes = axes["a"]
    return first


def _axes() -> Axes:
    return Figure(figsize=(PAGE / 4, 2.2), layout="constrained").subplots()


def _draw_nodes(data: Architecture, ax: Axes, column: str) -> None:
    draw_edges(data.ego, ax, width=0.5)
    nodes, places = data.ego.nodes, data.ego.places
    solid = nodes["selected"].to_numpy()
    target = (nodes["hop"] == 0).to_numpy()
    for part, shape, size in ((solid & ~target, "o", 22), (target, "h", 60)):
        x, y = places[part].T
        ax.scatter(
            x, y, c=nodes[column].to_numpy()[part], cmap=SEQUENTIAL, vmin=0, vmax=1,
            s=size, marker=shape, edgecolors="black", linewidths=0.6, zorder=3,
        )  # fmt: skip
    left = ~solid & ~target
    x, y = places[left].T
    ax.scatter(x, y, s=22, facecolors="white", edgecolors="black", linewidths=0.6, zorder=3)
    ax.margins(0.06)
