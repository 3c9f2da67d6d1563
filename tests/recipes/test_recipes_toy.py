"""A recipe of one file, registered in one line, is at home everywhere."""

import json

import numpy as np
import pandas
import pytest
from helpers.command import call
from toy_recipe import TOY

import graphheat
from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.paper import rows, tables
from graphheat.paper.store import Store
from graphheat.paper.task import Task, run_task

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def graph():
    return block_model(80, 3, features=6, seed=2)


@pytest.fixture
def file(graph, tmp_path):
    write_npz(graph, tmp_path / "graph.npz")
    return tmp_path / "graph.npz"


def test_it_is_fitted_from_the_command_line_and_its_run_is_read(graph, file, tmp_path):
    out = tmp_path / "out"
    words = ("fit", file, "--recipe", "toy", "--set", "max_hops=4", "--out", out)
    summary = json.loads(call(*words, "--json").stdout)
    assert summary["recipe"] == "toy"
    assert summary["settings"] == {"max_hops": 4}
    run = graphheat.load_run(out)
    expected = graphheat.fit(graph, "toy", max_hops=4)
    assert np.array_equal(run.probabilities, expected.probabilities)
    assert run.settings_dict() == {"max_hops": 4}
    table = pandas.read_csv(out / "predictions.csv")
    assert table["predicted"].tolist() == [graph.classes[code] for code in run.predicted]
    again = json.loads(call(*words, "--resume", "--json").stdout)
    assert again["runs"] == summary["runs"]


def test_its_run_predicts_its_own_graph_and_refuses_another(file, tmp_path):
    out, labels = tmp_path / "out", tmp_path / "labels.csv"
    call("fit", file, "--recipe", "toy", "--out", out)
    call("predict", out, "--out", labels)
    call("predict", out, "--graph", file, "--out", labels)
    assert len(pandas.read_csv(labels)) == 80
    write_npz(
        block_model(30, 3, degree=4, features=6, labels_per_class=3, seed=4), tmp_path / "other.npz"
    )
    refused = call("predict", out, "--graph", tmp_path / "other.npz", "--out", labels, code=2)
    assert "A run of toy labels the graph that it was fitted on" in refused.stderr
    refused = call("explain", out, "3", code=2)
    assert "this is one of toy" in refused.stderr


def test_its_settings_are_checked_on_the_command_line(file):
    refused = call("fit", file, "--recipe", "toy", "--set", "depth=3", code=2)
    assert "Nearest label has no setting 'depth'" in refused.stderr


def test_seeds_are_evaluated(graph, file):
    result = graphheat.evaluate(graph, "toy", seeds=range(3))
    assert result.std == 0
    summary = json.loads(call("fit", file, "--recipe", "toy", "--seeds", "3", "--json").stdout)
    assert summary["test_accuracy_mean"] == pytest.approx(result.mean)


def test_a_classifier_takes_it_by_name(graph):
    from graphheat import GraphHeatClassifier

    run = GraphHeatClassifier(recipe="toy").fit(graph).run_
    assert np.array_equal(run.probabilities, graphheat.fit(graph, "toy").probabilities)


def test_it_has_a_row_in_the_papers_table(monkeypatch, tmp_path):
    row = rows.Row("toy", TOY.title, "toy", "earlier", rows.NOTHING)
    monkeypatch.setitem(rows.ROWS, "toy", row)
    record = run_task(Task("toy", "cora", 0))
    assert record.metrics["test_accuracy"] > 0.5
    assert record.settings == {"max_hops": 20}
    store = Store(tmp_path / "runs.sqlite")
    assert store.add(record)
    (cell, *_) = tables.table2(store.runs(), ["toy"])
    assert (cell.n, cell.graph) == (1, "cora")
    assert cell.mean == pytest.approx(100 * record.metrics["test_accuracy"])
    (line,) = tables.table2_lines([cell], "cora")
    assert line[0] == "Nearest label"
    assert line[2] == f"{cell.mean:.1f} (1)"
