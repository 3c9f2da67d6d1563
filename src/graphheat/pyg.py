"""For PyTorch Geometric: HeatConv as one of its layers, and heat as a transform of ``Data``."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
import torch

from graphheat.checks import MAX_S, check_choice, check_count, check_eps, check_number
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.graph.adjacency import validate
from graphheat.graph.foreign import edge_index_to_scipy
from graphheat.heat import HeatKernel
from graphheat.nn import conv
from graphheat.nn.graph_edges import GraphEdges

try:
    from torch_geometric.nn import MessagePassing
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    raise MissingDependencyError(
        "graphheat.pyg needs torch-geometric: pip install graphheat[pyg]."
    ) from error

STRIP = 256  # rows of the kernel held at once while the largest are chosen


class HeatConv(conv.HeatConv, MessagePassing):  # type: ignore[misc]  # PyG has no types
    """:class:`graphheat.nn.HeatConv` as a ``MessagePassing`` layer, which PyG's tools look for.

    The same layer, with the same parameters, weights and results. PyG's ``to_hetero`` copies it for
    each type of edges, and its ``Explainer`` sets masks on it: a mask multiplies the entries of S
    edge by edge, both directions with their mean, while degrees stay as they are, as PyG's masks
    multiply the messages of ``GCNConv``.

    Examples
    --------
    >>> layer = HeatConv(-1, 2, s=2.0)
    >>> layer(torch.randn(3, 5), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
    torch.Size([3, 2])
    >>> layer
    HeatConv(5, 2, s=2, K=2, eps=None)
    """

    def __repr__(self) -> str:
        return f"HeatConv({self.extra_repr()})"

    def _edge_mask_of(self, edges: GraphEdges) -> torch.Tensor | None:
        if not self.explain or self._edge_mask is None:
            return None
        mask = cast(torch.Tensor, self._edge_mask)
        if mask.shape[0] != edges.index.shape[1]:
            raise ParameterError(
                f"An edge mask must have one value per edge; got {mask.shape[0]} for "
                f"{edges.index.shape[1]} edges."
            )
        return mask.sigmoid() if self._apply_sigmoid else mask


class HeatGDC(BaseTransform):  # type: ignore[misc]  # PyG has no types
    r"""Replace a graph's edges by heat: what PyG's ``GDC`` does densely, sparse and fast.

    Does for ``Data`` what ``GDC(self_loop_weight=w, normalization_in="sym",
    normalization_out=…, diffusion_kwargs=dict(method="heat", t=t), sparsification_kwargs=…)`` does:
    with T the adjacency matrix plus self-loops, symmetrically normalised,

    .. math:: e^{t(T - I)}

    thresholded at ``eps``, or cut to the ``k`` largest entries of each column, then normalised
    again. That equals :class:`~graphheat.HeatKernel` with ``s=t`` and ``self_loops=w``, so nothing
    of size n × n is ever dense.

    After ``"col"`` or ``"row"`` normalisation the edges are not symmetric: they are meant for PyG's
    layers, such as ``GCNConv(normalize=False)``, not for :class:`~graphheat.HeatConv`, which takes
    the graph itself.

    Parameters
    ----------
    t
        Diffusion time.
    eps, k
        Give one: the threshold in (0, 1), or the number of entries to keep in each column.
    self_loop_weight
        Weight of the self-loops added first.
    normalization_out
        ``"col"``, ``"row"``, ``"sym"`` or None.
    tol
        Accuracy of an entry before the last normalisation (at most eps/10).

    References
    ----------
    J. Klicpera, S. Weißenberger, S. Günnemann: Diffusion Improves Graph Learning, NeurIPS 2019
    (GDC).

    Examples
    --------
    >>> import graphheat
    >>> data = graphheat.datasets.load("karate").to_pyg()
    >>> warmer = HeatGDC(t=3.0, k=8)(data)
    >>> warmer.edge_index.shape, warmer.edge_attr.shape
    (torch.Size([2, 272]), torch.Size([272]))
    """

    def __init__(
        self,
        t: float,
        *,
        eps: float | None = None,
        k: int | None = None,
        self_loop_weight: float = 1.0,
        normalization_out: Literal["col", "row", "sym"] | None = "col",
        tol: float = 1e-6,
    ) -> None:
        self.t = check_number(t, "t", "HeatGDC", 0.0, MAX_S)
        if (eps is None) == (k is None):
            raise ParameterError("HeatGDC needs either eps or k.")
        self.eps = None if eps is None else check_eps(eps, "HeatGDC")
        self.k = None if k is None else check_count(k, "k", "HeatGDC")
        self.self_loop_weight = check_number(
            self_loop_weight, "self_loop_weight", "HeatGDC", 0.0, float("inf")
        )
        check_choice(normalization_out, "normalization_out", "HeatGDC", ("col", "row", "sym", None))
        self.normalization_out = normalization_out
        self.tol = tol

    def forward(self, data: Any) -> Any:
        """Return ``data`` with new ``edge_index`` and ``edge_attr``."""
        adjacency = validate(edge_index_to_scipy(data.edge_index, data.edge_attr, data.num_nodes))
        kernel = HeatKernel(adjacency, self.t, tol=self.tol, self_loops=self.self_loop_weight)
        if self.k is not None:
            heat = _largest(kernel, min(self.k, kernel.n))
        else:
            heat = kernel.matrix(self.eps or 0.0)
        edges = _normalized(heat, self.normalization_out).tocoo()
        data.edge_index = torch.tensor(np.stack([edges.row, edges.col]), dtype=torch.long)
        data.edge_attr = torch.tensor(edges.data, dtype=torch.float32)
        return data


def _largest(kernel: HeatKernel, k: int) -> sp.csr_array:
    """Keep the k largest entries of each column; H is symmetric, so rows are computed."""
    columns, values = [], []
    for start in range(0, kernel.n, STRIP):
        rows = kernel.rows(np.arange(start, min(start + STRIP, kernel.n))).toarray()
        top = np.sort(np.argpartition(-rows, k - 1, axis=1)[:, :k], axis=1)
        columns.append(top)
        values.append(np.take_along_axis(rows, top, axis=1))
    indptr = np.arange(kernel.n + 1) * k
    parts = np.concatenate(values).ravel(), np.concatenate(columns).ravel(), indptr
    transposed = sp.csr_array(parts, shape=(kernel.n, kernel.n))
    transposed.eliminate_zeros()  # a small component has fewer than k
    return sp.csr_array(transposed.T)


def _normalized(heat: sp.csr_array, how: str | None) -> sp.csr_array:
    """Divide by the sums of columns, of rows, or by the roots of both, as GDC does."""
    if how is None:
        return heat
    sums = np.asarray(heat.sum(axis=1 if how == "row" else 0), dtype=np.float64).ravel()
    power = -0.5 if how == "sym" else -1.0
    scale = np.zeros_like(sums)
    np.power(sums, power, out=scale, where=sums > 0)
    if how == "row":
        return sp.csr_array(sp.diags_array(scale) @ heat)
    right = heat @ sp.diags_array(scale)
    return sp.csr_array(sp.diags_array(scale) @ right if how == "sym" else right)
