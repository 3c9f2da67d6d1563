"""Run: what it says, its file, and its network on other graphs."""

import numpy as np
import pytest
from helpers.network import fit_network

from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.runs import Run
from graphheat.training import NetworkRun

BLOCKS = block_model(60, 3, features=8, labels_per_class=4, seed=0)
NAMES = ("ash", "beech", "cedar")


def named(graph, labels=None):
    return Graph.from_scipy(
        graph.adjacency,
        graph.features,
        graph.labels if labels is None else labels,
        classes=NAMES,
        nodes=[f"tree {index}" for index in range(graph.n)],
        split=graph.split,
        name="wood",
    )


@pytest.fixture(scope="module")
def graph():
    labels = BLOCKS.labels.copy()
    spare = np.setdiff1d(np.arange(60), np.concatenate([BLOCKS.split[n] for n in ("train", "val")]))
    labels[spare[:5]] = -1
    return named(BLOCKS, labels)


@pytest.fixture(scope="module")
def run(graph):
    return fit_network(graph, max_epochs=20)


def test_probabilities_are_probabilities(run, graph):
    assert run.probabilities.shape == (graph.n, 3)
    assert (run.probabilities >= 0).all()
    assert np.allclose(run.probabilities.sum(axis=1), 1, atol=1e-6)
    assert np.array_equal(run.predicted, run.probabilities.argmax(axis=1))


def test_predictions_have_exactly_the_documented_columns(run, graph):
    frame = run.predictions_frame()
    shares = [f"p_{name}" for name in NAMES]
    head = ["node", "label", "predicted", "confidence", "reached", "split"]
    assert list(frame.columns) == [*head, *shares, "calibrated"]
    assert len(frame) == graph.n
    assert frame["node"].tolist() == graph.nodes.tolist()
    assert np.array_equal(frame["confidence"], frame[shares].max(axis=1))
    assert frame["predicted"].tolist() == [NAMES[code] for code in run.predicted]
    assert frame["reached"].tolist() == run.reached.tolist()
    assert frame["label"].isna().tolist() == (graph.labels < 0).tolist()
    known = frame["label"].notna()
    assert frame["label"][known].tolist() == [NAMES[code] for code in graph.labels[known]]


def test_the_split_column_names_each_nodes_part(run, graph):
    split = run.predictions_frame()["split"]
    for name in ("train", "val"):
        assert np.flatnonzero(split == name).tolist() == sorted(graph.split[name])
    tested = [index for index in graph.split["test"] if graph.labels[index] >= 0]
    assert np.flatnonzero(split == "test").tolist() == sorted(tested)


def test_accuracies_are_those_of_the_table(run):
    frame = run.predictions_frame()
    for part, accuracy in (("val", run.val_accuracy), ("test", run.test_accuracy)):
        rows = frame[frame["split"] == part]
        assert accuracy == pytest.approx((rows["label"] == rows["predicted"]).mean())


def test_metrics_are_one_row_of_plain_numbers(run):
    metrics = run.metrics()
    expected = ["seed", "test_accuracy", "val_accuracy", "best_epoch", "epochs", "seconds"]
    assert list(metrics) == expected
    assert metrics["epochs"] == len(run.history["val_loss"]) == 20
    assert metrics["seconds"] > 0


def test_a_run_survives_its_file(run, tmp_path):
    run.save(tmp_path / "run.safetensors")
    again = Run.load(tmp_path / "run.safetensors")
    assert isinstance(again, NetworkRun)
    for name in ("recipe", "settings", "seed", "threads", "kernel", "fingerprint", "name",
                 "classes", "nodes", "notes", "history", "best_epoch", "seconds",
                 "source"):  # fmt: skip
        assert getattr(again, name) == getattr(run, name), name
    for name in ("labels", "probabilities", "reached"):
        before, after = getattr(run, name), getattr(again, name)
        assert np.array_equal(before, after)
        assert before.dtype == after.dtype
    assert np.array_equal(again.split.codes(), run.split.codes())
    assert again.split.held_out == run.split.held_out
    assert again.weights.keys() == run.weights.keys()
    for name, weight in run.weights.items():
        assert np.array_equal(again.weights[name], weight)
        assert again.weights[name].dtype == weight.dtype == np.float32
    assert again.predictions_frame().equals(run.predictions_frame())
    assert list(tmp_path.iterdir()) == [tmp_path / "run.safetensors"]


@pytest.mark.parametrize("nodes", [np.arange(60) * 7, [f"é {i}" for i in range(60)]])
@pytest.mark.parametrize("classes", [(0, 1, 2), (False, True, 2), ("", "π", "a,b")])
def test_ids_and_classes_keep_their_types_in_the_file(nodes, classes, tmp_path):
    graph = Graph.from_scipy(
        BLOCKS.adjacency, BLOCKS.features, BLOCKS.labels, classes=classes, nodes=nodes
    )
    run = fit_network(graph, max_epochs=1, checkpoint=tmp_path / "run.safetensors")
    again = Run.load(tmp_path / "run.safetensors")
    assert [(type(n), n) for n in again.nodes] == [(type(n), n) for n in run.nodes]
    assert [(type(c), c) for c in again.classes] == [(type(c), c) for c in classes]


@pytest.mark.parametrize("options", [{}, {"scaling": "l1"}, {"eps": None}, {"K": 3}])
def test_the_network_on_the_fitted_graph_gives_the_fitted_probabilities(graph, options, tmp_path):
    path = tmp_path / "run.safetensors"
    run = fit_network(graph, max_epochs=10, checkpoint=path, **options)
    for each in (run, Run.load(path)):
        assert np.allclose(each.probabilities_on(graph), run.probabilities, atol=1e-6)


def test_the_network_on_another_graph_labels_nodes_that_were_not_there(run):
    other = named(block_model(30, 3, features=8, labels_per_class=4, seed=5))
    frame = run.predict(other).frame()
    assert list(frame.columns) == list(run.predictions_frame().columns)
    assert len(frame) == 30
    assert frame["reached"].isna().all()
    assert frame["label"].tolist() == [NAMES[code] for code in other.labels]
    assert np.allclose(frame[[f"p_{name}" for name in NAMES]].sum(axis=1), 1)


def test_scaling_is_that_of_the_fitted_graph_wherever_the_network_goes(run, graph):
    """A node on its own keeps its features: standardised by itself it would be all zeros."""
    alone = Graph.from_scipy(np.zeros((1, 1)), graph.features[:1])
    moved = Graph.from_scipy(np.zeros((1, 1)), graph.features[:1] + 1)
    assert not np.allclose(run.probabilities_on(alone), run.probabilities_on(moved))


def test_classes_the_network_never_saw_are_no_labels(run):
    other = block_model(30, 3, features=8, labels_per_class=4, seed=5)
    other = Graph.from_scipy(
        other.adjacency, other.features, other.labels, classes=["ash", "oak", "cedar"]
    )
    label = run.predict(other).frame()["label"]
    assert label.isna().tolist() == (other.labels == 1).tolist()


@pytest.mark.parametrize("features", [None, np.ones((60, 7))])
def test_other_features_are_refused_with_both_numbers(run, features):
    other = Graph.from_scipy(BLOCKS.adjacency, features, name="other")
    found = 0 if features is None else 7
    with pytest.raises(GraphError, match=f"fitted on 8 features per node; other has {found}"):
        run.probabilities_on(other)
