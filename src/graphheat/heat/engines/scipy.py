"""The scipy engine: the Chebyshev recurrence on blocks of columns that stay in cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.strips import WIDTH
from graphheat.heat.operand import Operand
from graphheat.heat.series import ChebyshevSeries


class ScipyEngine(ColumnEngine):
    """Products of scipy's CSR matrices with blocks of 32 columns. Nothing to compile or to load."""

    name = "scipy"
    width = WIDTH

    def apply(
        self,
        operand: Operand,
        block: NDArray[Any],
        series: Sequence[ChebyshevSeries],
        *,
        rows: NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> list[NDArray[Any]]:
        """Return f(S) ``block`` for each f, all from one basis T_k(S) ``block``.

        Notes
        -----
        *Accuracy*: as the series says. *Cost*: max(order) sparse products per column, and three
        arrays of shape (n, b) beside the results; one thread. *Deterministic*: yes. *Isolated
        nodes*: as S has them.
        """
        S = operand.matrix_in(block.dtype)
        wanted = block if rows is None else block[rows]
        results = [wanted * each.coefficients.astype(block.dtype)[0] for each in series]
        order = max(each.order for each in series)
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
            for result, each in zip(results, series, strict=True):
                if k <= each.order:
                    np.multiply(wanted, block.dtype.type(each.coefficients[k]), out=scratch)
                    result += scratch
        return results
