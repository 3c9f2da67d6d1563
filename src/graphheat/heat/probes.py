"""What float32 costs on this very graph, measured on a few columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.heat import blocks
from graphheat.heat.chebyshev import Expansion

MARGIN = 3.0


def signal_error(
    S: sp.csr_array, single: sp.csr_array, root_degrees: NDArray[np.float64], expansion: Expansion
) -> float:
    """Return MARGIN × the largest relative error, in norm, on signals that rounding likes least.

    Smooth, positive signals are the worst: every sum over a row is rounded the same way. The
    square roots of the degrees are the smoothest of all (L maps them to 0).
    """
    n = S.shape[0]
    random = np.random.default_rng(0)
    smooth = root_degrees / max(float(root_degrees.max()), 1e-300) + 1e-30
    block = np.column_stack(
        [np.ones(n), smooth, random.random((n, 2)), random.standard_normal((n, 2))]
    ).astype(np.float32)
    error = _float32_error(S, single, block, expansion)
    norms = np.linalg.norm(block.astype(np.float64), axis=0)
    return MARGIN * float((np.linalg.norm(error, axis=0) / norms).max())


def entry_error(S: sp.csr_array, single: sp.csr_array, expansion: Expansion) -> float:
    """Return MARGIN × the largest error of an entry in the columns of 32 nodes.

    Half of them have the longest rows, half lie evenly over the graph.
    """
    n = S.shape[0]
    longest = np.argsort(-np.diff(S.indptr), kind="stable")[:16]
    even = np.linspace(0, n - 1, min(n, 16)).astype(np.int64)
    chosen = np.union1d(longest, even).astype(np.int64)
    block = blocks.unit_columns(n, chosen, np.dtype(np.float32))
    return MARGIN * float(np.abs(_float32_error(S, single, block, expansion)).max())


def _float32_error(
    S: sp.csr_array, single: sp.csr_array, block: NDArray[np.float32], expansion: Expansion
) -> NDArray[Any]:
    double = replace(expansion, dtype=np.dtype(np.float64))
    exact = blocks.diffuse(S, block.astype(np.float64), [double])[0]
    return blocks.diffuse(single, block, [expansion])[0] - exact
