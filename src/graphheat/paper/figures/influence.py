"""Figure 4: accuracy over s and over eps, with what is found written beneath."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from graphheat import plot
from graphheat.errors import ParameterError
from graphheat.paper.figures.style import COLUMN, SMALL, small_ticks
from graphheat.paper.trend import Trend, along, trend
from graphheat.recipes.network_recipe import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

S, EPS = PUBLISHED["cora"]
SERIES = (
    ("test", "test_accuracy", plot.BLUE, "o", "-"),
    ("validation", "val_accuracy", plot.ORANGE, "s", "--"),
)


def influence_data(runs: pd.DataFrame, s: float = S, eps: float = EPS) -> pd.DataFrame:
    """Return means and deviations over seeds along both axes through (s, eps).

    Parameters
    ----------
    runs
        One row per run: ``s``, ``eps``, ``seed``, ``test_accuracy`` and ``val_accuracy``
        (fractions). A missing eps is the implicit kernel, which drops nothing: it counts as 0.
    s, eps
        The paper's choice: eps is fixed to it along s, and s along eps.

    Returns
    -------
    DataFrame
        ``parameter`` ("s" or "eps"), ``value``, ``runs``, ``test_mean``, ``test_std``,
        ``validation_mean``, ``validation_std``, ``paper`` (is it the paper's choice).
    """
    lines = along(runs, s, eps)
    parts = []
    for parameter, chosen in (("s", s), ("eps", eps)):
        if lines[parameter].empty:
            continue
        columns: dict[str, NDArray[np.generic]] = {}
        for name, column, *_ in SERIES:
            found = trend(lines[parameter], parameter, column)
            columns["value"], columns["runs"] = found.values, found.runs
            columns[f"{name}_mean"], columns[f"{name}_std"] = found.mean, found.std
        part = pd.DataFrame(columns)
        part.insert(0, "parameter", parameter)
        parts.append(part.assign(paper=np.isclose(part["value"], chosen, rtol=1e-9, atol=0)))
    if not parts:
        raise ParameterError(f"No run has s = {s:g} or eps = {eps:g}; sweep through them first.")
    return pd.concat(parts, ignore_index=True)


def draw_s(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw accuracy over the diffusion time."""
    ax = _axes() if ax is None else ax
    part = data[data["parameter"] == "s"]
    _draw(part, part["value"].to_numpy(), ax)
    ax.set_xlabel("diffusion time $s$")
    return _finish(part, "s", ax)


def draw_eps(data: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw accuracy over the threshold, on a log axis with a place of its own for 0."""
    ax = _axes() if ax is None else ax
    part = data[data["parameter"] == "eps"]
    values = part["value"].to_numpy()
    places, ticks = log_places(values)
    _draw(part, places, ax)
    ax.set_xticks(list(ticks), labels=list(ticks.values()))
    ax.xaxis.set_minor_locator(NullLocator())
    scale = "log scale"
    if (values == 0).any():
        ax.axvline(places.min() + 0.5, color="#BBBBBB", lw=0.8, ls=(0, (2, 2)))
        scale += "; 0: nothing dropped"
    ax.set_xlabel(f"threshold $\\epsilon$ ({scale})")
    return _finish(part, "eps", ax)


def log_places(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], dict[float, str]]:
    """Return where thresholds are drawn, log₁₀ with 0 one decade below the least, and the ticks."""
    positive = values[values > 0]
    lowest = np.floor(np.log10(positive.min())) if len(positive) else 0.0
    places = np.full(len(values), lowest - 1.0)
    places[values > 0] = np.log10(positive)
    ticks = {}
    if (values == 0).any():
        ticks[lowest - 1.0] = "0"
    if len(positive):
        for decade in range(int(lowest), int(np.ceil(np.log10(positive.max()))) + 1):
            ticks[float(decade)] = f"$10^{{{decade}}}$"
    return places, ticks


def finding(data: pd.DataFrame, parameter: str) -> str:
    """Return what the curves do, and where validation is highest beside the paper's choice."""
    test, validation = (_trend_of(data, parameter, name) for name, *_ in SERIES)
    words = f"Test accuracy {test.words()}."
    part = data[data["parameter"] == parameter]
    if part["paper"].any():
        chosen = float(part.loc[part["paper"], "value"].iloc[0])
        place = validation.rank(chosen)
        words += (
            f" Validation is highest at {parameter} = {validation.values[validation.best]:g}; the "
            f"paper's {chosen:g} ranks {place} of {len(validation.values)}."
        )
    return words


def compose(data: pd.DataFrame) -> Axes:
    """Draw the whole figure, s above eps, and return the axes of the first."""
    panels = [draw for name, draw in (("s", draw_s), ("eps", draw_eps))
              if (data["parameter"] == name).any()]  # fmt: skip
    figure = Figure(figsize=(COLUMN, 2.55 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False).ravel()
    for draw, ax in zip(panels, axes, strict=True):
        draw(data, ax)
    first: Axes = axes[0]
    return first


def _trend_of(data: pd.DataFrame, parameter: str, name: str) -> Trend:
    part = data[data["parameter"] == parameter]
    columns = ("value", f"{name}_mean", f"{name}_std", "runs")
    return Trend(parameter, *(part[column].to_numpy() for column in columns))


def _axes() -> Axes:
    return Figure(figsize=(COLUMN, 2.5), layout="constrained").subplots()


def _draw(part: pd.DataFrame, places: NDArray[np.float64], ax: Axes) -> None:
    chosen = places[part["paper"].to_numpy()]
    if len(chosen):
        ax.axvline(chosen[0], color=plot.GREEN, lw=1.2, ls=":", label="the paper's choice")
    for name, _, color, marker, line in SERIES:
        ax.errorbar(
            places, 100 * part[f"{name}_mean"], yerr=100 * part[f"{name}_std"], color=color,
            marker=marker, ms=3, lw=1.2, ls=line, elinewidth=0.8, capsize=2, label=name,
        )  # fmt: skip


def _finish(part: pd.DataFrame, parameter: str, ax: Axes) -> Axes:
    runs = sorted(set(part["runs"]))
    seeds = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]}–{runs[-1]}"
    ax.set_ylabel("accuracy (%)")
    ax.legend(
        fontsize=SMALL, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3,
        title=f"mean ± std over {seeds} seeds", title_fontsize=SMALL, handlelength=2.2,
    )  # fmt: skip
    small_ticks(ax)
    # Beneath the label of the axis, which constrained layout then makes room for.
    words = textwrap.fill(finding(part, parameter), 72)
    ax.set_xlabel(f"{ax.get_xlabel()}\n{words}", fontsize=SMALL, linespacing=1.35)
    return ax
