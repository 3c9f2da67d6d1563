"""How accuracy goes with one parameter: does it rise, does it fall, and by how many deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from graphheat.errors import ParameterError

COLUMNS = ("s", "eps", "seed", "test_accuracy", "val_accuracy")  # of a sweep


@dataclass(frozen=True, eq=False)
class Trend:
    """Means and deviations over seeds, by the values of a parameter.

    Attributes
    ----------
    parameter
        Its name.
    values
        Ascending, shape (k,).
    mean, std, runs
        Of the accuracy at each value, shape (k,); ``std`` is 0 for a single run.
    """

    parameter: str
    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    runs: NDArray[np.int64]

    @property
    def best(self) -> int:
        """Position of the highest mean; of several the first."""
        return int(self.mean.argmax())

    def step(self, a: int, b: int) -> tuple[float, float]:
        """Return mean[b] − mean[a] and the deviation of a run at either, pooled."""
        pooled = np.sqrt((self.std[a] ** 2 + self.std[b] ** 2) / 2)
        return float(self.mean[b] - self.mean[a]), float(pooled)

    @property
    def rises(self) -> bool:
        """Whether the highest mean is above the first by more than one standard deviation."""
        gain, deviation = self.step(0, self.best)
        return gain > deviation

    @property
    def falls(self) -> bool:
        """Whether the last mean is below the highest by more than one standard deviation."""
        loss, deviation = self.step(self.best, len(self.values) - 1)
        return -loss > deviation

    def position(self, value: float) -> int | None:
        """Return where ``value`` is among the values, or None."""
        found = np.flatnonzero(np.isclose(self.values, value, rtol=1e-9, atol=0))
        return int(found[0]) if len(found) else None

    def rank(self, value: float) -> int | None:
        """Return the place of ``value`` by mean, 1 the highest, or None where it was not run."""
        at = self.position(value)
        return None if at is None else int((self.mean > self.mean[at]).sum()) + 1

    def words(self) -> str:
        """Say what the means do, in points and in deviations."""
        last = len(self.values) - 1
        top = f"{self.parameter} = {self.values[self.best]:g}"
        if last == 0:
            return f"only {top} was run"
        parts = []
        if self.best > 0:
            gain, deviation = self.step(0, self.best)
            parts.append(f"rises {100 * gain:.1f} points {_against(gain, deviation)} to {top}")
        if self.best < last:
            loss, deviation = self.step(self.best, last)
            start = "then falls" if parts else f"is highest at {top} and falls"
            end = f"by {self.parameter} = {self.values[last]:g}"
            parts.append(f"{start} {-100 * loss:.1f} {_against(-loss, deviation)} {end}")
        else:
            parts.append("does not fall")
        return ", ".join(parts)


def trend(frame: pd.DataFrame, parameter: str, column: str) -> Trend:
    """Return means and deviations of ``column`` by ``parameter``.

    Runs without a number in either are left out.

    Examples
    --------
    >>> runs = pd.DataFrame({"s": [1, 1, 2, 2], "accuracy": [0.70, 0.72, 0.80, 0.82]})
    >>> trend(runs, "s", "accuracy").words()
    'rises 10.0 points (7.1 std) to s = 2, does not fall'
    """
    known = frame[[parameter, column]].astype(np.float64).dropna()
    if known.empty:
        raise ParameterError(f"There is no run with both {parameter} and {column}.")
    groups = known.groupby(parameter)[column]
    return Trend(
        parameter,
        groups.mean().index.to_numpy(dtype=np.float64),
        groups.mean().to_numpy(),
        groups.std(ddof=1).fillna(0.0).to_numpy(),
        groups.size().to_numpy(),
    )


def along(runs: pd.DataFrame, s: float, eps: float) -> dict[str, pd.DataFrame]:
    """Return the runs at the paper's eps (key ``"s"``) and those at its s (key ``"eps"``)."""
    missing = [column for column in COLUMNS if column not in runs]
    if missing:
        raise ParameterError(f"The runs need a column {missing[0]!r}; they have {list(runs)}.")
    runs = runs.assign(eps=runs["eps"].astype(np.float64).fillna(0.0))
    return {
        "s": runs[np.isclose(runs["eps"], eps, rtol=1e-9, atol=0)],
        "eps": runs[np.isclose(runs["s"].astype(np.float64), s, rtol=1e-9, atol=0)],
    }


def _against(change: float, deviation: float) -> str:
    return f"({change / deviation:.1f} std)" if deviation > 0 else "(one run each)"
