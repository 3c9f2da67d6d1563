"""Label propagation by the harmonic function of Zhu, Ghahramani and Lafferty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg, splu

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.checks import check_number
from graphheat.graph import Graph, Split
from graphheat.graph.adjacency import without_diagonal
from graphheat.progress import Progress

MAX_ITERATIONS = 1000  # of conjugate gradients; a graph that needs more is quickly factorised
SUM_ERROR = 1e-6  # the scores of a node sum to 1; by more than this off, they are not yet solved


@dataclass(frozen=True)
class LabelPropagation(Baseline):
    r"""Give each node the average label of its neighbours, all nodes at once; no features.

    With W the adjacency matrix, D its degrees, *l* the nodes of known label Y and *u* the others,
    the harmonic function is the f that equals Y on *l* and on *u* the weighted mean of its
    neighbours,

    .. math:: f_i = \tfrac{1}{d_i} \sum_j w_{ij} f_j
              \quad\Longleftrightarrow\quad (D_{uu} - W_{uu})\, f_u = W_{ul}\, Y_l .

    :math:`f_{ic}` is the probability that a random walk from i first meets a known label of class
    c; it minimises :math:`\tfrac12 \sum_{ij} w_{ij} \|f_i - f_j\|^2`.

    With few labels f is nearly constant far from them, and the class whose labels sit on the
    better connected nodes takes everything: the largest entry alone is right on 22 of 100 test
    nodes of Pubmed. The authors' answer (their section 4) is *class mass normalisation*: column c
    is scaled by :math:`q_c / \sum_{i \in u} f_{ic}`, so that the mass of a class over the unknown
    nodes is its share q among the known labels; then the largest entry decides. It is on here;
    ``class_mass=False`` gives the bare harmonic function.

    The authors built W from features by a kernel; here, as in every comparison on citation graphs,
    it is the graph's own. The row of Yang et al. (2016; 68.0 / 45.3 / 63.0 on Cora, Citeseer and
    Pubmed) is by the Junto library, which propagates for a number of rounds that is not
    given; the harmonic function is the limit of such rounds.

    Parameters
    ----------
    class_mass
        Whether to scale the classes to their shares among the training labels.
    tol
        Relative residual at which conjugate gradients stop, in (0, 1).

    Notes
    -----
    Accuracy: conjugate gradients on the normalised system, checked by the identity
    :math:`\sum_c f_{ic} = 1`; where it is off by more than 1e-6 (long paths, weights of very
    different size) the system is factorised instead. Cost: O(edges) per step and class; a graph of
    a million edges takes seconds. Deterministic. Nodes that no known label is connected to,
    isolated ones among them, have no harmonic value: they get q, and a note says how many.
    Self-loops change nothing.
    """

    class_mass: bool = True
    tol: float = 1e-10

    name: ClassVar[str] = "lp"
    title: ClassVar[str] = "LP"
    reference: ClassVar[str] = (
        "Zhu, Ghahramani and Lafferty, Semi-Supervised Learning Using Gaussian Fields and "
        "Harmonic Functions, ICML 2003"
    )
    stochastic: ClassVar[bool] = False
    needs_features: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the settings."""
        check_number(self.tol, "tol", self.title, 0.0, 1.0, left="open", right="open")

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Solve for the harmonic function; see :class:`Baseline`. The seed changes nothing."""
        self.check(graph)
        weights = without_diagonal(graph.adjacency)
        known = np.zeros((len(split.train), len(graph.classes)))
        known[np.arange(len(split.train)), graph.labels[split.train]] = 1.0
        share = known.mean(axis=0)
        unknown = _reached(weights, split.train)
        scores = harmonic(weights, split.train, known, unknown, self.tol)
        solved = scores.sum(axis=1) > 0.5  # 1 but for weights beyond double precision
        unknown, scores = unknown[solved], scores[solved]
        if self.class_mass:
            mass = scores.sum(axis=0)
            scores = scores * np.divide(share, mass, out=np.zeros_like(mass), where=mass > 0)
        probabilities = np.tile(share, (graph.n, 1))
        probabilities[split.train] = known
        probabilities[unknown] = scores / scores.sum(axis=1, keepdims=True)
        if progress is not None:
            progress(1, 1, "solved")
        left = graph.n - len(split.train) - len(unknown)
        notes = (
            f"{left:,} of {graph.n:,} nodes are connected to no training label; they get the "
            "share of each class among the training labels.",
        )
        return Outcome(probabilities, notes=notes if left else ())


def harmonic(
    weights: sp.csr_array,
    labelled: NDArray[np.int64],
    known: NDArray[np.float64],
    unknown: NDArray[np.int64],
    tol: float,
) -> NDArray[np.float64]:
    """Return f on ``unknown``, shape (u, c), with f = ``known``, shape (l, c), on ``labelled``.

    ``weights``, shape (n, n), has no diagonal; ``unknown`` is connected to ``labelled``.
    """
    rows = weights[unknown]
    root = np.sqrt(rows.sum(axis=1))
    # g = D^{1/2} f solves (I − D^{-1/2} W D^{-1/2}) g = D^{-1/2} W_ul Y, whose spectrum is in
    # (0, 2): the steps of conjugate gradients do not depend on how degrees differ.
    inverse = sp.diags_array(1.0 / root)
    walk = inverse @ rows[:, unknown] @ inverse
    system = sp.csr_array(sp.eye_array(len(unknown)) - walk)
    right = (rows[:, labelled] @ known) / root[:, None]
    values = np.zeros_like(right)
    for index, column in enumerate(right.T):
        values[:, index], failed = cg(system, column, rtol=tol, maxiter=MAX_ITERATIONS)
        if failed:
            break
    values /= root[:, None]
    if len(unknown) and np.abs(values.sum(axis=1) - 1.0).max() > SUM_ERROR:
        factors = splu(system.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        values = factors.solve(right) / root[:, None]
    return np.clip(values, 0.0, 1.0)


def _reached(weights: sp.csr_array, labelled: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the other nodes of the components that hold a labelled node, shape (u,)."""
    _, component = connected_components(weights, directed=False)
    reached = np.isin(component, component[labelled])
    reached[labelled] = False
    return np.flatnonzero(reached)


RECIPE = BaselineRecipe(LabelPropagation)
