"""Will heat help on this graph? Homophily and smoothness of the known labels, against chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.graph import Graph
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.heat.engines import ONE_OFF

Verdict = Literal["helps", "unclear", "hurts"]

PERMUTATIONS = 200
SEED = 0
PAIRS = 200_000  # of more pairs of labelled nodes, this many are drawn
TOO_FEW_EDGES = 5  # between labelled nodes; below that, any two of them may agree by chance
FEW_EDGES = 30  # below that, heat has a say
SHORT_TIME = 1.0  # s of that heat: mostly neighbours, and what is two steps away
HEATED = 500  # labelled nodes whose heat is looked at, at most
FADED = 1e-4  # heat that does not count
RARE = 0.005  # share of shuffles that may go as far before chance is believed to have done it
HELPFUL = 0.2  # homophily above chance, as a share of what is possible, from which heat helps
HARMFUL = -0.05  # and below which it hurts


@dataclass(frozen=True)
class Suitability:
    """What the known labels say about heat on a graph; see :func:`suitability`.

    Attributes
    ----------
    verdict, sentence
        ``"helps"``, ``"unclear"`` or ``"hurts"``, and what that means for the user.
    labelled, edges
        Known labels that were looked at, and edges between two such nodes.
    homophily, homophily_by_chance
        Share of those edges that join equal labels, and the mean of that share when the labels
        are shuffled; None without such edges.
    smoothness, smoothness_by_chance
        Σ_c x_cᵀLx_c / labelled (the paper's Eq. 6), x_c being 1 at the known nodes of class c and
        0 elsewhere, and the mean with shuffled labels; lower is smoother. None without labels.
    heat, heat_by_chance
        Share of the heat that labelled nodes receive from one another (s = 1) that comes from
        their own class, and the mean with shuffled labels; None where the edges are enough.
    """

    verdict: Verdict
    sentence: str
    labelled: int
    edges: int
    homophily: float | None = None
    homophily_by_chance: float | None = None
    smoothness: float | None = None
    smoothness_by_chance: float | None = None
    heat: float | None = None
    heat_by_chance: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values, ready for JSON."""
        return asdict(self)


def suitability(graph: Graph) -> Suitability:
    """Say from the labels known at fitting time whether heat will help, and in a sentence why.

    Heat draws the labels of neighbours together. That helps where edges join equal labels more
    often than chance would, and hurts where they do so less often. Chance is what the same
    measure gives with the labels shuffled among the labelled nodes (200 times).

    Parameters
    ----------
    graph
        Its training and validation labels are used; test labels never are. Without a training
        part every label outside validation and test is.

    Notes
    -----
    *Accuracy*: of more than 200,000 edges between labelled nodes as many are drawn. *Cost*: 200
    passes over those edges; with fewer than 30 of them, also up to 500 rows of e^{-L}.
    *Deterministic*: yes, the shuffles are always the same. *Isolated nodes*: say nothing.

    Examples
    --------
    >>> import graphheat
    >>> with_likes = graphheat.datasets.block_model(400, 4, homophily=0.8, seed=0)
    >>> with_others = graphheat.datasets.block_model(400, 4, homophily=0.1, seed=0)
    >>> suitability(with_likes).verdict, suitability(with_others).verdict
    ('helps', 'hurts')
    """
    known = known_nodes(graph)
    codes = graph.labels[known]
    if len(np.unique(codes)) < 2:
        return Suitability(
            "unclear", "Too few labels are known to tell whether heat will help.", len(known), 0
        )
    inside = sp.csr_array(graph.adjacency[known][:, known])
    edges = _pairs(inside)
    if not len(edges.weight):
        return Suitability(
            "unclear",
            "No edge joins two known labels, which leaves open whether heat will help.",
            len(known),
            0,
        )
    shares = _against_chance(edges._replace(weight=np.ones(len(edges.weight))), codes)
    S = normalized_adjacency(graph.adjacency)
    diagonal = float(S.diagonal()[known].sum())
    smooth = _against_chance(_pairs(sp.csr_array(S[known][:, known])), codes)
    heat = None
    if len(edges.weight) < FEW_EDGES:
        heat = _heat_shares(graph, known)
    count = sp.triu(inside, k=1).nnz
    verdict = "unclear" if count < TOO_FEW_EDGES else _verdict(shares, smooth, heat)
    return Suitability(
        verdict=verdict,
        sentence=_sentence(verdict, shares, heat, count),
        labelled=len(known),
        edges=int(count),
        homophily=shares.found,
        homophily_by_chance=shares.chance,
        # x_cᵀLx_c summed over classes: every label counts 1, less what S joins to its own class.
        smoothness=1 - (diagonal + 2 * smooth.total * smooth.found) / len(known),
        smoothness_by_chance=1 - (diagonal + 2 * smooth.total * smooth.chance) / len(known),
        heat=None if heat is None else heat.found,
        heat_by_chance=None if heat is None else heat.chance,
    )


def warnings_of(graph: Graph) -> tuple[str, ...]:
    """Return a sentence where heat will probably hurt, and nothing elsewhere."""
    suits = suitability(graph)
    return (suits.sentence,) if suits.verdict == "hurts" else ()


def known_nodes(graph: Graph) -> NDArray[np.int64]:
    """Return the labelled nodes that may be looked at before testing, sorted."""
    return np.union1d(graph.training_nodes, graph.split.val)


class _Pairs(NamedTuple):
    """Pairs of labelled nodes, each once, by their places among these; shapes (m,)."""

    a: NDArray[Any]
    b: NDArray[Any]
    weight: NDArray[np.float64]
    total: float  # of all weights, drawn or not


class _Shares(NamedTuple):
    """The weight between equal labels as a share of all: found, by chance, and on which side.

    ``side`` is 1 above chance, −1 below it, and 0 where chance explains the difference; ``total``
    is the whole weight.
    """

    found: float
    chance: float
    side: int
    total: float

    @property
    def above_chance(self) -> float:
        """How far above chance, as a share of what is possible; below it, negative."""
        return (self.found - self.chance) / max(1 - self.chance, 1e-12)


def _pairs(matrix: sp.csr_array) -> _Pairs:
    """Return the pairs above the diagonal of a symmetric matrix among the labelled nodes."""
    upper = sp.coo_array(sp.triu(matrix, k=1))
    a, b, weight = upper.row, upper.col, upper.data.astype(np.float64)
    total = float(weight.sum())
    if len(weight) > PAIRS:
        drawn = np.random.default_rng(SEED).choice(len(weight), PAIRS, replace=False)
        drawn.sort()
        a, b, weight = a[drawn], b[drawn], weight[drawn]
    return _Pairs(a, b, weight, total)


def _against_chance(pairs: _Pairs, codes: NDArray[np.int64]) -> _Shares:
    def share(labels: NDArray[np.int64]) -> float:
        return float(pairs.weight @ (labels[pairs.a] == labels[pairs.b]) / pairs.weight.sum())

    found = share(codes)
    shuffled = np.array([share(labels) for labels in _shuffles(codes)])
    # By rank: with few pairs the shares are far from normal, and a deviation would mislead.
    reach = (shuffled >= found - 1e-12).mean(), (shuffled <= found + 1e-12).mean()
    side = int(reach[0] <= RARE) - int(reach[1] <= RARE)
    return _Shares(found, float(shuffled.mean()), side, pairs.total)


def _shuffles(codes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    random = np.random.default_rng(SEED)
    for _ in range(PERMUTATIONS):
        yield random.permutation(codes)


def _heat_shares(graph: Graph, known: NDArray[np.int64]) -> _Shares | None:
    """Return the shares of heat among labelled nodes; None where none arrives."""
    if len(known) > HEATED:
        known = np.sort(np.random.default_rng(SEED).choice(known, HEATED, replace=False))
    heat = HeatKernel(graph, SHORT_TIME, tol=FADED / 10, engine=ONE_OFF).rows(known, FADED)
    pairs = _pairs(sp.csr_array(heat[:, known]))
    return _against_chance(pairs, graph.labels[known]) if pairs.total > 0 else None


def _verdict(shares: _Shares, smooth: _Shares, heat: _Shares | None) -> Verdict:
    """Return what all measures say alike.

    Homophily decides; few edges need the heat's word for it; the paper's smoothness, which weighs
    edges by degree, may forbid. Being above chance is not enough to help: heat also blurs the
    features, and an edge that says little costs more than it gives.
    """
    decides = shares if heat is None else heat
    sides = {np.sign(each.found - each.chance) for each in (shares, smooth, decides)}
    if decides.side == 1 and decides.above_chance >= HELPFUL and sides == {1.0}:
        return "helps"
    if decides.side == -1 and decides.above_chance <= HARMFUL and sides == {-1.0}:
        return "hurts"
    return "unclear"


def _sentence(verdict: Verdict, shares: _Shares, heat: _Shares | None, edges: int) -> str:
    numbers = f"homophily {shares.found:.2f}, by chance {shares.chance:.2f}"
    if verdict == "helps":
        return f"Heat should help: edges join equal labels more often than chance ({numbers})."
    if verdict == "hurts":
        return (
            f"Heat will probably hurt here: edges join equal labels less often than chance "
            f"({numbers}). Compare with recipe 'mlp', which leaves the edges out."
        )
    if shares.side == 0 or heat is not None:
        return (
            f"Whether heat helps is unclear: {edges:,} edge{'s' if edges != 1 else ''} between "
            f"known labels do not tell ({numbers}). Compare with recipe 'mlp'."
        )
    return (
        f"Whether heat helps is unclear: edges say little about labels ({numbers}). Compare with "
        "recipe 'mlp'."
    )
