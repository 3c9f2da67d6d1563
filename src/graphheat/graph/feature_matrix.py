"""Node features: one row per node, single precision, finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph.sparse_structure import check_structure

Features = NDArray[np.float32] | sp.csr_array


def check_features(features: Any, n: int) -> Features | None:
    """Return a canonical float32 copy, or raise with the rule that ``features`` break.

    A matrix without columns is None.
    """
    if features is None:
        return None
    given: Any = check_structure(features, "features") if sp.issparse(features) else dense(features)
    if given.dtype.kind not in "biuf":
        raise GraphError(f"features must be real numbers; got {given.dtype}.")
    sparse, matrix = bool(sp.issparse(given)), given
    with np.errstate(over="ignore"):  # an overflow to inf is reported below
        if sparse:
            matrix = sp.csr_array(given, dtype=np.float32, copy=True)
            matrix.sum_duplicates()
        else:
            matrix = np.array(given, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != n:
        raise GraphError(
            f"features must be a matrix with one row per node; got shape {matrix.shape} "
            f"for {n} nodes."
        )
    if matrix.shape[1] == 0:
        return None
    bad = ~np.isfinite(matrix.data if sparse else matrix)
    if bad.any():
        if sparse:
            at = int(np.argmax(bad))
            row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
            column = int(matrix.indices[at])
        else:
            row, column = (int(k) for k in np.argwhere(bad)[0])
        raise GraphError(
            f"features must be finite (no NaN, no infinity); {int(bad.sum()):,} are not "
            f"(first at row {row}, column {column})."
        )
    return cast(Features, matrix)


def dense(values: Any, what: str = "features") -> NDArray[Any]:
    """Return ``values`` as an array, or raise where their rows are not of one length."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise GraphError(f"{what} must be a matrix with rows of one length: {error}.") from None


def check_feature_names(
    names: Sequence[str] | None, features: Features | None
) -> tuple[str, ...] | None:
    """Return one distinct name per column of ``features``, or raise with the rule they break."""
    if names is None or features is None:
        return None
    named = tuple(str(name) for name in names)
    if len(named) != features.shape[1]:
        raise GraphError(
            f"feature_names must be one per feature; got {len(named):,} for "
            f"{features.shape[1]:,} features."
        )
    if len(set(named)) != len(named):
        seen: set[str] = set()
        twice = next(name for name in named if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise GraphError(f"feature_names must be distinct; {twice!r} appears more than once.")
    return named
