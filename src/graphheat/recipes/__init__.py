"""Recipes: the one entry point from a graph and a handful of labels to a run."""

from graphheat.recipes.comparison import Comparison, compare
from graphheat.recipes.evaluation import Evaluation, evaluate, random_splits
from graphheat.recipes.fit import fit
from graphheat.recipes.recipe import DEFAULT, Prepared, Recipe
from graphheat.recipes.registry import get, names, register, unregister

__all__ = [
    "DEFAULT",
    "Comparison",
    "Evaluation",
    "Prepared",
    "Recipe",
    "compare",
    "evaluate",
    "fit",
    "get",
    "names",
    "random_splits",
    "register",
    "unregister",
]
