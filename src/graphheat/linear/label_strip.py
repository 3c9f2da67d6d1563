"""LabelStrip: labels of some rows from what was diffused, as a task that workers can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.heat.engines.cluster.block_files import put
from graphheat.linear.diffusion import beside
from graphheat.linear.labelling_time import Alignment
from graphheat.linear.linear_run import REACHED
from graphheat.linear.model_columns import ModelColumns, StoredColumns


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of rows whose heat is known.

    Attributes
    ----------
    columns
        What was diffused, and by which model.
    heat
        Gives rows of the results, shape (k, columns), by series.
    """

    columns: ModelColumns
    heat: Any

    def diffused(self, rows: Any, e: int) -> NDArray[Any]:
        """Return the diffused columns of the model, shape (k, width)."""
        width, own = self.columns.width, self.columns.model.self_weight
        found = self.heat(rows, e)
        mean = found[:, :width] / np.maximum(found[:, width : width + 1], 1e-30)
        return np.asarray(beside(self.columns.projected(rows), mean, own) if own else mean)

    def labels(
        self, rows: Any, e: int, aligned: Alignment, sharpness: float
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return probabilities and which rows heat of a training node reaches."""
        logits = self.columns.model.logits(aligned(self.diffused(rows, e)))
        reached = self.heat(rows, e)[:, self.columns.width + 1] >= REACHED
        return softmax(sharpness * logits, axis=1).astype(np.float32), reached


class LabelStrip(NamedTuple):
    """Rows to label, and the file that their probabilities go to.

    Attributes
    ----------
    columns, heat
        As :class:`Answers` has them, by files.
    series, aligned, sharpness
        The time that was chosen, what brings its columns to those of training, and what logits are
        multiplied by.
    first, last
        The rows.
    file, offset
        Of the probabilities, and where they begin in it.
    """

    columns: StoredColumns
    heat: Any
    series: int
    aligned: Alignment
    sharpness: float
    first: int
    last: int
    file: str
    offset: int


def write_labels(task: LabelStrip) -> NDArray[np.uint8]:
    """Write the probabilities of the rows; return which are reached, as bits."""
    answers = Answers(task.columns.opened(), task.heat)
    rows = slice(task.first, task.last)
    probabilities, reached = answers.labels(rows, task.series, task.aligned, task.sharpness)
    put_rows(Path(task.file), task.offset, task.first, probabilities)
    return np.packbits(reached)


def put_rows(file: Path, offset: int, first: int, values: NDArray[Any]) -> None:
    """Write rows of an array's file, whose numbers begin at ``offset``."""
    put(file, [(offset + first * values.shape[1] * values.itemsize, values)])


def joined_bits(
    parts: Sequence[NDArray[np.uint8]], strips: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Return what bits say of all rows, shape (n,)."""
    found = [
        np.unpackbits(bits)[: last - first]
        for bits, (first, last) in zip(parts, strips, strict=True)
    ]
    return np.concatenate(found).astype(np.bool_)
