"""Pictures of a run: training curve, choice of s, confusion matrix, reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphheat import calibration
from graphheat.errors import ParameterError
from graphheat.linear.grid import Candidate, GridSearch
from graphheat.plot.axes import BLUE, GREEN, GREY, ORANGE, new_axes
from graphheat.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("--", ":", "-.")


def training_curve(run: Run, ax: Axes | None = None) -> Axes:
    """Draw losses and validation accuracy over the epochs, and mark the epoch that was kept."""
    ax = new_axes() if ax is None else ax
    epochs = np.arange(1, run.epochs + 1)
    ax.plot(epochs, run.history["train_loss"], color=GREY, lw=0.8, label="training loss")
    lines = list(ax.lines)
    ax.set(xlabel="epoch", ylabel="cross-entropy")
    ax.set_ylim(bottom=0)
    accuracy = np.array(run.history["val_accuracy"])
    if np.isfinite(accuracy).any():
        lines += ax.plot(epochs, run.history["val_loss"], color=BLUE, label="validation loss")
        right = ax.twinx()
        lines += right.plot(
            epochs, 100 * accuracy, color=ORANGE, lw=1.0, ls="--", label="validation accuracy"
        )
        right.set_ylabel("accuracy (%)")
        right.set_ylim(0, 100)
    kept = ax.axvline(run.best_epoch, color=GREEN, lw=1.2, ls=":")
    kept.set_label(f"kept: epoch {run.best_epoch}")
    ax.legend(
        handles=[*lines, kept],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    ax.set_title(f"{run.name}, recipe {run.recipe}, seed {run.seed}", fontsize=11)
    return ax


def confusion_matrix(run: Run, split: str = "test", ax: Axes | None = None) -> Axes:
    """Draw how many nodes of each actual class (rows) were predicted as each class (columns)."""
    size = 1.6 + 0.62 * len(run.classes)
    ax = new_axes(size + 1.5, size) if ax is None else ax
    members = run.members(split)
    from sklearn import metrics  # half a second that other pictures do without

    counts = metrics.confusion_matrix(
        run.labels[members], run.predicted[members], labels=range(len(run.classes))
    )
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    names = [str(name).replace("_", " ") for name in run.classes]
    ticks = range(len(names))
    ax.set_xticks(ticks, names, rotation=40, ha="right", fontsize=8)
    ax.set_yticks(ticks, names, fontsize=8)
    ax.set(xlabel="predicted", ylabel="actual")
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(
                j, i, str(count), ha="center", va="center", fontsize=8,
                color="white" if share[i, j] > 0.55 else "black",
            )  # fmt: skip
    ax.set_title(f"{run.name}: {split} nodes", fontsize=11)
    return ax


def reliability(run: Run, ax: Axes | None = None, *, split: str = "test") -> Axes:
    """Draw a reliability diagram: accuracy (bars) by confidence, beside the diagonal.

    Bars are the nodes of a split in 15 bins of confidence, after temperature scaling where a
    temperature is known; the number on a bar is how many nodes it holds, and the step line is that
    before scaling. On the diagonal confidence is accuracy.
    """
    ax = new_axes(5.6, 5.0) if ax is None else ax
    nodes = run.members(split)
    own = calibration.reliability(run.probabilities, run.labels, nodes)
    scaled = run.probabilities if run.calibrated is None else run.calibrated
    shown = calibration.reliability(scaled, run.labels, nodes)
    held = shown.counts > 0
    width = shown.edges[1]
    ax.bar(
        shown.edges[:-1][held], shown.accuracy[held], width=width, align="edge", color=BLUE,
        alpha=0.75, edgecolor="white", lw=0.8,
        label="accuracy" if run.calibrated is None else f"after scaling, T = {run.temperature:.2f}",
    )  # fmt: skip
    if run.calibrated is not None:
        some = own.counts > 0
        ax.hlines(
            own.accuracy[some], own.edges[:-1][some], own.edges[1:][some],
            color=ORANGE, lw=2.0, label="before",
        )  # fmt: skip
    ax.plot([0, 1], [0, 1], color=GREY, lw=1.0, ls="--", label="perfect")
    for left, count, height in zip(
        shown.edges[:-1][held], shown.counts[held], shown.accuracy[held], strict=True
    ):
        # Inside a tall bar, above a short one: never outside the axes.
        inside = height > 0.12
        ax.text(
            left + width / 2, 0.015 if inside else height + 0.015, str(count), ha="center",
            va="bottom", fontsize=7, color="white" if inside else GREY, rotation=90,
        )  # fmt: skip
    chance = calibration.expected_by_chance(scaled, nodes)
    words = f"calibration error {own.error:.3f}"
    if run.calibrated is not None:
        words += f" before, {shown.error:.3f} after"
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    ax.set_title(
        f"{run.name}, recipe {run.recipe}, seed {run.seed}: {len(nodes):,} {split} nodes\n"
        f"{words}; by chance {chance:.3f}",
        fontsize=10,
    )
    return ax


def path(run: Run, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of every s that was tried, a thin line for each L2, and mark the choice."""
    tried: GridSearch | None = run.search
    if tried is None or not len(tried):
        raise ParameterError(
            f"The run on {run.name} was given its s and l2, or had no labels to choose them by; "
            "there is no path to draw."
        )
    ax = new_axes() if ax is None else ax
    penalties = np.unique(tried.l2)
    taken = tried.numbers == tried.candidates.index(tried.candidate)
    accuracy = 100 * tried.accuracy[taken].reshape(-1, len(penalties))
    times = tried.s[taken].reshape(-1, len(penalties))[:, 0]
    for column in accuracy.T:
        ax.plot(times, column, color=GREY, lw=0.6, alpha=0.6)
    ax.lines[-1].set_label(f"one l2 each, {penalties[0]:g} … {penalties[-1]:g}")
    ax.plot(times, accuracy.max(axis=1), color=BLUE, marker=".", label="the best l2 at each s")
    for number, form in enumerate(tried.candidates):
        if form != tried.candidate:
            mine = tried.numbers == number
            other = 100 * tried.accuracy[mine].reshape(-1, len(penalties)).max(axis=1)
            at = tried.s[mine].reshape(-1, len(penalties))[:, 0]
            ax.plot(at, other, marker=".", ms=3, color=GREY, ls=DASHES[number % len(DASHES)],
                    label=_named(form))  # fmt: skip
    s, l2 = tried.s[tried.chosen], tried.l2[tried.chosen]
    best = f"chosen: {_named(tried.candidate)}, s = {s:g}, l2 = {l2:g}"
    ax.plot([s], [100 * tried.accuracy[tried.chosen]], "o", color=ORANGE, ms=8, label=best)
    word = {"cross-validation": "cross-validated"}.get(tried.by, tried.by)
    ax.set(xlabel="diffusion time s", ylabel=f"{word} accuracy (%)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, frameon=False, fontsize=9)
    ax.set_title(f"{run.name}, recipe {run.recipe}: what was tried", fontsize=11)
    return ax


def _named(form: Candidate) -> str:
    return f"{form.scaling}, self weight {form.self_weight:g}"
