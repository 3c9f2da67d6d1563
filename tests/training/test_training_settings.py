"""Settings of the network recipes, and their ranges."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.network import fit_network, network_settings

from graphheat import datasets
from graphheat.datasets import block_model
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.recipes.network_recipe import AUTHORS, PAPER
from graphheat.training import NetworkSettings, prepare_network

GRAPH = block_model(40, 2, features=6, labels_per_class=4, seed=0)
NETWORKS = ("consistent", "normalized", "paper", "authors")


@pytest.mark.parametrize(
    ("name", "s", "eps"),
    [("cora", 3.5, 1e-4), ("citeseer", 4.5, 1e-5), ("pubmed", 3.0, 1e-5), ("block", 3.0, 1e-4)],
)
@pytest.mark.parametrize("recipe", ["paper", "authors"])
def test_s_and_eps_are_the_papers_on_its_data_sets_and_3_and_1e_4_elsewhere(name, s, eps, recipe):
    settings = network_settings(GRAPH if name == "block" else datasets.load(name), recipe)
    assert (settings.s, settings.eps) == (s, eps)


def test_the_paper_recipe_is_section_4_3():
    settings = network_settings(datasets.load("cora"))
    assert settings == NetworkSettings(
        recipe="paper",
        s=3.5,
        eps=1e-4,
        K=2,
        hidden=16,
        dropout=0.5,
        l2=5e-4,
        learning_rate=0.01,
        max_epochs=1000,
        patience=200,
        stopping="patience",
        zero_diagonal=False,
        scaling="l1",
    )


def test_the_authors_recipe_differs_in_diagonal_and_stopping_alone():
    paper, authors = PAPER.base.as_dict(), AUTHORS.base.as_dict()
    different = {name for name in paper if paper[name] != authors[name]}
    assert different == {"recipe", "zero_diagonal", "stopping"}


@pytest.mark.parametrize("recipe", NETWORKS)
def test_somebodys_own_cora_is_not_the_papers(recipe):
    graph = block_model(60, 3, features=5, seed=0)
    assert network_settings(replace(graph, name="cora"), recipe) == network_settings(graph, recipe)


def test_what_is_given_wins():
    settings = network_settings(GRAPH, s=1, eps=0, K=3, hidden=np.int64(4))
    assert (settings.s, settings.eps, settings.K, settings.hidden) == (1.0, 0.0, 3, 4)
    assert network_settings(GRAPH, eps=None).eps is None


def test_settings_survive_json():
    import json

    settings = network_settings(GRAPH, eps=None, dropout=0.25, hidden=np.int64(3))
    assert NetworkSettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("setting", "values", "rule"),
    [
        ("s", [-1, float("nan"), float("inf"), 1e7], "a number in [0, 1e+06]"),
        ("s", ["3", ""], "a number or 'auto'"),
        ("eps", [-1e-9, 1, 1.5, float("nan")], "a number in [0, 1)"),
        ("eps", ["small"], "a number in [0, 1), None or 'recipe'"),
        ("K", [0, -1, 1.5, True], "an int >= 1"),
        ("hidden", [0, 2.5, None], "an int >= 1"),
        ("dropout", [-0.1, 1, float("nan")], "a number in [0, 1)"),
        ("l2", [-1e-9, float("inf")], "a number in [0, inf)"),
        ("learning_rate", [0, -1, 1e7, float("inf")], "a number in (0, 1e+06]"),
        ("max_epochs", [0, 1.0], "an int >= 1"),
        ("patience", [0], "an int >= 1"),
    ],
)
def test_a_value_outside_its_range_is_named_with_the_range(setting, values, rule):
    for value in values:
        with pytest.raises(ParameterError) as error:
            network_settings(GRAPH, **{setting: value})
        assert str(error.value) == (
            f"The '{setting}' parameter of fit must be {rule}. Got {value!r} instead."
        )


@pytest.mark.parametrize(
    ("setting", "value"), [("recipe", "mine"), ("stopping", "never"), ("scaling", "cells")]
)
def test_an_unknown_choice_is_named_with_the_choices(setting, value):
    with pytest.raises(ParameterError, match=f"'{setting}' parameter of fit.*'{value}'"):
        network_settings(GRAPH, **{setting: value})


def test_an_unknown_setting_is_named():
    with pytest.raises(ParameterError, match="fit has no setting 'layers'"):
        fit_network(GRAPH, layers=3)


def test_the_authors_recipe_needs_an_explicit_kernel():
    with pytest.raises(ParameterError, match=r"'authors' recipe .* needs an explicit kernel"):
        network_settings(GRAPH, "authors", eps=None)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True, 2**63])
def test_a_bad_seed_is_named(seed):
    with pytest.raises(ParameterError, match="The 'seed' parameter of fit must be an int in"):
        fit_network(GRAPH, seed=seed, max_epochs=1)


def test_a_numpy_seed_is_an_int_that_can_be_saved(tmp_path):
    run = fit_network(
        GRAPH, seed=np.int64(3), max_epochs=1, checkpoint=tmp_path / "run.safetensors"
    )
    assert type(run.seed) is int


def test_words_get_one_length_where_nothing_was_chosen_before():
    cora = datasets.load("cora")
    other = replace(cora, name="papers")
    for recipe in ("consistent", "normalized"):
        assert network_settings(other, recipe).scaling == "l2"
    assert network_settings(other, "paper").scaling == "l1"
    assert network_settings(cora, "consistent").scaling == "l1"


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_papers_data_sets_are_scaled_by_row_as_in_the_paper(name):
    assert network_settings(datasets.load(name)).scaling == "l1"


def test_the_network_gets_scaled_features():
    words = np.array([[0, 2, 0, 0], [1, 0, 0, 3], [0, 0, 0, 0], [0, 0, 5, 0]], dtype=np.float32)
    graph = Graph.from_scipy(
        np.ones((4, 4)) - np.eye(4), sp.csr_array(words), labels=["a", "b", "a", "b"]
    )
    prepared = prepare_network(graph, network_settings(graph))
    scaled = prepared.scaling.apply(graph.features).toarray()
    assert np.array_equal(prepared.x.to_scipy().toarray(), scaled)
    assert scaled.sum(axis=1).tolist() == [1, 1, 0, 1]
