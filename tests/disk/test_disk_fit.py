"""Labelling a graph on disk: as in memory, resumable, streamed, and by any executor."""

import json
import shutil
import threading
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from helpers.command import call

import graphheat
from graphheat import load_run
from graphheat.disk import DiskGraph
from graphheat.errors import (
    CheckpointError,
    GraphError,
    GraphHeatError,
    MissingPathError,
    OutputError,
    ParameterError,
)
from graphheat.graph.split import Split
from graphheat.heat.engines.cluster import block_step, cluster, executors, task_pool
from graphheat.heat.engines.cluster.executors import SerialExecutor
from graphheat.heat.engines.cluster.task_pool import TaskPool
from graphheat.heat.laplacian import Laplacian
from graphheat.linear import labelling, row_diffusion
from graphheat.linear.work_plan import Sizes, plan_sizes, plan_work
from graphheat.recipes.disk_fit import fit_on_disk
from graphheat.runs.checkpoint import FILENAME


@pytest.fixture(scope="module")
def run(disk_graph):
    return graphheat.fit(disk_graph, "linear", threads=1)


def test_labels_are_those_of_the_recipe_in_memory(run, memory_graph):
    full = graphheat.fit(memory_graph, "linear")
    assert abs(run.test_accuracy - full.test_accuracy) <= 0.02
    assert np.allclose(run.probabilities.sum(axis=1), 1, atol=1e-5)
    assert run.reached.mean() > 0.9
    assert any("certified entries have" in note for note in run.notes)


@pytest.fixture
def brief_network(monkeypatch):
    network = pytest.importorskip("graphheat.training.sampled_network")
    monkeypatch.setattr(network, "EPOCHS", 25)
    monkeypatch.setattr(network, "UNLABELLED", 100)


def test_the_sampled_network_learns(disk_graph, brief_network):
    run = graphheat.fit(disk_graph, "sampled", threads=1, s=2.0)
    assert run.test_accuracy > 0.85
    assert run.settings_dict()["model"] == "sampled"
    again = graphheat.fit(disk_graph, "sampled", threads=1, s=2.0)
    assert np.array_equal(run.probabilities, again.probabilities)
    explanation = run.explainer(disk_graph).explain(disk_graph.nodes[5])
    total = explanation.constant + explanation.contributions.sum()
    assert total == pytest.approx(explanation.logit, abs=1e-6)


def test_labels_are_spread_as_in_memory(disk_graph, memory_graph):
    ours = graphheat.fit(disk_graph, "spreading", threads=1)
    theirs = graphheat.fit(memory_graph, "spreading", s=ours.settings_dict()["s"])
    same = ours.probabilities.argmax(axis=1) == theirs.probabilities.argmax(axis=1)
    assert same.mean() > 0.97
    explanation = ours.explainer(disk_graph).explain(disk_graph.nodes[5])
    assert explanation.training.all()
    with pytest.raises(ParameterError, match="has no setting 'l2'"):
        graphheat.fit(disk_graph, "spreading", l2=1.0)


@pytest.mark.parametrize("validated", [True, False])
def test_auto_weighs_its_stages(disk_graph, brief_network, monkeypatch, tmp_path, validated):
    graph = DiskGraph.open(disk_graph.path)
    if not validated:
        parts = {**graph.split.parts, "val": np.empty(0, dtype=np.int64)}
        monkeypatch.setattr(graph, "split", Split(graph.n, parts))
    path = tmp_path / FILENAME
    run = graphheat.fit(graph, threads=1, s=2.0, checkpoint=path)
    chosen = run.settings_dict()
    assert chosen["model"] == "combined"
    assert chosen["judged_by"] == ("validation" if validated else "out-of-fold")
    assert run.test_accuracy > 0.9
    assert {each.name for each in tmp_path.iterdir()} == {"probabilities.npy", FILENAME}
    again: Any = load_run(tmp_path)
    assert again.settings_dict() == chosen
    explanation = again.explainer(graph).explain(graph.nodes[5])
    total = explanation.constant + explanation.contributions.sum()
    assert total == pytest.approx(explanation.logit, abs=1e-6)


def test_an_interrupted_auto_goes_on_with_its_stage(disk_graph, brief_network, tmp_path):
    from graphheat.recipes import disk_fit

    whole = graphheat.fit(disk_graph, threads=1, s=2.0)
    honest = disk_fit._train
    path = tmp_path / FILENAME
    with pytest.MonkeyPatch.context() as patch:

        def dying(*given):
            if given[3] == "sampled":
                raise KeyboardInterrupt
            return honest(*given)

        patch.setattr(disk_fit, "_train", dying)
        with pytest.raises(KeyboardInterrupt):
            graphheat.fit(disk_graph, threads=1, s=2.0, checkpoint=path)
        patch.setattr(disk_fit, "_train", honest)
        patch.setattr(disk_fit, "spread_nodes", None)  # done already
        resumed = graphheat.fit(disk_graph, threads=1, s=2.0, checkpoint=path, resume=True)
    assert np.array_equal(resumed.probabilities, whole.probabilities)


def test_a_run_is_kept_and_predictions_stream(run, disk_graph, tables, tmp_path):
    path = tmp_path / FILENAME
    kept = graphheat.fit(disk_graph, "linear", threads=1, checkpoint=path)
    assert np.array_equal(kept.probabilities, run.probabilities)
    again: Any = load_run(tmp_path)
    assert np.array_equal(again.probabilities, run.probabilities)
    assert again.test_accuracy == run.test_accuracy
    assert np.array_equal(again.reached, run.reached)
    table = pyarrow.parquet.read_table(again.write_predictions(tmp_path / "p.parquet"))
    assert table.column("node").to_pylist() == tables.ids.tolist()
    predicted = np.array(table.column("predicted").to_pylist())
    classes = np.array(disk_graph.classes)
    assert np.array_equal(predicted, classes[run.probabilities.argmax(axis=1)])
    csv = pyarrow.csv.read_csv(again.write_predictions(tmp_path / "p.csv"))
    assert csv.column("node").to_pylist() == tables.ids.tolist()
    with pytest.raises(ParameterError, match=r"ends in \.parquet or \.csv"):
        again.write_predictions(tmp_path / "p.docx")
    with pytest.raises(OutputError, match="already holds a run"):
        graphheat.fit(disk_graph, "linear", checkpoint=path)
    assert graphheat.fit(disk_graph, "linear", checkpoint=path, resume=True).recipe == "linear"
    (tmp_path / "probabilities.npy").unlink()
    with pytest.raises(CheckpointError, match="not where they were"):
        load_run(tmp_path)


def test_a_killed_labelling_loses_one_panel_at_most(disk_graph, run, tmp_path, monkeypatch):
    monkeypatch.setattr(labelling, "widest", lambda *given: 2)
    ran: list[int] = []
    honest = labelling.Panel.run

    def dying(self, *given, **more):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(1)
        honest(self, *given, **more)

    monkeypatch.setattr(labelling.Panel, "run", dying)
    path = tmp_path / FILENAME
    with pytest.raises(KeyboardInterrupt):
        graphheat.fit(disk_graph, "linear", threads=1, checkpoint=path)
    with pytest.raises(CheckpointError, match="interrupted"):
        load_run(tmp_path)
    monkeypatch.setattr(labelling.Panel, "run", honest)
    monkeypatch.setattr("graphheat.recipes.disk_fit._train", None)  # done already
    left: list[int] = []

    def counted(self, *given, **more):
        left.append(1)
        honest(self, *given, **more)

    monkeypatch.setattr(labelling.Panel, "run", counted)
    resumed = graphheat.fit(disk_graph, "linear", threads=1, checkpoint=path, resume=True)
    assert len(left) == 1  # three panels of two columns, of which two were kept
    assert np.array_equal(resumed.probabilities, run.probabilities)
    assert not (tmp_path / "heat.npy").exists()


@pytest.mark.parametrize("where", ["serial", "local:2", "pool"])
def test_every_executor_gives_the_same_bits(where, disk_graph, run, tmp_path):
    if where == "pool":
        with ProcessPoolExecutor(1) as pool, graphheat.cluster(pool, tmp_path) as opened:
            found = fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)
    else:
        with graphheat.cluster(where, tmp_path) as opened:
            found = fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)
    assert np.array_equal(found.probabilities, run.probabilities)
    assert opened.traffic.tasks > 0
    assert not (tmp_path / "diffusion").exists()


class Noting(TaskPool):
    """Notes which functions it has run, and what workers never see: more tasks than it may hold."""

    names: Counter[str]

    def run(self, function, tasks, finished=None):
        self.names.update([function.__name__] * len(tasks))
        return super().run(function, tasks, finished)


@pytest.mark.parametrize("recipe", ["linear", "sampled", "spreading"])
def test_every_heavy_step_is_a_task(recipe, disk_graph, brief_network, tmp_path, monkeypatch):
    monkeypatch.setattr(row_diffusion, "STRIP", 50)
    changes = {} if recipe == "spreading" else {"s": 2.0}
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    here = fit_on_disk(
        disk_graph, recipe, threads=1, checkpoint=tmp_path / "here" / FILENAME, **changes
    )
    with graphheat.cluster("serial", tmp_path / "there") as opened:
        opened.pool = Noting(opened.pool.executor, 3)
        opened.pool.names = Counter()
        path = tmp_path / "there" / FILENAME
        there = fit_on_disk(
            disk_graph, recipe, threads=1, cluster=opened, checkpoint=path, **changes
        )
    assert np.array_equal(here.probabilities, there.probabilities)
    assert np.array_equal(here.reached, there.reached)
    expected = {"write_strip", "take_start", "take_step"}
    if recipe == "spreading":
        expected |= {"_write_strip"}
    else:
        expected |= {"write_labels", "_bring_batch"}
    if recipe == "sampled":
        expected |= {"_rows_of_batch"}
    assert set(opened.pool.names) == expected
    assert opened.traffic.tasks == opened.pool.names.total()


def test_a_diffusion_goes_on_after_its_workers_are_gone(disk_graph, run, tmp_path, monkeypatch):
    count = []

    def failing(task):
        count.append(task)
        if len(count) > 40:
            raise ConnectionError("gone")
        return block_step.take_step(task)

    monkeypatch.setattr(cluster, "take_step", failing)
    with (
        pytest.raises(OutputError, match="The cluster went away"),
        graphheat.cluster("serial", tmp_path) as opened,
    ):
        fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)
    monkeypatch.undo()
    steps = []

    def counted(task):
        steps.append(task.number)
        return block_step.take_step(task)

    monkeypatch.setattr(cluster, "take_step", counted)
    with graphheat.cluster("serial", tmp_path) as opened:
        found = fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)
    assert min(steps) == 3  # forty tasks are two steps of 16 blocks, and some
    assert np.array_equal(found.probabilities, run.probabilities)


class Dying(SerialExecutor):
    """Loses every third task, as a worker does that is killed."""

    asked = 0

    def submit(self, fn, /, *args, **kwargs):
        self.asked += 1
        if self.asked % 3:
            return super().submit(fn, *args, **kwargs)
        lost: Future[Any] = Future()
        lost.set_exception(BrokenProcessPool("a worker died"))
        return lost


def test_a_worker_that_dies_costs_its_task(disk_graph, run, tmp_path):
    with graphheat.cluster(Dying(), tmp_path) as opened:
        found = fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)
    assert np.array_equal(found.probabilities, run.probabilities)


def test_tasks_in_flight_are_bounded():
    class Holding(SerialExecutor):
        held, most = 0, 0

        def submit(self, fn, /, *args, **kwargs):
            future: Future[Any] = Future()
            self.held += 1
            self.most = max(self.most, self.held)

            def answer():
                self.held -= 1
                future.set_result(fn(*args, **kwargs))

            threading.Timer(0.002, answer).start()
            return future

    executor = Holding()
    assert TaskPool(executor, 3).run(abs, list(range(-20, 0))) == list(range(20, 0, -1))
    assert executor.most <= 3


def test_a_cluster_that_takes_no_more_tasks_is_told(disk_graph, tmp_path):
    class Closed(SerialExecutor):
        def submit(self, fn, /, *args, **kwargs):
            raise RuntimeError("cannot schedule new futures after shutdown")

    with (
        pytest.raises(OutputError, match=r"The cluster went away .*--resume"),
        graphheat.cluster(Closed(), tmp_path) as opened,
    ):
        fit_on_disk(disk_graph, "linear", threads=1, cluster=opened)


def test_a_cluster_that_falls_silent_is_told(monkeypatch):
    class Silent(SerialExecutor):
        def submit(self, fn, /, *args, **kwargs):
            return Future()  # that nobody will answer

    monkeypatch.setattr(task_pool, "SECONDS", 0.01)
    monkeypatch.setattr(task_pool, "PATIENCE", 0.05)
    with pytest.raises(OutputError, match=r"its scheduler does not answer.*--resume"):
        TaskPool(Silent(), 2, lambda: False).run(abs, [1, 2, 3])


def test_workers_of_another_version_or_graph_refuse(disk_graph, tmp_path):
    of = block_step.Diffused(
        str(disk_graph.path), disk_graph.fingerprint, Laplacian(self_loops=1.0), str(tmp_path),
        2, 16, "<f4",
    )  # fmt: skip
    step = block_step.Step(of, 0, 1, 1, (1.0,))
    with pytest.raises(GraphError, match="Install the same version everywhere"):
        task_pool.perform("0.0.0", block_step.take_step, step)
    other = step._replace(of=of._replace(fingerprint="other"))
    with pytest.raises(GraphError, match="another graph on this worker"):
        block_step.take_step(other)
    with pytest.raises(OutputError, match="storage that all workers share"):
        task_pool.perform(graphheat.__version__, block_step.take_step, step)


@pytest.mark.parametrize(
    ("found", "sentence"), [("0.0.1", "has graphheat 0.0.1"), ("none", "has no graphheat")]
)
def test_workers_are_asked_for_their_version_before_anything_starts(found, sentence):
    class Client:
        def run(self, function):
            assert function() == graphheat.__version__
            return {"tcp://a:1": graphheat.__version__, "tcp://b:2": found}

    with pytest.raises(GraphError, match=f"The worker tcp://b:2 {sentence}"):
        executors.check_versions(Client())


def test_mistakes_about_clusters_are_told(tmp_path):
    for where, sentence in (
        ("local:x", "local:N, such as local:2"),
        (3, "an address, local:N, a Dask client or an Executor"),
    ):
        with pytest.raises(GraphHeatError, match=sentence), graphheat.cluster(where, tmp_path):
            pass


def test_explanations_come_from_one_row(run, disk_graph, tables):
    node = tables.ids[11]
    found = run.explainer(disk_graph).explain(node)
    assert found.node == node
    assert found.sources[0] == 11 or found.hops[0] <= 2
    assert np.isclose(found.constant + found.contributions.sum(), found.logit)
    assert found.probability == pytest.approx(float(run.probabilities[11].max()))
    assert (found.hops >= 0).all()


def test_neighbors_are_those_in_memory(disk_graph, memory_graph, tables):
    from graphheat import neighborhood

    a, b = (neighborhood(graph, 5, 1.0, 1e-3) for graph in (disk_graph, memory_graph))
    assert set(a.neighbors[:20]) == set(b.neighbors[:20])
    assert np.array_equal(a.hops[:5], b.hops[:5])


def test_a_plan_chooses_and_says_why(disk_graph, memory_graph):
    assert plan_work(memory_graph, room=10**9).chosen == "memory"
    on_disk = plan_work(disk_graph, room=10**9, workers=2)
    assert on_disk.chosen in ("disk", "cluster")
    assert len(on_disk.ways) == 3
    large = Sizes(111_059_956, 2 * 1_615_685_872, 10_000, 128, 10_000)
    how = {"s": 3.0, "columns": 174, "threads": 2}
    assert plan_sizes(large, "papers", workers=0, room=20 * 10**9, **how).chosen == "disk"
    assert plan_sizes(large, "papers", workers=16, room=20 * 10**9, **how).ways[2].network > 0
    small = plan_sizes(large, "papers", workers=0, room=10**9, **how)
    assert "more machines" in small.why


def test_the_commands_go_from_files_to_labels(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = json.loads(
        call("ingest", tables.edges, "--nodes", tables.nodes, "--out", "b.graph", "--json",
             "--memory", "500MB").stdout
    )  # fmt: skip
    assert out["nodes"] == 3000
    assert json.loads(call("info", "b.graph", "--json").stdout)["edges"] == out["edges"]
    assert json.loads(call("plan", "b.graph", "--json").stdout)["chosen"] == "disk"
    fitted = json.loads(
        call("fit", "b.graph", "--recipe", "linear", "--out", "run", "--json", "--threads", "1",
             "-s", "2").stdout
    )  # fmt: skip
    assert fitted["test_accuracy"] > 0.8
    assert pyarrow.parquet.read_table("run/predictions.parquet").num_rows == 3000
    call("predict", "run", "--out", "p.csv")
    node = tables.ids[7]
    assert node in call("explain", "run", node).stdout
    near = json.loads(call("neighbors", "b.graph", node, "--json", "--eps", "0.001").stdout)
    assert near["neighbors"]
    call("explore", "b.graph", "--around", node, "--out", "p.html")
    assert (tmp_path / "p.html").stat().st_size > 10**4
    assert "--around" in call("explore", "b.graph", "--out", "q.html", code=2).stderr
    shutil.rmtree("b.graph")
    with pytest.raises(MissingPathError):
        DiskGraph.open("b.graph")
