"""FilterBank: several filters of one graph, applied from one basis."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import check_number
from graphheat.errors import ParameterError
from graphheat.filters.filter import Filter
from graphheat.filters.spectral_graph import SpectralGraph
from graphheat.filters.wavelet_bank import WaveletBank

GRID = 10_001  # frequencies at which frame bounds are looked for


class FilterBank:
    """f_1(L), …, f_k(L): T_j(S)X is computed once, and added up for each.

    Parameters
    ----------
    graph, tol, options
        As :class:`~graphheat.GraphFilter` takes them.
    filters
        A wavelet bank (``filters.mexican_hat(5)``, ``filters.hammond(5)``), or several filters.

    Examples
    --------
    >>> import numpy as np
    >>> from graphheat import FilterBank, filters
    >>> ring = np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0)
    >>> bank = FilterBank(ring, filters.mexican_hat(3), tol=1e-8)
    >>> bank.apply(np.eye(8)[:, 0]).shape  # a low pass and three wavelets
    (4, 8)
    """

    def __init__(self, graph: Any, filters: Any, *, tol: float = 1e-6, **options: Any) -> None:
        tol = check_number(tol, "tol", "FilterBank", 0.0, 1.0, left="open", right="open")
        self._set(SpectralGraph(graph, **options), filters, tol)

    @classmethod
    def on(cls, place: SpectralGraph, filters: Any, tol: float) -> FilterBank:
        """Return a bank on a graph that is set up already."""
        bank = cls.__new__(cls)
        bank._set(place, filters, tol)
        return bank

    def _set(self, place: SpectralGraph, filters: Any, tol: float) -> None:
        from graphheat.filters.graph_filter import series_of
        from graphheat.filters.responses import custom

        self._place, self.tol = place, tol
        if isinstance(filters, WaveletBank):
            filters = filters.filters(place.operand.lmax)
        if not isinstance(filters, Iterable):
            raise ParameterError(f"A filter bank is several filters. Got {filters!r} instead.")
        self.filters = [f if isinstance(f, Filter) else custom(f) for f in filters]
        if not self.filters:
            raise ParameterError("A filter bank needs at least one filter.")
        self._series = [series_of(each, place.operand, tol) for each in self.filters]

    def __len__(self) -> int:
        return len(self.filters)

    def __repr__(self) -> str:
        return (
            f"FilterBank(n={self._place.n}, filters={len(self)}, order={self.order}, "
            f"tol={self.tol:g}, bound={self.bound!r})"
        )

    @property
    def lmax(self) -> float:
        """A bound of the largest eigenvalue of L."""
        return self._place.operand.lmax

    @property
    def order(self) -> int:
        """The largest order: sparse products per column, for all filters together."""
        return max(each.order for each in self._series)

    @property
    def error_bound(self) -> float:
        """The largest of the filters' bounds."""
        return max(each.error_bound for each in self._series)

    @property
    def bound(self) -> Literal["proven", "measured"]:
        """Whether all of the bounds are proven."""
        from graphheat.filters.graph_filter import is_proven

        return "proven" if all(is_proven(each) for each in self._series) else "measured"

    def apply(self, X: Any) -> NDArray[Any]:
        """Return f_1(L)X, …, f_k(L)X, shape (k, n) or (k, n, c)."""
        found = self._place.products(X, self._series)
        return found if isinstance(found, np.ndarray) else np.stack(found)

    def __call__(self, X: Any) -> NDArray[Any]:
        """Return :meth:`apply`'s result."""
        return self.apply(X)

    def __matmul__(self, X: Any) -> NDArray[Any]:
        return self.apply(X)

    def adjoint(self, Y: Any) -> NDArray[Any]:
        """Return Σ_i f_i(L)ᵀ Y_i for Y of shape (k, n) or (k, n, c)."""
        given = np.asarray(Y)
        if given.ndim not in (2, 3) or len(given) != len(self):
            raise ParameterError(
                f"Y must have shape ({len(self)}, {self._place.n}) or one more axis; got "
                f"{given.shape}."
            )
        parts = (
            self._place.products(each, [series], transposed=True)[0]
            for each, series in zip(given, self._series, strict=True)
        )
        return np.asarray(sum(parts))

    def frame_bounds(self) -> tuple[float, float]:
        """Return the least and largest Σ_i f_i(λ)² on a grid of [0, lmax]: measured."""
        grid = np.linspace(0, self.lmax, GRID)
        energy = np.sum([each(grid) ** 2 for each in self.filters], axis=0)
        return float(energy.min()), float(energy.max())
