"""Recipes: the one entry point from a graph and a handful of labels to a run."""

from graphheat.recipes.evaluation import Evaluation, evaluate
from graphheat.recipes.fit import DEFAULT, fit
from graphheat.recipes.recipe import Prepared, Recipe
from graphheat.recipes.registry import get, names, register, unregister

__all__ = [
    "DEFAULT",
    "Evaluation",
    "Prepared",
    "Recipe",
    "evaluate",
    "fit",
    "get",
    "names",
    "register",
    "unregister",
]
