"""One door to every recipe: GraphHeat's own, and the systems that it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphheat import baselines, training
from graphheat.baselines.fitting import fit_system
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear import fit_linear
from graphheat.suitability import suitability
from graphheat.training import Run
from graphheat.training.recipes import RECIPES
from graphheat.training.run import Labelling

LINEAR = "linear"


def fit(graph: Graph, recipe: str = "paper", **options: Any) -> Labelling:
    """Label every node of a graph.

    Parameters
    ----------
    recipe
        ``"paper"`` or ``"authors"``: GraphHeat; ``"consistent"``: the same, taught by unlabelled
        nodes too. ``"linear"``: heat and a logistic regression, in
        seconds, s chosen along a path. Or a system that it is compared with, such as
        ``"gcn"``, ``"gat"`` or ``"lp"``; see :data:`graphheat.baselines.SYSTEMS`.
    **options
        As for :func:`graphheat.training.fit`, :func:`graphheat.linear.fit_linear` or
        :func:`graphheat.baselines.fitting.fit_system`:
        ``seed``, ``threads``, ``callback``, and settings of the recipe.

    Returns
    -------
    Run, LinearRun or SystemRun
        With ``probabilities``, ``predicted``, ``test_accuracy``, ``predictions_frame()``,
        ``save(path)``. Its ``notes`` say so where heat will probably hurt on this graph.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> [fit(graph, name).recipe for name in ("lp", "ica")]
    ['lp', 'ica']
    """
    if recipe in RECIPES:
        run = training.fit(graph, recipe, **options)
        warned = with_warning(run, graph)
        if warned is not run and options.get("checkpoint") is not None:
            warned.save(options["checkpoint"])
        return warned
    if recipe == LINEAR:
        return fit_linear(graph, **options)
    check_recipe(recipe)
    return fit_system(graph, recipe, **options)


def with_warning(run: Run, graph: Graph) -> Run:
    """Return the run, its notes saying so where heat will probably hurt on its graph."""
    suits = suitability(graph)
    if suits.verdict != "hurts" or suits.sentence in run.notes:  # a resumed run has been told
        return run
    return replace(run, notes=(*run.notes, suits.sentence))


def check_recipe(recipe: str) -> None:
    """Raise with every recipe's name where ``recipe`` is none of them."""
    known = (*RECIPES, LINEAR, *baselines.SYSTEMS)
    if recipe not in known:
        words = ", ".join(repr(name) for name in known)
        raise ParameterError(
            f"The 'recipe' parameter of fit must be one of {words}. Got {recipe!r} instead."
        )
