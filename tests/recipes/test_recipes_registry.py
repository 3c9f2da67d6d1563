"""The registry: names, third parties, and what is missing."""

from types import SimpleNamespace

import pytest
from toy_recipe import TOY, ToyRecipe

import graphheat
from graphheat import recipes
from graphheat.datasets import block_model
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.recipes import registry

GRAPH = block_model(40, 2, features=6, labels_per_class=4, seed=0)


def test_every_name_finds_the_recipe_of_that_name():
    for name in recipes.names():
        try:
            assert recipes.get(name).name == name
        except MissingDependencyError:
            continue


def test_the_default_is_one_of_them():
    assert recipes.DEFAULT in recipes.names()
    assert graphheat.fit(GRAPH, max_epochs=1).recipe == recipes.DEFAULT == "auto"


def test_a_recipe_is_registered_and_taken_away():
    before = recipes.names()
    assert recipes.register(TOY) is TOY
    try:
        assert recipes.names() == (*before, "toy")
        assert recipes.get("toy") is TOY
        with pytest.raises(ParameterError, match="There is a recipe 'toy' already"):
            recipes.register(TOY)
    finally:
        recipes.unregister("toy")
    assert recipes.names() == before


def test_what_comes_with_the_package_is_neither_replaced_nor_taken_away():
    with pytest.raises(ParameterError, match="There is a recipe 'gcn' already"):
        recipes.register(SimpleNamespace(name="gcn"))
    recipes.unregister("gcn")
    assert "gcn" in recipes.names()


@pytest.mark.parametrize("name", ["mine", None, 3, ["paper"]])
def test_an_unknown_name_is_answered_with_those_there_are(name):
    with pytest.raises(ParameterError) as error:
        graphheat.fit(GRAPH, name)
    text = str(error.value)
    assert text.startswith("The 'recipe' parameter of fit must be one of 'auto', ")
    assert text.endswith(f"Got {name!r} instead.")


@pytest.mark.parametrize("what", [TOY, ToyRecipe])
def test_a_package_registers_by_an_entry_point(monkeypatch, what):
    point = SimpleNamespace(name="toy", load=lambda: what)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert recipes.names()[-1] == "toy"
    assert graphheat.fit(GRAPH, "toy").recipe == "toy"


@pytest.mark.parametrize(("missing", "extra"), [("torch", "nn"), ("gensim", "paper")])
def test_what_is_missing_is_named_with_what_installs_it(monkeypatch, missing, extra):
    def fail(path):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(registry, "resolve", fail)
    with pytest.raises(MissingDependencyError) as error:
        recipes.get("deepwalk")
    assert str(error.value) == (
        f"The 'deepwalk' recipe needs {missing}: pip install 'graphheat[{extra}]'."
    )
