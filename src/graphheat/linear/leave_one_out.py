"""What the other labels say of each label, in closed form: by heat alone, and by heat and features.

Label spreading is linear in the labels, so that a node's own label is taken out again by taking
out its own column: what is left of F = HY at node i is F_i − H_ii y_i. A ridge regression on
diffused features is linear in them too: see :mod:`graphheat.linear.ridge`.

References
----------
D. Zhou, O. Bousquet, T. Lal, J. Weston, B. Schölkopf: Learning with Local and Global Consistency,
NIPS 2003 (label spreading).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import log_softmax

from graphheat.calibration.temperature import fit_log_scale
from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF
from graphheat.linear.diffusion import PATH_TOL, Diffusion
from graphheat.linear.kept_diffusion import KeptDiffusion
from graphheat.linear.ridge import Spectrum, one_hot

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

TIMES = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0)
TOL = 1e-7
STRENGTHS = tuple(10.0 ** np.arange(-5.0, 0.25, 0.5))  # heat that the class shares stand for
PENALTIES = tuple(10.0 ** np.arange(-3.0, 2.25, 0.5))  # in units of the rows' variance
STRIP = 64  # columns of e^{-sL} at a time
WORK = 2e10  # multiplications that the exact diagonal may take: some seconds
FOLDS = 20
WIDE = 3000  # coordinates from which on features are projected to …
PROJECTED = 1000  # … as many random directions
SEED = 0


class Evidence(NamedTuple):
    """What the others say of each label.

    Attributes
    ----------
    log_probabilities
        Of each class at each labelled node, its own label left out, shape (m, c).
    s
        The diffusion time with which the labels predict one another best.
    """

    log_probabilities: Array
    s: float


class OwnHeat:
    """H_ii(s), how much of a node's heat stays or comes back, for every s; of nodes once asked for.

    Parameters
    ----------
    graph
        Its labels are not looked at, so that it serves whatever is labelled.
    """

    def __init__(self, graph: Graph, *, threads: int | None = None) -> None:
        self.kernel = HeatKernel(graph, TIMES[-1], tol=TOL, engine=ONE_OFF, threads=threads)
        self._of: dict[int, Array] = {}

    def of(self, nodes: Codes) -> Array:
        """Return it for nodes, shape (len(TIMES), k)."""
        new = np.array([node for node in nodes.tolist() if node not in self._of], dtype=np.int64)
        for first in range(0, len(new), STRIP):
            some = new[first : first + STRIP]
            places = np.arange(len(some))
            units = sp.csr_array(
                (np.ones(len(some)), (some, places)), shape=(self.kernel.n, len(some))
            )
            own = self.kernel.sweep(units, TIMES, rows=some)[:, places, places]
            self._of.update(zip(some.tolist(), own.T, strict=True))
        return np.stack([self._of[node] for node in nodes.tolist()], axis=1)


class Kept(NamedTuple):
    """What evidence on other labels of the same graph can use again."""

    own: OwnHeat | None = None
    diffusion: Diffusion | None = None

    @classmethod
    def of(cls, graph: Graph, *, threads: int | None = None) -> Kept:
        """Return it for a graph, with nothing computed yet."""
        diffusion = None
        if graph.features is not None and graph.features.shape[1]:
            scaling = Scaling.learn(graph.features, suitable_scaling(graph))
            diffusion = KeptDiffusion(graph, scaling, TIMES, final=False, threads=threads)
        return cls(OwnHeat(graph, threads=threads), diffusion)


def heat_evidence(
    graph: Graph,
    known: Codes,
    codes: Codes,
    classes: int,
    *,
    threads: int | None = None,
    own: OwnHeat | None = None,
) -> Evidence:
    """Return the shares of heat that arrive at each labelled node from the other labels.

    p_ic = (F_ic + a·π_c) / (Σ_c F_ic + a): F is the heat from the others' labels and π the share of
    each class among them, so that a node that little heat reaches learns little. s and a are those
    with which the labels are most likely.

    Parameters
    ----------
    known, codes
        Row numbers of the labelled nodes, and their classes in [0, ``classes``), shape (m,).
    own
        Of the same graph, with what was computed for earlier labels; default: nothing was.

    Notes
    -----
    *Accuracy*: heat to 1e-7. *Cost*: one column of e^{-sL} per label, for all s together; where
    that would take more than some seconds, the labels are left out a twentieth at a time instead
    of one by one. *Deterministic*: yes. *Isolated nodes*: get the class shares.
    """
    m, rows = len(known), np.arange(len(known))
    others = np.bincount(codes, minlength=classes) - one_hot(codes, classes)
    shares = (others + 1.0) / (m - 1.0 + classes)
    best, most = Evidence(np.log(shares), TIMES[0]), -math.inf
    heats = heat_from_others(graph, known, codes, classes, threads, own)
    for s, heat in zip(TIMES, heats, strict=True):
        for strength in STRENGTHS:
            total = heat.sum(axis=1, keepdims=True) + strength
            logs = np.log((heat + strength * shares) / total)
            likelihood = float(logs[rows, codes].mean())
            if likelihood > most:
                best, most = Evidence(logs, s), likelihood
    return best


def heat_from_others(
    graph: Graph,
    known: Codes,
    codes: Codes,
    classes: int,
    threads: int | None = None,
    own: OwnHeat | None = None,
) -> Array:
    """Return the heat of each class that arrives at each labelled node, its own label left out.

    Shape (len(TIMES), m, c), not negative.
    """
    own = own or OwnHeat(graph, threads=threads)
    kernel = own.kernel
    m, rows = len(known), np.arange(len(known))
    onehot = sp.csr_array((np.ones(m), (known, codes)), shape=(graph.n, classes))
    heat = kernel.sweep(onehot, TIMES, rows=known)
    if float(m) * graph.adjacency.nnz * kernel.order <= WORK:
        heat[:, rows, codes] -= own.of(known)
    else:
        # Dealt in the order of classes, so that every fold leaves about as much of each.
        folds = np.empty(m, dtype=np.int64)
        folds[np.argsort(codes, kind="stable")] = rows % FOLDS
        for fold in range(FOLDS):
            part = folds == fold
            units = sp.csr_array(
                (np.ones(part.sum()), (known[part], codes[part])), shape=(graph.n, classes)
            )
            heat[:, part] -= kernel.sweep(units, TIMES, rows=known[part])
    return np.asarray(np.maximum(heat, 0.0), dtype=np.float64)


def ridge_evidence(
    graph: Graph,
    known: Codes,
    codes: Codes,
    classes: int,
    *,
    threads: int | None = None,
    diffusion: Diffusion | None = None,
) -> Evidence:
    """Return what a ridge regression on diffused features says of each label, fitted without it.

    s and the penalty are those of the least squared error (PRESS); a softmax, scaled to make the
    labels most likely, turns its outputs into probabilities.

    Parameters
    ----------
    known, codes
        As for :func:`heat_evidence`.
    diffusion
        Of the same features, scaled to suit; default: a new one.

    Notes
    -----
    *Accuracy*: diffused features to 1e-4; of more than 3,000 coordinates 1,000 random directions
    are taken. *Cost*: one diffusion of the features for all s together, and one eigendecomposition
    of min(m, f) columns for each s. *Deterministic*: yes. *Isolated nodes*: keep their features.
    """
    assert graph.features is not None
    wide = min(len(known), graph.features.shape[1]) > WIDE
    if diffusion is None or wide:
        scaling = Scaling.learn(graph.features, suitable_scaling(graph))
        diffusion = Diffusion(graph, scaling, threads=threads)
    if wide:
        random = np.random.default_rng(SEED).normal(size=(diffusion.features.shape[1], PROJECTED))
        diffusion.features = np.asarray(diffusion.features @ random) / math.sqrt(PROJECTED)
    noise, targets = diffusion.noise(PATH_TOL), one_hot(codes, classes)
    times, weights = np.array(TIMES), np.ones(len(known))
    best, time, least = targets, TIMES[0], math.inf
    for s, diffused in zip(TIMES, diffusion.path(known, times), strict=True):
        spectrum = Spectrum.of_rows(diffused, weights, noise)
        for penalty in PENALTIES:
            outputs = spectrum.left_out(targets, penalty)
            error = float(((outputs - targets) ** 2).sum())
            if error < least:
                best, time, least = outputs, s, error
    bounds = math.log(0.1), math.log(100.0)
    scale = math.exp(fit_log_scale(best, codes, bounds=bounds, accuracy=1e-4).log_scale)
    return Evidence(log_softmax(best * scale, axis=1), time)
