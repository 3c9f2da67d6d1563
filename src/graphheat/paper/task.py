"""One run of one recipe: what decides it, and what comes of it."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphheat import datasets, recipes
from graphheat.graph import Graph
from graphheat.paper.rows import row_named
from graphheat.recipes import Prepared

if TYPE_CHECKING:
    from graphheat.training.loop import Epoch

PACKAGES = ("graphheat", "numpy", "scipy", "torch", "torch-geometric", "scikit-learn", "gensim")


@dataclass(frozen=True)
class Task:
    """A run to be made: a row of Table 2, a graph, a seed, and settings that differ."""

    row: str
    graph: str
    seed: int
    changes: tuple[tuple[str, Any], ...] = ()

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """Every setting of the run, so that nothing depends on a default of a later version."""
        return full_settings(self.row, self.graph, dict(self.changes))

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What makes the run unique: row, graph, settings as JSON, seed."""
        return self.row, self.graph, json.dumps(self.settings, sort_keys=True), self.seed


@dataclass(frozen=True, eq=False)
class Record:
    """A run that was made.

    Attributes
    ----------
    seconds
        Of the run alone; what seeds share (a kernel, a basis) is ``metrics["setup_seconds"]``.
    metrics
        ``test_accuracy`` and ``val_accuracy`` (fractions), ``epochs``, ``best_epoch``, and what
        else the recipe measures.
    predicted
        Class codes of all nodes, shape (n,).
    """

    row: str
    graph: str
    settings: Mapping[str, Any]
    seed: int
    seconds: float
    metrics: Mapping[str, Any]
    predicted: NDArray[np.uint8]
    started: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)


def full_settings(row_key: str, graph_name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return all settings of a row on a graph."""
    row = row_named(row_key)
    graph = load_graph(graph_name)
    settings = recipes.get(row.recipe).settings(graph, **{**row.changes, **changes})
    return settings.as_dict()


@functools.lru_cache(maxsize=4)
def load_graph(name: str) -> Graph:
    """Return a bundled graph; one copy per process."""
    return datasets.load(name)


def run_task(task: Task) -> Record:
    """Make a run, on one thread."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    row, graph = row_named(task.row), load_graph(task.graph)
    prepared, setup = _prepared(row.recipe, task.graph, json.dumps(task.settings, sort_keys=True))
    watch = _Watch(graph)
    options: dict[str, Any] = {"observer": watch, "watch": watch.nodes} if row.watched else {}
    run = recipes.get(row.recipe).fit(prepared, task.seed, **options)
    metrics: dict[str, Any] = {
        "epochs": run.epochs,
        "best_epoch": run.best_epoch,
        "setup_seconds": round(setup, 3),
        **run.facts(),
        **watch.choices(),
    }
    for part in ("val", "test"):
        nodes = graph.split[part]
        right = run.predicted[nodes] == graph.labels[nodes]
        metrics[f"{part}_accuracy"] = float(right.mean())
    return Record(
        row=task.row,
        graph=task.graph,
        settings=task.settings,
        seed=task.seed,
        seconds=run.seconds,
        metrics=metrics,
        predicted=run.predicted.astype(np.uint8),
        started=started,
        versions=versions(),
    )


@functools.lru_cache(maxsize=1)
def _prepared(recipe: str, graph_name: str, settings: str) -> tuple[Prepared, float]:
    """Return what the seeds of a row share, on one thread, and the seconds that it took."""
    began = time.perf_counter()
    graph, chosen = load_graph(graph_name), recipes.get(recipe)
    given = {name: value for name, value in json.loads(settings).items() if name != "recipe"}
    prepared = chosen.prepare(graph, chosen.settings(graph, **given), threads=1)
    return prepared, time.perf_counter() - began


class _Watch:
    """Test accuracy by epoch, for the three figures that the authors' code prints.

    They are never used to choose anything: the row's accuracy is that at the lowest validation
    loss.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.split["test"]
        self._labels = graph.labels[self.nodes]
        self._val: list[float] = []
        self._test: list[float] = []

    def __call__(self, epoch: Epoch) -> None:
        self._val.append(epoch.val_accuracy)
        self._test.append(float((epoch.watched == self._labels).mean()))

    def choices(self) -> dict[str, float]:
        """Return the test accuracy that each rule for choosing an epoch would report."""
        if not self._val:
            return {}
        val, test = np.array(self._val), np.array(self._test)
        last_of_ties = len(val) - 1 - int(val[::-1].argmax())
        return {
            "accuracy_last_epoch": float(test[-1]),
            "accuracy_best_val_accuracy": float(test[last_of_ties]),
            "accuracy_best_test": float(test.max()),
        }


@functools.lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions that a run may depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
