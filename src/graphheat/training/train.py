"""Training a heat network on a prepared graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph import Graph, Split
from graphheat.nn.features import as_input
from graphheat.progress import Progress
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.training.batchnorm import BatchNormObjective
from graphheat.training.build import build_network, build_operator
from graphheat.training.consistency import ConsistencyObjective
from graphheat.training.loop import Epoch, Loop, torch_threads
from graphheat.training.network_run import NetworkRun
from graphheat.training.objective import NetworkObjective, SupervisedObjective, Targets
from graphheat.training.prepared import PreparedNetwork, reached
from graphheat.training.pseudo_labels import with_pseudo_labels
from graphheat.training.settings import NetworkSettings, Stopping
from graphheat.training.stop_rule import Rule, StopRule

OBJECTIVES: Mapping[str, Callable[[PreparedNetwork, Targets, int], NetworkObjective]] = {
    "supervised": SupervisedObjective,
    "consistency": ConsistencyObjective,
    "batchnorm": BatchNormObjective,
}

RULES: Mapping[Stopping, Rule] = {"patience": "kept", "mean": "mean", "either": "either"}


def train_network(
    prepared: PreparedNetwork,
    split: Split,
    seed: int,
    *,
    threads: int | None = None,
    notes: tuple[str, ...] = (),
    source: dict[str, Any] | None = None,
    save: Callable[[Header, Arrays], None] | None = None,
    saved: tuple[Header, Arrays] | None = None,
    progress: Progress | None = None,
    observer: Callable[[Epoch], None] | None = None,
    watch: NDArray[np.int64] | None = None,
    start: NetworkRun | None = None,
) -> NetworkRun:
    """Train the network that the settings describe.

    Parameters
    ----------
    split
        All four parts; see :meth:`graphheat.graph.Split.completed`.
    threads
        Of torch; default: one on small graphs, and torch's own number on large ones.
    notes
        Sentences to add to those of the training itself.
    save, saved
        Takes the state about once a second; and the state of a run that goes on.
    progress, observer
        Called after each epoch.
    watch
        Nodes whose predicted classes the observer gets after each epoch; they play no part in the
        training.
    start
        A run whose weights training begins at; classes are matched by name, and those that it does
        not know begin as they would without.

    Notes
    -----
    Deterministic for a seed and a number of threads; a resumed run ends with the same weights, bit
    for bit, as an undisturbed one. The caller's random state is left alone.
    """
    graph, settings = prepared.graph, prepared.settings
    threads = threads or (None if saved is None else saved[0]["threads"])
    with torch_threads(threads or default_threads(prepared)), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        watched = np.empty(0, dtype=np.int64) if watch is None else watch
        nodes, labels, found = split.train, graph.labels[split.train], split.notes
        if settings.pseudo_labels:
            nodes, labels, more = with_pseudo_labels(graph, split, self_loops=settings.self_loops)
            found = (*found, *more)
        # Watched nodes ride along with the validation nodes, in one pass.
        targets = Targets(nodes, labels, np.concatenate([split.val, watched]))
        objective = OBJECTIVES[settings.objective](prepared, targets, seed)
        if start is not None and saved is None:
            notes = (*notes, *begin_at(objective.module, start, graph, split))
        optimizer = torch.optim.Adam(objective.groups(), lr=settings.learning_rate)
        loop = Loop(
            objective, optimizer, stop_rule(settings), graph.labels[split.val], watched=len(watched)
        )
        if saved is not None:
            loop.restore(*saved)
        trained = loop.run(progress=progress, observer=observer, save=save)
        weights = {name: tensor.numpy() for name, tensor in trained.weights.items()}
        probabilities = network_output(prepared, weights)
        if not np.isfinite(probabilities).all():
            raise GraphError(
                "Training diverged: the features are too large for these settings, or the "
                "settings too bold. Scale the features, or lower learning_rate."
            )
        used = torch.get_num_threads()
    return NetworkRun(
        **NetworkRun.graph_parts(graph, split),
        recipe=settings.recipe,
        settings=settings,
        seed=seed,
        threads=used,
        kernel=prepared.kernel,
        weights=weights,
        scaling=prepared.scaling,
        history=trained.history,
        probabilities=probabilities,
        reached=reached(graph, split.train, settings),
        best_epoch=trained.best_epoch,
        seconds=trained.seconds,
        notes=(*found, *trained.notes, *notes),
        source=source or {},
    )


def begin_at(
    module: torch.nn.Module, start: NetworkRun, graph: Graph, split: Split
) -> tuple[str, ...]:
    """Set a network's weights to those of a run, class by class; return what is to be noted."""
    fresh = module.state_dict()
    held = {name: torch.tensor(array) for name, array in start.weights.items()}
    if fresh.keys() != held.keys():
        return ("The run keeps its weights in another form than training has: it begins anew.",)
    code = {name: place for place, name in enumerate(start.classes)}
    known = [place for place, name in enumerate(graph.classes) if name in code]
    theirs = [code[graph.classes[place]] for place in known]
    for name, tensor in held.items():
        if not name.startswith("second."):
            if tensor.shape != fresh[name].shape:
                return ("The run's network has another shape than this one: it begins anew.",)
            fresh[name] = tensor
            continue
        fresh[name][..., known] = tensor[..., theirs]
    module.load_state_dict(fresh)
    trained = {start.nodes[row] for row in start.split.train}
    seen = sum(node in trained for node in graph.nodes[split.val].tolist())
    notes: tuple[str, ...] = ()
    if new := len(graph.classes) - len(known):
        notes = (f"{new:,} classes are new: their weights begin as in any fit.",)
    if seen:
        notes = (
            *notes,
            f"{seen:,} of {len(split.val):,} validation labels trained the run that this starts "
            "from: validation is optimistic. Name validation nodes in the split to avoid that.",
        )
    return notes


def stop_rule(settings: NetworkSettings) -> StopRule:
    """Return the rule that the settings name."""
    return StopRule(settings.max_epochs, settings.patience, RULES[settings.stopping], settings.keep)


def network_probabilities(
    run: NetworkRun, graph: Graph, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Return class probabilities of every node of ``graph``, shape (n, c)."""
    assert graph.features is not None  # as many as the network has, which a run has checked
    features = as_input(run.scaling.apply(graph.features))
    model = build_network(features.size(1), len(run.classes), run.settings)
    model.load_state_dict({name: torch.tensor(array) for name, array in run.weights.items()})
    model.eval()
    operator = build_operator(graph, run.settings, threads=threads)
    with torch.no_grad():
        logits = model(features, operator)
    probabilities: NDArray[np.float64] = torch.softmax(logits.double(), dim=1).numpy()
    return probabilities


def network_output(
    prepared: PreparedNetwork, weights: dict[str, NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Return class probabilities of the prepared graph, shape (n, c); NaN without weights."""
    if not weights:
        return np.full(1, np.nan, dtype=np.float32)
    classes = len(prepared.graph.classes)
    network = build_network(prepared.x.size(1), classes, prepared.settings)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    network.eval()
    with torch.no_grad():
        logits = network(prepared.x, prepared.operator)
    probabilities: NDArray[np.float32] = torch.softmax(logits, dim=1).numpy()
    return probabilities


def default_threads(prepared: PreparedNetwork) -> int:
    """One thread while a product takes about a millisecond: more would wait for each other."""
    work = prepared.operator.nnz * prepared.settings.hidden
    return 1 if work < 50_000_000 else torch.get_num_threads()
