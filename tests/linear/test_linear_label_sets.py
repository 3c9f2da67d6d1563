"""Several labels per node: read, fitted, spread, kept, grown; one-label recipes refuse."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.sentences import refusal

import graphheat
from graphheat import GraphHeatClassifier, HeatLabelSpreading
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.io import read_csv, read_npz, write_csv, write_npz
from graphheat.linear.label_sets_fit import _calibrated
from graphheat.runs import load_run

BLOCKS = block_model(240, 4, features=8, homophily=0.9, seed=0)
# Blocks 0 and 1 watch tv, 1 and 2 read news, 3 neither.
TRUTH = np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=np.int8)[BLOCKS.labels]
KNOWN = np.arange(240) < 80


@cache
def graph(*, features=True):
    sets = np.where(KNOWN[:, None], TRUTH, -1)
    return Graph.from_scipy(
        BLOCKS.adjacency, BLOCKS.features if features else None,
        label_sets=sets, classes=("tv", "news"),
    )  # fmt: skip


def words():
    names = {(1, 0): "tv", (1, 1): "tv|news", (0, 1): "news", (0, 0): "|"}
    return [names[tuple(row)] if known else "" for row, known in zip(TRUTH, KNOWN, strict=True)]


@pytest.mark.parametrize("recipe", ["linear", "spreading"])
def test_each_label_has_a_probability_of_its_own(recipe):
    run: Any = graphheat.fit(graph(), recipe)
    assert run.probabilities.shape == (240, 2)
    right = (run.predicted_sets == TRUTH)[~KNOWN]
    assert right.mean() > 0.85
    assert run.probabilities.sum(axis=1).std() > 0.1  # no distribution over the labels
    frame = run.predictions_frame()
    assert set(frame["predicted"]) <= {"", "tv", "news", "tv|news"}
    assert frame["label"].isna().tolist() == (~KNOWN).tolist()
    assert list(frame.columns[-2:]) == ["p_tv", "p_news"]
    assert run.temperature is None and run.calibration_report()["temperature"] is None


def test_probabilities_are_about_as_sure_as_they_are_right():
    run: Any = graphheat.fit(graph(), "linear")
    p, y = run.probabilities[~KNOWN].ravel(), TRUTH[~KNOWN].ravel()
    assert abs(p.mean() - y.mean()) < 0.08
    assert ((p - y) ** 2).mean() < 0.12


def test_the_default_is_the_linear_model_or_label_spreading():
    assert graphheat.fit(graph()).recipe == "linear"
    assert graphheat.fit(graph(features=False)).recipe == "spreading"


@pytest.mark.parametrize("recipe", ["paper", "lp", "ensemble"])
def test_recipes_of_one_label_refuse(recipe):
    if recipe != "lp":
        pytest.importorskip("torch")  # they say first that it is missing
    with pytest.raises(GraphError, match="several labels per node"):
        graphheat.fit(graph(), recipe)


def test_whatever_counts_single_labels_refuses_or_sees_none():
    assert "several labels per node" in refusal(GraphHeatClassifier().fit, graph())
    assert "several labels" in refusal(graph().with_labels, {0: "tv"})
    assert len(graph().training_nodes) == 0
    assert refusal(graphheat.suspects, graph())
    run: Any = graphheat.fit(graph(), "linear")
    assert "one label per node" in refusal(run.explainer, graph())


def test_label_spreading_takes_the_graph_as_it_is():
    model = HeatLabelSpreading(s=5.0).fit(graph())
    assert model.multilabel_ and model.classes_.tolist() == ["tv", "news"]
    assert (model.predict() == TRUTH)[~KNOWN].mean() > 0.8


@pytest.mark.parametrize("recipe", ["linear", "spreading"])
def test_a_run_survives_its_file_and_labels_a_grown_graph(recipe, tmp_path):
    run: Any = graphheat.fit(graph(), recipe)
    run.save(tmp_path / "run.safetensors")
    back: Any = load_run(tmp_path / "run.safetensors")
    assert type(back) is type(run)
    np.testing.assert_array_equal(back.predicted_sets, run.predicted_sets)
    grown = graph().extended([900], [(900, 3), (900, 9)], features=BLOCKS.features[:1])
    assert (grown.label_sets[-1] == -1).all() and grown.describe().labelled == 80
    found = back.predict(grown, nodes=[900])
    whole = back.predict(grown)
    np.testing.assert_allclose(found.probabilities[0], whole.probabilities[-1])
    np.testing.assert_allclose(whole.probabilities[:-1], run.probabilities, atol=0.2)
    assert whole.frame()["label"].tolist()[:3] == run.predictions_frame()["label"].tolist()[:3]


def test_graphs_with_sets_are_written_and_read(tmp_path):
    write_npz(graph(), tmp_path / "g.npz")
    again = read_npz(tmp_path / "g.npz")
    assert again.fingerprint == graph().fingerprint
    assert repr(again) == "Graph(nodes=240, edges=1200, features=8, classes=2, labelled=80)"
    write_csv(graph(), tmp_path / "e.csv", tmp_path / "n.csv")
    table = pd.read_csv(tmp_path / "n.csv")
    assert set(table["label"].dropna()) == {"tv", "news", "tv|news"}
    plain = Graph.from_scipy(BLOCKS.adjacency, BLOCKS.features)
    assert plain.fingerprint != graph().fingerprint


@pytest.fixture
def tables(tmp_path):
    upper = sp.triu(BLOCKS.adjacency).tocoo()
    edges = tmp_path / "e.csv"
    pd.DataFrame({"source": upper.row, "target": upper.col}).to_csv(edges, index=False)

    def write(**columns):
        path = tmp_path / "n.csv"
        frame = pd.DataFrame({"id": np.arange(240), **columns, "x": BLOCKS.features[:, 0]})
        frame.to_csv(path, index=False)
        return edges, path

    return write


def test_labels_in_one_cell_and_in_columns_of_marks(tables):
    edges, nodes = tables(watched=words())
    parted = read_csv(edges, nodes, label="watched", label_separator="|")
    assert parted.classes == ("news", "tv") and parted.feature_names == ("x",)
    np.testing.assert_array_equal(parted.label_sets[:, ::-1], graph().label_sets)
    marks = {
        name: [str(bool(row[k])) if known else "" for row, known in zip(TRUTH, KNOWN, strict=True)]
        for k, name in enumerate(("tv", "news"))
    }
    edges, nodes = tables(**marks)
    marked = read_csv(edges, nodes, label=["tv", "news"])
    np.testing.assert_array_equal(marked.label_sets, graph().label_sets)
    assert marked.feature_names == ("x",)
    assert "tv, news" in " ".join(marked.account)


def test_marks_that_are_none_are_refused_by_row_and_column(tables):
    edges, nodes = tables(tv=["maybe", *["1"] * 239], news="0")
    message = refusal(read_csv, edges, nodes, label=["tv", "news"])
    assert "'tv'" in message and "row 1" in message and "'maybe'" in message
    edges, nodes = tables(tv=["1"] * 240, news=["0", "", *["1"] * 238])
    message = refusal(read_csv, edges, nodes, label=["tv", "news"])
    assert "'news'" in message and "row 2" in message
    assert "at least two" in refusal(read_csv, edges, nodes, label=["tv"])
    assert "several columns" in refusal(
        read_csv, edges, nodes, label=["tv", "news"], label_separator="|"
    )


def test_from_scipy_checks_the_matrix():
    for sets in (np.zeros((3, 2)), np.zeros((2, 2), dtype=int), np.full((3, 2), 5)):
        with pytest.raises(GraphError, match="label_sets must"):
            Graph.from_scipy(np.eye(3), label_sets=sets, classes="ab")
    half = np.array([[0, -1], [1, 0], [0, 0]])
    with pytest.raises(GraphError, match="rows of −1"):
        Graph.from_scipy(np.eye(3), label_sets=half, classes="ab")
    with pytest.raises(GraphError, match="in place of labels"):
        Graph.from_scipy(np.eye(3), labels=["a", None, "b"], label_sets=half)


def test_settings_are_kept_and_one_labelled_node_is_enough():
    run: Any = graphheat.fit(graph(), "linear", s=2.0, l2=0.1)
    assert (run.s, run.l2, run.self_weight) == (2.0, 0.1, 0.0)
    sets = np.full((240, 2), -1)
    sets[0] = [1, 0]
    lone = Graph.from_scipy(BLOCKS.adjacency, BLOCKS.features, label_sets=sets, classes="ab")
    assert graphheat.fit(lone, "linear").probabilities.shape == (240, 2)
    nobody = Graph.from_scipy(
        BLOCKS.adjacency, BLOCKS.features, label_sets=np.full((240, 2), -1), classes="ab"
    )
    with pytest.raises(GraphError, match="no labelled node"):
        graphheat.fit(nobody, "linear")


def test_the_test_part_is_scored_by_whole_sets_and_by_f1():
    sets = TRUTH.copy()
    parted = Graph.from_scipy(
        BLOCKS.adjacency, BLOCKS.features, label_sets=sets, classes=("tv", "news"),
        split={"train": np.flatnonzero(KNOWN), "test": np.flatnonzero(~KNOWN)},
    )  # fmt: skip
    run: Any = graphheat.fit(parted, "linear")
    exact = (run.predicted_sets == TRUTH)[~KNOWN].all(axis=1).mean()
    assert run.test_accuracy == pytest.approx(exact)
    found, truth = run.predicted_sets[~KNOWN], TRUTH[~KNOWN] == 1
    assert run.micro_f1() == pytest.approx(2 * (found & truth).sum() / (found.sum() + truth.sum()))
    assert run.metrics()["test_micro_f1"] == run.micro_f1()


def test_slope_and_offset_undo_a_wrong_scale():
    random = np.random.default_rng(0)
    logits = random.normal(size=(4000, 1)) * 2 + 1
    truth = (random.random((4000, 1)) < 1 / (1 + np.exp(-logits))).astype(float)
    found = _calibrated(0.01 * logits, truth)
    assert found.slope == pytest.approx(100, rel=0.15) and found.offset == pytest.approx(0, abs=0.2)
