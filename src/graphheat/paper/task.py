"""One run of one system: what decides it, and what comes of it."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat import baselines, datasets
from graphheat.graph import Graph
from graphheat.paper.rows import Row, row_named
from graphheat.training import prepare, settings_for, train
from graphheat.training.holdout import assign_roles
from graphheat.training.loop import Epoch
from graphheat.training.problem import Problem

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
        else the system measures.
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
    changes = {**row.changes, **changes}
    if row.is_heat:
        return settings_for(load_graph(graph_name), row.system, **changes).as_dict()
    return baselines.load(row.system).preset(graph_name, **changes).settings()


@functools.lru_cache(maxsize=4)
def load_graph(name: str) -> Graph:
    """Return a bundled graph; one copy a process."""
    return datasets.load(name)


def run_task(task: Task) -> Record:
    """Make a run, on one thread."""
    import torch

    torch.set_num_threads(1)  # two workers share two cores
    started = datetime.now(UTC).isoformat(timespec="seconds")
    row, graph = row_named(task.row), load_graph(task.graph)
    run = _run_heat if row.is_heat else _run_baseline
    seconds, metrics, predicted = run(row, graph, task)
    for role in ("val", "test"):
        nodes = graph.split[role]
        right = predicted[nodes] == graph.labels[nodes]
        metrics[f"{role}_accuracy"] = float(right.mean())
    return Record(
        row=task.row,
        graph=task.graph,
        settings=task.settings,
        seed=task.seed,
        seconds=seconds,
        metrics=metrics,
        predicted=predicted.astype(np.uint8),
        started=started,
        versions=versions(),
    )


def _run_baseline(row: Row, graph: Graph, task: Task) -> tuple[float, dict[str, Any], Any]:
    system = baselines.load(row.system)(**task.settings)
    began = time.perf_counter()
    outcome = system.fit(graph, assign_roles(graph, task.seed), task.seed)
    seconds = time.perf_counter() - began
    metrics = {
        "epochs": len(next(iter(outcome.history.values()), [])),
        "best_epoch": outcome.best_epoch,
    }
    return seconds, metrics, outcome.probabilities.argmax(axis=1)


def _run_heat(row: Row, graph: Graph, task: Task) -> tuple[float, dict[str, Any], Any]:
    problem, setup = _problem(task.graph, json.dumps(task.settings, sort_keys=True))
    watch = _Watch(graph)
    run = train(problem, task.seed, threads=1, callback=watch, watch=watch.nodes)
    metrics = {
        "epochs": run.epochs,
        "best_epoch": run.best_epoch,
        "setup_seconds": round(setup, 3),
        "kernel": run.kernel["method"],
        **watch.choices(),
    }
    return run.seconds, metrics, run.predicted


@functools.lru_cache(maxsize=1)
def _problem(graph_name: str, settings: str) -> tuple[Problem, float]:
    began = time.perf_counter()
    given = json.loads(settings)
    graph = load_graph(graph_name)
    problem = prepare(graph, settings_for(graph, given.pop("recipe"), **given), threads=1)
    return problem, time.perf_counter() - began


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
        """Return the test accuracy that each way of choosing an epoch would report."""
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
