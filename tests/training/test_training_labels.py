"""The labels of a training: what is held out, what is missing, and what heat reaches."""

import numpy as np
import pytest
from helpers.network import fit_network, network_settings

from graphheat.datasets import block_model
from graphheat.errors import GraphError, KernelMemoryError
from graphheat.graph import Graph
from graphheat.heat import kernel as kernel_module
from graphheat.training import prepare_network
from graphheat.training.stop_rule import StopRule

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
FIXED_EPOCHS = StopRule(1000, 200).fixed_epochs


def ring(labels, features=True, **more):
    n = len(labels)
    ids = np.arange(n)
    random = np.random.default_rng(0)
    return Graph.from_edges(
        ids,
        (ids + 1) % n,
        features=random.normal(size=(n, 4)) if features else None,
        labels=labels,
        **more,
    )


def test_what_is_held_out_is_said():
    run = fit_network(GRAPH.with_split(), max_epochs=2)
    (note,) = run.notes
    assert note.startswith("No validation labels were given: 12 of 60 labelled nodes are held out")
    assert fit_network(GRAPH, max_epochs=2).notes == ()


def test_a_class_with_a_single_label_stays_in_training():
    labels = np.full(30, None, dtype=object)
    labels[:12], labels[15] = "many", "one"
    labels[20:26] = "some"
    run = fit_network(ring(labels), max_epochs=5)
    assert run.classes == ("many", "one", "some")
    assert 15 in run.members("train")


def test_a_split_with_calibration_nodes_uses_those():
    val = GRAPH.split["val"]
    parts = {**GRAPH.split, "val": val[:5], "calibration": val[5:]}
    run = fit_network(GRAPH.with_split(**parts), max_epochs=2)
    assert np.array_equal(run.members("calibration"), np.sort(val[5:]))


def test_without_three_labels_of_a_class_epochs_are_fixed():
    labels = ["a", "b", "a", "b", *[None] * 8]
    run = fit_network(ring(labels), max_epochs=1000)
    assert run.epochs == run.best_epoch == FIXED_EPOCHS
    assert "No class has three labels" in run.notes[0]
    assert run.val_accuracy is None
    assert run.test_accuracy is None
    assert fit_network(ring(labels), max_epochs=7).epochs == 7


def test_no_label_at_all():
    for graph in (ring([None] * 5), ring(["a", "b", None, None, None], split={"train": []})):
        with pytest.raises(GraphError, match=r"There is no labelled node .* of each class\."):
            fit_network(graph)


def test_a_single_class():
    with pytest.raises(GraphError, match="name one class only \\('a'\\); at least two"):
        fit_network(ring(["a", "a", None, None, None]))


def test_a_graph_without_features_is_pointed_to_label_spreading():
    with pytest.raises(GraphError, match=r"has no features.*Use HeatLabelSpreading"):
        fit_network(ring(["a", "b", "a", "b"], features=False))


def test_bad_labels_are_said_before_a_kernel_is_computed(monkeypatch):
    monkeypatch.setattr(kernel_module.HeatKernel, "matrix", None)
    graph = ring([None] * 5)
    with pytest.raises(GraphError, match="no labelled node"):
        prepare_network(graph, network_settings(graph))


def test_a_component_without_labels_is_predicted_but_not_reached():
    n = 20
    ids = np.arange(n)
    step = np.where(ids % 10 == 9, ids - 9, ids + 1)  # two rings of ten
    labels = np.full(n, None, dtype=object)
    labels[:4], labels[4:8] = "a", "b"
    features = np.random.default_rng(0).normal(size=(n, 3))
    run = fit_network(Graph.from_edges(ids, step, features=features, labels=labels), max_epochs=10)
    assert run.reached[:10].all()
    assert not run.reached[10:].any()
    assert np.isfinite(run.probabilities).all()
    assert run.predictions_frame()["predicted"].notna().all()


def test_reached_is_where_the_heat_of_the_training_nodes_adds_up_to_eps():
    run = fit_network(GRAPH, s=1.0, eps=0.3, max_epochs=1)
    heat = kernel_module.HeatKernel(GRAPH, 1.0, engine="reference").matrix()
    expected = heat[:, GRAPH.split["train"]].sum(axis=1) >= 0.3
    assert np.array_equal(run.reached, expected)
    assert 0 < expected.sum() < GRAPH.n


@pytest.mark.parametrize("self_loops", [False, True])
def test_isolated_nodes_and_self_loops_are_no_trouble(self_loops):
    source, target = [0, 1, 2], [1, 2, 2 if self_loops else 3]
    graph = Graph.from_edges(
        source, target, nodes=range(6), features=np.eye(6), labels=["a", "b"] * 3
    )
    run = fit_network(graph, max_epochs=3)
    assert np.allclose(run.probabilities.sum(axis=1), 1)


def test_a_kernel_that_would_not_fit_is_refused_by_fit_and_the_implicit_one_is_not(monkeypatch):
    monkeypatch.setattr(kernel_module, "available_memory", lambda: 1000)
    with pytest.raises(KernelMemoryError, match=r"would not fit in memory.*eps=None"):
        fit_network(GRAPH, max_epochs=1)
    assert fit_network(GRAPH, eps=None, max_epochs=1).epochs == 1


@pytest.mark.parametrize("s", [0.0, 1e6])
def test_the_ends_of_the_range_of_s_train(s):
    run = fit_network(GRAPH, s=s, max_epochs=2)
    assert np.isfinite(run.probabilities).all()
