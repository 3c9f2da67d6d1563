"""The edges of one call of a layer: what was given, whether it is the same again, what it means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import scipy.sparse as sp
import torch
from torch import Tensor

from graphheat.errors import GraphError, ParameterError
from graphheat.graph.adjacency import validate
from graphheat.graph.foreign import edge_index_to_scipy
from graphheat.nn.edge_matrix import Symmetrize


@dataclass(frozen=True, eq=False)
class GraphEdges:
    """Edges, shape (2, e), and their weights, shape (e,) or None, as a layer was given them.

    Attributes
    ----------
    n
        Number of nodes; with ``sources``, of both kinds together.
    sources
        Of edges between two kinds of nodes: how many sources there are, which come first. None:
        all nodes are of one kind.
    symmetrize
        How one-way edges are made symmetric; None: they are an error.
    versions
        Of kept edges: how often the tensors had been written to.
    """

    index: Tensor
    weight: Tensor | None
    n: int
    sources: int | None
    symmetrize: Symmetrize | None
    versions: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        edge_index: Tensor,
        edge_weight: Tensor | None,
        n: int,
        sources: int | None,
        symmetrize: Symmetrize | None,
    ) -> GraphEdges:
        """Return the edges of an ``edge_index``, or of a sparse adjacency tensor, shape (n, n)."""
        if edge_index.layout != torch.strided:
            if edge_weight is not None:
                raise ParameterError(
                    "edge_weight must be None where edge_index is a sparse tensor: its values are "
                    "the weights."
                )
            matrix = edge_index.to_sparse_coo().coalesce()
            edge_index, edge_weight = matrix.indices(), matrix.values()
        if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.is_floating_point():
            raise GraphError(
                f"edge_index must hold integers in shape (2, e); got {edge_index.dtype} "
                f"{tuple(edge_index.shape)}."
            )
        # Edges between two kinds of nodes lead one way by their nature.
        return cls(edge_index, edge_weight, n, sources, symmetrize if sources is None else "max")

    @property
    def on_cpu(self) -> bool:
        """Whether reading a value back costs nothing."""
        return self.index.device.type == "cpu"

    def stacked(self) -> tuple[Tensor, Tensor | None]:
        """Return edges and weights between all nodes, targets numbered after sources."""
        if self.sources is None:
            return self.index, self.weight
        shift = torch.tensor([[0], [1]], device=self.index.device, dtype=self.index.dtype)
        return self.index + shift * self.sources, self.weight

    def check(self) -> None:
        """Raise where the edges break a rule; CPU only."""
        self._symmetric  # noqa: B018  # computing it is the check

    def adjacency(self) -> sp.csr_array:
        """Return the symmetric matrix, shape (n, n), or raise."""
        return self._symmetric

    @cached_property
    def _directed(self) -> sp.csr_array:
        if self.sources is not None:
            targets = self.n - self.sources
            for name, ends, most in (
                ("source", self.index[0], self.sources),
                ("target", self.index[1], targets),
            ):
                if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < most:
                    raise GraphError(f"An edge's {name} must be in [0, {most}).")
        return edge_index_to_scipy(*self.stacked(), self.n)

    @cached_property
    def _symmetric(self) -> sp.csr_array:
        directed = self._directed
        if self.symmetrize == "sum":
            directed = sp.csr_array(directed + directed.T)
        return validate(
            directed,
            symmetrize="max" if self.symmetrize == "max" else None,
            advice="Pass symmetrize='max' or symmetrize='sum' to HeatConv.",
        )

    def rule(self) -> str | None:
        """Return how one-way edges are treated, without looking at them."""
        if self.symmetrize is None or self.sources is not None:
            return None
        return f"Edges were made symmetric by their {self.symmetrize}."

    def account(self) -> str | None:
        """Return what making the edges symmetric changed; None where nothing was to be made."""
        rule = self.rule()
        if rule is None:
            return None
        directed = self._directed
        difference = sp.csr_array(directed - directed.T)
        changed = int(difference.multiply(directed).count_nonzero())
        return f"{changed:,} of {directed.nnz:,} edges had no equal reverse. {rule}"

    # ------------------------------------------------------------------ the same again

    def kept(self) -> GraphEdges:
        """Return what a later call is compared with."""
        given = (self.index,) if self.weight is None else (self.index, self.weight)
        if not self.on_cpu:
            # The same memory, kept alive so that no other tensor can take its place.
            index, *weight = (each.detach() for each in given)
            versions = tuple(each._version for each in given)
        else:
            index, *weight = (each.detach().clone() for each in given)
            versions = ()
        return GraphEdges(
            index, weight[0] if weight else None, self.n, self.sources, self.symmetrize, versions
        )

    def same(self, other: GraphEdges) -> bool:
        """Tell whether ``other``, of a later call, is what was kept here.

        On the CPU by values. Elsewhere by memory and by how often it was written to, so that
        nothing waits for the device: what differs there is another graph even where it is equal.
        """
        facts = (self.n, self.sources, self.symmetrize, self.weight is None)
        if facts != (other.n, other.sources, other.symmetrize, other.weight is None):
            return False
        pairs = [(self.index, other.index)]
        if self.weight is not None and other.weight is not None:
            pairs.append((self.weight, other.weight))
        if any(a.device != b.device or a.dtype != b.dtype or a.shape != b.shape for a, b in pairs):
            return False
        if self.on_cpu:
            return all(torch.equal(a, b) for a, b in pairs)
        versions = tuple(b._version for _, b in pairs)
        return self.versions == versions and all(
            a.data_ptr() == b.data_ptr() and a.stride() == b.stride() for a, b in pairs
        )
