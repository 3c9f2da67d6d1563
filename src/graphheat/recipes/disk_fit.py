"""``fit`` on a graph on disk: rows to learn from, one diffusion per stage to label all nodes."""

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
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from graphheat.checks import check_choice, check_seed
from graphheat.disk import DiskGraph
from graphheat.errors import OutputError, ParameterError
from graphheat.graph.split import Split
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.linear.disk_model import CombinedModel, DiskModel
from graphheat.linear.disk_run import DiskRun
from graphheat.linear.disk_spreading import spread_nodes
from graphheat.linear.labelling import PROBABILITIES, Labels, label_nodes, new_probabilities
from graphheat.linear.linear_fit import ABSENT, Task, learn, search
from graphheat.linear.linear_run import LinearSettings
from graphheat.linear.narrow_model import LinearModel, NarrowModel
from graphheat.linear.row_diffusion import RowDiffusion, ScaledFeatures
from graphheat.linear.spreading import SpreadingSettings
from graphheat.progress import Progress, tell
from graphheat.recipes.disk_stages import StageFiles
from graphheat.recipes.stage_weights import stage_weights
from graphheat.runs.combined_run import combined
from graphheat.runs.protocols import PlainSettings
from graphheat.runs.run_file import run_from

RECIPES = ("auto", "linear", "sampled", "spreading")
MOST_JUDGED = 2000  # validation labels by which stages are weighed
SPARSE = 1000  # nodes per training label beyond which labels are too far apart to be spread


@dataclass(frozen=True, eq=False)
class Trained:
    """A model before it labels all nodes.

    Attributes
    ----------
    model, kept
        The model, and the share of heat that its rows account for.
    notes
        Sentences on how it came about.
    train, left_out
        Training nodes, and their logits by models that had not seen them, shape (m, c).
    """

    model: NarrowModel
    kept: float
    notes: tuple[str, ...]
    train: NDArray[np.int64]
    left_out: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage that has labelled all nodes."""

    name: str
    labels: Labels
    kept: float
    notes: tuple[str, ...]
    train: NDArray[np.int64]
    left_out: NDArray[np.float64]


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
    cluster: Cluster | None = None,
    **changes: Any,
) -> DiskRun:
    """Label every node of a graph on disk.

    Parameters
    ----------
    graph
        With labels and, but for ``"spreading"``, features.
    recipe
        ``"spreading"``: labels spread by heat, no features; ``"linear"``: a ridge classifier on
        diffused features; ``"sampled"``: a network trained from rows of labelled and sampled
        unlabelled nodes; ``"auto"``: these three in turn (spreading where there is a label per
        1,000 nodes, or no feature; the network where torch is there), weighed by validation labels
        or, without any, by out-of-fold predictions.
    checkpoint, resume
        File to keep the model in, probabilities beside it; and whether to go on from it: with the
        stage that was under way, and its labelling where it was trained.
    cluster
        Who computes rows, XΘ, the diffusion and the labels; None: this process. See
        :func:`graphheat.cluster`.
    **changes
        Settings: ``s``, ``l2``, ``scaling``, ``self_weight``, ``class_weight``.

    Notes
    -----
    *Cost*: training by how many labels there are, not by the graph; labelling one diffusion per
    stage, of as many columns as there are classes or hidden units. *Deterministic*: for a seed.
    """
    check_choice(recipe, "recipe", "fit on a graph on disk", RECIPES)
    seed = check_seed(seed)
    began = time.perf_counter()
    if changes.pop("eps", None) is not None:
        raise ParameterError("Recipes on disk diffuse without a matrix and have no eps.")
    settings = (SpreadingSettings if recipe == "spreading" else LinearSettings).checked(**changes)
    split = graph.completed_split(seed, hold_out=False)
    identity = {
        "recipe": recipe,
        "fingerprint": graph.fingerprint,
        "seed": seed,
        "settings": settings.as_dict(),
    }
    path = None if checkpoint is None else Path(checkpoint)
    files = StageFiles(path, identity, graph)
    if path is not None and path.exists():
        if not resume:
            raise OutputError(f"{path} already holds a run. Pass resume=True, or remove it.")
        finished = files.read(graph.name)
        if finished is not None:
            found = run_from(*finished, path=path)
            assert isinstance(found, DiskRun)  # the identity says so
            return found
    names, left_out = _stage_names(recipe, graph, split)
    fitting = _Fitting(
        graph, split, settings, seed, threads, progress, files,
        cluster, alone=len(names) == 1, began=began,
    )  # fmt: skip
    stages = [fitting.stage(name) for name in names]
    labels = stages[0].labels
    model: DiskModel = labels.model
    more: tuple[str, ...] = ()
    if len(stages) > 1:
        labels, model, more = _together(graph, split, stages, files.folder)
    own = tuple(dict.fromkeys(note for stage in stages for note in stage.notes))
    run = DiskRun(
        **DiskRun.parts_of(graph, split),
        recipe=recipe,
        settings=PlainSettings(settings.as_dict()),
        seed=seed,
        probabilities=labels.probabilities,
        reached=labels.reached,
        seconds=time.perf_counter() - began,
        notes=(*graph.notes, *split.notes, *own, *left_out, *more),
        source=dict(source or {}),
        model=model,
        kept=stages[-1].kept,
    )
    if path is not None:
        run = run.with_store(path.parent / PROBABILITIES)
        run.save(path)
        files.clear(names)
    return run


def _stage_names(recipe: str, graph: DiskGraph, split: Split) -> tuple[list[str], tuple[str, ...]]:
    """Return the stages of a recipe on this graph, and sentences on those that are left out."""
    if recipe != "auto":
        return [recipe], ()
    if graph.features is None:
        return ["spreading"], ("There are no features: labels are spread by heat alone.",)
    names, notes = ["linear"], []
    if len(split.train) * SPARSE >= graph.n:
        names.insert(0, "spreading")
    else:
        notes.append(
            f"Labels are not spread: there is one per {graph.n // max(1, len(split.train)):,} "
            f"nodes, and from one per {SPARSE:,} on their heat tells something."
        )
    if find_spec("torch") is None:
        notes.append("torch is not installed, so there is no network: pip install 'graphheat[nn]'.")
    else:
        names.append("sampled")
    return names, tuple(notes)


@dataclass(eq=False)
class _Fitting:
    """What the stages of one fit share, as far as they have come."""

    graph: DiskGraph
    split: Split
    settings: Any
    seed: int
    threads: int | None
    progress: Progress | None
    files: StageFiles
    cluster: Cluster | None
    alone: bool
    began: float
    linear: Trained | None = None

    def stage(self, name: str) -> Stage:
        """Train a stage and have it label all nodes; what an interrupted fit left is taken."""
        kept = self.files.labelled(name)
        if kept is not None:
            return Stage(name, *kept)
        file = PROBABILITIES if self.alone else self.files.name_of(name)
        how: dict[str, Any] = {
            "out": self.files.folder, "name": file, "threads": self.threads or os.cpu_count() or 1,
            "progress": self.progress, "cluster": self.cluster,
        }  # fmt: skip
        if name == "spreading":
            found = spread_nodes(self.graph, self.split, self.settings.s, seed=self.seed, **how)
            notes: tuple[str, ...] = (found.labels.note,) if found.labels.note else ()
            stage = Stage(name, found.labels, 1.0, notes, found.train, found.left_out)
        else:
            trained = self._trained(name)
            tell(self.progress, f"{self._seconds():6.1f} s  trained: {name}")
            labels = label_nodes(
                self.graph, trained.model, self.split, longer=self.settings.s == "auto", **how
            )
            notes = (*trained.notes, *([labels.note] * bool(labels.note)))
            stage = Stage(name, labels, trained.kept, notes, trained.train, trained.left_out)
        tell(self.progress, f"{self._seconds():6.1f} s  labelled: {name}")
        if not self.alone:
            self.files.keep_labelled(
                name, stage.labels, stage.kept, stage.notes, stage.train, stage.left_out
            )
        return stage

    def _trained(self, name: str) -> Trained:
        kept = self.files.trained(name)
        if kept is not None:
            trained = Trained(*kept)
        else:
            trained = _train(
                self.graph, self.split, self.settings, name, self.seed, self.threads,
                self.progress, self.linear, self.cluster,
            )  # fmt: skip
            self.files.keep_trained(name, trained.model, trained.kept, trained.notes,
                                    trained.train, trained.left_out)  # fmt: skip
        if name == "linear":
            self.linear = trained
        return trained

    def _seconds(self) -> float:
        return time.perf_counter() - self.began


def _train(
    graph: DiskGraph,
    split: Split,
    settings: LinearSettings,
    name: str,
    seed: int,
    threads: int | None,
    progress: Progress | None,
    linear: Trained | None = None,
    cluster: Cluster | None = None,
) -> Trained:
    """Train a stage from rows; the network takes time and scaling from the linear model."""
    if linear is None:
        linear = train_linear(
            graph, split, settings, seed=seed, threads=threads, progress=progress, cluster=cluster
        )
    if name == "linear":
        return linear
    from graphheat.training.sampled_network import train_sampled

    found = train_sampled(graph, split, linear.model, seed=seed, threads=threads, cluster=cluster)
    return Trained(found.model, linear.kept, linear.notes, found.train, found.left_out)


def _together(
    graph: DiskGraph, split: Split, stages: list[Stage], out: Path | None
) -> tuple[Labels, CombinedModel, tuple[str, ...]]:
    """Weigh the stages, and write what they say together."""
    by, shown, codes = _judged(graph, split, stages)
    linear = next(stage for stage in stages if stage.name == "linear")
    names = [stage.name for stage in stages]
    weights = stage_weights(names, linear.labels.model.s, shown, codes)
    accuracies: tuple[float | None, ...] = (None,) * len(stages)
    if by:
        accuracies = tuple(float((p.argmax(axis=1) == codes).mean()) for p in shown)
    held = [k for k in range(len(stages)) if weights[k] > 0]
    parts = [stages[k].labels.probabilities for k in held]
    probabilities = new_probabilities(graph, out, PROBABILITIES)
    for first, last in ScaledFeatures.ranges(graph):
        probabilities[first:last] = combined([p[first:last] for p in parts], weights[held])
    if out is not None:
        probabilities.flush()
    model = CombinedModel(
        tuple(stages[k].labels.model for k in held), weights[held],
        tuple(accuracies[k] for k in held), by,
    )  # fmt: skip
    judged = {"validation": "validation labels", "out-of-fold": "labels left out", "": ""}[by]
    said = [
        f"{stage.name} {weight:.2f}" + ("" if accuracy is None else f" ({100 * accuracy:.1f} %)")
        for stage, weight, accuracy in zip(stages, weights, accuracies, strict=True)
    ]
    by_what = f", by {len(codes):,} {judged} of which each has so many right" if by else ""
    note = f"Stages count for {', '.join(said)}{by_what}."
    reached = stages[-1].labels.reached
    return Labels(probabilities, reached, stages[-1].labels.model, note), model, (note,)


def _judged(
    graph: DiskGraph, split: Split, stages: list[Stage]
) -> tuple[str, list[NDArray[np.float64]], NDArray[np.int64]]:
    """Return which labels judge, each stage's probabilities of those nodes, and the labels."""
    nodes = np.sort(split.val)
    if len(nodes):
        if len(nodes) > MOST_JUDGED:
            nodes = np.sort(np.random.default_rng(0).choice(nodes, MOST_JUDGED, replace=False))
        shown = [np.asarray(stage.labels.probabilities[nodes], np.float64) for stage in stages]
        return "validation", shown, np.asarray(graph.labels[nodes], dtype=np.int64)
    nodes = stages[0].train
    for stage in stages[1:]:
        nodes = np.intersect1d(nodes, stage.train)
    if not len(nodes) or any(not len(stage.left_out) for stage in stages):
        return "", [], np.empty(0, dtype=np.int64)
    shown = [
        softmax(stage.left_out[np.searchsorted(stage.train, nodes)], axis=1) for stage in stages
    ]
    return "out-of-fold", shown, np.asarray(graph.labels[nodes], dtype=np.int64)


def train_linear(
    graph: DiskGraph,
    split: Split,
    settings: LinearSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    cluster: Cluster | None = None,
) -> Trained:
    """Fit a ridge classifier from rows of the training nodes."""
    task = Task.of(graph, split, settings, threads, cluster)
    with threadpool_limits(1):
        found, notes = search(task, seed, progress)
        learned = learn(task, found)
    diffusion = learned.diffusion
    kept = diffusion.kept.get(learned.s, 1.0) if isinstance(diffusion, RowDiffusion) else 1.0
    told: tuple[str, ...] = ()
    if isinstance(diffusion, RowDiffusion):
        told = (diffusion.heat_note(learned.s),)
    left_out = learned.left_out.copy()
    left_out[:, learned.absent] = left_out.min(initial=0.0) - 2 * ABSENT
    return Trained(LinearModel.of(learned), kept, (*notes, *told), task.train, left_out)
