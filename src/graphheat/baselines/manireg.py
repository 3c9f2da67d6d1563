"""Manifold regularisation of Belkin, Niyogi and Sindhwani: Laplacian regularised least squares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import softmax

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.design_matrix import design_matrix
from graphheat.checks import check_number
from graphheat.errors import ParameterError
from graphheat.features import suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.graph.adjacency import without_diagonal
from graphheat.heat.laplacian import laplacian
from graphheat.progress import Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ManiReg(Baseline):
    r"""Least squares on features, with a penalty on differences across edges (LapRLS).

    For each class, with y = ±1 on the l training nodes, K the kernel and L the graph's Laplacian
    over all n nodes,

    .. math:: \min_f\; \tfrac1l \sum_{i \le l} (y_i - f(x_i))^2
              + \gamma_A \|f\|_K^2 + \tfrac{\gamma_I}{n^2}\, f^\top L f ,
              \qquad f = K\alpha,\quad
              \alpha = (JK + \gamma_A l\, I + \tfrac{\gamma_I l}{n^2} LK)^{-1} Y

    (their equation 8; J marks the training nodes). :math:`\gamma_A` asks for simplicity in the
    space of features, :math:`\gamma_I` for smoothness on the graph. The largest f decides.

    For text the authors used the linear kernel on vectors of length 1, and in all experiments the
    normalised Laplacian :math:`I - D^{-1/2} W D^{-1/2}`; so here. With a linear kernel f = Xw, and
    the same minimum is found with as many unknowns as features,

    .. math:: (X_l^\top X_l + a I + b\, X^\top L X)\, w = X_l^\top y, \qquad
              a = \gamma_A l,\quad b = \gamma_I l / n^2 .

    They made the graph of nearest neighbours; here, as in every comparison on citation graphs, it
    is given. Their a and b are for other data (0.005 and 0.045, a ratio of 1 to 9, for digits), and
    they leave the choice open: it is made here on the validation labels.

    The row of Yang et al. (2016; 59.5 / 60.1 / 70.7 on Cora, Citeseer and Pubmed) is of another
    solver and less data: softmax regression by stochastic gradients with the same kind of penalty,
    inductive, that is without the test nodes and their edges. Their strengths are not published.

    Parameters
    ----------
    ambient, intrinsic
        The a and the b to choose from, each > 0.
    normalized
        Whether L is the normalised Laplacian, or else D − W.
    tol
        Relative residual at which conjugate gradients stop, in (0, 1).

    Notes
    -----
    The choice is by validation accuracy, the earlier of equals; without validation labels it is the
    first of each. Cost: a few hundred products with X and L for each pair and class; seconds for
    Pubmed. Deterministic. Probabilities are the softmax of the f: in the order of the scores, but
    flat. For an isolated node there is no edge to be smooth across, only features. Dense
    features are standardised by column instead of scaled to length 1.
    """

    ambient: Sequence[float] = (0.005, 0.0005, 0.05, 0.5, 5.0)
    intrinsic: Sequence[float] = (0.045, 0.000045, 0.00045, 0.0045, 0.45, 4.5)
    normalized: bool = True
    tol: float = 1e-6

    brief: ClassVar[Mapping[str, Any]] = {"ambient": (0.005,), "intrinsic": (0.045,)}
    name: ClassVar[str] = "manireg"
    title: ClassVar[str] = "ManiReg"
    reference: ClassVar[str] = (
        "Belkin, Niyogi and Sindhwani, Manifold Regularization: A Geometric Framework for Learning "
        "from Labeled and Unlabeled Examples, JMLR 2006"
    )
    stochastic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("ambient", "intrinsic"):
            for value in getattr(self, name):
                check_number(value, name, self.title, 0.0, np.inf, left="open")
            if not getattr(self, name):
                raise ParameterError(f"ManiReg needs at least one value of {name}; got none.")
        check_number(self.tol, "tol", self.title, 0.0, 1.0, left="open", right="open")

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Solve for each pair of strengths; see :class:`Baseline`. The seed changes nothing."""
        self.check(graph)
        X = design_matrix(graph)
        if suitable_scaling(graph) == "l1":
            length = np.sqrt((X**2).sum(axis=1))
            X = sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ X)
        weights = without_diagonal(graph.adjacency)
        if self.normalized:
            L = laplacian(weights, isolated="keep")
        else:
            L = sp.csr_array(sp.diags_array(weights.sum(axis=1)) - weights)
        known = graph.labels[split.train]
        classes = np.unique(known)  # a class without a training label cannot be predicted
        targets = np.where(known[:, None] == classes, 1.0, -1.0)
        solve = solver(X, X[split.train], L, targets, self.tol)

        choices = list(product(self.ambient, self.intrinsic))
        if not len(split.val):
            choices = choices[:1]
        best: NDArray[np.float64] = np.empty(0)
        notes: tuple[str, ...] = ()
        best_accuracy = -1.0
        for step, (a, b) in enumerate(choices, start=1):
            scores = X @ solve(a, b)
            accuracy = 0.0
            if len(split.val):
                guesses = classes[scores[split.val].argmax(axis=1)]
                accuracy = float((guesses == graph.labels[split.val]).mean())
            if accuracy > best_accuracy:
                best, best_accuracy = scores, accuracy
                notes = (f"Chosen on validation labels: ambient={a:g}, intrinsic={b:g}.",)
            if progress is not None:
                progress(step, len(choices), f"val accuracy {accuracy:.3f}")
        probabilities = np.zeros((graph.n, len(graph.classes)))
        probabilities[:, classes] = softmax(best, axis=1)
        return Outcome(probabilities, notes=notes if len(choices) > 1 else ())


def solver(
    X: sp.csr_array, known: sp.csr_array, L: sp.csr_array, targets: Array, tol: float
) -> Callable[[float, float], Array]:
    """Return a function of a and b that gives w, shape (f, c).

    X has shape (n, f), ``known`` is its l training rows, ``targets`` has shape (l, c).
    """
    f = X.shape[1]
    right = known.T @ targets
    smooth = L @ X
    fit_diagonal = (known**2).sum(axis=0)
    smooth_diagonal = np.asarray(X.multiply(smooth).sum(axis=0)).ravel()
    if f * f <= X.nnz:  # few features, many nodes: products with f × f matrices are cheaper
        fit_square = (known.T @ known).toarray()
        smooth_square = (X.T @ smooth).toarray()

        def product_with(w: Array, a: float, b: float) -> Array:
            product: Array = fit_square @ w + a * w + b * (smooth_square @ w)
            return product
    else:
        known_columns, smooth_columns = sp.csr_array(known.T), sp.csr_array(smooth.T)

        def product_with(w: Array, a: float, b: float) -> Array:
            product: Array = known_columns @ (known @ w) + a * w + b * (smooth_columns @ (X @ w))
            return product

    def solve(a: float, b: float) -> Array:
        system = LinearOperator((f, f), matvec=lambda w: product_with(w, a, b), dtype=np.float64)
        # Rounding may leave the diagonal of X'LX just below 0 where it is 0.
        scale = sp.diags_array(1.0 / (fit_diagonal + a + b * np.maximum(smooth_diagonal, 0.0)))
        columns = [cg(system, y, rtol=tol, maxiter=10 * f, M=scale)[0] for y in right.T]
        return np.array(columns).T

    return solve


RECIPE = BaselineRecipe(ManiReg)
