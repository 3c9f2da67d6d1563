"""What may be diffused: checked, and brought into columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError, ParameterError
from graphheat.graph.sparse_structure import check_structure

LARGEST = 1e302  # beyond, the terms of a series on a large graph might overflow float64


def as_columns(X: Any, n: int) -> tuple[Any, tuple[int, ...]]:
    """Return X as (n, c), dense or CSC, and the shape that the caller expects back."""
    try:
        given: Any = X if sp.issparse(X) else np.asarray(X)
        if sp.issparse(X) and given.dtype.kind in "biuf" and given.ndim == 2:
            given = check_structure(given, "X")
    except (GraphError, ValueError, TypeError) as error:
        raise ParameterError(f"X must be a vector or a matrix: {str(error).rstrip('.')}.") from None
    if given.dtype.kind not in "biuf":
        raise ParameterError(f"X must hold real numbers; got {given.dtype}.")
    shape = given.shape
    if len(shape) not in (1, 2) or shape[0] != n:
        raise ParameterError(f"X must have shape ({n},) or ({n}, c); got {shape}.")
    columns: Any = given.reshape(n, 1) if len(shape) == 1 else given
    if sp.issparse(X):
        columns = sp.csc_array(columns)
    values = columns.data if sp.issparse(X) else columns
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if not math.isfinite(largest):  # NaN is larger than anything here
        raise ParameterError("X must be finite; it holds NaN or infinity.")
    if largest > LARGEST:
        raise ParameterError(f"X must be within ±{LARGEST:g}; got {largest:g}. Scale it down.")
    return columns, shape


def dense(columns: Any, dtype: np.dtype[Any] | type) -> NDArray[Any]:
    """Return columns as a dense, C-contiguous array of ``dtype``."""
    values = columns.toarray() if hasattr(columns, "toarray") else columns
    return np.ascontiguousarray(values, dtype=dtype)
