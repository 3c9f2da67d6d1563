"""Linear models of who a node's neighbours are."""

from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import CheckpointError, GraphError
from graphheat.linear.linear_run import LinearSettings
from graphheat.linear.neighbor_run import NeighborRun, fit_neighbors, too_large, with_neighbors
from graphheat.runs import load_run

GRAPH = block_model(150, 3, features=0, homophily=0.85, labels_per_class=8, seed=0)
RUN, PLAIN = fit_neighbors(GRAPH, GRAPH.completed_split(0), LinearSettings())


def test_the_features_are_the_rows_of_the_adjacency_matrix():
    assert (with_neighbors(GRAPH).features != GRAPH.adjacency).nnz == 0
    some = with_neighbors(GRAPH, np.array([4, 2]))
    expected = GRAPH.adjacency.toarray()[:, [4, 2]]
    assert np.array_equal(some.features.toarray(), expected)


def test_it_is_the_linear_model_of_these_features():
    assert np.array_equal(RUN.probabilities, PLAIN.probabilities)
    assert RUN.test_accuracy > 0.7
    assert RUN.fingerprint == GRAPH.fingerprint and not RUN.uses_features


def test_neighbours_who_are_unlike_are_learned_from():
    # Two hubs tell the classes apart, and each is of the other class than its neighbours.
    leaves, codes = np.arange(2, 202), np.arange(202) % 2
    graph = graphheat.Graph.from_edges(leaves, 1 - codes[leaves], labels=codes)
    graph = graph.with_split(train=np.arange(22), test=np.arange(22, 202))
    run, _ = fit_neighbors(graph, graph.completed_split(0), LinearSettings())
    assert run.test_accuracy == 1.0


def test_a_run_survives_its_file(tmp_path):
    RUN.save(tmp_path / "run.safetensors")
    back: Any = load_run(tmp_path / "run.safetensors")
    assert all(isinstance(part, NeighborRun) for part in back.parts)
    assert np.array_equal(back.predict(GRAPH).probabilities, RUN.probabilities)


def test_weights_of_other_nodes_are_refused(tmp_path):
    path = tmp_path / "run.safetensors"
    RUN.parts[0].save(path)
    arrays = load_file(path)
    with safe_open(path, "numpy") as file:
        header = file.metadata()
    arrays["weights"] = arrays["weights"][:-1]
    save_file(arrays, path, metadata=header)
    with pytest.raises(CheckpointError, match="weights has 149 where 150 are expected"):
        load_run(path)


def test_contributions_sum_to_the_logit():
    for part in (RUN, RUN.parts[0]):
        found = part.explainer(GRAPH).explain(GRAPH.nodes[7])
        assert found.constant + found.contributions.sum() == pytest.approx(found.logit, abs=1e-6)


def grown():
    return GRAPH.extended([900], [(900, 3), (900, 5)])


def test_a_grown_graph_is_labelled_by_neighbours_that_were_there():
    predictions = RUN.predict(grown())
    assert len(predictions.nodes) == 151 and np.allclose(predictions.probabilities.sum(axis=1), 1)
    # Nobody who was there changes much: two nodes of 150 have one more neighbour.
    assert (predictions.probabilities[:150].argmax(axis=1) == RUN.predicted).mean() > 0.97
    few = RUN.predict(grown(), nodes=[900])
    assert np.allclose(few.probabilities, predictions.probabilities[-1:], atol=1e-6)
    again = RUN.on(grown()).on(grown().extended([901], [(901, 900)]))
    assert again.probabilities.shape == (152, 3)


def test_new_nodes_are_explained():
    found = RUN.explainer(grown()).explain(900)
    assert found.constant + found.contributions.sum() == pytest.approx(found.logit, abs=1e-6)


def test_another_graph_is_refused_in_a_sentence():
    other = block_model(150, 3, features=0, seed=1)
    with pytest.raises(GraphError, match="lacks nodes or training labels of it"):
        RUN.predict(other)


def test_a_weight_for_every_node_may_be_too_many(monkeypatch):
    assert not too_large(GRAPH)
    monkeypatch.setattr("graphheat.linear.neighbor_run.MOST_WEIGHTS", 3 * 150 - 1)
    assert too_large(GRAPH)
