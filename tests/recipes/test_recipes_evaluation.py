"""evaluate: mean, deviation and the runs behind them."""

import numpy as np
import pytest

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import GraphError, GraphHeatError, ParameterError
from graphheat.runs import Run

GRAPH = block_model(60, 3, features=8, feature_strength=0.5, labels_per_class=4, seed=0)


@pytest.fixture(scope="module")
def result():
    return graphheat.evaluate(GRAPH, "consistent", seeds=range(4), max_epochs=15)


def test_mean_and_sample_deviation(result):
    accuracies = [run.test_accuracy for run in result.runs]
    assert len(set(accuracies)) > 1
    assert result.mean == pytest.approx(np.mean(accuracies))
    assert result.std == pytest.approx(np.std(accuracies, ddof=1))
    assert result.accuracies.tolist() == accuracies
    assert str(result) == f"{result.mean:.4f} ± {result.std:.4f} (4 runs)"


def test_each_run_is_the_one_of_fit(result):
    assert [run.seed for run in result.runs] == [0, 1, 2, 3]
    alone = graphheat.fit(GRAPH, "consistent", seed=2, max_epochs=15)
    assert np.array_equal(alone.probabilities, result.runs[2].probabilities)


def test_one_run_has_no_deviation():
    assert graphheat.evaluate(GRAPH, seeds=[5], max_epochs=2).std == 0


def test_seeds_of_numpy_and_a_callback_a_run():
    heard: list[Run] = []
    seeds = np.array([3, 1])
    graphheat.evaluate(
        GRAPH, "authors", seeds=seeds, s=1.0, eps=1e-3, max_epochs=2, callback=heard.append
    )
    assert [run.seed for run in heard] == [3, 1]
    assert heard[0].settings_dict()["recipe"] == "authors"
    assert heard[0].settings_dict()["s"] == 1.0


@pytest.mark.parametrize("seeds", [[], [1, 1], 5])
def test_seeds_must_be_distinct_and_some(seeds):
    with pytest.raises(ParameterError, match="'seeds' parameter of evaluate must be distinct int"):
        graphheat.evaluate(GRAPH, seeds=seeds)


@pytest.mark.parametrize("seeds", [[-1], [0.5], ["a"]])
def test_seeds_must_be_integers(seeds):
    with pytest.raises(GraphHeatError, match=r"must be .*int"):
        graphheat.evaluate(GRAPH, seeds=seeds, max_epochs=1)


def test_labelled_test_nodes_are_needed():
    train = GRAPH.split["train"]
    for graph in (GRAPH.with_split(train=train), GRAPH.with_split(train=train, test=[])):
        with pytest.raises(GraphError, match="evaluate needs labelled test nodes"):
            graphheat.evaluate(graph, seeds=[0])


def test_settings_are_checked():
    with pytest.raises(ParameterError, match="'recipe'"):
        graphheat.evaluate(GRAPH, "mine", seeds=[0])
