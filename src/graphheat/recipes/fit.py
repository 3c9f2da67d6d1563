"""``fit``: any recipe on any graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graphheat.disk import DiskGraph
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.progress import Progress
from graphheat.progress_bar import showing
from graphheat.recipes import registry
from graphheat.recipes.disk_fit import fit_on_disk
from graphheat.recipes.recipe import DEFAULT
from graphheat.recipes.warm_start import start_of
from graphheat.runs import Run


def fit(
    graph: Graph | DiskGraph,
    recipe: str = DEFAULT,
    *,
    seed: int = 0,
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | bool | None = None,
    source: Mapping[str, Any] | None = None,
    start: Run | str | os.PathLike[str] | None = None,
    **changes: Any,
) -> Run:
    """Label every node of a graph.

    Parameters
    ----------
    graph
        With labels and, for most recipes, features; its split says which labels train, validate,
        calibrate and test. A graph on disk takes ``"auto"``, ``"spreading"``, ``"linear"`` and
        ``"sampled"``: see :func:`graphheat.recipes.disk_fit.fit_on_disk`.
    recipe
        ``"auto"``: label spreading, linear models and networks in turn, weighed by labels that they
        have not seen. ``"spreading"``, ``"linear"``, ``"ensemble"``: its stages alone.
        ``"consistent"``: GraphHeat with consistency regularisation on unlabelled nodes;
        ``"normalized"``: the same with heat in front of a batch-normalised network; ``"paper"`` or
        ``"authors"``: to the letter. Or a
        baseline, such as ``"gcn"``, ``"gat"`` or ``"lp"``: :func:`graphheat.recipes.names` lists
        all.
    seed
        Decides what is random: weights, dropout, folds and, without validation labels, which nodes
        are held out.
    threads
        Threads to use; default: by the size of the job.
    checkpoint, resume
        File to keep the run in, and whether to go on from it where it exists.
    progress
        Called as ``progress(done, total, text)`` along the way; True: a bar, in a terminal or a
        notebook.
    source
        Kept in the run as it is.
    start
        A run, or its file, to start from where labels, nodes or edges were added since: its recipe,
        the coding of its features, what it chose and, for networks, its weights.
    **changes
        Settings of the recipe. ``s`` is the diffusion time; ``s="auto"`` (the default of ``"auto"``
        and ``"consistent"``) chooses it by leave-one-out over the training labels. ``budget`` is
        how many seconds ``"auto"`` may take. ``eps`` is the threshold of the kernel's entries;
        ``eps=None``: products without a kernel matrix.

    Returns
    -------
    Run
        With ``probabilities``, ``predicted``, ``test_accuracy``, ``predictions_frame()``,
        ``save(path)``, ``notes``.

    Notes
    -----
    Deterministic for a seed and a number of threads; a resumed run ends as an undisturbed one, bit
    for bit. The caller's random state is left alone.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> [fit(graph, name).recipe for name in ("lp", "ica")]
    ['lp', 'ica']
    """
    if isinstance(graph, DiskGraph):
        if start is not None:
            raise ParameterError(
                "A fit on a graph on disk does not start from a run; leave start=… out."
            )
        with showing(progress) as shown:
            return fit_on_disk(
                graph, recipe, seed=seed, threads=threads, checkpoint=checkpoint, resume=resume,
                progress=shown, source=source, **changes,
            )  # fmt: skip
    if not hasattr(graph, "completed_split"):
        raise ParameterError(
            f"The 'graph' parameter of fit must be a Graph; got {type(graph).__name__}. Read a "
            "file with graphheat.read_graph, or build one with Graph.from_scipy."
        )
    begun = start_of(graph, recipe, changes, start)
    chosen = registry.get(recipe_for(begun.graph, begun.recipe))
    settings = chosen.settings(begun.graph, **begun.changes)
    with showing(progress) as shown:
        prepared = chosen.prepare(begun.graph, settings, threads=threads, progress=shown)
        run = chosen.fit(
            prepared,
            seed,
            checkpoint=checkpoint,
            resume=resume,
            progress=shown,
            source=source,
            **begun.options,
        )
    return replace(run, notes=(*run.notes, *begun.notes)) if begun.notes else run


def recipe_for(graph: Graph, recipe: str) -> str:
    """Return the recipe that a name stands for on a graph.

    For several labels per node ``"auto"`` is the linear model or, without features, label
    spreading; any other recipe is itself.
    """
    if recipe != DEFAULT or graph.label_sets is None:
        return recipe
    return "spreading" if graph.features is None else "linear"
