"""What every measure of confidence asks of its input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import check_indices
from graphheat.errors import ParameterError


def check_probabilities(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return probabilities as float64, shape (n, c), or raise."""
    try:
        p = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        p = np.empty(0)
    if p.ndim != 2 or not p.shape[1] or not np.isfinite(p).all() or (p < 0).any():
        raise ParameterError(
            "The 'probabilities' must be finite and non-negative, shape (n, c). "
            f"Got shape {np.shape(probabilities)} instead."
        )
    return p


def check_labelled(
    labels: ArrayLike, nodes: ArrayLike, shape: tuple[int, ...], owner: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row numbers and their class codes, both of shape (m,), m ≥ 1, or raise.

    Parameters
    ----------
    shape
        (n, c) of the probabilities.
    """
    n, c = shape
    codes: NDArray[Any] = np.asarray(labels)
    if codes.shape != (n,):
        raise ParameterError(
            f"The 'labels' of {owner} must be one per row; got {codes.shape} for {n} rows."
        )
    rows = check_indices(nodes, n, owner)
    if not len(rows):
        raise ParameterError(f"{owner} needs at least one labelled node that did not train.")
    known = codes[rows]
    if known.dtype.kind not in "iuf" or not ((known >= 0) & (known < c)).all():
        raise ParameterError(f"{owner} needs nodes whose labels are known.")
    return rows, known.astype(np.int64)
