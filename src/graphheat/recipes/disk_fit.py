"""``fit`` on a graph on disk: rows to learn from, one diffusion to label all nodes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from graphheat.checks import check_choice, check_seed
from graphheat.disk import DiskGraph
from graphheat.errors import OutputError, ParameterError
from graphheat.graph.split import Split
from graphheat.linear.disk_run import DiskRun
from graphheat.linear.labelling import label_nodes
from graphheat.linear.linear_fit import Task, learn, search
from graphheat.linear.linear_run import LinearSettings
from graphheat.linear.narrow_model import LinearModel, NarrowModel, model_from, model_parts
from graphheat.linear.row_diffusion import RowDiffusion
from graphheat.progress import Progress, tell
from graphheat.runs import checkpoint as files
from graphheat.runs.roles import PlainSettings

RECIPES = ("auto", "linear", "sampled")
MOST_JUDGED = 1000  # validation labels by which a model is judged


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, the share of heat its rows account for, and its accuracy on validation labels."""

    model: NarrowModel
    kept: float
    judged: float | None
    notes: tuple[str, ...] = ()


def fit_on_disk(
    graph: DiskGraph,
    recipe: str = "auto",
    *,
    seed: int = 0,
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    source: Mapping[str, Any] | None = None,
    cluster: Any = None,
    **changes: Any,
) -> DiskRun:
    """Label every node of a graph on disk.

    Parameters
    ----------
    graph
        With features and labels.
    recipe
        ``"linear"``: a ridge classifier on diffused features; ``"sampled"``: a network trained from
        rows of labelled and sampled unlabelled nodes; ``"auto"``: both where torch is there, and of
        the two the one that labels validation nodes better.
    checkpoint, resume
        File to keep the model in, probabilities beside it; and whether to go on from it: with the
        labelling, where the training is done.
    cluster
        Where the diffusion runs; None: here. See :func:`graphheat.cluster`.
    **changes
        Settings: ``s``, ``l2``, ``scaling``, ``self_weight``, ``class_weight``.

    Notes
    -----
    *Cost*: training by how many labels there are, not by the graph; labelling one diffusion of as
    many columns as there are classes or hidden units. *Deterministic*: for a seed.
    """
    check_choice(recipe, "recipe", "fit on a graph on disk", RECIPES)
    seed = check_seed(seed)
    began = time.perf_counter()
    if changes.pop("eps", None) is not None:
        raise ParameterError("Recipes on disk diffuse without a matrix and have no eps.")
    settings = LinearSettings.checked(**changes)
    split = graph.completed_split(seed, hold_out=False)
    identity = {
        "recipe": recipe,
        "fingerprint": graph.fingerprint,
        "seed": seed,
        "settings": settings.as_dict(),
    }
    path = None if checkpoint is None else Path(checkpoint)
    trained = None
    if path is not None and path.exists():
        if not resume:
            raise OutputError(f"{path} already holds a run. Pass resume=True, or remove it.")
        header, arrays = files.read(path)
        files.check_same(path, header, identity, graph.name)
        if header.get("state") == "finished":
            return DiskRun.from_parts(header, arrays)
        trained = Trained(
            model_from(header["model"], arrays), header["kept"], None, tuple(header["notes"])
        )
    if trained is None:
        trained = _train(graph, split, settings, recipe, seed, threads, progress)
        if path is not None:
            model, arrays = model_parts(trained.model)
            facts = {"state": "labelling", "model": model, "kept": trained.kept}
            files.write(path, {**identity, **facts, "notes": list(trained.notes)}, arrays)
    tell(progress, f"{time.perf_counter() - began:6.1f} s  trained: {trained.model.kind}")
    diffuse = None if cluster is None else cluster.diffuse
    labels = label_nodes(
        graph,
        trained.model,
        split,
        longer=settings.s == "auto",
        out=None if path is None else path.parent,
        threads=threads or os.cpu_count() or 1,
        progress=progress,
        diffuse=diffuse,
    )
    run = DiskRun(
        **DiskRun.parts_of(graph, split),
        recipe=recipe,
        settings=PlainSettings(settings.as_dict()),
        seed=seed,
        probabilities=labels.probabilities,
        reached=labels.reached,
        seconds=time.perf_counter() - began,
        notes=(*graph.notes, *split.notes, *trained.notes, *([labels.note] * bool(labels.note))),
        source=dict(source or {}),
        model=labels.model,
        kept=trained.kept,
    )
    if path is not None:
        run = run.with_store(path.parent / "probabilities.npy")
        run.save(path)
        for name in ("heat.npy", "panels.json"):
            (path.parent / name).unlink(missing_ok=True)
    return run


def _train(
    graph: DiskGraph,
    split: Split,
    settings: LinearSettings,
    recipe: str,
    seed: int,
    threads: int | None,
    progress: Progress | None,
) -> Trained:
    torch = find_spec("torch") is not None
    linear = train_linear(graph, split, settings, seed=seed, threads=threads, progress=progress)
    if recipe == "linear" or (recipe == "auto" and not (torch and len(split.val))):
        return linear
    from graphheat.training.sampled_network import train_sampled

    network = train_sampled(graph, split, linear.model, seed=seed, threads=threads)
    if recipe == "sampled":
        return Trained(network, linear.kept, None, linear.notes)
    judged = _judge(graph, network, split, threads)
    better = judged is not None and linear.judged is not None and judged > linear.judged
    note = (
        f"Of {min(len(split.val), MOST_JUDGED):,} validation labels the linear model has "
        f"{100 * (linear.judged or 0):.1f} % right, the sampled network {100 * (judged or 0):.1f} "
        f"%: the {'network' if better else 'linear model'} labels all nodes."
    )
    chosen = Trained(network, linear.kept, judged) if better else linear
    return Trained(chosen.model, linear.kept, chosen.judged, (*linear.notes, note))


def train_linear(
    graph: DiskGraph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Fit a ridge classifier from rows of the training nodes."""
    task = Task.of(graph, split, settings, threads)
    with threadpool_limits(1):
        found, notes = search(task, seed, progress)
        learned = learn(task, found)
    diffusion = learned.diffusion
    kept = diffusion.kept.get(learned.s, 1.0) if isinstance(diffusion, RowDiffusion) else 1.0
    told = (
        f"Trained from rows that account for {100 * kept:.0f} % of the heat at s = {learned.s:g}.",
    )
    model = LinearModel.of(learned)
    return Trained(model, kept, _judge(graph, model, split, threads), (*notes, *told))


def _judge(graph: DiskGraph, model: NarrowModel, split: Split, threads: int | None) -> float | None:
    """Return the accuracy on validation labels, from their rows; None without any."""
    nodes = split.val
    if not len(nodes):
        return None
    if len(nodes) > MOST_JUDGED:
        nodes = np.sort(np.random.default_rng(0).choice(nodes, MOST_JUDGED, replace=False))
    logits = model.logits(model.project(diffused_rows(graph, model, nodes, threads)))
    codes: NDArray[Any] = np.asarray(graph.labels[nodes])
    return float((logits.argmax(axis=1) == codes).mean())


def diffused_rows(
    graph: DiskGraph, model: NarrowModel, nodes: NDArray[np.int64], threads: int | None
) -> NDArray[np.float64]:
    """Return the diffused features of some nodes as a model takes them, shape (k, f)."""
    from graphheat.linear.heat_rows import HeatRows

    heat = HeatRows(graph, threads=threads or 1)
    diffusion = RowDiffusion(graph, model.scaling, heat, self_weight=model.self_weight)
    return diffusion.rows(nodes, model.s)
