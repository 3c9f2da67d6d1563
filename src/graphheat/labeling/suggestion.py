"""What to label next: nodes whose answer tells most about what is not known yet.

A set A of labelled nodes covers node v by its likeness to the nearest of them, max_{l ∈ A} σ(v, l)
(:mod:`graphheat.labeling.label_reach`). Nodes are taken one after another, each the one that adds
most to

    Σ_v w_v · max_{l ∈ A} σ(v, l),    w_v = (u_v + mean u) / 2,    u_v = 1 − max_c p_vc,

p being what a model says so far. Without any label every node counts alike: the first nodes are
spread over the graph's clusters. Afterwards uncertainty decides where coverage is worth most, by
half: where a model stays unsure of nodes because their classes overlap, no answer would change
that. A second node that tells the same adds nothing, so that a batch does not repeat itself. The
sum is submodular, and the greedy choice is within 1 − 1/e of the best batch.

References
----------
G. Nemhauser, L. Wolsey, M. Fisher: An Analysis of Approximations for Maximizing Submodular Set
Functions, Mathematical Programming 1978 (greedy choice). K. Wei, R. Iyer, J. Bilmes: Submodularity
in Data Subset Selection and Active Learning, ICML 2015 (facility location, weighed by uncertainty).
Y. Wu, Y. Xu, A. Singh et al.: Active Learning for Graph Neural Networks via Node Feature
Propagation, 2019 (clusters of diffused features).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_count
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.labeling.label_heat import spread
from graphheat.labeling.label_reach import Likeness, Reach

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

COVERED = 0.25  # an answer tells of a node whose coverage it raises by so much
NOVEL = 0.1  # below this likeness to every labelled node it may be of a class without a label …
DOUBT = 0.5  # … if a model is also less sure than that
SURE = 0.6  # below this a model is torn between classes
AT_ONCE = 64  # gains that are computed together


@dataclass(frozen=True)
class Suggestion:
    """A node to label next.

    Attributes
    ----------
    node, index, title
        Its id, its row number, and its title or None.
    gain
        How much of the nodes' weight the answer is expected to cover.
    tells
        Of about how many nodes the answer tells that no label tells of yet.
    confidence
        The largest probability so far; None where no model has spoken.
    likeness
        To the nearest labelled node, in [0, 1]; None without any.
    novel
        Whether it looks like no labelled node and the model is in doubt: it is then about twice
        as likely as others to be of a class that has no label yet.
    why
        The reason, in a sentence.
    """

    node: Any
    index: int
    title: str | None
    gain: float
    tells: int
    confidence: float | None
    likeness: float | None
    novel: bool
    why: str


def suggest(
    graph: Graph,
    k: int = 10,
    *,
    exclude: Iterable[Any] = (),
    probabilities: Array | None = None,
    reach: Reach | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> list[Suggestion]:
    """Return the nodes to label next, the most telling first.

    Parameters
    ----------
    graph
        Those of its labels that train count (:attr:`Graph.training_nodes`); without any, the first
        nodes to label are suggested.
    k
        How many; fewer where no more are left.
    exclude
        Ids of nodes that are not to be asked, such as those that someone was unsure of.
    probabilities
        What a model says so far, shape (n, c); default: the linear recipe, or without features
        (or with labels of one class alone) the labels' heat.
    reach
        Of this graph, to be used again when labels were added; default: computed.
    seed
        Decides which nodes are looked at where there are over 4,000 of them.
    threads
        Threads to use; default: by the size of the job.

    Notes
    -----
    *Cost*: seconds at first, most of it for ``reach``; then the model's. *Deterministic*: yes.
    *Isolated nodes*: are suggested last, unless their features tell of others.

    Examples
    --------
    >>> import graphheat
    >>> known = graphheat.datasets.block_model(300, 3, homophily=0.9, seed=0)
    >>> graph = graphheat.Graph.from_scipy(known.adjacency, known.features)
    >>> found = suggest(graph, 3)
    >>> sorted(int(known.labels[each.index]) for each in found)
    [0, 1, 2]
    """
    check_count(k, "k", "suggest")
    if graph.label_sets is not None:
        raise GraphError(f"{graph.name} has several labels per node; suggest takes one.")
    known = graph.training_nodes
    known = known[graph.labels[known] >= 0]
    if probabilities is None:
        probabilities = known_so_far(graph, known, threads=threads)
    elif probabilities.shape[0] != graph.n:
        raise ParameterError(
            "The 'probabilities' parameter of suggest must have a row per node, "
            f"{graph.n}. Got shape {probabilities.shape} instead."
        )
    barred = np.zeros(graph.n, dtype=np.bool_)
    barred[[graph.index_of(node) for node in exclude]] = True
    barred[known] = True
    if reach is None:
        reach = Reach(graph, seed=seed, threads=threads)
    return chosen(graph, k, known, barred, probabilities, reach)


def known_so_far(graph: Graph, known: Codes, *, threads: int | None = None) -> Array | None:
    """Return class probabilities by a quick model, shape (n, c); None without labels."""
    if not len(known):
        return None
    several = len(np.unique(graph.labels[known])) > 1
    if several and graph.features is not None and graph.features.shape[1]:
        from graphheat.recipes.fit import fit

        run = fit(graph, "linear", threads=threads)
        return np.asarray(run.probabilities, dtype=np.float64)
    labels = np.full(graph.n, -1)
    labels[known] = graph.labels[known]
    return spread(graph, labels, classes=len(graph.classes), threads=threads)


def chosen(
    graph: Graph,
    k: int,
    known: Codes,
    barred: NDArray[np.bool_],
    probabilities: Array | None,
    reach: Reach,
) -> list[Suggestion]:
    """Return up to ``k`` suggestions among the nodes of the pool that are not barred."""
    pool, within = reach.pool, reach.within
    weights = np.ones(len(pool), dtype=np.float32)
    # One class says nothing of where it ends: its model is as sure of all nodes.
    if probabilities is not None and len(np.unique(graph.labels[known])) > 1:
        unsure = (1.0 - probabilities[pool].max(axis=1)).astype(np.float32)
        weights = (unsure + unsure.mean()) / 2
    covered = np.zeros(len(pool), dtype=np.float32)
    if len(known):
        covered = reach.to(known).max(axis=0)
    nearest = covered.copy()
    free = np.flatnonzero(~barred[pool])
    found = []
    for place, gain, before in greedy(within, weights, covered, free, k):
        nearby = round(float((within[place] - before > COVERED).sum()) * reach.share)
        index = int(pool[place])
        found.append(
            _suggestion(
                graph, index, gain * reach.share, max(nearby, 1),
                None if probabilities is None or not len(known) else probabilities[index],
                float(nearest[place]) if len(known) else None,
            )
        )  # fmt: skip
    return found


def greedy(
    likeness: Likeness, weights: Likeness, covered: Likeness, free: Codes, k: int
) -> Iterable[tuple[int, float, Likeness]]:
    """Yield the places that add most coverage one after another: place, gain, coverage before.

    A gain can only fall as others are taken, so that only such gains are computed anew as may
    still be the largest.
    """
    gains = np.empty(len(free))
    for a in range(0, len(free), AT_ONCE):
        gains[a : a + AT_ONCE] = _gains(likeness[free[a : a + AT_ONCE]], weights, covered)
    covered = covered.copy()
    fresh = np.ones(len(free), dtype=np.bool_)
    for _ in range(min(k, len(free))):
        while True:
            order = np.argsort(-gains, kind="stable")[:AT_ONCE]
            best = int(order[0])
            if fresh[best]:
                break
            stale = order[~fresh[order]]
            gains[stale] = _gains(likeness[free[stale]], weights, covered)
            fresh[stale] = True
        yield int(free[best]), float(gains[best]), covered.copy()
        covered = np.maximum(covered, likeness[free[best]])
        gains[best] = -np.inf
        fresh[:] = False
        fresh[best] = True


def _gains(rows: Likeness, weights: Likeness, covered: Likeness) -> NDArray[np.float32]:
    gains: NDArray[np.float32] = np.maximum(rows - covered, 0.0) @ weights
    return gains


def _suggestion(
    graph: Graph,
    index: int,
    gain: float,
    tells: int,
    p: Array | None,
    likeness: float | None,
) -> Suggestion:
    confidence = None if p is None else float(p.max())
    novel = likeness is not None and likeness < NOVEL and (confidence or 0.0) < DOUBT
    return Suggestion(
        node=graph.nodes[index : index + 1].tolist()[0],
        index=index,
        title=None if graph.titles is None else graph.titles[index],
        gain=gain,
        tells=tells,
        confidence=confidence,
        likeness=likeness,
        novel=novel,
        why=_why(graph.classes, tells, p, likeness, novel),
    )


def _why(
    classes: Sequence[Any], tells: int, p: Array | None, likeness: float | None, novel: bool
) -> str:
    reaches = f"{tells:,} node" + ("" if tells == 1 else "s")
    if p is None or likeness is None:
        return f"Its heat covers about {reaches} that no label covers yet."
    if novel:
        return (
            "This does not look like any class so far (its likeness to the nearest label is "
            f"{likeness:.0%}), and the answer tells of about {reaches}."
        )
    order = np.argsort(-p, kind="stable")
    if len(order) > 1 and p[order[0]] < SURE:
        first, second = order[:2]
        return (
            f"The model is torn between {classes[first]} ({p[first]:.0%}) and {classes[second]} "
            f"({p[second]:.0%}), and the answer tells of about {reaches}."
        )
    return (
        f"Probably {classes[order[0]]} ({p[order[0]]:.0%}); the answer tells of about {reaches} "
        "that the labels so far hardly reach."
    )


def frame(suggestions: Sequence[Suggestion]) -> pandas.DataFrame:
    """Return node, title, why, confidence, likeness, novel, tells and gain, a row each."""
    import pandas

    columns = ("node", "title", "why", "confidence", "likeness", "novel", "tells", "gain")
    return pandas.DataFrame(
        {name: [getattr(each, name) for each in suggestions] for name in columns}
    )
