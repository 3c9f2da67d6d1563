"""One door to every recipe: GraphHeat's own, and the systems that it is compared with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from graphheat import baselines, training
from graphheat.baselines.fitting import fit_system
from graphheat.classifier.choosing import Time, resolve_time
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear import LinearRun, fit_linear
from graphheat.suitability import suitability
from graphheat.training import Run
from graphheat.training.recipes import RECIPES
from graphheat.training.run import Labelling

LINEAR = "linear"

AnyRun = TypeVar("AnyRun", Run, LinearRun)


def fit(graph: Graph, recipe: str = "consistent", **options: Any) -> Labelling:
    """Label every node of a graph.

    Parameters
    ----------
    recipe
        ``"consistent"``: GraphHeat, taught by unlabelled nodes too; ``"normalized"``: the same
        with heat in front of a batch-normalised network; ``"paper"`` or ``"authors"``: to the
        letter. ``"linear"``: heat and a logistic regression, in seconds. Or a system that it is
        compared with, such as ``"gcn"``, ``"gat"`` or ``"lp"``; see
        :data:`graphheat.baselines.SYSTEMS`.
    **options
        As for :func:`graphheat.training.fit`, :func:`graphheat.linear.fit_linear` or
        :func:`graphheat.baselines.fitting.fit_system`: ``seed``, ``threads``, ``callback``, and
        settings of the recipe. ``s="auto"`` (the default of ``"consistent"``) chooses the
        diffusion time on the validation labels, in seconds; ``notes`` say what came of it.

    Returns
    -------
    Run, LinearRun or SystemRun
        With ``probabilities``, ``predicted``, ``test_accuracy``, ``predictions_frame()``,
        ``save(path)``. The first two's ``notes`` say so where heat will probably hurt.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> [fit(graph, name).recipe for name in ("lp", "ica")]
    ['lp', 'ica']
    """
    if recipe in RECIPES:
        return fit_heat(graph, recipe, **options)
    if recipe == LINEAR:
        return with_notes(fit_linear(graph, **options), graph)
    check_recipe(recipe)
    return fit_system(graph, recipe, **options)


def fit_heat(graph: Graph, recipe: str, *, s: Time = None, **options: Any) -> Run:
    """Train a recipe of GraphHeat, its s chosen where that is left open; see :func:`fit`."""
    others = ("seed", "threads", "checkpoint", "resume", "callback", "kernel_progress")
    changes = {name: value for name, value in options.items() if name not in others}
    shared = {name: options[name] for name in ("seed", "threads") if name in options}
    chosen = resolve_time(graph, recipe, s, changes, **shared)
    run = training.fit(graph, recipe, **{**options, **chosen.settings})
    told = with_notes(run, graph, chosen.notes)
    if told is not run and options.get("checkpoint") is not None:
        told.save(options["checkpoint"])
    return told


def with_notes(run: AnyRun, graph: Graph, chosen: tuple[str, ...] = ()) -> AnyRun:
    """Return the run, its notes saying how s was chosen and whether heat will probably hurt."""
    suits = suitability(graph)
    hurts = (suits.sentence,) if suits.verdict == "hurts" else ()
    # A resumed run has been told.
    new = tuple(note for note in (*chosen, *hurts) if note not in run.notes)
    return replace(run, notes=(*run.notes, *new)) if new else run


def check_recipe(recipe: str) -> None:
    """Raise with every recipe's name where ``recipe`` is none of them."""
    known = (*RECIPES, LINEAR, *baselines.SYSTEMS)
    if recipe not in known:
        words = ", ".join(repr(name) for name in known)
        raise ParameterError(
            f"The 'recipe' parameter of fit must be one of {words}. Got {recipe!r} instead."
        )
