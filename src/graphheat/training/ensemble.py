"""An ensemble of small heat networks, trained side by side, none of which can collapse.

Every member is a :class:`~graphheat.nn.GraphHeat` with consistency regularisation (GRAND's scheme;
see :mod:`graphheat.training.consistency`). All members go through one diffusion, side by side, so
that four cost little more than one four times as wide. Three things differ from the single network:

- *Alignment.* Before the views' mean is sharpened, it is multiplied class by class by the share
  that a linear model expects of the class, divided by the share that the member gives it now
  (distribution alignment, as ReMixMatch has it); from ten labels per class on by a root of that.
  Without this, a few unbalanced labels make views agree on the largest class.
- *Folds.* Without validation labels each member leaves out a fold of the training labels: of these
  it gives honest predictions, and together the members have seen every label.
- *Rough products.* Training diffuses to 1e-2 in place of 1e-5: dropout is coarser by far.
  Predictions are made to full accuracy.

References
----------
W. Feng, J. Zhang, Y. Dong et al.: Graph Random Neural Networks for Semi-Supervised Learning on
Graphs, NeurIPS 2020. D. Berthelot, N. Carlini, E. Cubuk et al.: ReMixMatch, ICLR 2020. L. Breiman:
Bagging Predictors, Machine Learning 1996.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import log_softmax, relu

from graphheat.errors import GraphError
from graphheat.features.scaling import Matrix, Scaling
from graphheat.graph import Graph, Split
from graphheat.nn import HeatOperator, heat_operator
from graphheat.nn.features import Input, as_input
from graphheat.progress import Progress
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.combined_run import CombinedRun
from graphheat.training.adam import Adam
from graphheat.training.build import build_operator
from graphheat.training.consistency import sharpened
from graphheat.training.dropout import drop_values, kept_share
from graphheat.training.loop import Loop, torch_threads
from graphheat.training.network_run import NetworkRun
from graphheat.training.objective import Weights
from graphheat.training.prepared import PreparedNetwork, check_trainable, reached
from graphheat.training.settings import ConsistencySettings
from graphheat.training.stop_rule import StopRule
from graphheat.training.train import default_threads, network_output

ROUGH = 1e-2  # accuracy of products in training
DENSE = 0.1  # share of non-zeros from which dense features are the faster
FACTOR = 10.0  # that alignment multiplies by at most
COMPILED_WORK = 5e6  # multiply-adds of a product from which loading compiled loops has paid
ALIGNED = 10.0  # labels per class up to which alignment is full; with more, it is weaker
LEAST = 1e-6  # of a class's share


class EnsembleObjective:
    """The labels' loss and the views' disagreement, of all members at once.

    Parameters
    ----------
    prepared
        Features and settings, which all members share.
    operator
        The products of training.
    nodes, labels
        Training nodes and their class codes, shape (m,).
    counts
        What each label counts for in each member's loss, shape (members, m); rows sum to 1.
    prior
        The classes' expected shares, shape (c,).
    """

    def __init__(
        self,
        prepared: PreparedNetwork,
        operator: HeatOperator,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int64],
        counts: NDArray[np.float64],
        prior: NDArray[np.float64],
    ) -> None:
        settings = prepared.settings
        assert isinstance(settings, ConsistencySettings)
        self.settings, self.x, self._operator = settings, prepared.x, operator
        self.members = len(counts)
        self.module = _Members(
            prepared.x.size(1), settings.hidden, len(prepared.graph.classes), self.members
        )
        self._nodes, self._labels = torch.tensor(nodes), torch.tensor(labels)
        self._counts = torch.tensor(counts.T, dtype=torch.float32)  # (m, members)
        self._prior = torch.tensor(prior, dtype=torch.float32)
        self._alignment = min(1.0, ALIGNED * len(prior) / len(nodes))
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
        if settings.consistency == 0:
            return loss
        target = self._targets(logarithms.detach().exp().mean(dim=1))
        apart = -(target[:, None] * logarithms).sum(dim=3).mean(dim=(0, 1)).sum()
        return loss + settings.consistency * min(1.0, self._step / settings.warmup) * apart

    def logits(self) -> Tensor:
        """Return nothing: no node is looked at between steps."""
        return torch.empty(0, len(self._prior))

    def weights(self) -> Weights:
        """Return a copy of all members' weights."""
        return {name: each.detach().clone() for name, each in self.module.state_dict().items()}

    def _targets(self, p: Tensor) -> Tensor:
        """Return what views are drawn to, shape (n, members, c): the mean, aligned, sharpened."""
        now = p.mean(dim=0).clamp_min(LEAST)
        p = p * (self._prior / now).pow(self._alignment).clamp(1 / FACTOR, FACTOR)
        p = p / p.sum(dim=2, keepdim=True)
        return sharpened(p.flatten(0, 1), self.settings.sharpening).view(p.shape)

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
    prior: NDArray[np.float64],
    folds: NDArray[np.int64] | None = None,
    label_weights: NDArray[np.float64] | None = None,
    threads: int | None = None,
    save: Callable[[Header, Arrays], None] | None = None,
    saved: tuple[Header, Arrays] | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> CombinedRun:
    """Train the members, and let them answer together.

    Parameters
    ----------
    split
        All parts; validation labels play no part in the training.
    prior
        The classes' expected shares, shape (c,).
    folds
        The fold of each training node in rising order, shape (m,): member k does not see fold k;
        −1 is seen by all. None: all see all.
    label_weights
        What each training label counts for, shape (m,).
    save, saved
        Takes the state about once a second; and the state of a run that goes on.
    deadline
        Of ``time.monotonic()``, at which training stops where it is.

    Notes
    -----
    Deterministic for a seed and a number of threads, unless a deadline cuts it short.
    """
    graph, settings = prepared.graph, prepared.settings
    train = np.sort(split.train)
    labels = graph.labels[train]
    counts = np.tile(np.ones(len(train)) if label_weights is None else label_weights, (members, 1))
    if folds is not None:
        counts = counts * (folds[None] != np.arange(members)[:, None])
    counts = counts / counts.sum(axis=1, keepdims=True)
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
        objective = EnsembleObjective(prepared, operator, train, labels, counts, prior)
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
        runs = []
        for member in range(members):
            weights = _member(trained.weights, member, members)
            runs.append(
                NetworkRun(
                    **NetworkRun.graph_parts(graph, split),
                    recipe=settings.recipe,
                    settings=settings,
                    seed=seed,
                    threads=used,
                    kernel=prepared.kernel,
                    weights=weights,
                    scaling=prepared.scaling,
                    probabilities=network_output(prepared, weights),
                    reached=reach,
                    best_epoch=trained.best_epoch,
                    seconds=trained.seconds / members,
                )
            )
    if not all(np.isfinite(run.probabilities).all() for run in runs):
        raise GraphError(
            "Training diverged: the features are too large for these settings, or the settings "
            "too bold. Scale the features, or lower learning_rate."
        )
    return CombinedRun.of(
        runs,
        np.full(members, 1 / members),
        recipe=settings.recipe,
        settings=settings,
        out_of_fold=None if folds is None else _out_of_fold(runs, train, folds),
        best_epoch=trained.best_epoch,
        seconds=trained.seconds,
        notes=(*split.notes, *trained.notes),
    )


def _member(weights: Weights, member: int, members: int) -> dict[str, NDArray[np.float32]]:
    """Return one member's weights as a GraphHeat network names them."""
    first, bias = weights["first_weight"], weights["first_bias"]
    own = slice(member * first.shape[2] // members, (member + 1) * first.shape[2] // members)
    found = {
        "first.weight": first[:, :, own],
        "first.bias": bias[own],
        "second.weight": weights["second_weight"][:, member],
        "second.bias": weights["second_bias"][member],
    }
    return {name: each.contiguous().numpy() for name, each in found.items()}


def _out_of_fold(
    runs: list[NetworkRun], train: NDArray[np.int64], folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what each training label's own fold says of it, shape (m, c); NaN without a fold."""
    found = np.full((len(train), len(runs[0].classes)), np.nan)
    for member, run in enumerate(runs):
        found[folds == member] = run.probabilities[train[folds == member]]
    return found
