"""Suspects: known labels that the heat of the other labels contradicts.

What the others say of a label (leave-one-out, :mod:`graphheat.linear.leave_one_out`) is held
against the label itself. That alone would suspect every node at the border of its class. So labels
are taken to be wrong at a rate ρ, any other class as likely as the next, and ρ is estimated from
them: where labels are contradicted no more often than the doubts of the others make likely, ρ is
small and none looks wrong.

References
----------
D. Angluin, P. Laird: Learning from Noisy Examples, Machine Learning 1988 (labels that are wrong at
a rate ρ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from threadpoolctl import threadpool_limits

from graphheat.checks import check_choice
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.linear.leave_one_out import Kept, heat_evidence, ridge_evidence

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

SCALES = tuple(2.0 ** np.arange(-2.0, 3.25, 0.25))
RATES = tuple(np.arange(0.0, 0.505, 0.01))
TRUST = 20  # labels are believed as if so many more had been found right
SHOWN = 10  # rows of a notebook's table


# Entries of the adjacency matrix times labels and features up to which a first look is taken.
AT_ONCE = 1.5e8


@dataclass(frozen=True, eq=False, repr=False)
class Suspects:
    """Known labels, the most doubtful first; see :func:`suspects`.

    Attributes
    ----------
    nodes, titles
        Ids and titles (None without any), shape (m,).
    labels, suggested
        The label that is given, and the class that the others suggest in its place, shape (m,).
    confidence
        Probability of the suggested class, by the others alone, shape (m,).
    margin
        log p(suggested) − log p(label), falling, shape (m,); above 0 where the others contradict.
    p_wrong
        Probability that the label is wrong, shape (m,).
    noise
        Estimated share of wrong labels, ρ; drawn to 0 where labels are few.
    s
        Diffusion times of heat alone and, where there are features, of heat and features.
    alone
        Labels that were not judged, as theirs is the only one of its class.
    """

    nodes: tuple[Any, ...]
    titles: tuple[str, ...] | None
    labels: tuple[Any, ...]
    suggested: tuple[Any, ...]
    confidence: Array
    margin: Array
    p_wrong: Array
    noise: float
    s: tuple[float, ...]
    alone: int

    @property
    def count(self) -> int:
        """How many labels look wrong: are more likely wrong than right."""
        return int((self.p_wrong > 0.5).sum())

    @property
    def contradicted(self) -> int:
        """How many labels the others contradict, be it ever so little."""
        return int((self.margin > 0).sum())

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        total = len(self.nodes) + self.alone
        if self.count:
            verb = "looks" if self.count == 1 else "look"
            return f"{self.count:,} of {total:,} labels {verb} wrong."
        return f"None of {total:,} labels looks wrong."

    def frame(self, limit: int | None = None) -> pandas.DataFrame:
        """Return node, title, label, suggested, confidence, margin and p_wrong, a row per label."""
        import pandas

        titles: Sequence[Any] = [None] * len(self.nodes) if self.titles is None else self.titles
        table = pandas.DataFrame(
            {
                "node": list(self.nodes),
                "title": np.array(titles, dtype=object),
                "label": np.array(self.labels, dtype=object),
                "suggested": np.array(self.suggested, dtype=object),
                "confidence": self.confidence,
                "margin": self.margin,
                "p_wrong": self.p_wrong,
            }
        )
        return table if limit is None else table.head(limit)

    def __repr__(self) -> str:
        return (
            f"Suspects(labels={len(self.nodes) + self.alone}, look_wrong={self.count}, "
            f"contradicted={self.contradicted}, noise={self.noise:g})"
        )

    def _repr_html_(self) -> str:
        table = self.frame(min(SHOWN, max(self.count, self.contradicted)))
        if self.titles is None:
            table = table.drop(columns="title")
        shown: str = table.to_html(index=False, float_format="{:.3g}".format, border=0)
        return f"<p>{self.sentence}</p>{shown}"


def suspects(
    graph: Graph, *, parts: Sequence[str] = ("train",), threads: int | None = None
) -> Suspects:
    """Rank known labels by how far the heat of the others contradicts them.

    Each label in turn is left out and predicted from the others: by heat label spreading and, where
    there are features, by a ridge regression on diffused features. The mean of their
    log-probabilities is held against the label.

    Parameters
    ----------
    graph
        With labels, and perhaps features.
    parts
        Parts of the split whose labels are judged, and judge. ``"train"`` is the training part, or
        without one every label that no other part has.
    threads
        For the heat, default all.

    Notes
    -----
    *Accuracy*: leave-one-out in closed form, no label is refitted; see
    :func:`~graphheat.linear.leave_one_out.heat_evidence` for the limits. *Cost*: seconds.
    *Deterministic*: yes. *Isolated nodes*: are judged by their features, or not at all.

    Examples
    --------
    >>> import graphheat, numpy as np
    >>> graph = graphheat.datasets.block_model(400, 3, labels_per_class=20, seed=0)
    >>> labels = graph.labels.copy()
    >>> wrong = graph.split["train"][7]
    >>> labels[wrong] = (labels[wrong] + 1) % 3
    >>> spoilt = graphheat.Graph.from_scipy(
    ...     graph.adjacency, graph.features, labels, classes=graph.classes, split=graph.split
    ... )
    >>> found = suspects(spoilt)
    >>> bool(found.nodes[0] == wrong), found.sentence
    (True, '1 of 60 labels looks wrong.')
    """
    return _suspects(graph, _labelled(graph, parts), Kept(), threads)


def _suspects(
    graph: Graph, known: NDArray[np.int64], kept: Kept, threads: int | None = None
) -> Suspects:
    present, codes = np.unique(graph.labels[known], return_inverse=True)
    counts = np.bincount(codes, minlength=len(present))
    if (counts > 1).sum() < 2:
        raise GraphError(
            "suspects needs two classes with two known labels each, to hold each against the rest; "
            f"{graph.name} has {len(known):,} known labels of {len(present):,} classes."
        )
    # One thread is the fastest for small matrices, and its sums are always in the same order.
    with threadpool_limits(1, user_api="blas"):
        labels: Any = (graph, known, codes, len(present))
        evidence = [heat_evidence(*labels, threads=threads, own=kept.own)]
        if graph.features is not None and graph.features.shape[1]:
            evidence.append(ridge_evidence(*labels, threads=threads, diffusion=kept.diffusion))
    judged = np.flatnonzero(counts[codes] > 1)
    logs = np.mean([each.log_probabilities for each in evidence], axis=0)[judged]
    return _ranked(graph, known[judged], present, codes[judged], logs, evidence)


def _ranked(
    graph: Graph,
    nodes: NDArray[np.int64],
    present: NDArray[np.int64],
    codes: NDArray[np.int64],
    logs: Array,
    evidence: Sequence[Any],
) -> Suspects:
    noise = label_noise(logs, codes)
    rows = np.arange(len(codes))
    logs = log_softmax(noise.scale * logs, axis=1)
    others = logs.copy()
    others[rows, codes] = -np.inf
    best = others.argmax(axis=1)
    margin = others[rows, best] - logs[rows, codes]
    order = np.argsort(-margin, kind="stable")
    names = [graph.classes[code] for code in present]
    titles = graph.titles
    return Suspects(
        nodes=tuple(graph.nodes[nodes[order]].tolist()),
        titles=None if titles is None else tuple(titles[index] for index in nodes[order]),
        labels=tuple(names[code] for code in codes[order]),
        suggested=tuple(names[code] for code in best[order]),
        confidence=np.exp(others[rows, best])[order],
        margin=margin[order],
        p_wrong=noise.p_wrong[order],
        noise=noise.rate,
        s=tuple(each.s for each in evidence),
        alone=len(evidence[0].log_probabilities) - len(codes),
    )


class Noise(NamedTuple):
    """How often labels are wrong.

    Attributes
    ----------
    scale
        What log-probabilities are multiplied by, so that they are as sure as they are right.
    rate
        ρ, the share of wrong labels.
    p_wrong
        Probability that each label is wrong, shape (m,).
    """

    scale: float
    rate: float
    p_wrong: Array


def label_noise(logs: Array, codes: NDArray[np.int64]) -> Noise:
    """Estimate the share of wrong labels from log-probabilities that did not see them.

    A label is right with probability 1 − ρ, and else any other class: its probability is
    (1 − ρ) p + ρ (1 − p) / (c − 1), p being that of its class. What is returned are means over the
    posterior of ρ, in [0, 0.5] and with the prior (1 − ρ)²⁰, and of the scale of the
    log-probabilities: a handful of labels cannot tell ρ, and is believed.

    Parameters
    ----------
    logs, codes
        Shape (m, c), c ≥ 2, and the labels, shape (m,).

    Examples
    --------
    >>> sure = np.log(np.tile([0.999, 0.001], (100, 1)))
    >>> label_noise(sure, np.zeros(100, dtype=int)).rate < 0.01
    True
    >>> label_noise(sure, np.array([0] * 97 + [1] * 3)).p_wrong[[0, -1]].round(1)
    array([0. , 0.8])
    """
    rows, others = np.arange(len(codes)), logs.shape[1] - 1
    rates, p_wrong = np.array(RATES), []
    likelihoods = np.empty((len(SCALES), len(RATES)))
    for k, scale in enumerate(SCALES):
        p = np.exp(log_softmax(scale * logs, axis=1)[rows, codes])
        wrong = rates[:, None] * (1 - p) / others
        both = np.maximum((1 - rates[:, None]) * p + wrong, np.finfo(float).tiny)
        likelihoods[k] = np.log(both).sum(axis=1) + TRUST * np.log1p(-rates)
        share = softmax(likelihoods[k])
        p_wrong.append(share @ (wrong / both))
    posterior = softmax(likelihoods)
    of_scales = posterior.sum(axis=1)
    return Noise(
        scale=float(np.exp(of_scales @ np.log(SCALES))),
        rate=float(posterior.sum(axis=0) @ rates),
        p_wrong=of_scales @ np.array(p_wrong),
    )


def _labelled(graph: Graph, parts: Sequence[str]) -> NDArray[np.int64]:
    names = (parts,) if isinstance(parts, str) else tuple(parts)
    allowed = tuple(dict.fromkeys(("train", *graph.split)))
    found = [np.empty(0, dtype=np.int64)]
    for name in names:
        check_choice(name, "parts", "suspects", allowed)
        found.append(graph.training_nodes if name == "train" else graph.split[name])
    nodes = np.unique(np.concatenate(found))
    labelled: NDArray[np.int64] = nodes[graph.labels[nodes] >= 0]
    return labelled


def takes_long(graph: Graph) -> bool:
    """Tell whether suspects are found too slowly for a first look."""
    labels = len(graph.training_nodes)
    features = 0 if graph.features is None else graph.features.shape[1]
    return float(graph.adjacency.nnz) * (labels + min(labels, features)) > AT_ONCE


def quick_suspects(graph: Graph, kept: Kept | None = None) -> Suspects | None:
    """Return the suspects for a first look; None where labels are too few, or would take long.

    ``kept`` has what was computed for other labels of the same graph.
    """
    if graph.label_sets is not None or takes_long(graph):
        return None
    try:
        return _suspects(graph, _labelled(graph, ("train",)), kept or Kept())
    except GraphError:  # too few to ask one of the other
        return None
