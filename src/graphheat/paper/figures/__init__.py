"""The paper's figures, drawn anew from data: one file each, as SVG, PNG and CSV."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from numpy.typing import ArrayLike

from graphheat.graph import Graph
from graphheat.paper.figures import architecture, case_study, frequencies, influence, neighborhoods
from graphheat.paper.figures.style import write
from graphheat.training.network_run import NetworkRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "Inputs", "PaperFigure", "draw_all"]

Frames = dict[str, pd.DataFrame]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the figures are drawn from; see :func:`draw_all`."""

    graph: Graph
    run: NetworkRun | None = None
    sweep: pd.DataFrame | None = None
    learned: ArrayLike | None = None


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper.

    Attributes
    ----------
    number, name, title
        As in the paper; the name of its files without suffix; what it shows.
    make
        From inputs to drawn axes and the data, or None where its input is missing.
    """

    number: int
    name: str
    title: str
    make: Callable[[Inputs], tuple[Axes, Frames] | None]


def _filters(given: Inputs) -> tuple[Axes, Frames]:
    data = frequencies.filters_data(given.graph, learned=given.learned)
    return frequencies.compose(data), {"": data}


def _neighborhoods(given: Inputs) -> tuple[Axes, Frames]:
    data = neighborhoods.neighborhoods_data(given.graph)
    return neighborhoods.compose(data), {"": data.ego.nodes, "edges": data.ego.edges}


def _architecture(given: Inputs) -> tuple[Axes, Frames] | None:
    if given.run is None:
        return None
    data = architecture.architecture_data(given.graph, given.run)
    frames = {"": data.ego.nodes, "edges": data.ego.edges, "classes": data.classes}
    return architecture.compose(data), frames


def _influence(given: Inputs) -> tuple[Axes, Frames] | None:
    if given.sweep is None:
        return None
    data = influence.influence_data(given.sweep)
    return influence.compose(data), {"": data}


def _case_study(given: Inputs) -> tuple[Axes, Frames]:
    data = case_study.case_study_data(given.graph)
    return case_study.compose(data), {"": data.nodes, "edges": data.edges}


FIGURES = (
    PaperFigure(1, "figure1", "Filter responses over the spectrum of Cora", _filters),
    PaperFigure(2, "figure2", "Neighbours by heat and by hops", _neighborhoods),
    PaperFigure(3, "figure3", "The two-layer network around one node", _architecture),
    PaperFigure(4, "figure4", "Accuracy over s and over eps on Cora", _influence),
    PaperFigure(5, "figure5", "The case study: heat around node 2027", _case_study),
)


def draw_all(
    folder: str | os.PathLike[str],
    graph: Graph,
    *,
    run: NetworkRun | None = None,
    sweep: pd.DataFrame | None = None,
    learned: ArrayLike | None = None,
    numbers: Iterable[int] | None = None,
    callback: Callable[[PaperFigure], None] | None = None,
) -> dict[int, list[Path]]:
    """Draw the figures into a folder, which is made where it is missing.

    Parameters
    ----------
    graph
        Cora.
    run
        A run fitted on it, for Figure 3; without one that figure is not drawn.
    sweep
        Runs with ``s``, ``eps``, ``seed``, ``test_accuracy`` and ``val_accuracy``, for Figure 4;
        without them that figure is not drawn.
    learned
        The diagonal of a fitted Spectral CNN, shape (n,), for Figure 1; optional.
    numbers
        Which figures; by default all.
    callback
        Called with each figure before it is drawn.

    Returns
    -------
    dict
        From the numbers of the figures that were drawn to their files.
    """
    given = Inputs(graph, run, sweep, learned)
    wanted = None if numbers is None else set(numbers)
    files = {}
    for figure in FIGURES:
        if wanted is not None and figure.number not in wanted:
            continue
        if callback is not None:
            callback(figure)
        made = figure.make(given)
        if made is not None:
            files[figure.number] = write(folder, figure.name, *made)
    return files
