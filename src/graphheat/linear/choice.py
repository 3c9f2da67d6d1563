"""Which s and which L2: every pair along the path, judged by labels that did not teach it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from graphheat.baselines.system import Callback, Step
from graphheat.linear.regression import Rotation, fit_logistic

Array = NDArray[np.float64]

TIMES = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0,
         12.0, 14.0, 17.0, 20.0)  # fmt: skip
PENALTIES = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)  # from strong to weak: each starts the next
DEFAULT_S, DEFAULT_L2 = 5.0, 1e-3  # where no label can be spared to choose by
FOLDS = 5
LOSS_COUNTS = 0.05  # a fifth less cross-entropy outweighs a point of accuracy


@dataclass(frozen=True, eq=False)
class Path:
    """What was tried: a row for each pair of s and L2, L2 running faster.

    Attributes
    ----------
    s, l2, accuracy, loss
        Shape (k,); accuracy and mean cross-entropy on the labels that judge.
    by
        ``"validation"``, ``"cross-validation"``, or ``""`` where nothing could be tried (k = 0).
    chosen
        The row that was taken; −1 where there is none.
    """

    s: Array
    l2: Array
    accuracy: Array
    loss: Array
    by: str
    chosen: int

    @classmethod
    def nothing(cls) -> Path:
        """Return a path on which nothing was tried."""
        return cls(*(np.empty(0) for _ in range(4)), by="", chosen=-1)

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
    rows_by_time: Iterable[NDArray[Any]],
    times: Array,
    penalties: Array,
    taught: NDArray[np.int64],
    judges: Judges,
    callback: Callback | None = None,
) -> Path:
    """Fit and judge every pair of a time and a penalty.

    Parameters
    ----------
    rows_by_time
        For each time the diffused features of the training nodes and, below them, of the
        validation nodes, shape (m + v, f).
    taught
        Classes of the training nodes, 0 … c − 1, each at least once, shape (m,).
    """
    m, classes = len(taught), int(taught.max()) + 1
    found = []
    for count, (s, rows) in enumerate(zip(times, rows_by_time, strict=True), start=1):
        rotation = Rotation.of(rows[:m])
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
            callback(Step(count, len(times), f"s = {s:g}"))
    accuracy, loss = np.stack(found, axis=1)  # (times, penalties) each
    best = best_pair(accuracy, loss)
    return Path(
        s=np.repeat(times, len(penalties)),
        l2=np.tile(penalties, len(times)),
        accuracy=accuracy.ravel(),
        loss=loss.ravel(),
        by="validation" if judges.folds is None else "cross-validation",
        chosen=best[0] * len(penalties) + best[1],
    )


def best_pair(accuracy: Array, loss: Array) -> tuple[int, int]:
    """Return the row and column of the pair to take.

    Parameters
    ----------
    accuracy, loss
        Shape (times, penalties).

    Notes
    -----
    Accuracy, less LOSS_COUNTS times the loss: of pairs that are as accurate as a few hundred
    labels can tell, the one that is surer of what is right. The first of equals: the smallest s.
    """
    row, column = np.unravel_index(np.argmax(accuracy - LOSS_COUNTS * loss), loss.shape)
    return int(row), int(column)


def _judged(
    rotation: Rotation,
    penalties: Array,
    taught: NDArray[np.int64],
    classes: int,
    pieces: list[tuple[NDArray[np.int64], Array, NDArray[np.int64]]],
) -> tuple[Array, Array]:
    """Return accuracy and loss of each penalty, shape (penalties,), over all pieces' judges."""
    own = rotation.coordinates
    right = np.zeros(len(penalties))
    lost = np.zeros(len(penalties))
    judging = sum(len(codes) for _, _, codes in pieces)
    known = max(1, sum(int((codes >= 0).sum()) for _, _, codes in pieces))
    for teachers, rows, codes in pieces:
        start = None
        told = codes >= 0
        for k, l2 in enumerate(penalties):
            start = fit_logistic(
                own[teachers], taught[teachers], classes, l2 * rotation.variance, start=start
            )
            logs = log_softmax(rows @ start[0] + start[1], axis=1)
            right[k] += float((logs.argmax(axis=1) == codes).sum())
            lost[k] -= float(logs[told, codes[told]].sum())
    return right / judging, lost / known
