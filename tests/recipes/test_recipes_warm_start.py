"""A fit that starts from a run: what each recipe takes from it, and what it says of that."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.command import call

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.io import write_npz

BLOCKS = block_model(150, 3, features=6, labels_per_class=6, seed=0)


@cache
def grown():
    """Return the graph with two more nodes and a few more training labels."""
    more = BLOCKS.extended([900, 901], [(900, 1), (901, 2)], features=BLOCKS.features[:2])
    free = np.setdiff1d(np.arange(150), [*BLOCKS.split.train, *BLOCKS.split.val])[:9]
    test = np.setdiff1d(BLOCKS.split.test, free)
    return more.with_split(train=[*BLOCKS.split.train, *free], val=BLOCKS.split.val, test=test)


@cache
def fitted(recipe) -> Any:
    changes: dict[str, Any] = (
        {"max_epochs": 40} if recipe in ("paper", "consistent", "normalized") else {}
    )
    changes |= {"max_epochs": 2} if recipe in ("auto", "ensemble") else {}
    return graphheat.fit(BLOCKS, recipe, threads=1, **changes)


def again(run) -> Any:
    return graphheat.fit(grown(), start=run)


def test_the_linear_recipe_keeps_what_was_chosen_and_solves_anew():
    old, run = fitted("linear"), again(fitted("linear"))
    assert run.recipe == "linear" and len(run.nodes) == 152
    assert (run.s, run.l2, run.scaling.kind) == (old.s, old.l2, old.scaling.kind)
    assert len(run.search) == 0
    assert any("solved anew" in note for note in run.notes)
    other: Any = graphheat.fit(grown(), "linear", s=2.0, start=old)
    assert other.s == 2.0


def test_label_spreading_keeps_its_time():
    assert again(fitted("spreading")).s == fitted("spreading").s


@pytest.mark.parametrize("recipe", ["paper", "consistent"])
def test_a_network_begins_at_the_weights(recipe):
    old = fitted(recipe)
    run: Any = graphheat.fit(grown(), start=old, max_epochs=1, learning_rate=1e-9, threads=1)
    assert run.recipe == recipe and run.settings.s == old.settings.s
    for name, array in old.weights.items():
        np.testing.assert_allclose(run.weights[name], array, atol=1e-5)
    fresh = graphheat.fit(grown(), recipe, max_epochs=1, threads=1)
    assert run.val_accuracy >= fresh.val_accuracy


def test_classes_are_matched_by_name_and_new_ones_begin_afresh():
    graph = Graph.from_scipy(
        BLOCKS.adjacency, BLOCKS.features, np.where(BLOCKS.labels == 0, 3, BLOCKS.labels),
        classes=(9, 1, 2, 0), split=BLOCKS.split,
    )  # fmt: skip
    old = fitted("paper")
    assert old.classes == (0, 1, 2)
    run: Any = graphheat.fit(graph, start=old, max_epochs=1, learning_rate=1e-9, threads=1)
    for new, place in ((1, 1), (2, 2), (3, 0)):
        np.testing.assert_allclose(
            run.weights["second.weight"][..., new], old.weights["second.weight"][..., place],
            atol=1e-6,
        )  # fmt: skip
    assert any("1 classes are new" in note for note in run.notes)


def test_validation_labels_that_trained_before_are_told():
    unsplit = Graph.from_scipy(
        BLOCKS.adjacency,
        BLOCKS.features,
        np.where(np.isin(np.arange(150), BLOCKS.split.train), BLOCKS.labels, -1),
        classes=(0, 1, 2),
    )
    first = graphheat.fit(unsplit, "paper", seed=0, max_epochs=5)
    run: Any = graphheat.fit(unsplit, start=first, seed=1, max_epochs=2)
    assert any("validation is optimistic" in note for note in run.notes)


@pytest.mark.parametrize("recipe", ["auto", "ensemble", "lp", "gcn"])
def test_others_say_that_they_are_fitted_anew(recipe):
    run: Any = graphheat.fit(
        grown(),
        start=fitted(recipe),
        threads=1,
        **({"max_epochs": 2} if recipe in ("auto", "ensemble", "gcn") else {}),
    )
    assert run.recipe == recipe
    assert any("fitted anew" in note for note in run.notes)


def test_batch_normalised_networks_begin_anew_where_their_form_differs():
    run: Any = graphheat.fit(grown(), start=fitted("normalized"), max_epochs=2, threads=1)
    assert run.recipe == "normalized"


def test_another_recipe_is_refused_and_a_file_will_do(tmp_path):
    with pytest.raises(ParameterError, match="has its recipe, 'linear'; got 'spreading'"):
        graphheat.fit(grown(), "spreading", start=fitted("linear"))
    fitted("linear").save(tmp_path / "run.safetensors")
    assert graphheat.fit(grown(), start=tmp_path / "run.safetensors").recipe == "linear"


def test_from_the_shell(tmp_path):
    write_npz(BLOCKS, tmp_path / "g.npz")
    write_npz(grown(), tmp_path / "grown.npz")
    call("fit", tmp_path / "g.npz", "--recipe", "paper", "--epochs", 5, "--out", tmp_path / "one")
    found = call(
        *("fit", tmp_path / "grown.npz", "--from", tmp_path / "one", "--epochs", 3),
        *("--out", tmp_path / "two", "--json"),
    )
    assert json.loads(found.stdout)["recipe"] == "paper"
    assert "training begins at its weights" in found.stderr
