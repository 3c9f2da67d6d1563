"""The default recipe in a process of its own, so that labelling never waits for it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphHeatError
from graphheat.graph import Graph, Split
from graphheat.labeling.accuracy_estimate import AccuracyEstimate, estimate_accuracy
from graphheat.runs import Run

NICE = 10
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Trained:
    """What the default recipe made of some labels.

    Attributes
    ----------
    probabilities
        Shape (n, c), float32.
    loss, linear_loss
        Mean cross-entropy on labels that were not seen, of the whole and of its linear stage, on
        the same folds; None where nothing could be left out.
    estimate
        Of its accuracy.
    failure
        Why there is nothing, in a sentence, or None.
    """

    probabilities: NDArray[np.float32] | None
    loss: float | None = None
    linear_loss: float | None = None
    estimate: AccuracyEstimate | None = None
    failure: str | None = None

    @property
    def better(self) -> bool:
        """Whether it predicts labels that it did not see better than its linear stage does."""
        return (
            self.probabilities is not None
            and self.loss is not None
            and self.linear_loss is not None
            and self.loss < self.linear_loss
        )

    def why(self, labels: int) -> str:
        """Return the comparison in a sentence."""
        if self.failure is not None:
            return f"The linear model stays: {self.failure}"
        if self.loss is None or self.linear_loss is None:
            return "The linear model stays: there are too few labels to judge the networks by."
        head = "Networks took over" if self.better else "The linear model stays"
        return (
            f"{head}: asked of the {labels:,} labels with each left out, the default's log-loss "
            f"is {self.loss:.2f}, the linear model's {self.linear_loss:.2f}."
        )


def train(graph: Graph, seed: int = 0, threads: int | None = None) -> Trained:
    """Fit the default recipe and judge it by labels that it did not see."""
    from graphheat.recipes.fit import fit

    try:
        run = fit(graph, "auto", seed=seed, threads=threads)
    except (GraphHeatError, MemoryError) as error:
        return Trained(None, failure=str(error))
    stages = {stage.name: stage for stage in getattr(run, "stages", ())}
    linear = stages.get("linear")
    return Trained(
        np.asarray(run.probabilities, dtype=np.float32),
        unseen_loss(run),
        None if linear is None else linear.loss,
        estimate_accuracy(run),
    )


def unseen_loss(run: Run) -> float | None:
    """Return the mean cross-entropy of predictions of training labels without them."""
    if run.out_of_fold is None:
        return None
    unseen = np.asarray(run.out_of_fold, dtype=np.float64)
    codes = run.labels[np.sort(run.split.train)]
    held = np.isfinite(unseen).all(axis=1)
    if not held.any():
        return None
    p = unseen[held, :][np.arange(held.sum()), codes[held]]
    return float(-np.log(np.maximum(p, LEAST)).mean())


class Trainer:
    """A process that holds the graph and trains when it is sent labels; it ends with this one.

    Parameters
    ----------
    graph
        Its labels are replaced by those that are sent.
    """

    def __init__(self, graph: Graph, *, threads: int | None = 1) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(there, graph, threads), daemon=True, name="graphheat-training"
        )
        self._process.start()
        there.close()
        self._lock = threading.Lock()

    def train(self, codes: NDArray[np.int64], classes: list[Any]) -> Trained:
        """Return what the default makes of these labels; waits for it."""
        with self._lock:
            try:
                self._here.send((codes, classes))
                found: Trained = self._here.recv()
                return found
            except (EOFError, OSError):
                return Trained(None, failure="the training process ended; labels go on.")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        with suppress(OSError):
            self._here.close()
        self._process.join(5)


def _serve(pipe: Connection, graph: Graph, threads: int | None) -> None:
    """Train on what is sent, until nobody is there to send."""
    with suppress(OSError):
        os.nice(NICE)
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            codes, classes = pipe.recv()
            split = Split.checked({"train": np.flatnonzero(codes >= 0)}, codes)
            labelled = replace(graph, labels=codes, classes=tuple(classes), split=split)
            pipe.send(train(labelled, threads=threads))


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(0)
