"""An ensemble of small heat networks of two kinds, trained side by side, that cannot collapse.

Every member is a :class:`~graphheat.nn.GraphHeat`. *Consistent* members are trained with
consistency regularisation (GRAND's scheme; see :mod:`graphheat.training.consistency`), *supervised*
ones by the labels alone: where neighbours are unlike, agreement of views is agreement on nonsense,
and labels that no member has seen tell which kind to trust. All members go through one diffusion,
side by side, so that four cost little more than one four times as wide. What differs from the
single network:

- *A teacher that steps back.* What views are drawn to is, at first, as much what a linear model
  says of the node as what the views say themselves (the product of both); the linear model's part
  fades as the network comes to know better.
- *Features of one size.* They are multiplied so that diffused rows are at distance 1 from their
  mean, and one learning rate and one L2 mean the same on every graph.
- *Classes count alike* where labels are few, so that rare ones are learned at all; alignment
  restores their shares.
- *Alignment.* Before the views' mean is sharpened, it is multiplied class by class by the share
  that a linear model expects of the class, divided by the share that the member gives it now
  (distribution alignment, as ReMixMatch has it); from ten labels per class on by a root of that.
  Without this, a few unbalanced labels make views agree on the largest class.
- *Folds.* Without validation labels there are further members, each of which, as its teacher,
  leaves out a fold of the training labels. They give honest predictions of these, and no others.
- *Rough products.* Training diffuses to 1e-2 in place of 1e-5: dropout is coarser by far.
  Predictions are made to full accuracy.

References
----------
W. Feng, J. Zhang, Y. Dong et al.: Graph Random Neural Networks for Semi-Supervised Learning on
Graphs, NeurIPS 2020. D. Berthelot, N. Carlini, E. Cubuk et al.: ReMixMatch, ICLR 2020. L. Breiman:
Bagging Predictors, Machine Learning 1996. G. Hinton, O. Vinyals, J. Dean: Distilling the Knowledge
in a Neural Network, 2015 (soft targets of a teacher).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax, relu, softmax

from graphheat.errors import GraphError
from graphheat.features.scaling import Matrix, Scaling
from graphheat.graph import Graph, Split
from graphheat.nn import HeatOperator, SparseFeatures, heat_operator
from graphheat.nn.features import Input, as_input
from graphheat.progress import Progress
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.combined_run import CombinedRun
from graphheat.training.adam import Adam
from graphheat.training.build import build_operator
from graphheat.training.dropout import drop_values, kept_share
from graphheat.training.loop import Loop, torch_threads
from graphheat.training.network_run import NetworkRun
from graphheat.training.objective import Weights
from graphheat.training.prepared import PreparedNetwork, check_trainable, reached
from graphheat.training.settings import ConsistencySettings
from graphheat.training.stop_rule import StopRule
from graphheat.training.train import default_threads, network_output

ROUGH = 1e-2  # accuracy of products in training
DENSE = 0.25  # share of non-zeros from which dense features are the faster
FACTOR = 10.0  # that alignment multiplies by at most
COMPILED_WORK = 5e6  # multiply-adds of a product from which loading compiled loops has paid
ALIGNED = 10.0  # labels per class up to which alignment is full; with more, it is weaker
LEAST = 1e-6  # of a class's share
FADE = 0.3  # of the epochs, after which the teacher's part begins to fade, to 0 in the last one
KINDS = ("consistent networks", "supervised networks")
PROBES = 16  # random directions that the size of diffused features is measured in


class EnsembleObjective:
    """The labels' loss and the views' disagreement, of all members at once.

    Parameters
    ----------
    settings
        Those of every member.
    x
        The features, scaled to size, shape (n, f).
    operator
        The products of training.
    nodes, labels
        Training nodes and their class codes, shape (m,).
    counts
        What each label counts for in each member's loss, shape (members, m); rows sum to 1.
    teachers
        Class probabilities by the linear model of each consistent member, shape
        (consistent, n, c); the classes' shares in them are those expected. The first members are
        the consistent ones, the others learn from labels alone.
    """

    def __init__(
        self,
        settings: ConsistencySettings,
        x: Input,
        operator: HeatOperator,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int64],
        counts: NDArray[np.float64],
        teachers: NDArray[np.float64],
    ) -> None:
        self.settings, self.x, self._operator = settings, x, operator
        self.members, classes = len(counts), teachers.shape[2]
        self.module = _Members(x.size(1), settings.hidden, classes, self.members)
        self._nodes, self._labels = torch.tensor(nodes), torch.tensor(labels)
        self._counts = torch.tensor(counts.T, dtype=torch.float32)  # (m, members)
        targets = torch.tensor(teachers.swapaxes(0, 1), dtype=torch.float32)  # (n, consistent, c)
        self._prior = targets.mean(dim=0)
        self._log_targets = targets.clamp_min(LEAST).log()
        self._consistent = len(teachers)
        self._alignment = _alignment(len(nodes), classes)
        self._step = 0

    def start(self, epoch: int) -> None:
        """Note how far the warm-up is."""
        self._step = epoch

    def loss(self) -> Tensor:
        """Return the sum of the members' losses in the next step."""
        self._step += 1
        settings = self.settings
        logarithms = log_softmax(self._views(), dim=3)  # (n, views, members, c)
        known = logarithms[self._nodes].mean(dim=1)  # (m, members, c)
        right = known.gather(2, self._labels[:, None, None].expand(-1, self.members, 1))[..., 0]
        loss = -(right * self._counts).sum()
        if settings.consistency == 0 or self._consistent == 0:
            return loss
        drawn = logarithms[:, :, : self._consistent]
        target = self._targets(drawn.detach().exp().mean(dim=1))
        apart = -(target[:, None] * drawn).sum(dim=3).mean(dim=(0, 1)).sum()
        return loss + settings.consistency * min(1.0, self._step / settings.warmup) * apart

    def logits(self) -> Tensor:
        """Return nothing: no node is looked at between steps."""
        return torch.empty(0, self.module.second_bias.shape[1])

    def weights(self) -> Weights:
        """Return a copy of all members' weights."""
        return {name: each.detach().clone() for name, each in self.module.state_dict().items()}

    def _targets(self, p: Tensor) -> Tensor:
        """Return what views are drawn to, shape (n, consistent, c).

        The views' mean, aligned and sharpened; of the power 1/T that sharpens, the teacher has 1 at
        first and 0 in the end.
        """
        now = p.mean(dim=0).clamp_min(LEAST)
        p = p * (self._prior / now).pow(self._alignment).clamp(1 / FACTOR, FACTOR)
        log_p = (p / p.sum(dim=2, keepdim=True)).clamp_min(LEAST).log()
        done = self._step / self.settings.max_epochs
        faded = min(1.0, (1.0 - done) / (1.0 - FADE))
        return softmax(
            log_p / self.settings.sharpening + faded * (self._log_targets - log_p), dim=2
        )

    def _views(self) -> Tensor:
        """Return the logits of all nodes, shape (n, views, members, c)."""
        settings, net = self.settings, self.module
        x = drop_values(self.x, settings.input_dropout)
        kept = kept_share((self.x.size(0), settings.views, 1), settings.drop_nodes)
        # A node without features gives nothing to any node of that view.
        joined = x @ net.first_weight.permute(1, 0, 2).reshape(self.x.size(1), -1)
        own, heat = (part[:, None] * kept for part in joined.chunk(2, dim=1))
        hidden = relu(own + self._diffuse(heat) + net.first_bias)
        hidden = hidden * kept_share(tuple(hidden.shape), settings.dropout)
        hidden = hidden.view(*hidden.shape[:2], self.members, -1)
        own, heat = torch.einsum("nvmh,kmhc->knvmc", hidden, net.second_weight)
        logits: Tensor = own + self._diffuse(heat.contiguous()) + net.second_bias
        return logits

    def _diffuse(self, z: Tensor) -> Tensor:
        """Return e^{-sL}z along the first axis."""
        diffused: Tensor = self._operator([torch.zeros(()), z.reshape(len(z), -1)])
        return diffused.view(z.shape)


class _Members(nn.Module):
    """The weights of all members, laid out so that one product serves them all."""

    def __init__(self, features: int, hidden: int, classes: int, members: int) -> None:
        super().__init__()
        first = torch.empty(2, members, features, hidden)
        second = torch.empty(2, members, hidden, classes)
        for layer in (first, second):
            for matrix in layer.flatten(0, 1):
                nn.init.xavier_uniform_(matrix)
        self.first_weight = nn.Parameter(first.permute(0, 2, 1, 3).reshape(2, features, -1))
        self.first_bias = nn.Parameter(torch.zeros(members * hidden))
        self.second_weight = nn.Parameter(second)
        self.second_bias = nn.Parameter(torch.zeros(members, classes))


def prepare_ensemble(
    graph: Graph, settings: ConsistencySettings, *, threads: int | None = None
) -> PreparedNetwork:
    """Scale the features; the operator is that of prediction."""
    features = check_trainable(graph)
    scaling = Scaling.learn(features, settings.scaling)
    operator = build_operator(graph, settings, threads=threads)
    return PreparedNetwork(graph, settings, scaling, _input(scaling.apply(features)), operator)


def _input(features: Matrix) -> Input:
    """Return features as torch takes them: dense ones where that is the faster."""
    if isinstance(features, sp.csr_array) and features.nnz > DENSE * np.prod(features.shape):
        return as_input(features.toarray())
    return as_input(features)


def train_ensemble(
    prepared: PreparedNetwork,
    split: Split,
    seed: int,
    *,
    members: int,
    teachers: NDArray[np.float64],
    folds: NDArray[np.int64] | None = None,
    threads: int | None = None,
    save: Callable[[Header, Arrays], None] | None = None,
    saved: tuple[Header, Arrays] | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> tuple[CombinedRun, CombinedRun]:
    """Train the members, and let those of a kind answer together: consistent, supervised.

    Parameters
    ----------
    split
        All parts; validation labels play no part in the training.
    members
        How many of each kind answer; with folds there are as many more as folds, for honest
        predictions.
    teachers
        What a linear model says of every node, shape (1, n, c); with folds, further ones that have
        not seen fold 0, 1, …, shape (1 + folds, n, c).
    folds
        The fold of each training node in rising order, shape (m,), −1 for those that all see.
    save, saved
        Takes the state about once a second; and the state of a run that goes on.
    deadline
        Of ``time.monotonic()``, at which training stops where it is.

    Notes
    -----
    Deterministic for a seed and a number of threads, unless a deadline cuts it short.
    """
    graph, settings = prepared.graph, prepared.settings
    assert isinstance(settings, ConsistencySettings)
    train = np.sort(split.train)
    labels = graph.labels[train]
    # Of each kind: those that answer have seen all labels; then one for each fold that has not.
    unseen = [-2] * members + list(range(len(teachers) - 1))
    counts = np.zeros((len(unseen), len(train)))
    for each, fold in zip(counts, unseen, strict=True):
        seen = np.full(len(train), True) if folds is None else folds != fold
        each[seen] = _label_weights(labels[seen], len(graph.classes))
    repeated = np.concatenate([np.repeat(teachers[:1], members, axis=0), teachers[1:]])
    counts = np.tile(counts, (len(KINDS), 1))
    operator = heat_operator(
        graph,
        settings.s,
        self_loops=settings.self_loops,
        tol=ROUGH,
        compiled_work=COMPILED_WORK,
    )
    threads = threads or (None if saved is None else saved[0]["threads"])
    with torch_threads(threads or default_threads(prepared)), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        gain = _gain(prepared.x, operator)
        objective = EnsembleObjective(
            settings, _scaled(prepared.x, gain), operator, train, labels, counts, repeated
        )
        optimizer = Adam(
            objective.module.parameters(), lr=settings.learning_rate, weight_decay=settings.l2
        )
        epochs = settings.max_epochs
        rule = StopRule(epochs, epochs, "never", "loss", fixed_epochs=epochs)
        loop = Loop(objective, optimizer, rule, np.empty(0, dtype=np.int64))
        if saved is not None:
            loop.restore(*saved)
        trained = loop.run(progress=progress, save=save, deadline=deadline)
        used = torch.get_num_threads()
        reach = reached(graph, split.train, settings)
        networks = [
            _member(trained.weights, member, len(counts), gain) for member in range(len(counts))
        ]
        outputs = [network_output(prepared, weights) for weights in networks]
    if not all(np.isfinite(output).all() for output in outputs):
        raise GraphError(
            "Training diverged: the features are too large for these settings, or the settings "
            "too bold. Scale the features, or lower learning_rate."
        )

    def answering(kind: int) -> CombinedRun:
        """Return what the members of a kind say together."""
        first, last = kind * len(unseen), (kind + 1) * len(unseen)
        judges = outputs[first + members : last]
        runs = [
            NetworkRun(
                **NetworkRun.graph_parts(graph, split),
                recipe=settings.recipe,
                settings=settings if kind == 0 else settings.changed({"consistency": 0.0}),
                seed=seed,
                threads=used,
                kernel=prepared.kernel,
                weights=networks[member],
                scaling=prepared.scaling,
                probabilities=outputs[member],
                reached=reach,
                best_epoch=trained.best_epoch,
                seconds=trained.seconds / (members * len(KINDS)),
            )
            for member in range(first, first + members)
        ]
        return CombinedRun.of(
            runs,
            np.full(members, 1 / members),
            recipe=KINDS[kind],
            settings=runs[0].settings,
            out_of_fold=None if folds is None else _out_of_fold(judges, train, folds),
            best_epoch=trained.best_epoch,
            seconds=trained.seconds / len(KINDS),
            notes=(*split.notes, *trained.notes),
        )

    return answering(0), answering(1)


def _alignment(labels: int, classes: int) -> float:
    """Return how far classes' shares are aligned, from 0 to 1: the less, the more labels tell."""
    return min(1.0, ALIGNED * classes / labels)


def _label_weights(labels: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """Return what labels count for, shape (m,): as far as shares are aligned, all classes alike."""
    weights = (1.0 + np.bincount(labels)[labels]) ** -_alignment(len(labels), classes)
    return np.asarray(weights / weights.sum())


def _gain(x: Input, operator: HeatOperator) -> float:
    """Return what brings diffused rows of features to distance 1 from their mean, as a root mean.

    Distances are those of random projections, which keep them in the mean.
    """
    directions = torch.randn(x.size(1), PROBES) / PROBES**0.5
    diffused = operator([torch.zeros(()), x @ directions]).double()
    distance = float((diffused - diffused.mean(dim=0)).square().sum(dim=1).mean().sqrt())
    return 1.0 / distance if distance > 0 else 1.0


def _scaled(x: Input, gain: float) -> Input:
    if isinstance(x, SparseFeatures):
        return replace(x, values=x.values * gain)
    return x * gain


def _member(
    weights: Weights, member: int, members: int, gain: float
) -> dict[str, NDArray[np.float32]]:
    """Return one member's weights as a GraphHeat network names them, for features as they are."""
    first, bias = weights["first_weight"], weights["first_bias"]
    own = slice(member * first.shape[2] // members, (member + 1) * first.shape[2] // members)
    found = {
        "first.weight": first[:, :, own] * gain,
        "first.bias": bias[own],
        "second.weight": weights["second_weight"][:, member],
        "second.bias": weights["second_bias"][member],
    }
    return {name: each.contiguous().numpy() for name, each in found.items()}


def _out_of_fold(
    outputs: list[NDArray[np.floating[Any]]], train: NDArray[np.int64], folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what each training label's own fold says of it, shape (m, c); NaN without a fold."""
    found = np.full((len(train), outputs[0].shape[1]), np.nan)
    for fold, output in enumerate(outputs):
        found[folds == fold] = output[train[folds == fold]]
    return found
