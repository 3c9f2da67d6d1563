"""Kriging by heat: a number for every node, with its variance, from the nodes that have one.

Values are a Gaussian process over the nodes. Its covariance is the heat that two nodes share,
H = e^{-sL} of the graph with self-loops, as a correlation; beside it, where there are features,
their inner products after diffusion (a linear model of them), and an unknown mean:

    cov(y_v, y_w) = a ((1 − θ) H_vw / √(H_vv H_ww) + θ z_v·z_w / z̄² + c) + a λ [v = w].

As a correlation, heat does not make the values of hubs vary more than those of others; z are
diffused features less their mean over the known nodes, and z̄² is their mean square there. s, θ and
λ are those that make the known values most likely, and a is then known in closed form; so is what
the others say of each known value, the measure of how far the model is to be believed.

References
----------
C. Rasmussen, C. Williams: Gaussian Processes for Machine Learning, MIT Press 2006 (Eq. 2.30, the
marginal likelihood; Eq. 5.12, leave-one-out).
R. Kondor, J. Lafferty: Diffusion Kernels on Graphs and Other Discrete Input Spaces, ICML 2002.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular

from graphheat.errors import KernelMemoryError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF
from graphheat.linear.diffusion import SELF_LOOPS, Diffusion
from graphheat.memory import available_memory

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

TIMES: tuple[float, ...] = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
WEIGHTS: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)  # θ
NOISES = tuple(10.0 ** np.arange(-3.0, 2.1, 0.25))  # λ
MEAN = 100.0  # c, the variance of the unknown mean: more than any value's
TOL = 1e-7
CHOOSING = 512  # known values that s, θ and λ are chosen by, at most
STRIP = 64  # columns that are diffused at once
EXACT = 4096  # columns up to which variances are exact, and …
PROBES = 1024  # … random ones that estimate them, to about 4 %
SEED = 0


class Covariance(NamedTuple):
    """What the covariance of values is made of.

    Attributes
    ----------
    s
        Diffusion time.
    feature_weight
        θ, the share of the features' inner products.
    noise
        λ, the variance that a value does not share with any other, in units of the signal's.
    """

    s: float
    feature_weight: float
    noise: float


@dataclass(frozen=True, eq=False)
class Kriging:
    """Means and deviations of the values of all nodes.

    Attributes
    ----------
    mean, deviation
        Of a value that would be seen at each node, its noise included, shape (n,).
    left_out, left_out_deviation
        What the other known values say of each, shape (m,).
    signal
        a, the variance of the signal.
    covariance
        s, θ and λ.
    """

    mean: Array
    deviation: Array
    left_out: Array
    left_out_deviation: Array
    signal: float
    covariance: Covariance


class Inputs:
    """A graph and its known nodes, as the covariance sees them.

    Parameters
    ----------
    known
        Row numbers of the nodes whose values are known, shape (m,).
    scaling
        Of the features; None: they play no part.
    """

    def __init__(
        self, graph: Graph, known: Indices, scaling: Scaling | None, threads: int | None = None
    ) -> None:
        self.graph, self.known, self.threads = graph, known, threads
        self.diffusion = None if scaling is None else Diffusion(graph, scaling, threads=threads)

    def kernel(self, s: float) -> HeatKernel:
        """Return e^{-sL} of the graph with self-loops."""
        return HeatKernel(
            self.graph, s, tol=TOL, self_loops=SELF_LOOPS, engine=ONE_OFF, threads=self.threads
        )

    def correlations(self, nodes: Indices, times: tuple[float, ...]) -> Iterator[Array]:
        """Yield, for each time, the correlations by heat among ``nodes``, shape (k, k)."""
        heat = np.empty((len(times), len(nodes), len(nodes)))
        kernel = self.kernel(0.0)
        for strip in _strips(len(nodes)):
            units = np.zeros((self.graph.n, strip.stop - strip.start))
            units[nodes[strip], np.arange(strip.stop - strip.start)] = 1.0
            heat[:, :, strip] = kernel.sweep(units, times, rows=nodes)
        for each in heat:
            own = np.sqrt(np.maximum(np.diagonal(each), TOL))
            yield (each + each.T) / (2 * own * own[:, None])

    def inner_products(self, nodes: Indices, times: tuple[float, ...]) -> Iterator[Array | None]:
        """Yield, for each time, those of the features of ``nodes``; None where all are alike."""
        if self.diffusion is None:
            yield from (None for _ in times)
            return
        one = len(times) == 1  # to full accuracy
        path = self.diffusion.path(nodes, np.array(times))
        for each in [self.diffusion.rows(nodes, times[0])] if one else path:
            rows = np.asarray(each, dtype=np.float64)
            rows = rows - rows.mean(axis=0)
            gram = rows @ rows.T
            square = float(np.trace(gram)) / len(nodes)
            yield gram / square if square > self.diffusion.noise(TOL) ** 2 else None


def choose_covariance(
    inputs: Inputs,
    values: Array,
    times: tuple[float, ...] = TIMES,
    weights: tuple[float, ...] = WEIGHTS,
    noises: tuple[float, ...] = NOISES,
) -> Covariance:
    """Return s, θ and λ of the largest marginal likelihood of the known values, shape (m,).

    Notes
    -----
    *Cost*: one column of e^{-sL} per known value for all s together, and an eigendecomposition for
    each s and θ, which serves every λ. Of more than 512 values as many are drawn. *Deterministic*:
    yes.
    """
    if len(times) == len(weights) == len(noises) == 1:
        return Covariance(times[0], weights[0], noises[0])
    m, chosen = len(values), np.arange(len(values))
    if m > CHOOSING:
        chosen = np.sort(np.random.default_rng(SEED).choice(m, CHOOSING, replace=False))
    nodes, target = inputs.known[chosen], values[chosen] - values[chosen].mean()
    best, most = Covariance(times[0], 0.0, noises[0]), -math.inf
    grams = inputs.inner_products(nodes, times)
    for s, heat, gram in zip(times, inputs.correlations(nodes, times), grams, strict=True):
        for weight in weights:
            if gram is None and weight != weights[0]:
                continue
            shared = _mixed(heat, gram, weight)
            values_of, vectors = eigh(shared + MEAN)
            values_of = np.maximum(values_of, 0.0)
            squares = (vectors.T @ target) ** 2
            for noise in noises:
                signal = max(float((squares / (values_of + noise)).mean()), np.finfo(float).tiny)
                spread = float(np.log(values_of + noise).mean())
                likelihood = -(math.log(signal) + spread)
                if likelihood > most:
                    best, most = Covariance(s, 0.0 if gram is None else weight, noise), likelihood
    return best


def krige(inputs: Inputs, values: Array, covariance: Covariance) -> Kriging:
    """Return means and deviations of all nodes, and of each known one from the others.

    Parameters
    ----------
    values
        Of the known nodes, shape (m,).

    Notes
    -----
    *Accuracy*: heat to 1e-7. Variances are exact up to 4,096 nodes (and as many features); above,
    those that the graph alone would give are estimated from 1,024 random signals, to about 4 %.
    *Cost*: m + 4,096 columns of e^{-sL} at most, and memory for m × m numbers. *Deterministic*:
    yes. *Isolated nodes*: get the mean of the known values, and the largest deviation.
    """
    known, m = inputs.known, len(values)
    room = available_memory()
    if room is not None and 32.0 * m * m > room:
        raise KernelMemoryError(
            f"Kriging by {m:,} known values takes {32e-9 * m * m:.1f} GB, and {room / 1e9:.1f} GB "
            "are free. Pass fewer known values."
        )
    s, weight, noise = covariance
    times = (s,)
    heat = next(inputs.correlations(known, times))
    gram = next(inputs.inner_products(known, times)) if weight else None
    shared = _mixed(heat, gram, weight) + MEAN
    shared[np.diag_indices(m)] += noise
    center = float(values.mean())
    lower = cholesky(shared, lower=True)
    duals = cho_solve((lower, True), values - center)
    whitening = solve_triangular(lower, np.eye(m), lower=True).T  # W with W Wᵀ the inverse
    precisions = (whitening**2).sum(axis=1)
    signal = float((values - center) @ duals) / m
    mean, variance = _everywhere(inputs, covariance, gram is not None, duals, whitening)
    return Kriging(
        mean=center + mean,
        deviation=np.sqrt(signal * np.maximum(variance + noise, 0.0)),
        left_out=values - duals / precisions,
        left_out_deviation=np.sqrt(signal / precisions),
        signal=signal,
        covariance=covariance,
    )


def _everywhere(
    inputs: Inputs, covariance: Covariance, with_features: bool, duals: Array, whitening: Array
) -> tuple[Array, Array]:
    """Return the means less the centre and the variances without noise, in units of a, (n,)."""
    known, n, diffusion = inputs.known, inputs.graph.n, inputs.diffusion
    s = covariance.s
    weight = covariance.feature_weight if with_features else 0.0
    kernel = inputs.kernel(s)
    own = np.sqrt(_own_heat(inputs, s))
    center, unit, rows = np.zeros(0), 1.0, np.zeros((0, 0))
    if weight and diffusion is not None:
        rows = diffusion.rows(known, s)
        center = rows.mean(axis=0)
        rows = rows - center
        unit = float((rows**2).sum()) / len(known)

    def from_known(columns: Array) -> Array:
        """Return the covariances of all nodes with the known ones, times columns, (n, k)."""
        units = np.zeros((n, columns.shape[1]))
        units[known] = columns / own[known, None]
        shared = (1 - weight) * kernel.apply(units) / own[:, None]
        if weight and diffusion is not None:
            inner = rows.T @ columns
            along = diffusion.spread(np.asarray(diffusion.features @ inner), s)
            shared = shared + weight / unit * (along - center @ inner)
        result: Array = shared + MEAN * columns.sum(axis=0)
        return result

    mean = from_known(duals[:, None])[:, 0]
    variance = np.full(n, 1 - weight + MEAN)
    if weight and diffusion is not None:
        squares = _squared_lengths(diffusion, s, center)
        squares[known] = (rows**2).sum(axis=1)
        variance += weight / unit * squares
    for strip in _strips(len(known)):
        variance -= (from_known(whitening[:, strip]) ** 2).sum(axis=1)
    return mean, np.maximum(variance, 0.0)


def _own_heat(inputs: Inputs, s: float) -> Array:
    """Return H_vv = ‖e^{-(s/2)L} row v‖² of every node, shape (n,); of known ones it is exact."""
    n, half = inputs.graph.n, inputs.kernel(s / 2)
    own = np.zeros(n)
    if n <= EXACT:
        for strip in _strips(n):
            units = np.zeros((n, strip.stop - strip.start))
            units[np.arange(strip.start, strip.stop), np.arange(strip.stop - strip.start)] = 1.0
            own[strip] = (half.apply(units) ** 2).sum(axis=0)
        return np.maximum(own, TOL)
    random = np.random.default_rng(SEED)
    for _ in range(PROBES // STRIP):
        own += (half.apply(random.normal(size=(n, STRIP))) ** 2).sum(axis=1) / PROBES
    for strip in _strips(len(inputs.known)):
        nodes = inputs.known[strip]
        units = np.zeros((n, len(nodes)))
        units[nodes, np.arange(len(nodes))] = 1.0
        own[nodes] = (half.apply(units) ** 2).sum(axis=0)
    return np.maximum(own, TOL)


def _squared_lengths(diffusion: Diffusion, s: float, center: Array) -> Array:
    """Return ‖z_v‖² of every node's diffused features less the centre, shape (n,)."""
    total, f = np.zeros(diffusion.graph.n), diffusion.features.shape[1]
    random = np.random.default_rng(SEED)
    for strip in _strips(f if f <= EXACT else PROBES):
        width = strip.stop - strip.start
        if f <= EXACT:
            directions = np.zeros((f, width))
            directions[np.arange(strip.start, strip.stop), np.arange(width)] = 1.0
        else:
            directions = random.normal(size=(f, width)) / math.sqrt(PROBES)
        along = diffusion.spread(np.asarray(diffusion.features @ directions), s)
        total += ((along - center @ directions) ** 2).sum(axis=1)
    return total


def _mixed(heat: Array, gram: Array | None, weight: float) -> Array:
    return heat.copy() if gram is None else (1 - weight) * heat + weight * gram


def _strips(count: int) -> list[slice]:
    return [slice(a, min(a + STRIP, count)) for a in range(0, count, STRIP)]
