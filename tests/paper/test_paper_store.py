"""The store of runs, and the sweep that fills it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from graphheat.errors import FileFormatError, GraphHeatError, MissingPathError, OutputError
from graphheat.paper import sweep as sweep_module
from graphheat.paper.store import Store, read_runs, write_runs
from graphheat.paper.sweep import sweep
from graphheat.paper.task import Record, Task, load_graph


def record(row="lp", seed=0, accuracy=0.5, graph="cora", **settings):
    n = load_graph(graph).n
    return Record(
        row=row,
        graph=graph,
        settings=settings,
        seed=seed,
        seconds=1.0,
        metrics={"test_accuracy": accuracy, "val_accuracy": 0.4, "epochs": 7},
        predicted=np.full(n, seed % 7, dtype=np.uint8),
        started="2019-08-10T00:00:00+00:00",
        versions={"numpy": "2"},
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs.sqlite")


def test_a_run_is_kept_once(store):
    assert store.add(record(accuracy=0.5))
    assert not store.add(record(accuracy=0.9))
    assert store.runs()["test_accuracy"].tolist() == [0.5]


def test_runs_differ_by_row_graph_settings_and_seed(store):
    for each in (record(), record(seed=1), record(row="mlp"), record(graph="citeseer"),
                 record(hidden=3)):  # fmt: skip
        assert store.add(each)
    assert len(store.runs()) == 5


def test_a_frame_survives_the_way_through_csv(store, tmp_path):
    store.add(record(seed=3, hidden=16, eps=None))
    store.add(record(row="mlp"))
    write_runs(store.runs(), tmp_path / "runs.csv")
    from_csv, from_store = read_runs(tmp_path / "runs.csv"), read_runs(store.path)
    assert from_csv["settings"].tolist() == from_store["settings"].tolist()
    assert from_csv["test_predicted"].tolist() == from_store["test_predicted"].tolist()
    assert set(from_csv["test_predicted"].iloc[0]) == {"3"}
    assert len(from_csv["test_predicted"].iloc[0]) == 1000
    assert from_csv["epochs"].tolist() == [7, 7]


def test_what_is_no_store_is_said_so(tmp_path):
    (tmp_path / "text.sqlite").write_text("certainly not a database, only long" * 99)
    with pytest.raises(FileFormatError, match="cannot be used as a store"):
        Store(tmp_path / "text.sqlite")
    (tmp_path / "runs.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="no table of runs"):
        read_runs(tmp_path / "runs.csv")
    with pytest.raises(MissingPathError, match="There are no runs"):
        read_runs(tmp_path / "none.csv")
    with pytest.raises(OutputError, match="is a folder"):
        Store(tmp_path)


def test_a_store_of_a_later_version_is_left_alone(store):
    with store._open() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(FileFormatError, match="schema 99"):
        Store(store.path)


def test_a_sweep_makes_only_what_is_missing(store, monkeypatch):
    tasks = [Task("mlp", "cora", seed) for seed in range(4)]
    monkeypatch.setattr(Task, "settings", {"hidden": 1})
    made = []

    def pretend(task):
        made.append(task.seed)
        return record("mlp", task.seed, hidden=1)

    monkeypatch.setattr(sweep_module, "run_task", pretend)
    sweep(store, tasks[:2])
    heard = []
    sweep(store, tasks, progress=lambda *step: heard.append(step))
    assert made == [0, 1, 2, 3]
    assert [(done, total) for done, total, _ in heard] == [(3, 4), (4, 4)]
    assert heard[-1][2] == "less than a minute left"
    assert sweep_module.seconds_left(store, tasks, 1) == 0


def test_a_failing_run_is_noted_and_tried_again(store, monkeypatch):
    monkeypatch.setattr(Task, "settings", {"hidden": 1})
    tasks = [Task("mlp", "cora", 0), Task("mlp", "cora", 1)]

    def fail_first(task):
        if task.seed == 0:
            raise ValueError("no luck")
        return record("mlp", task.seed, hidden=1)

    monkeypatch.setattr(sweep_module, "run_task", fail_first)
    sweep(store, tasks)
    assert store.failures() == [("mlp", "cora", 0, "ValueError: no luck")]
    assert store.runs()["seed"].tolist() == [1]
    monkeypatch.setattr(sweep_module, "run_task", lambda task: record("mlp", 0, hidden=1))
    sweep(store, tasks)
    assert store.failures() == []
    assert len(store.runs()) == 2


def test_a_run_that_another_process_makes_is_left_to_it(store, monkeypatch):
    task = Task("mlp", "cora", 0)
    monkeypatch.setattr(Task, "settings", {"hidden": 1})
    context = multiprocessing.get_context("fork")
    locked, done = context.Event(), context.Event()

    def hold():
        with sweep_module._alone(store.path, task) as mine:
            assert mine
            locked.set()
            done.wait(60)

    other = context.Process(target=hold)
    other.start()
    assert locked.wait(60)
    with sweep_module._alone(store.path, task) as mine:
        assert not mine
    with sweep_module._alone(store.path, Task("mlp", "cora", 1)) as mine:
        assert mine
    other.kill()  # the lock goes with its process
    other.join()
    with sweep_module._alone(store.path, task) as mine:
        assert mine


def test_two_processes_that_write_at_once_lose_nothing(store):
    context = multiprocessing.get_context("fork")

    def write(start):
        own = Store(store.path)
        for seed in range(start, start + 40):
            own.add(record(seed=seed))

    workers = [context.Process(target=write, args=(start,)) for start in (0, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert store.runs()["seed"].tolist() == list(range(60))


SWEEP = """
import sys
from graphheat.paper.store import Store
from graphheat.paper.sweep import sweep
from graphheat.paper.task import Task
quick = (("max_epochs", 10), ("hidden", 2))
tasks = [Task("mlp", "cora", seed, quick) for seed in range(80)]
sweep(Store(sys.argv[1]), tasks, jobs=2)
"""


def test_a_killed_sweep_ends_with_the_same_runs(tmp_path):
    pytest.importorskip("torch")
    undisturbed, killed = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def start(path):
        return subprocess.Popen(
            [sys.executable, "-c", SWEEP, str(path)],
            env=environment, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    process = start(killed)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if killed.exists() and len(Store(killed).runs()) >= 2:
            break
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)  # the command and both its workers
    process.communicate()
    there = len(Store(killed).runs())
    assert there >= 2
    process = start(killed)
    message = process.communicate()[1]
    assert process.returncode == 0, message
    quick = (("max_epochs", 10), ("hidden", 2))  # the same tasks, here: a run takes one thread
    sweep(Store(undisturbed), [Task("mlp", "cora", seed, quick) for seed in range(80)])
    a, b = Store(undisturbed).runs(), Store(killed).runs()
    assert len(a) == len(b) == 80
    same = ["row", "graph", "seed", "test_accuracy", "val_accuracy", "test_predicted", "epochs"]
    assert a[same].equals(b[same])


def test_a_dead_worker_is_said(store, monkeypatch):
    def die(path, tasks):
        os._exit(9)

    monkeypatch.setattr(sweep_module, "_worker", die)
    monkeypatch.setattr(Task, "settings", {"hidden": 1})
    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(sweep_module.multiprocessing, "get_context", lambda name: fork)
    with pytest.raises(GraphHeatError, match="ended early"):
        sweep(store, [Task("mlp", "cora", seed) for seed in range(3)], jobs=2)
