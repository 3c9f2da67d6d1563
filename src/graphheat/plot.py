"""Pictures, as functions that take and return matplotlib ``Axes``.

Nothing here opens a window; :func:`save` writes a figure to a file, as a whole.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from sklearn import metrics

from graphheat.errors import ParameterError
from graphheat.io import replacing
from graphheat.linear import LinearRun
from graphheat.training.run import ROLE_NAMES, Labelling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours: told apart by colour-blind readers, and in print.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"


def new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    """Return the axes of a new figure that no window manager knows of."""
    return Figure(figsize=(width, height), layout="constrained").subplots()


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax`` in the format of the file's suffix."""
    with replacing(path) as aside:
        # Without the hour in it, the same picture is the same file.
        undated = {"metadata": {"Date": None}} if aside.suffix == ".svg" else {}
        ax.figure.savefig(aside, dpi=150, **undated)


def training_curve(run: Labelling, ax: Axes | None = None) -> Axes:
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


def confusion_matrix(run: Labelling, role: str = "test", ax: Axes | None = None) -> Axes:
    """Draw how many nodes of each class (rows) were given each label (columns)."""
    size = 1.6 + 0.62 * len(run.classes)
    ax = new_axes(size + 1.5, size) if ax is None else ax
    members = (run.roles == ROLE_NAMES.index(role)) & (run.labels >= 0)
    counts = metrics.confusion_matrix(
        run.labels[members], run.predicted[members], labels=range(len(run.classes))
    )
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    names = [str(name).replace("_", " ") for name in run.classes]
    ticks = range(len(names))
    ax.set_xticks(ticks, names, rotation=40, ha="right", fontsize=8)
    ax.set_yticks(ticks, names, fontsize=8)
    ax.set(xlabel="predicted", ylabel="true")
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(
                j, i, str(count), ha="center", va="center", fontsize=8,
                color="white" if share[i, j] > 0.55 else "black",
            )  # fmt: skip
    ax.set_title(f"{run.name}: {role} nodes", fontsize=11)
    return ax


def path(run: LinearRun, ax: Axes | None = None) -> Axes:
    """Draw the accuracy of every s that was tried, a thin line for each L2, and mark the choice."""
    tried = run.path
    if not len(tried):
        raise ParameterError(
            f"The run on {run.name} was given its s and l2, or had no labels to choose them by; "
            "there is no path to draw."
        )
    ax = new_axes() if ax is None else ax
    penalties = np.unique(tried.l2)
    accuracy = 100 * tried.accuracy.reshape(-1, len(penalties))
    times = tried.s.reshape(-1, len(penalties))[:, 0]
    for column in accuracy.T:
        ax.plot(times, column, color=GREY, lw=0.6, alpha=0.6)
    ax.lines[-1].set_label(f"one l2 each, {penalties[0]:g} … {penalties[-1]:g}")
    ax.plot(times, accuracy.max(axis=1), color=BLUE, marker=".", label="the best l2 at each s")
    best = f"chosen: s = {run.s:g}, l2 = {run.l2:g}"
    ax.plot([run.s], [100 * tried.accuracy[tried.chosen]], "o", color=ORANGE, ms=8, label=best)
    word = "validation" if tried.by == "validation" else "cross-validated"
    ax.set(xlabel="diffusion time s", ylabel=f"{word} accuracy (%)")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False, fontsize=9)
    ax.set_title(f"{run.name}, recipe {run.recipe}: what was tried", fontsize=11)
    return ax
