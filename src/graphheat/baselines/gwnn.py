"""Graph Wavelet Neural Network: filters between wavelets instead of frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch

from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.diagonal_filter import Domain, FilterBaseline, Map
from graphheat.baselines.eigenvectors import edges_digest
from graphheat.baselines.wavelets import Response, check_matrix_memory, expand_response, matrix_of
from graphheat.checks import check_choice, check_eps, check_s
from graphheat.graph import Graph
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.nn import SparseFeatures
from graphheat.nn.kernel_matrix import KernelMatrix
from graphheat.nn.operator import polynomial_product, symmetric_product

Inverse = Literal["exact", "published"]


@dataclass(frozen=True)
class GWNN(FilterBaseline):
    r"""Graph Wavelet Neural Network (Xu et al. 2019): sparse wavelets in place of eigenvectors.

    The wavelets of scale s are the columns of ψ = e^{-sL}: heat that started at one node. They are
    local and sparse, cost no eigendecomposition, and serve as a basis as the eigenvectors of
    :class:`SpectralCNN` do, with the inverse ψ⁻¹ = e^{sL}:

    .. math:: Y = \psi_s \, g \, \psi_s^{-1} X W

    Two such layers make the network; g is a diagonal of n numbers that starts as ones. Entries of
    both matrices below ``eps`` are dropped.

    What the authors' code computes is something else, and their figures are its figures. It
    overwrites the eigenvalues λ with e^{-sλ} before it computes the inverse from them, so that its
    "inverse" is exp(s e^{-sL}), and it multiplies in the other order,

    .. math:: Y = e^{s e^{-sL}} \, g \, e^{-sL} X W

    With g = 1 the paper's layer leaves X W as it is, as an MLP does; the code's is a smoothing
    filter, 1·ψ + s·ψ² + s²/2·ψ³ + …, much like GraphHeat's own, and that is where its accuracy
    comes from.

    The two differ in what a threshold means, too. The code sets everything below ``eps`` to 0,
    negative entries included; exp(s e^{-sL}) has none, so nothing is lost by it, whereas e^{sL} has
    as many as positive ones, and is no inverse without them. Here entries of ``"exact"`` are
    dropped by their absolute value.

    Parameters
    ----------
    s
        Scale of the wavelets, the diffusion time of the heat.
    eps
        Threshold of both matrices; None: no matrices and no threshold, products by polynomials.
    inverse
        ``"published"``: as the authors' code. ``"exact"``: as their paper.

    Notes
    -----
    On Pubmed the authors' threshold is 1e-7, which drops nothing that float32 could tell from 0 and
    leaves matrices of tens of millions of entries; there the presets have None.

    The published figures are one run per graph, seed 123, by the authors' logs; Pubmed's ended
    after 200 epochs.
    """

    name: ClassVar[str] = "gwnn"
    title: ClassVar[str] = "GWNN"
    reference: ClassVar[str] = (
        "B. Xu, H. Shen, Q. Cao, Y. Qiu, X. Cheng: Graph Wavelet Neural Network, ICLR 2019"
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "cora": {"s": 1.0, "eps": 1e-4},
        "citeseer": {"s": 0.7, "eps": 1e-5},
        "pubmed": {"s": 0.5, "eps": None},
    }

    s: float = 1.0
    eps: float | None = 1e-4
    inverse: Inverse = "published"

    def domain(self, graph: Graph) -> Domain:
        """Return the domain of the wavelets."""
        check_choice(self.inverse, "inverse", self.title, get_args(Inverse))
        s = check_s(self.s, self.title)
        if self.eps is None:
            forth, back = _products(graph, s, self.inverse)
            return Domain(graph.n, forth, back, lambda rows: lambda x: back(x)[rows])
        eps = check_eps(self.eps, self.title)
        there, again = _transforms(_Edges(edges_digest(graph), graph), s, eps, self.inverse)
        return Domain(
            size=graph.n,
            forth=_product(there),
            back=_product(again),
            back_to=lambda rows: SparseFeatures.from_scipy(again.rows(rows.numpy())).__matmul__,
        )


@dataclass(frozen=True)
class _Edges:
    """A graph that is equal to another with the same edges, whatever labels and features."""

    digest: str
    graph: Graph = field(compare=False)


@lru_cache(maxsize=1)  # for the next seed
def _transforms(
    edges: _Edges, s: float, eps: float, inverse: Inverse
) -> tuple[KernelMatrix, KernelMatrix]:
    """Return the two matrices, forth and back, shape (n, n) each, symmetric, float32."""
    S = normalized_adjacency(edges.graph.adjacency)
    check_matrix_memory(S, _inverse(s, inverse), eps)  # before the other is computed
    wavelets = HeatKernel(edges.graph, s).matrix(eps)
    other = matrix_of(S, _inverse(s, inverse), eps)
    forth, back = (other, wavelets) if inverse == "exact" else (wavelets, other)
    return (
        KernelMatrix.lay_out(forth, S, torch.float32),
        KernelMatrix.lay_out(back, S, torch.float32),
    )


def _products(graph: Graph, s: float, inverse: Inverse) -> tuple[Map, Map]:
    """Return both transforms, forth and back, as products without a matrix."""
    S = normalized_adjacency(graph.adjacency)

    def product(response: Response) -> Map:
        multiply = polynomial_product(S, expand_response(response, 1e-7), compiled_work=1e6)
        return lambda x: symmetric_product(x, multiply)

    wavelets, other = product(lambda x: np.exp(-s * x)), product(_inverse(s, inverse))
    return (other, wavelets) if inverse == "exact" else (wavelets, other)


def _inverse(s: float, inverse: Inverse) -> Response:
    """Return what each frequency is multiplied by in the inverse transform."""
    if inverse == "exact":
        return lambda x: np.exp(s * x)
    return lambda x: np.exp(s * np.exp(-s * x))


def _product(matrix: KernelMatrix) -> Map:
    return lambda x: symmetric_product(x, matrix.__matmul__)


RECIPE = BaselineRecipe(GWNN)
