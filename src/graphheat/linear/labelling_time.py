"""How long heat flows where all nodes are labelled: chosen by labels, from one basis.

Rows to learn from must account for most of the heat, which bounds their time on graphs whose
neighbourhoods grow fast. Labelling diffuses everything and is not bound by that, and a direction
that tells classes apart does so at twice the time as well. But what is diffused for longer lies
nearer to its mean, and beside that mean a bias from another time decides alone: so columns are
brought back to the mean and deviation, over all nodes, that they had at the time of training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphheat.graph.split import Split
from graphheat.linear.grid import sharpness_of

LONGEST, LONGER = 12.0, 2.0  # times that are tried, each so many times the last
STRIPS, STRIP = 16, 1 << 16  # runs of rows by which means and deviations are known, and their size
LEAST_JUDGES, MOST_JUDGES = 20, 2000  # validation labels below which training labels judge


class Choice(NamedTuple):
    """The position of the time, what its logits are multiplied by, and a sentence."""

    best: int
    sharpness: float
    note: str


def longer_times(s: float) -> list[float]:
    """Return times beyond ``s`` to try.

    Examples
    --------
    >>> longer_times(3.0)
    [6.0, 12.0]
    """
    times = []
    while 0 < s * LONGER <= LONGEST:
        s *= LONGER
        times.append(s)
    return times


class Alignment(NamedTuple):
    """What brings columns of another time to those of the first: ratio · z + offset, (k,) each."""

    ratio: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __call__(self, columns: NDArray[Any]) -> NDArray[np.float64]:
        """Return the columns, shape (r, k), brought there."""
        return np.asarray(columns * self.ratio + self.offset, dtype=np.float64)


def alignments(
    n: int, count: int, columns: Callable[[slice, int], NDArray[Any]]
) -> list[Alignment]:
    """Return that of each of ``count`` times, the first being the time of training.

    ``columns`` gives diffused rows at the time of a position, shape (r, k). Large graphs are known
    by runs of rows, a million together.
    """
    starts = [0] if n <= STRIPS * STRIP else np.linspace(0, n - STRIP, STRIPS).astype(int).tolist()
    size = n if len(starts) == 1 else STRIP
    found: list[Alignment] = []
    first = (np.zeros(0), np.zeros(0))
    for e in range(count):
        parts = [np.asarray(columns(slice(a, a + size), e), dtype=np.float64) for a in starts]
        mean = np.mean([part.mean(axis=0) for part in parts], axis=0)
        deviation = np.sqrt(np.mean([((part - mean) ** 2).mean(axis=0) for part in parts], axis=0))
        if e == 0:
            first = mean, deviation
        # Below this a column is constant but for rounding.
        varies = deviation > 1e-6 * np.abs(mean)
        ratio = np.where(varies, first[1] / np.where(varies, deviation, 1.0), 1.0)
        exact = e == 0
        ratio = np.ones_like(ratio) if exact else ratio
        found.append(Alignment(ratio, np.zeros_like(mean) if exact else first[0] - ratio * mean))
    return found


def choose_time(
    labels: NDArray[Any],
    split: Split,
    times: Sequence[float],
    logits: Callable[[Any, int], NDArray[np.float64]],
) -> Choice:
    """Return the time by which labels are most likely.

    Validation labels judge, or training labels where there are fewer than 20 of them; ``logits``
    gives those of rows at the time of a position, shape (k, c).
    """
    if len(times) == 1:
        return Choice(0, 1.0, "")
    by_val = len(split.val) >= LEAST_JUDGES
    judges = np.sort(split.val if by_val else split.train)
    if len(judges) > MOST_JUDGES:
        judges = np.sort(np.random.default_rng(0).choice(judges, MOST_JUDGES, replace=False))
    codes = np.asarray(labels[judges], dtype=np.int64)
    scored = [sharpness_of(logits(judges, e), codes) for e in range(len(times))]
    best = int(np.argmin([loss for _, loss in scored]))
    which = "validation" if by_val else "training"
    tried = ", ".join(f"{t:g}" for t in times)
    note = f"Of s = {tried}, {times[best]:g} makes the {which} labels most likely."
    return Choice(best, scored[best][0], note)
