"""Each claim of Sections 3.1–3.3 and 4.4–4.6, with a number that bears it out or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd
from numpy.typing import ArrayLike

from graphheat.graph import Graph
from graphheat.paper.claims import accuracy, cost, disagreement, filters, neighbors, selection, sets
from graphheat.paper.claims.claim import HEADER, Claim, Verdict, markdown
from graphheat.paper.claims.reach import Reach, reach
from graphheat.paper.claims.smoothness import smoothness_claims
from graphheat.paper.spectrum import decompose, eigenvalues
from graphheat.training import Run
from graphheat.training.recipes import PUBLISHED

__all__ = [
    "HEADER",
    "Claim",
    "Results",
    "Verdict",
    "all_claims",
    "markdown",
    "result_claims",
    "structural_claims",
]

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Results:
    """What claims are measured on; what is missing makes its claims "not measured".

    Attributes
    ----------
    graphs
        Cora, Citeseer and Pubmed by lower-case name.
    runs
        One row a run: ``system``, ``graph``, ``seed``, ``test_accuracy``, ``val_accuracy``, and for
        GraphHeat (``"graphheat"``) ``s`` and ``eps``. Accuracies are fractions.
    sweep
        GraphHeat's runs over s and eps: ``s``, ``eps``, ``seed``, ``test_accuracy``,
        ``val_accuracy``, and ``graph`` unless all are of Cora.
    predictions
        By system, predicted class codes on Cora, shape (seeds, n).
    picks
        One row a run of the authors' recipe: ``graph``, ``seed``, ``last``, ``best_val_accuracy``,
        ``best_test``, ``lowest_val_loss``: test accuracies by way of picking an epoch.
    run
        A run of GraphHeat, for what training made of its layers.
    """

    graphs: Mapping[str, Graph] = field(default_factory=dict)
    runs: pd.DataFrame | None = None
    sweep: pd.DataFrame | None = None
    predictions: Mapping[str, ArrayLike] | None = None
    picks: pd.DataFrame | None = None
    run: Run | None = None


def all_claims(results: Results, *, progress: Progress | None = None) -> list[Claim]:
    """Return every claim, in the order of the paper's sections."""
    found = structural_claims(results.graphs, progress=progress) + result_claims(results)
    return sorted(found, key=lambda claim: claim.section)


def structural_claims(
    graphs: Mapping[str, Graph], *, progress: Progress | None = None
) -> list[Claim]:
    """Return the claims that need graphs alone: about 40 s for the three data sets on one core.

    Parameters
    ----------
    graphs
        By name; the paper's s and eps are taken for its three names, and 3 and 1e-4 for others.
        The claims on filters look at the first of them alone, which is Cora by custom.
    progress
        Called with a few words before each part.
    """
    if not graphs:
        return []
    say = progress if progress is not None else _silent
    settings = {name: PUBLISHED.get(name, (3.0, 1e-4)) for name in graphs}
    times = {name: s for name, (s, _) in settings.items()}
    first = next(iter(graphs))

    say("smoothness of labels and features")
    found = smoothness_claims(graphs)
    say(f"spectrum of {first}")
    spectrum = decompose(graphs[first])
    renormalised = eigenvalues(graphs[first], self_loops=1)
    found += filters.filter_claims(graphs[first], spectrum, renormalised, times[first])
    del spectrum

    reaches: dict[str, Reach] = {}
    for name, graph in graphs.items():
        say(f"whom heat reaches on {name}")
        reaches[name] = reach(graph, *settings[name])
    say("neighbours and work")
    found += [
        cost.product_work(graphs, times),
        cost.matrix_work(graphs, reaches),
        neighbors.energy(graphs, times),
        neighbors.continuity(graphs[first], reaches[first]),
        neighbors.dropped_neighbors(reaches),
        neighbors.varying_range(reaches),
        cost.parameters_against_range(graphs[first], reaches[first]),
        *sets.set_claims(graphs),
        cost.threshold_savings(graphs, reaches),
        neighbors.heavier_second_order(reaches),
        neighbors.light_hubs(reaches),
        neighbors.part_of_immediate(reaches),
    ]
    if "cora" in reaches:
        found.append(neighbors.table_3(reaches["cora"]))
    return found


def result_claims(results: Results) -> list[Claim]:
    """Return the claims that need results of runs."""
    return [
        filters.trained_layers(results.run),
        *accuracy.accuracy_claims(results.runs),
        *selection.pick_claims(results.picks),
        *selection.selection_claims(results.sweep),
        *disagreement.disagreement_claims(results.graphs.get("cora"), results.predictions),
    ]


def _silent(_: str) -> None:
    """Say nothing."""
