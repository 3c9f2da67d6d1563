"""Section 4.6: nodes that one model classifies correctly and the other does not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.paper.claims.accuracy import OURS
from graphheat.paper.claims.claim import Claim, Verdict, judge, not_measured

RIVAL = "gcn"
CASE = 2027  # the case study's node, a row of Cora

Predictions = Mapping[str, ArrayLike]


def majority(predictions: ArrayLike) -> NDArray[np.int64]:
    """Return the class that most seeds give each node, shape (n,), from (seeds, n).

    Ties go to the lower code.

    Examples
    --------
    >>> majority([[0, 1, 2], [0, 2, 1], [1, 2, 0]]).tolist()
    [0, 2, 0]
    """
    votes = np.atleast_2d(np.asarray(predictions, dtype=np.int64))
    counts = np.stack([(votes == code).sum(axis=0) for code in range(votes.max(initial=0) + 1)])
    return np.asarray(counts.argmax(axis=0), dtype=np.int64)


def disagreement_claims(
    graph: Graph | None, predictions: Predictions | None, *, node: int = CASE
) -> list[Claim]:
    """Return the claims on where GraphHeat and GCN differ.

    Parameters
    ----------
    graph
        Cora, with labels and the split.
    predictions
        By recipe, the predicted class codes, shape (seeds, n).
    """
    return [right_here_wrong_there(graph, predictions), case_study(graph, predictions, node=node)]


def right_here_wrong_there(graph: Graph | None, predictions: Predictions | None) -> Claim:
    """Return the claim that GraphHeat is right where GCN is wrong, and how often the reverse is."""
    text = "There are test nodes that GraphHeat gets right and GCN wrong."
    found = _both(graph, predictions)
    if graph is None or found is None:
        return not_measured("4.6", text, "predictions of GraphHeat and GCN on Cora")
    test = graph.split["test"]
    truth = graph.labels[test]
    ours, theirs = (each[:, test] == truth for each in found)
    here, there = (majority(each)[test] == truth for each in found)
    gained, lost = int((here & ~there).sum()), int((~here & there).sum())
    chance = float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
    seeds = min(len(ours), len(theirs))
    each_gained = (ours[:seeds] & ~theirs[:seeds]).sum(axis=1).mean()
    each_lost = (~ours[:seeds] & theirs[:seeds]).sum(axis=1).mean()
    verdict: Verdict = "holds in part" if 0 < gained <= lost else judge([gained > 0])
    return Claim(
        "4.6",
        text,
        f"by majority of seeds {gained} right here and wrong there, {lost} the reverse "
        f"(McNemar p = {chance:.2g}); a seed on average {each_gained:.1f} and {each_lost:.1f}",
        verdict,
        f"Of {len(test):,} test nodes; {len(ours)} and {len(theirs)} seeds. In part: there are, "
        "but no more than the reverse. The test asks whether nodes won outnumber nodes lost by "
        "more than chance.",
    )


def case_study(graph: Graph | None, predictions: Predictions | None, *, node: int = CASE) -> Claim:
    """Return the claim that GraphHeat is right and GCN wrong on the case study's node."""
    text = f"GraphHeat labels node {node} rightly and GCN does not."
    found = _both(graph, predictions)
    if graph is None or found is None or node >= graph.n:
        return not_measured("4.6", text, "predictions of GraphHeat and GCN on Cora")
    truth = graph.labels[node]
    ours, theirs = (each[:, node] == truth for each in found)
    wrong = majority(found[1])[node]
    instead = ""
    if wrong != truth:
        instead = f" GCN mostly says {str(graph.classes[wrong]).replace('_', ' ')}."
    return Claim(
        "4.6",
        text,
        f"right in {int(ours.sum())} of {len(ours)} seeds here, in {int(theirs.sum())} of "
        f"{len(theirs)} with GCN",
        judge([ours.mean() > 0.5, theirs.mean() < 0.5]),
        f"True class {str(graph.classes[truth]).replace('_', ' ')}; holds where the majority of "
        f"seeds is right here and wrong there.{instead}",
    )


def _both(
    graph: Graph | None, predictions: Predictions | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    if graph is None or predictions is None:
        return None
    found = []
    for row in (OURS, RIVAL):
        if row not in predictions:
            return None
        array = np.atleast_2d(np.asarray(predictions[row]))
        if array.ndim != 2 or array.shape[1] != graph.n or not len(array):
            raise ParameterError(
                f"Predictions of {row} must have shape (seeds, {graph.n}); got {array.shape}."
            )
        found.append(array.astype(np.int64))
    return found[0], found[1]
