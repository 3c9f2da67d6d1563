"""A proven bound of the largest eigenvalue of D − A and of D + A, from a few products.

Q = D + A has no negative entry, and |D − A| = Q entry by entry, so that Q's largest eigenvalue is
also the larger one. For any positive x it is at most max_i (Qx)_i / x_i (Collatz and Wielandt);
x = 1 gives twice the largest degree, x = D1 the bound of Merris, and x ← Qx never makes it worse.

References
----------
R. Merris: A note on Laplacian graph eigenvalues, Linear Algebra and its Applications 1998.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError

ENOUGH = 0.01  # relative gain of a product below which there is no other
FLOOR = 1e-250  # keeps x positive: any positive x is right


def largest_eigenvalue(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    n: int,
    longest_row: int,
    *,
    products: int = 32,
) -> float:
    """Return a number that no eigenvalue of a non-negative symmetric Q exceeds; 1 where Q is 0.

    Parameters
    ----------
    product
        x ↦ Qx, shape (n,).
    longest_row
        Entries of a row of Q at most, for rounding.
    products
        How many at most.

    Examples
    --------
    >>> star = np.diag([3.0, 1.0, 1.0, 1.0])  # D + A of a star, whose largest eigenvalue is 4
    >>> star[0, 1:] = star[1:, 0] = 1.0
    >>> round(largest_eigenvalue(lambda x: star @ x, 4, 4), 2)
    4.0
    """
    x, best = np.ones(n), np.inf
    for _ in range(products):
        with np.errstate(over="ignore"):
            image = product(x)
        bound = float((image / x).max(initial=0.0))
        if not np.isfinite(bound):
            raise GraphError("Edge weights are too large for this Laplacian. Scale them down.")
        if bound == 0:
            return 1.0
        done = bound > (1 - ENOUGH) * best
        best = min(best, bound)
        if done:
            break
        x = np.maximum(image / image.max(), FLOOR)
    return best * (1 + 2.0**-52 * (longest_row + 8))
