"""Grid search over s, L2 and the form of the features, on labels that take no part in the fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from graphheat.calibration.temperature import fit_log_scale
from graphheat.features import ScalingKind
from graphheat.linear.regression import Rotation, fit_logistic
from graphheat.progress import Progress

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

TIMES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0)
# From strong to weak: each starts the next.
PENALTIES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4)
SELF_WEIGHTS = (0.0, 0.2)  # of a node's own features, which are not diffused
DEFAULT_S, DEFAULT_L2 = 5.0, 1e-3  # where no label can be spared to choose by
FOLDS = 5
LOSS_COUNTS = 1e-3  # of pairs that are as accurate, the one that is surer of what is right


class Candidate(NamedTuple):
    """A form of the features: how they are scaled, and the self weight of the diffusion."""

    scaling: ScalingKind
    self_weight: float = 0.0


@dataclass(frozen=True, eq=False)
class GridSearch:
    """What was tried: a row for each form of the features, s and L2, the last running fastest.

    Attributes
    ----------
    s, l2, accuracy, loss
        Shape (k,); accuracy and mean cross-entropy on held-out labels.
    sharpness
        What logits were multiplied by before that loss was taken, shape (k,).
    candidates
        Forms of the features, each with the same pairs of s and L2.
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
    candidates: tuple[Candidate, ...]
    by: str
    chosen: int

    @classmethod
    def nothing(cls, form: Candidate) -> GridSearch:
        """Return a path on which nothing was tried."""
        none = np.empty(0)
        return cls(none, none, none, none, none, candidates=(form,), by="", chosen=-1)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The position among ``candidates`` of each row's, shape (k,)."""
        return np.repeat(np.arange(len(self.candidates)), len(self) // len(self.candidates))

    @property
    def candidate(self) -> Candidate:
        """The form of the features that was taken."""
        return self.candidates[self.numbers[self.chosen] if self.chosen >= 0 else 0]

    def __len__(self) -> int:
        return len(self.s)

    def frame(self) -> pandas.DataFrame:
        """Return a row for all that was tried: the settings, val_accuracy, val_loss, chosen."""
        import pandas

        scaling, weight = (np.array(column) for column in zip(*self.candidates, strict=True))
        return pandas.DataFrame(
            {
                "scaling": scaling[self.numbers],
                "self_weight": weight[self.numbers],
                "s": self.s,
                "l2": self.l2,
                "val_accuracy": self.accuracy,
                "val_loss": self.loss,
                "chosen": np.arange(len(self)) == self.chosen,
            }
        )


class HeldOut(NamedTuple):
    """Labelled rows to score by: validation nodes, or each training node in its turn.

    Attributes
    ----------
    codes
        Codes of the validation nodes among the training classes (−1: none of them), shape (v,).
    folds
        The fold of each training node, shape (m,), −1 for those that always train; None where
        there are validation nodes.
    """

    codes: NDArray[np.int64]
    folds: NDArray[np.int64] | None


def deal_folds(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64] | None:
    """Deal training nodes to folds, class by class, so that each fold leaves every class a label.

    A class's only label always trains, fold −1. None where no class has two labels.
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


def search_grid(
    diffused: Mapping[ScalingKind, Iterable[list[NDArray[Any]]]],
    noises: Mapping[ScalingKind, float],
    shares: tuple[float, ...],
    times: Array,
    penalties: Array,
    targets: NDArray[np.int64],
    held_out: HeldOut,
    progress: Progress | None = None,
) -> GridSearch:
    """Fit and score every scaling, self weight, time and penalty.

    Parameters
    ----------
    diffused
        For each scaling, then each time, then each self weight: the diffused features of
        the training nodes and, below them, of the validation nodes, shape (m + v, f).
    noises
        For each scaling how far such a row may be off.
    targets
        Classes of the training nodes, 0 … c − 1, each at least once, shape (m,).
    """
    m, classes = len(targets), int(targets.max()) + 1
    found = []
    steps = [(kind, s) for kind in diffused for s in times]
    in_shares = chain.from_iterable(diffused.values())
    for count, ((kind, s), each_share) in enumerate(zip(steps, in_shares, strict=True), start=1):
        for rows in each_share:
            rotation = Rotation.of(rows[:m], noises[kind] if s > 0 else 0.0)
            if held_out.folds is None:
                pieces = [(np.arange(m), rotation.rotate(rows[m:]), held_out.codes)]
            else:
                own, folds = rotation.coordinates, held_out.folds
                pieces = [
                    (np.flatnonzero(folds != k), own[folds == k], targets[folds == k])
                    for k in range(folds.max() + 1)
                ]
            found.append(_scored(rotation, penalties, targets, classes, pieces))
        if progress is not None:
            progress(count, len(steps), f"{kind}, s = {s:g}")
    candidates = tuple(Candidate(kind, share) for kind in diffused for share in shares)
    # As found: scalings × times × shares × penalties; a candidate is a scaling and a share.
    shape = (len(diffused), len(times), len(shares), len(penalties))
    accuracy, loss, sharp = (
        np.reshape(each, shape).swapaxes(1, 2).reshape(len(candidates), len(times), len(penalties))
        for each in zip(*found, strict=True)
    )
    return GridSearch(
        s=np.tile(np.repeat(times, len(penalties)), len(candidates)),
        l2=np.tile(penalties, len(candidates) * len(times)),
        accuracy=accuracy.ravel(),
        loss=loss.ravel(),
        sharpness=sharp.ravel(),
        candidates=candidates,
        by="validation" if held_out.folds is None else "cross-validation",
        chosen=best_of(accuracy, loss),
    )


def best_of(accuracy: Array, loss: Array) -> int:
    """Return which of all to take, counted along the last axis first.

    Parameters
    ----------
    accuracy, loss
        Shape (candidates, times, penalties).

    Notes
    -----
    Each pair of a time and a penalty is scored by the mean accuracy of itself and its eight
    neighbours (at the border it stands in for those that are missing): a few hundred labels cannot
    tell single pairs apart, and the best of hundreds would be a lucky one. Next to equals, the
    lower loss; of equals, the first: the smallest s.
    """
    smooth = uniform_filter(accuracy, size=(1, 3, 3), mode="nearest")
    return int(np.argmax(smooth - LOSS_COUNTS * loss))


def _scored(
    rotation: Rotation,
    penalties: Array,
    targets: NDArray[np.int64],
    classes: int,
    pieces: list[tuple[NDArray[np.int64], Array, NDArray[np.int64]]],
) -> tuple[Array, Array, Array]:
    """Return accuracy, loss and sharpness of each penalty, shape (penalties,), over all pieces."""
    own = rotation.coordinates
    outputs: list[list[Array]] = [[] for _ in penalties]
    for training, rows, _ in pieces:
        start = None
        for k, l2 in enumerate(penalties):
            start = fit_logistic(
                own[training], targets[training], classes, l2 * rotation.variance, start=start
            )
            outputs[k].append(rows @ start[0] + start[1])
    codes = np.concatenate([codes for _, _, codes in pieces])
    known = codes >= 0
    result = []
    for k in range(len(penalties)):
        logits = np.concatenate(outputs[k])
        sharp, loss = sharpness_of(logits[known], codes[known]) if known.any() else (1.0, 0.0)
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
    # A hundredth of the spread: far below what labels can tell.
    found = fit_log_scale(
        logits, codes, unit=spread, prior=math.log(2.0), bounds=(-5.0, 5.0), accuracy=0.01
    )
    return math.exp(found.log_scale) / spread, found.loss
