"""HeatRegressor: a number for every node, with an interval, by heat-kernel kriging."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from graphheat.checks import check_number, check_s
from graphheat.errors import GraphError, ParameterError
from graphheat.estimators.transductive import same_features
from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph
from graphheat.io import from_arrays
from graphheat.linear.kriging import (
    NOISES,
    TIMES,
    WEIGHTS,
    Covariance,
    Inputs,
    Kriging,
    choose_covariance,
    krige,
)

Array = NDArray[np.float64]


class HeatRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Predict a number at every node of a graph from those that are known, and how far to trust it.

    A Gaussian process (kriging) whose covariance is the heat that two nodes share, e^{-sL}, and
    where there are features also that of a linear model on diffused ones; see
    :mod:`graphheat.linear.kriging`.

    Parameters
    ----------
    s
        Diffusion time; ``"auto"``: 0.5 to 50, by the likelihood of the known values.
    feature_weight
        Share of the variance that features explain, in [0, 1]; ``"auto"``: by the likelihood. 0
        leaves them out.
    noise
        Variance that a value shares with no other, in units of the signal's; ``"auto"``: by the
        likelihood.
    neighbors
        Neighbours in the graph that is made of X when no adjacency is given.
    threads
        For the heat; default: all.

    Attributes
    ----------
    s_, feature_weight_, noise_, signal_
        What was chosen, and the variances of noise and signal in the values' units.
    labelled_
        Row numbers of the known values, shape (m,).
    predictions_, deviations_
        Of a value that would be seen at each node, shape (n,).
    left_out_
        What the other known values say of each, shape (m,): an honest comparison.
    graph_
        The graph that was learned on.

    Notes
    -----
    Deviations and intervals are scaled so that they fit the known values as predicted from the
    others (leave-one-out), which is honest as far as the other nodes are like these. *Accuracy*,
    *cost*: see :func:`graphheat.linear.kriging.krige`. *Deterministic*: yes. *Isolated nodes*: get
    the mean of the known values, or what their features say.

    Examples
    --------
    >>> import graphheat, numpy as np
    >>> graph = graphheat.datasets.block_model(300, 3, homophily=0.9, seed=0)
    >>> truth = np.array([10.0, 20.0, 40.0])[graph.labels]
    >>> y = np.where(np.arange(300) % 5 == 0, truth, np.nan)  # NaN: not known
    >>> model = HeatRegressor().fit(graph, y)
    >>> mean, deviation = model.predict(return_std=True)
    >>> bool(np.abs(mean - truth).mean() < 3)
    True
    >>> interval = model.predict_interval(alpha=0.1)
    >>> inside = (interval[:, 0] <= truth) & (truth <= interval[:, 1])
    >>> interval.shape, bool(inside.mean() > 0.85)
    ((300, 2), True)
    """

    def __init__(
        self,
        *,
        s: float | Literal["auto"] = "auto",
        feature_weight: float | Literal["auto"] = "auto",
        noise: float | Literal["auto"] = "auto",
        neighbors: int = 10,
        threads: int | None = None,
    ) -> None:
        self.s = s
        self.feature_weight = feature_weight
        self.noise = noise
        self.neighbors = neighbors
        self.threads = threads

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None) -> Self:
        """Learn from the known values.

        Parameters
        ----------
        X
            A Graph; or features, shape (n, f), dense or sparse; or None with an ``adjacency``.
        y
            Values, shape (n,); NaN and None mean unknown. May be left out with a graph whose
            classes are numbers: the values are then those of its training nodes.
        adjacency
            Symmetric, shape (n, n); None: the edges of a Graph, or the nearest neighbours of X.
        """
        times, weights, noises = self._grids()
        graph = self._graph_from(X, adjacency)
        values = self._values(graph, y)
        known = np.flatnonzero(~np.isnan(values))
        if len(known) < 2:
            raise GraphError(
                f"HeatRegressor needs at least two known values; got {len(known)} sample"
                f"{'s' if len(known) != 1 else ''}."
            )
        has_features = graph.features is not None and graph.features.shape[1] > 0
        self._scaling: Scaling | None = None
        if has_features and weights != (0.0,):
            assert graph.features is not None
            self._scaling = Scaling.learn(graph.features, suitable_scaling(graph))
        with threadpool_limits(1, user_api="blas"):
            inputs = Inputs(graph, known, self._scaling, self.threads)
            self._covariance: Covariance = choose_covariance(
                inputs, values[known], times, weights if self._scaling else (0.0,), noises
            )
            found = krige(inputs, values[known], self._covariance)
        self.graph_, self.labelled_ = graph, known
        self._known_values = values[known]
        self._has_own_adjacency = isinstance(X, Graph) or adjacency is not None
        self._take(found)
        return self

    def predict(
        self, X: Any = None, return_std: bool = False
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Return the predicted values, shape (n,), and with ``return_std`` their deviations.

        Parameters
        ----------
        X
            None, the fitted graph or the fitted X: the fitted nodes. Where the graph was made of
            nearest neighbours also other rows, which are joined to the nearest of all.
        return_std
            Also return the standard deviation of a value that would be seen, noise included.
        """
        mean, deviation = self._predicted(X)
        return (mean, deviation) if return_std else mean

    def predict_interval(self, alpha: float = 0.1, X: Any = None) -> NDArray[Any]:
        """Return for each node an interval that holds its value 1 − alpha of the time.

        Parameters
        ----------
        alpha
            Share of intervals that may miss, in (0, 1).
        X
            As for :meth:`predict`.

        Returns
        -------
        ndarray
            Lower and upper ends, shape (n, 2).

        Notes
        -----
        Means ± q deviations; q is the ⌈(1 − alpha)(m + 1)⌉-th smallest of what the m known values
        are off their leave-one-out predictions by, in deviations, as in split conformal prediction;
        where m is too small for it, at least Student's quantile.
        """
        alpha = check_number(
            alpha, "alpha", "predict_interval", 0.0, 1.0, left="open", right="open"
        )
        mean, deviation = self._predicted(X)
        errors = np.sort(np.abs(self._errors))
        rank = math.ceil((1 - alpha) * (len(errors) + 1))
        if rank <= len(errors):
            reach = float(errors[rank - 1])
        else:
            reach = max(errors[-1], float(stats.t.ppf(1 - alpha / 2, len(errors) - 1)))
        return np.column_stack([mean - reach * deviation, mean + reach * deviation])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² on the values in ``y`` that are known; X as for :meth:`predict`."""
        truth = _numbers(y)
        seen = ~np.isnan(truth)
        if not seen.any():
            raise GraphError("score needs known values; y holds none.")
        from sklearn.metrics import r2_score

        weights = None if sample_weight is None else np.asarray(sample_weight)[seen]
        mean, _ = self._predicted(X)
        return float(r2_score(truth[seen], mean[seen], sample_weight=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------ inside

    def _take(self, found: Kriging) -> None:
        self.s_, self.feature_weight_, noise = found.covariance
        self.signal_, self.noise_ = found.signal, found.signal * noise
        self.left_out_ = found.left_out
        spread = np.where(found.left_out_deviation > 0, found.left_out_deviation, 1.0)
        errors = (self._known_values - found.left_out) / spread
        self._scale = float(np.sqrt((errors**2).mean()))
        self._errors: Array = errors / (self._scale or 1.0)
        self.predictions_: Array = found.mean
        self.deviations_: Array = found.deviation * self._scale

    def _grids(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        owner = "HeatRegressor"
        times, weights, noises = TIMES, WEIGHTS, NOISES
        if self.s != "auto":
            times = (check_s(self.s, owner),)
        if self.feature_weight != "auto":
            weights = (check_number(self.feature_weight, "feature_weight", owner, 0.0, 1.0),)
        if self.noise != "auto":
            noises = (check_number(self.noise, "noise", owner, 0.0, math.inf, left="open"),)
        return times, weights, noises

    def _graph_from(self, X: Any, adjacency: Any) -> Graph:
        if isinstance(X, Graph):
            if adjacency is not None:
                raise ParameterError("fit takes a Graph or an adjacency; got both.")
            return X
        if X is not None:
            X = self._check_features(X, reset=True)
        return from_arrays(X, None, adjacency=adjacency, neighbors=self.neighbors)

    def _values(self, graph: Graph, y: Any) -> Array:
        if y is None:
            if not graph.classes or not all(_is_number(name) for name in graph.classes):
                raise ParameterError(
                    "HeatRegressor requires y to be passed, but the target y is None."
                )
            train = graph.training_nodes
            values = np.full(graph.n, np.nan)
            values[train] = np.array(graph.classes, dtype=np.float64)[graph.labels[train]]
            return values
        values = _numbers(y)
        if len(values) != graph.n:
            raise GraphError(
                f"y must hold one value per node; got {len(values):,} for {graph.n:,} nodes."
            )
        return values

    def _predicted(self, X: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        if X is None:
            return self.predictions_, self.deviations_
        if isinstance(X, Graph):
            if X is self.graph_ or X.fingerprint == self.graph_.fingerprint:
                return self.predictions_, self.deviations_
            raise ParameterError(
                "HeatRegressor predicts the nodes it was fitted on. "
                "Fit it again on a graph that holds the new ones."
            )
        X = self._check_features(X, reset=False)
        if same_features(X, self.graph_.features):
            return self.predictions_, self.deviations_
        if self._has_own_adjacency:
            raise ParameterError(
                "This X is not known to be the fitted one, and its edges are not known. "
                "Call predict() for the fitted nodes, or fit on a graph that holds the new ones."
            )
        return self._predicted_rows(X)

    def _predicted_rows(self, X: Any) -> tuple[Array, Array]:
        """Return means and deviations of rows, of which those that were fitted are known."""
        fitted: Any = self.graph_.features
        X = _as_array(X) if isinstance(fitted, np.ndarray) else sp.csr_array(X)
        place = {key: index for index, key in reversed(list(enumerate(_row_keys(fitted))))}
        found = np.array([place.get(key, -1) for key in _row_keys(X)])
        mean, deviation = self.predictions_[found], self.deviations_[found]
        new = np.flatnonzero(found < 0)
        if len(new):
            rows = X[new]
            join: Any = sp.vstack if sp.issparse(fitted) else np.vstack
            both = join([fitted, rows])
            graph = from_arrays(both, None, neighbors=self.neighbors)
            with threadpool_limits(1, user_api="blas"):
                inputs = Inputs(graph, self.labelled_, self._scaling, self.threads)
                grown = krige(inputs, self._known_values, self._covariance)
            mean[new] = grown.mean[self.graph_.n :]
            deviation[new] = grown.deviation[self.graph_.n :] * self._scale
        return mean, deviation

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float32, np.float64], reset=reset
        )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(y: Any) -> Array:
    """Return values as floats, shape (n,), NaN where unknown."""
    given = np.asarray(y)
    if given.dtype.kind in "OUS":
        try:
            given = np.array([np.nan if each is None else float(each) for each in given.tolist()])
        except (TypeError, ValueError):
            example = next((each for each in given.ravel().tolist() if isinstance(each, str)), None)
            raise GraphError(
                f"HeatRegressor predicts numbers; y holds {example!r}. For classes use "
                "HeatLabelSpreading or GraphHeatClassifier."
            ) from None
    values: Array = np.asarray(column_or_1d(given, warn=True), dtype=np.float64)
    if np.isinf(values).any():
        raise GraphError("Input y contains infinity or a value too large for dtype('float64').")
    return values


def _as_array(X: Any) -> NDArray[Any]:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _row_keys(X: Any) -> list[bytes]:
    """Return what tells rows apart, as float32 has them."""
    is_sparse: bool = sp.issparse(X)
    if is_sparse:
        rows = sp.csr_array(X, dtype=np.float32, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends = rows.indptr
        return [
            rows.indices[a:b].astype(np.int64).tobytes() + rows.data[a:b].tobytes()
            for a, b in pairwise(ends)
        ]
    return [row.tobytes() for row in np.asarray(X, dtype=np.float32) + np.float32(0)]
