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

ScalingKind = Literal["rows", "columns", "none"]


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

    ``mean`` and ``deviation`` belong to ``"columns"``, shape (f,).
    """

    kind: ScalingKind
    mean: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None

    @classmethod
    def learn(cls, features: Any, kind: ScalingKind) -> Scaling:
        """Measure the columns where ``kind`` needs it."""
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
            total = np.asarray(abs(features).sum(axis=1), dtype=np.float64).ravel()
            scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
            if sp.issparse(features):
                features = sp.csr_array(sp.diags_array(scale) @ features)
            else:
                features = features * scale[:, None]
        if sp.issparse(features):
            return SparseFeatures.from_scipy(features)
        return torch.tensor(features, dtype=torch.float32)

    def tensors(self) -> dict[str, Tensor]:
        """Return what a checkpoint must hold."""
        if self.mean is None or self.deviation is None:
            return {}
        return {"mean": torch.tensor(self.mean), "deviation": torch.tensor(self.deviation)}

    @classmethod
    def from_tensors(cls, kind: ScalingKind, tensors: dict[str, Tensor]) -> Scaling:
        """Undo :meth:`tensors`."""
        if kind != "columns":
            return cls(kind)
        return cls(kind, tensors["mean"].numpy(), tensors["deviation"].numpy())


def _dense(features: Any) -> NDArray[np.float64]:
    dense = features.toarray() if sp.issparse(features) else features
    return np.asarray(dense, dtype=np.float64)
