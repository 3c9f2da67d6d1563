"""The linear recipe by its name."""

import pytest

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import ParameterError

GRAPH = block_model(300, 3, seed=0)


def test_fit_knows_it():
    run = graphheat.fit(GRAPH, "linear", s=3.0)
    assert run.recipe == "linear" and run.settings_dict()["s"] == 3.0


def test_where_no_seed_decides_anything_all_seeds_are_one_run():
    result = graphheat.evaluate(GRAPH, "linear", seeds=range(3), s=2.0)
    assert [each.seed for each in result.runs] == [0, 1, 2]
    assert len(set(result.accuracies.tolist())) == 1


def test_it_has_no_threshold():
    with pytest.raises(ParameterError, match="eps"):
        graphheat.evaluate(GRAPH, "linear", eps=1e-4)
