"""Each claim of Sections 3.1–3.3 and 4.4–4.6, with a number that bears it out or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
from numpy.typing import ArrayLike

from graphheat.graph import Graph
from graphheat.paper.claims import (
    accuracy,
    cost,
    density,
    disagreement,
    neighbors,
    passbands,
    selection,
)
from graphheat.paper.claims.claim import Claim, Verdict
from graphheat.paper.claims.reach import Reach, reach
from graphheat.paper.claims.smoothness import smoothness_claims
from graphheat.paper.spectrum import decompose, eigenvalues
from graphheat.progress import Progress
from graphheat.recipes.network_recipe import PUBLISHED
from graphheat.training.network_run import NetworkRun

__all__ = [
    "Claim",
    "Results",
    "Verdict",
    "all_claims",
    "result_claims",
    "structural_claims",
]


@dataclass(frozen=True, eq=False)
class Results:
    """What claims are measured on; what is missing makes its claims "not measured".

    Attributes
    ----------
    graphs
        Cora, Citeseer and Pubmed by lower-case name.
    runs
        One row per run: ``row`` (of Table 2), ``graph``, ``seed``, ``test_accuracy``,
        ``val_accuracy``, and for GraphHeat (``"graphheat"``) ``s`` and ``eps``. Accuracies are
        fractions.
    sweep
        GraphHeat's runs over s and eps: ``s``, ``eps``, ``seed``, ``test_accuracy``,
        ``val_accuracy``, and ``graph`` unless all are of Cora.
    predictions
        By recipe, predicted class codes on Cora, shape (seeds, n).
    picks
        One row per run of GraphHeat: ``graph``, ``seed``, ``last``, ``best_val_accuracy``,
        ``best_test``, ``lowest_val_loss``: test accuracies by how the epoch is selected.
    run
        A run of GraphHeat, for what training made of its layers.
    """

    graphs: Mapping[str, Graph] = field(default_factory=dict)
    runs: pd.DataFrame | None = None
    sweep: pd.DataFrame | None = None
    predictions: Mapping[str, ArrayLike] | None = None
    picks: pd.DataFrame | None = None
    run: NetworkRun | None = None


def all_claims(results: Results, *, progress: Progress | None = None) -> list[Claim]:
    """Return every claim, in the order of the paper's sections."""
    found = structural_claims(results.graphs, progress=progress) + result_claims(results)
    return sorted(found, key=lambda claim: claim.section)


def structural_claims(
    graphs: Mapping[str, Graph], *, progress: Progress | None = None
) -> list[Claim]:
    """Return the claims that need graphs alone: about 20 s of one core for the three data sets.

    Parameters
    ----------
    graphs
        By name; the paper's s and eps are taken for its three names, and 3 and 1e-4 for others.
        The claims on filters look at the first of them alone, which is Cora by custom.
    progress
        Called before each part, with a few words on it.
    """
    if not graphs:
        return []
    part = 0

    def say(text: str) -> None:
        nonlocal part
        part += 1
        if progress is not None:
            progress(part, len(graphs) + 3, text)

    settings = {name: PUBLISHED.get(name, (3.0, 1e-4)) for name in graphs}
    times = {name: s for name, (s, _) in settings.items()}
    first = next(iter(graphs))

    say("smoothness of labels and features")
    found = smoothness_claims(graphs)
    say(f"spectrum of {first}")
    spectrum = decompose(graphs[first])
    renormalised = eigenvalues(graphs[first], self_loops=1)
    found += passbands.filter_claims(graphs[first], spectrum, renormalised, times[first])
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
        *density.density_claims(graphs),
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
        passbands.trained_layers(results.run),
        *accuracy.accuracy_claims(results.runs),
        *selection.pick_claims(results.picks),
        *selection.selection_claims(results.sweep),
        *disagreement.disagreement_claims(results.graphs.get("cora"), results.predictions),
    ]
