"""Which s, which L2 and which form of the features: all judged by labels that taught nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from graphheat.baselines.system import Callback, Step
from graphheat.linear.regression import Rotation, fit_logistic
from graphheat.training.scaling import ScalingKind

Array = NDArray[np.float64]

TIMES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0)
# From strong to weak: each starts the next.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4)
SHARES = (0.0, 0.2)  # of a node's own features that are not diffused
DEFAULT_S, DEFAULT_L2 = 5.0, 1e-3  # where no label can be spared to choose by
FOLDS = 5
LOSS_COUNTS = 1e-3  # of pairs that are as accurate, the one that is surer of what is right


class Form(NamedTuple):
    """How features are made ready: scaled, and then diffused but for a share of a node's own."""

    scaling: ScalingKind
    own: float = 0.0


@dataclass(frozen=True, eq=False)
class Path:
    """What was tried: a row for each form of the features, s and L2, the last running fastest.

    Attributes
    ----------
    s, l2, accuracy, loss
        Shape (k,); accuracy and mean cross-entropy on the labels that judge.
    sharpness
        What logits were multiplied by before that loss was taken, shape (k,).
    forms
        Of the features, each with the same pairs of s and L2.
    by
        ``"validation"``, ``"cross-validation"``, or ``""`` where nothing could be tried (k = 0).
    chosen
        The row that was taken; −1 where there is none.
    """

    s: Array
    l2: Array
    accuracy: Array
    loss: Array
    sharpness: Array
    forms: tuple[Form, ...]
    by: str
    chosen: int

    @classmethod
    def nothing(cls, form: Form) -> Path:
        """Return a path on which nothing was tried."""
        return cls(*(np.empty(0) for _ in range(5)), forms=(form,), by="", chosen=-1)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The position among ``forms`` of each row's form, shape (k,)."""
        return np.repeat(np.arange(len(self.forms)), len(self) // len(self.forms))

    @property
    def form(self) -> Form:
        """The form that was taken."""
        return self.forms[self.numbers[self.chosen] if self.chosen >= 0 else 0]

    def __len__(self) -> int:
        return len(self.s)


class Judges(NamedTuple):
    """Labelled rows that judge: validation nodes, or each training node in its turn.

    Attributes
    ----------
    codes
        Classes of the validation nodes among those that are taught (−1: not taught), shape (v,).
    folds
        The fold of each training node, shape (m,), −1 for those that always teach; None where
        there are validation nodes.
    """

    codes: NDArray[np.int64]
    folds: NDArray[np.int64] | None


def deal_folds(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64] | None:
    """Deal training nodes to folds, class by class, so that each fold leaves every class a teacher.

    A class's only label always teaches, fold −1. None where no class has two labels.
    """
    random = np.random.default_rng(seed)
    counts = np.bincount(codes)
    count = min(FOLDS, int(counts.max()))
    if count < 2:
        return None
    folds = np.full(len(codes), -1, dtype=np.int64)
    dealt = 0
    for code in np.flatnonzero(counts >= 2):
        members = random.permutation(np.flatnonzero(codes == code))
        folds[members] = (dealt + np.arange(len(members))) % count
        dealt += len(members)
    return folds


def walk_path(
    diffused: Mapping[ScalingKind, Iterable[list[NDArray[Any]]]],
    noises: Mapping[ScalingKind, float],
    shares: tuple[float, ...],
    times: Array,
    penalties: Array,
    taught: NDArray[np.int64],
    judges: Judges,
    callback: Callback | None = None,
) -> Path:
    """Fit and judge every scaling, share, time and penalty.

    Parameters
    ----------
    diffused
        For each scaling, then each time, then each share of a node's own: the diffused features of
        the training nodes and, below them, of the validation nodes, shape (m + v, f).
    noises
        For each scaling how far such a row may be off.
    taught
        Classes of the training nodes, 0 … c − 1, each at least once, shape (m,).
    """
    m, classes = len(taught), int(taught.max()) + 1
    found = []
    steps = [(kind, s) for kind in diffused for s in times]
    in_shares = chain.from_iterable(diffused.values())
    for count, ((kind, s), each_share) in enumerate(zip(steps, in_shares, strict=True), start=1):
        for rows in each_share:
            rotation = Rotation.of(rows[:m], noises[kind] if s > 0 else 0.0)
            if judges.folds is None:
                pieces = [(np.arange(m), rotation.rotate(rows[m:]), judges.codes)]
            else:
                own, folds = rotation.coordinates, judges.folds
                pieces = [
                    (np.flatnonzero(folds != k), own[folds == k], taught[folds == k])
                    for k in range(folds.max() + 1)
                ]
            found.append(_judged(rotation, penalties, taught, classes, pieces))
        if callback is not None:
            callback(Step(count, len(steps), f"{kind}, s = {s:g}"))
    forms = tuple(Form(kind, share) for kind in diffused for share in shares)
    # As they were found: scalings × times × shares × penalties; a form is a scaling and a share.
    shape = (len(diffused), len(times), len(shares), len(penalties))
    accuracy, loss, sharp = (
        np.reshape(each, shape).swapaxes(1, 2).reshape(len(forms), len(times), len(penalties))
        for each in zip(*found, strict=True)
    )
    return Path(
        s=np.tile(np.repeat(times, len(penalties)), len(forms)),
        l2=np.tile(penalties, len(forms) * len(times)),
        accuracy=accuracy.ravel(),
        loss=loss.ravel(),
        sharpness=sharp.ravel(),
        forms=forms,
        by="validation" if judges.folds is None else "cross-validation",
        chosen=best_of(accuracy, loss),
    )


def best_of(accuracy: Array, loss: Array) -> int:
    """Return which of all to take, counted along the last axis first.

    Parameters
    ----------
    accuracy, loss
        Shape (forms, times, penalties).

    Notes
    -----
    Each pair of a time and a penalty is judged by the mean accuracy of itself and its eight
    neighbours (at the border it stands in for those that are missing): a few hundred labels cannot
    tell single pairs apart, and the best of hundreds would be a lucky one. Next to equals, the
    lower loss; of equals, the first: the smallest s.
    """
    smooth = uniform_filter(accuracy, size=(1, 3, 3), mode="nearest")
    return int(np.argmax(smooth - LOSS_COUNTS * loss))


def _judged(
    rotation: Rotation,
    penalties: Array,
    taught: NDArray[np.int64],
    classes: int,
    pieces: list[tuple[NDArray[np.int64], Array, NDArray[np.int64]]],
) -> tuple[Array, Array, Array]:
    """Return accuracy, loss and sharpness of each penalty, shape (penalties,), over all judges."""
    own = rotation.coordinates
    said: list[list[Array]] = [[] for _ in penalties]
    for teachers, rows, _ in pieces:
        start = None
        for k, l2 in enumerate(penalties):
            start = fit_logistic(
                own[teachers], taught[teachers], classes, l2 * rotation.variance, start=start
            )
            said[k].append(rows @ start[0] + start[1])
    codes = np.concatenate([codes for _, _, codes in pieces])
    told = codes >= 0
    result = []
    for k in range(len(penalties)):
        logits = np.concatenate(said[k])
        sharp, loss = sharpness_of(logits[told], codes[told]) if told.any() else (1.0, 0.0)
        result.append((float((logits.argmax(axis=1) == codes).mean()), loss, sharp))
    accuracy, losses, sharpness = np.array(result).T
    return accuracy, losses, sharpness


def sharpness_of(logits: Array, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return what to multiply logits by, and the mean cross-entropy that is then left.

    A strong L2 penalty ranks classes well and is sure of none; this makes up for it. The spread of
    the logits after it has, in logarithms, the prior N(log 2, 1), which keeps a handful of labels,
    all of them right, from making every probability 0 or 1.
    """
    spread = max(float(logits.std()), 1e-100)
    rows = np.arange(len(codes))

    def loss(log_spread: float) -> float:
        scaled = log_softmax(logits * (math.exp(log_spread) / spread), axis=1)
        return -float(scaled[rows, codes].mean())

    def with_prior(log_spread: float) -> float:
        return loss(log_spread) + (log_spread - math.log(2.0)) ** 2 / (2 * len(codes))

    options = {"xatol": 0.01}  # a hundredth of the spread: far below what labels can tell
    found = minimize_scalar(with_prior, bounds=(-5.0, 5.0), method="bounded", options=options)
    best = float(found.x)
    return math.exp(best) / spread, loss(best)
