"""Scaling of input features: bag-of-words by row, dense features by column."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.checks import check_choice
from graphheat.graph import Graph
from graphheat.graph.feature_matrix import Features

Matrix = NDArray[Any] | sp.csr_array
ScalingKind = Literal["l1", "l2", "standard", "tfidf", "none"]
Kind = TypeVar("Kind", bound=str)

# What the kinds were called in files and settings before.
FORMER: Mapping[str, ScalingKind] = {
    "rows": "l1", "lengths": "l2", "columns": "standard", "rarity": "tfidf"
}  # fmt: skip

LENGTH = 0.25  # that "l2" gives to rows: about what "l1" gives those of Cora and Citeseer


def scaling_kind(name: object, allowed: tuple[Kind, ...] = get_args(ScalingKind)) -> Kind:
    """Return a kind of scaling by its name, also by a former one, or raise.

    Examples
    --------
    >>> scaling_kind("l1")
    'l1'
    """
    if isinstance(name, str) and FORMER.get(name) in allowed:
        current = FORMER[name]
        warnings.warn(
            f"scaling={name!r} is now called {current!r}.", DeprecationWarning, stacklevel=3
        )
        name = current
    check_choice(name, "scaling", "fit", allowed)
    return next(kind for kind in allowed if kind == name)


def suitable_scaling(graph: Graph) -> ScalingKind:
    """Return ``"l1"`` for features that are mostly zeros, as words are; otherwise ``"standard"``.

    The paper's features are bags of words, and it divides each row by its sum. Dense features (an
    age beside a share) would be ruined by that: their columns are standardised instead.
    """
    return suitable_for(graph.features)


def suitable_for(features: Matrix | None) -> ScalingKind:
    """Return the same for features, or a sample of their rows, shape (k, f)."""
    if features is None or sp.issparse(features):
        return "l1"
    return "l1" if (np.count_nonzero(features) <= 0.5 * features.size) else "standard"


@dataclass(frozen=True, eq=False)
class Scaling:
    """How a graph's features become a model's input; learned once, then applied to any graph.

    ``"l1"`` divides each row by its sum, as the paper does: the more words a node has, the shorter
    its row, and a network learns little from nodes that have hundreds. ``"l2"`` gives all rows one
    length. ``"tfidf"`` multiplies each word by log(n / the number of nodes that have it), then
    divides each row by its length: words that every node has tell nothing apart. ``"standard"``
    gives each column mean 0 and deviation 1.

    Attributes
    ----------
    kind
        One of the above, or ``"none"``.
    mean, deviation
        Of the columns, for ``"standard"``, shape (f,).
    idf
        Of the columns, for ``"tfidf"``, shape (f,).
    """

    kind: ScalingKind
    mean: NDArray[np.float64] | None = None
    deviation: NDArray[np.float64] | None = None
    idf: NDArray[np.float64] | None = None

    @classmethod
    def learn(cls, features: Matrix, kind: ScalingKind) -> Scaling:
        """Measure the columns where ``kind`` needs it."""
        if kind == "tfidf":
            having = np.asarray(features.astype(np.bool_).sum(axis=0), dtype=np.float64).ravel()
            return cls(kind, idf=np.log(features.shape[0] / np.maximum(having, 1.0)))
        if kind != "standard":
            return cls(kind)
        dense = _dense(features)
        deviation = dense.std(axis=0)
        # A constant column becomes 0; rounding may have given it a deviation of 1e-17.
        deviation[np.ptp(dense, axis=0) == 0] = 1.0
        return cls(kind, dense.mean(axis=0), deviation)

    def apply(self, features: Matrix) -> Features:
        """Return the scaled features, shape (n, f), float32; sparse ones stay sparse by row."""
        if self.kind == "standard":
            assert self.mean is not None and self.deviation is not None  # as learned
            features = (_dense(features) - self.mean) / self.deviation
        elif self.kind == "l1":
            # By the sum of absolute values: for non-negative features the row sum of the paper.
            sizes = abs(features) if sp.issparse(features) else np.abs(features)
            features = _divided(features, np.asarray(sizes.sum(axis=1)))
        elif self.kind == "l2":
            features = _divided(features, _lengths(features) / LENGTH)
        elif self.kind == "tfidf":
            assert self.idf is not None  # as learned
            weighted = features * self.idf
            features = sp.csr_array(weighted) if sp.issparse(weighted) else weighted
            features = _divided(features, _lengths(features))
        if sp.issparse(features):
            rows = sp.csr_array(features)
            rows.sum_duplicates()
            return rows.astype(np.float32)
        return np.asarray(features, dtype=np.float32)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return what a file must hold."""
        measured = {"mean": self.mean, "deviation": self.deviation, "idf": self.idf}
        return {name: each for name, each in measured.items() if each is not None}

    @classmethod
    def from_arrays(cls, kind: str, arrays: Mapping[str, NDArray[Any]]) -> Scaling:
        """Undo :meth:`arrays`; a file may name kind and arrays as they were called before."""
        kind = FORMER.get(kind, cast(ScalingKind, kind))
        if kind == "tfidf":
            return cls(kind, idf=arrays["idf" if "idf" in arrays else "rarity"])
        if kind == "standard":
            return cls(kind, arrays["mean"], arrays["deviation"])
        return cls(kind)


def _divided(features: Matrix, totals: NDArray[Any]) -> Matrix:
    """Return features with each row divided by its total; rows without any stay 0."""
    totals = totals.astype(np.float64).ravel()
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    if sp.issparse(features):
        return sp.csr_array(sp.diags_array(scale) @ features)
    return features * scale[:, None]


def _lengths(features: Matrix) -> NDArray[Any]:
    return np.sqrt(np.asarray((features * features).sum(axis=1), dtype=np.float64))


def _dense(features: Matrix) -> NDArray[np.float64]:
    dense = features.toarray() if sp.issparse(features) else features
    return np.asarray(dense, dtype=np.float64)
