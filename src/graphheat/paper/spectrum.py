"""The spectrum of a graph, and how much of each frequency the filters of the models let pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.heat import laplacian

MAX_NODES = 20_000  # a dense matrix of more would take over 3 GB


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of L, ascending, shape (n,), and its eigenvectors as columns, shape (n, n)."""

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]


def decompose(graph: Graph) -> Spectrum:
    """Return L = UΛUᵀ, densely, in float64: O(n³) time, O(n²) memory, deterministic."""
    values, vectors = np.linalg.eigh(_dense(graph, 0.0))
    return Spectrum(np.clip(values, 0.0, 2.0), vectors)  # rounding alone leaves [0, 2]


def eigenvalues(graph: Graph, *, self_loops: float = 0.0) -> NDArray[np.float64]:
    """Return the eigenvalues of L, ascending, shape (n,).

    With ``self_loops=1`` they are those of the renormalised operator of GCN, I − D̃^{-1/2}(A + I)
    D̃^{-1/2}: another matrix with eigenvectors of its own.

    Examples
    --------
    >>> pair = Graph.from_scipy(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> eigenvalues(pair).round(6).tolist(), eigenvalues(pair, self_loops=1).round(6).tolist()
    ([0.0, 2.0], [0.0, 1.0])
    """
    return np.clip(np.linalg.eigvalsh(_dense(graph, self_loops)), 0.0, 2.0)


def responses(
    values: NDArray[np.float64],
    renormalised: NDArray[np.float64],
    s: float,
    *,
    learned: ArrayLike | None = None,
    orders: int = 3,
) -> pd.DataFrame:
    """Return what each filter multiplies the basic filters by, one row per eigenvalue.

    Parameters
    ----------
    values, renormalised
        Eigenvalues of L and of GCN's renormalised operator, ascending, shape (n,).
    s
        Diffusion time of GraphHeat.
    learned
        The diagonal of a fitted Spectral CNN, in the order of ``values``, shape (n,); without it
        the uniform filter that such a network starts from.
    orders
        How many powers L⁰, L¹, … of ChebyNet (Eq. 4) to give.

    Returns
    -------
    DataFrame
        ``eigenvalue``, ``spectral_cnn`` (Eq. 2), ``chebynet_k`` (Eq. 4), ``gcn`` (Eq. 5),
        ``graphheat`` (Eq. 11), ``layer_half`` and ``layer_high`` (Eq. 14 with θ = ½, ½ and 1, −1);
        ``renormalised_eigenvalue`` and ``gcn_renormalised``, which belong to each other and not to
        ``eigenvalue``.
    """
    weights = np.ones_like(values) if learned is None else np.asarray(learned, dtype=np.float64)
    if weights.shape != values.shape:
        raise ParameterError(
            f"The 'learned' parameter of responses must have one weight per eigenvalue, "
            f"{values.shape}. Got {weights.shape} instead."
        )
    heat = np.exp(-s * values)
    columns: dict[str, Any] = {"eigenvalue": values, "spectral_cnn": weights}
    for k in range(orders):
        columns[f"chebynet_{k}"] = values**k
    columns["gcn"] = 1.0 - values
    columns["graphheat"] = heat
    columns["layer_half"] = 0.5 + 0.5 * heat
    columns["layer_high"] = 1.0 - heat
    columns["renormalised_eigenvalue"] = renormalised
    columns["gcn_renormalised"] = 1.0 - renormalised
    return pd.DataFrame(columns)


def _dense(graph: Graph, self_loops: float) -> NDArray[np.float64]:
    if graph.n > MAX_NODES:
        raise ParameterError(
            f"A whole spectrum is computed densely, for at most {MAX_NODES:,} nodes; "
            f"{graph.name} has {graph.n:,}."
        )
    dense: NDArray[np.float64] = laplacian(graph.adjacency, self_loops=self_loops).toarray()
    return dense
