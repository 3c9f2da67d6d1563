"""The scipy way: the Chebyshev recurrence on blocks of columns that stay in cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat.chebyshev import Expansion

WIDTH = 32


def diffuse(
    S: sp.csr_array,
    block: NDArray[np.floating[Any]],
    expansions: Sequence[Expansion],
    rows: NDArray[np.int64] | None = None,
) -> list[NDArray[np.floating[Any]]]:
    """Return e^{-sL} ``block`` for each expansion, all from one basis T_k(S) ``block``.

    Parameters
    ----------
    S
        I − L in the precision of the recurrence, shape (n, n).
    block
        Columns to diffuse, shape (n, b), same precision.
    rows
        The rows of the results that are wanted; None: all.

    Notes
    -----
    Costs max(order) sparse products and three arrays of shape (n, b) beside the results.
    Deterministic.
    """
    wanted = block if rows is None else block[rows]
    results = [wanted * e.coefficients.astype(block.dtype)[0] for e in expansions]
    order = max(e.order for e in expansions)
    if order == 0:
        return results
    before, now = block, S @ block
    scratch = np.empty_like(wanted)
    for k in range(1, order + 1):
        if k > 1:
            after = S @ now
            after *= 2
            after -= before
            before, now = now, after
        wanted = now if rows is None else now[rows]
        for result, expansion in zip(results, expansions, strict=True):
            if k <= expansion.order:
                np.multiply(wanted, block.dtype.type(expansion.coefficients[k]), out=scratch)
                result += scratch
    return results


def unit_columns(n: int, indices: NDArray[np.int64], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the columns ``indices`` of the identity, shape (n, len(indices))."""
    block = np.zeros((n, len(indices)), dtype=dtype)
    block[indices, np.arange(len(indices))] = 1
    return block
