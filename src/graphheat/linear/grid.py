"""Search for s, L2 and the form of the features, by exact leave-one-out over the training labels.

Every candidate is a ridge classifier whose leave-one-out predictions are in closed form
(:mod:`graphheat.linear.ridge`), so that no label is spent on the choice: validation labels stay
unseen, and a handful of training labels is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.calibration.temperature import fit_log_scale
from graphheat.features import ScalingKind
from graphheat.linear.diffusion import PATH_TOL, Diffusion
from graphheat.linear.ridge import Spectrum, one_hot
from graphheat.progress import Progress

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

TIMES = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
PENALTIES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
SELF_WEIGHTS = (0.0, 0.2, 0.5)  # shares of a node's own features that are not diffused
DEFAULT_S, DEFAULT_L2 = 5.0, 0.1  # where no class has two labels to choose by
PROMISING = 3  # times that other forms of the features are tried at
KEPT_BYTES = 1e7  # that diffused training rows of one time may take to be kept
MOST_LABELS = 1500  # that choose; more tell the candidates apart no better
BY = "leave-one-out"


class Candidate(NamedTuple):
    """A form of the features: scaled, then diffused but for a share of a node's own."""

    scaling: ScalingKind
    self_weight: float = 0.0


@dataclass(frozen=True, eq=False)
class GridSearch:
    """What was tried: a row for each form of the features, s and L2, the last running fastest.

    Attributes
    ----------
    s, l2, accuracy, loss
        Shape (k,); accuracy and mean loss of labels that took no part in the fit: the squared
        distance of leave-one-out, or in files of earlier versions the cross-entropy.
    candidates, numbers
        Forms of the features, and the position of each row's among them, shape (k,).
    by
        ``"leave-one-out"``; in files of earlier versions ``"validation"`` or
        ``"cross-validation"``; ``""`` where nothing could be tried (k = 0).
    chosen
        The row that was taken; −1 where there is none.
    """

    s: Array
    l2: Array
    accuracy: Array
    loss: Array
    candidates: tuple[Candidate, ...]
    numbers: NDArray[np.int64]
    by: str
    chosen: int

    @classmethod
    def nothing(cls, form: Candidate) -> GridSearch:
        """Return a search in which nothing was tried."""
        none, numbers = np.empty(0), np.empty(0, dtype=np.int64)
        return cls(none, none, none, none, candidates=(form,), numbers=numbers, by="", chosen=-1)

    @property
    def candidate(self) -> Candidate:
        """The form of the features that was taken."""
        return self.candidates[self.numbers[self.chosen] if self.chosen >= 0 else 0]

    def __len__(self) -> int:
        return len(self.s)

    def best(self, count: int) -> NDArray[np.int64]:
        """Return the rows of least loss, at most ``count``, the best first; of equals, the first.

        Of one form and time only the best penalty counts: its neighbours say next to the same.
        """
        order = np.argsort(self.loss, kind="stable")
        _, first = np.unique(
            np.column_stack([self.numbers, self.s])[order], axis=0, return_index=True
        )
        rows: NDArray[np.int64] = order[np.sort(first)][:count]
        return rows

    def frame(self) -> pandas.DataFrame:
        """Return a row for all that was tried: the settings, accuracy, loss, chosen."""
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


class Grid(NamedTuple):
    """What may be chosen from: times, penalties, and shares of a node's own features."""

    times: Array
    penalties: Array
    self_weights: tuple[float, ...]


class _Tried(NamedTuple):
    candidate: Candidate
    s: float
    accuracy: Array  # (penalties,)
    loss: Array


def search_grid(
    diffusions: Mapping[ScalingKind, Diffusion],
    grid: Grid,
    train: NDArray[np.int64],
    targets: NDArray[np.int64],
    weights: Array,
    progress: Progress | None = None,
) -> GridSearch:
    """Judge times, forms of the features and penalties by leave-one-out.

    All times are tried with the first scaling, nothing kept back; the other forms at the few times
    that did best there.

    Parameters
    ----------
    diffusions
        The scalings to choose from, the first being the default.
    train, targets, weights
        Training nodes, their classes 0 … c − 1, each at least once, and what each counts for,
        shape (m,).
    """
    truth = one_hot(targets, int(targets.max()) + 1)
    kinds, shares = list(diffusions), grid.self_weights
    steps = len(grid.times) + (len(kinds) - 1) * min(PROMISING, len(grid.times))
    tried: list[_Tried] = []

    seen: dict[tuple[ScalingKind, float], _TrainingRows] = {}

    def rows_at(kind: ScalingKind, times: Array) -> Iterator[_TrainingRows]:
        if all((kind, s) in seen for s in times):
            yield from (seen[kind, s] for s in times)
            return
        for s, rows in zip(times, _training_rows(diffusions[kind], train, times), strict=True):
            if rows.is_small():
                seen[kind, s] = rows
            yield rows

    def attempt(kind: ScalingKind, times: Array, shares_of: Any) -> None:
        noise = diffusions[kind].noise(PATH_TOL)
        for s, rows in zip(times, rows_at(kind, times), strict=True):
            for share in shares_of(s):
                spectrum = rows.spectrum(share, weights, noise if s > 0 else 0.0)
                scored = _scored(spectrum, truth, targets, grid.penalties)
                tried.append(_Tried(Candidate(kind, share if s > 0 else 0.0), float(s), *scored))
            if progress is not None:
                done = len({(each.candidate.scaling, each.s) for each in tried})
                progress(min(done, steps), steps, f"{kind}, s = {s:g}")

    first = kinds[0]
    attempt(first, grid.times, lambda s: shares[:1])
    promising = _promising(tried)
    if len(shares) > 1:
        diffused = np.array([s for s in promising if s > 0])
        attempt(first, diffused, lambda s: shares[1:])
    for kind in kinds[1:]:
        attempt(kind, np.array(promising), lambda s: shares if s > 0 else shares[:1])
    return _searched(tried, grid.penalties)


def _promising(tried: list[_Tried]) -> list[float]:
    best = sorted(tried, key=lambda each: (each.loss.min(), each.s))[:PROMISING]
    return sorted(each.s for each in best)


def _searched(tried: list[_Tried], penalties: Array) -> GridSearch:
    candidates = tuple(dict.fromkeys(each.candidate for each in tried))
    tried = sorted(tried, key=lambda each: (candidates.index(each.candidate), each.s))
    loss = np.concatenate([each.loss for each in tried])
    return GridSearch(
        s=np.repeat([each.s for each in tried], len(penalties)),
        l2=np.tile(penalties, len(tried)),
        accuracy=np.concatenate([each.accuracy for each in tried]),
        loss=loss,
        candidates=candidates,
        numbers=np.repeat([candidates.index(each.candidate) for each in tried], len(penalties)),
        by=BY,
        chosen=_chosen(loss, np.repeat([each.s for each in tried], len(penalties))),
    )


def _chosen(loss: Array, s: Array) -> int:
    """Return the row of least loss; of equals, that of the smallest s."""
    least = np.flatnonzero(loss <= loss.min() * (1 + 1e-12))
    return int(least[np.argmin(s[least])])


class _TrainingRows:
    """The training rows as they are and diffused, shape (m, f) each, for any share of the first.

    Where there are more features than rows only inner products are looked at, and these are made
    once for all shares, so that the rows themselves need not be kept.
    """

    def __init__(self, raw: Any, diffused: NDArray[Any], gram: NDArray[Any] | None) -> None:
        self._gram = gram
        if gram is None:
            self._raw, self._diffused = raw, diffused
        else:
            across = np.asarray(raw @ diffused.T)
            self._products = diffused @ diffused.T, across + across.T

    def is_small(self) -> bool:
        """Return whether rows of all times can be kept: inner products, or few features."""
        return self._gram is not None or self._diffused.nbytes <= KEPT_BYTES

    def spectrum(self, share: float, weights: Array, noise: float) -> Spectrum:
        """Return the spectrum of the rows share·x + (1 − share)·h."""
        rest = 1.0 - share
        if self._gram is None:
            return Spectrum.of_rows(share * self._raw + rest * self._diffused, weights, noise)
        diffused, across = self._products
        mixed = share**2 * self._gram + share * rest * across + rest**2 * diffused
        return Spectrum.of_gram(mixed, weights, noise)


def _training_rows(
    diffusion: Diffusion, train: NDArray[np.int64], times: Array
) -> Iterator[_TrainingRows]:
    raw: Any = diffusion.features[train].astype(np.float32)
    gram: Any = None
    if raw.shape[1] > len(train):
        gram = raw @ raw.T  # sparse rows stay so: their products cost next to nothing
        gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    elif not isinstance(raw, np.ndarray):
        raw = raw.toarray()
    for diffused in diffusion.path(train, times):
        yield _TrainingRows(raw, diffused, gram)


def _scored(
    spectrum: Spectrum, truth: Array, codes: NDArray[np.int64], penalties: Array
) -> tuple[Array, Array]:
    """Return accuracy and loss of each penalty, shape (penalties,)."""
    accuracy, loss = np.empty(len(penalties)), np.empty(len(penalties))
    for k, penalty in enumerate(penalties):
        scores = spectrum.left_out(truth, penalty)
        accuracy[k] = (spectrum.weights * (scores.argmax(axis=1) == codes)).mean()
        loss[k] = (spectrum.weights * ((scores - truth) ** 2).sum(axis=1)).mean()
    return accuracy, loss


def sharpness_of(scores: Array, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return what to multiply scores by, and the mean cross-entropy that is then left.

    A strong L2 penalty ranks classes well and is sure of none; this makes up for it. The spread of
    the logits after it has, in logarithms, the prior N(log 2, 1), which keeps a handful of labels,
    all of them right, from making every probability 0 or 1.
    """
    spread = max(float(scores.std()), 1e-100)
    # A hundredth of the spread: far below what labels can tell.
    found = fit_log_scale(
        scores, codes, unit=spread, prior=math.log(2.0), bounds=(-5.0, 5.0), accuracy=0.01
    )
    return math.exp(found.log_scale) / spread, found.loss
