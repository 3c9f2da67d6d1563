"""Scaling of input features: words by row, measurements by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphheat.graph import Graph
from graphheat.nn import SparseFeatures

ScalingKind = Literal["rows", "lengths", "columns", "rarity", "none"]

LENGTH = 0.25  # that rows are given: about what the paper's way gives Cora's and Citeseer's


def suitable_scaling(graph: Graph) -> ScalingKind:
    """Return ``"rows"`` for features that are mostly zeros, as words are; otherwise ``"columns"``.

    The paper's features are words, and it divides each row by its sum. A table of measurements
    (an age beside a share) would be ruined by that: its columns are standardised instead.
    """
    features = graph.features
    if features is None or sp.issparse(features):
        return "rows"
    return "rows" if (np.count_nonzero(features) <= 0.5 * features.size) else "columns"


@dataclass(frozen=True, eq=False)
class Scaling:
    """How a graph's features become the network's input; learned once, then applied to any graph.

    ``"rows"`` divides each row by its sum, as the paper does: the more words a node has, the
    shorter its row, and a network learns little from nodes that have hundreds. ``"lengths"`` gives
    all rows one length. ``"rarity"`` multiplies each word by log(n / the number of nodes that have
    it), then divides each row by its length: words that every node has tell nothing apart.

    ``mean`` and ``deviation`` belong to ``"columns"``, ``rarity`` to ``"rarity"``, shape (f,).
    """

    kind: ScalingKind
    mean: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    rarity: NDArray[np.float64] | None = None

    @classmethod
    def learn(cls, features: Any, kind: ScalingKind) -> Scaling:
        """Measure the columns where ``kind`` needs it."""
        if kind == "rarity":
            having = np.asarray((features != 0).sum(axis=0), dtype=np.float64).ravel()
            return cls(kind, rarity=np.log(features.shape[0] / np.maximum(having, 1.0)))
        if kind != "columns":
            return cls(kind)
        dense = _dense(features)
        deviation = dense.std(axis=0)
        # A constant column becomes 0; rounding may have given it a deviation of 1e-17.
        deviation[np.ptp(dense, axis=0) == 0] = 1.0
        return cls(kind, dense.mean(axis=0), deviation)

    def apply(self, features: Any) -> Tensor | SparseFeatures:
        """Return the network's input, shape (n, f); sparse features stay sparse by row."""
        if self.kind == "columns":
            features = (_dense(features) - self.mean) / self.deviation
        elif self.kind == "rows":
            # By the sum of absolute values: for non-negative features the row sum of the paper.
            features = _divided(features, np.asarray(abs(features).sum(axis=1)))
        elif self.kind == "lengths":
            features = _divided(features, _lengths(features) / LENGTH)
        elif self.kind == "rarity":
            features = features * self.rarity
            features = _divided(features, _lengths(features))
        if sp.issparse(features):
            return SparseFeatures.from_scipy(features)
        return torch.tensor(features, dtype=torch.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint must hold."""
        measured = {"mean": self.mean, "deviation": self.deviation, "rarity": self.rarity}
        return {name: torch.tensor(each) for name, each in measured.items() if each is not None}

    @classmethod
    def from_tensors(cls, kind: ScalingKind, tensors: dict[str, Tensor]) -> Scaling:
        """Undo :meth:`tensors`."""
        needed = {"columns": ("mean", "deviation"), "rarity": ("rarity",)}.get(kind, ())
        return cls(kind, **{name: tensors[name].numpy() for name in needed})


def _divided(features: Any, totals: NDArray[Any]) -> Any:
    """Return features with each row divided by its total; rows without any stay 0."""
    totals = totals.astype(np.float64).ravel()
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    if sp.issparse(features):
        return sp.csr_array(sp.diags_array(scale) @ features)
    return features * scale[:, None]


def _lengths(features: Any) -> NDArray[Any]:
    return np.sqrt(np.asarray((features * features).sum(axis=1), dtype=np.float64))


def _dense(features: Any) -> NDArray[np.float64]:
    dense = features.toarray() if sp.issparse(features) else features
    return np.asarray(dense, dtype=np.float64)
