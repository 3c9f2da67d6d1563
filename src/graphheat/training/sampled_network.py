"""A network trained from rows of the kernel: its cost does not grow with the graph.

Only rows of labelled nodes and of a sample of unlabelled ones are looked at, 128 entries
of each. In every epoch nodes are dropped at random, twice; labels are learned from both views, and
on the sampled unlabelled nodes both are drawn to their sharpened mean.

References
----------
W. Feng, Y. Dong, T. Huang et al.: GRAND+: Scalable Graph Random Neural Networks, WWW 2022: random
propagation from sparse rows, and consistency on sampled nodes. A. Bojchevski, J. Klicpera,
B. Perozzi et al.: Scaling Graph Neural Networks with Approximate PageRank, KDD 2020 (PPRGo).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from graphheat.disk import DiskGraph
from graphheat.graph import Graph, Split
from graphheat.heat.engines.cluster.cluster import Cluster
from graphheat.linear.heat_rows import HeatRows
from graphheat.linear.narrow_model import NarrowModel, SampledModel
from graphheat.linear.row_diffusion import ScaledFeatures

TOP = 128  # entries of a row
UNLABELLED = 1000  # nodes that consistency is asked of
MOST_TRAINING, MOST_VALIDATION = 5000, 1000
HIDDEN, EPOCHS, PATIENCE, VIEWS = 64, 200, 40, 2
FOLDS = 3
LEARNING_RATE, WEIGHT_DECAY = 0.01, 5e-4
DROP_NODES, DROP_HIDDEN = 0.5, 0.5
TEMPERATURE, CONSISTENCY, WARM_UP = 0.5, 1.0, 50


@dataclass(frozen=True)
class _Rows:
    """Rows of some nodes: positions among the features that were read, and weights, (k, 128)."""

    places: Tensor
    weights: Tensor

    def some(self, chosen: Tensor) -> _Rows:
        """Return those at some positions."""
        return _Rows(self.places[chosen], self.weights[chosen])

    def of(self, columns: Tensor, keep: Tensor | None = None) -> Tensor:
        """Return the sums of columns over the rows, shape (k, h)."""
        weights = self.weights if keep is None else self.weights * keep[self.places]
        found: Tensor = functional.embedding_bag(
            self.places, columns, mode="sum", per_sample_weights=weights
        )
        return found


class _Network(nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, HIDDEN, bias=False)
        self.bias = nn.Parameter(torch.zeros(HIDDEN))
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, features: Tensor, rows: _Rows, keep: Tensor | None) -> Tensor:
        hidden = torch.relu(rows.of(self.first(features), keep) + self.bias)
        logits: Tensor = self.last(functional.dropout(hidden, DROP_HIDDEN, self.training))
        return logits


class Sampled(NamedTuple):
    """A network, and what networks that had not seen them said of training labels.

    Attributes
    ----------
    model
        The network, as it labels all nodes.
    train, left_out
        Training nodes in rising order, 5,000 at most, and the logits that each has from a network
        without its fold, shape (m, c); empty where there are validation labels, which judge better.
    """

    model: SampledModel
    train: NDArray[np.int64]
    left_out: NDArray[np.float64]


def train_sampled(
    graph: Graph | DiskGraph,
    split: Split,
    linear: NarrowModel,
    *,
    seed: int = 0,
    threads: int | None = None,
    cluster: Cluster | None = None,
) -> Sampled:
    """Train a network from rows, with the diffusion time and scaling that a linear model chose.

    Notes
    -----
    *Cost*: some seconds, by how many labels there are. *Deterministic*: for a seed; the caller's
    random state is left alone. Epochs end when validation labels have not gained for 40; without
    any there are 200, and three more networks, each without a third of the labels.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        heat = HeatRows(graph, threads=threads or 1, cluster=cluster)
        return _trained(graph, split, linear, np.random.default_rng(seed), heat)


def output_work(split: Split, classes: int) -> float:
    """Return the multiply-adds of the last layer in all epochs of all networks, forth and back."""
    rows = min(len(split.train), MOST_TRAINING) + UNLABELLED
    networks = 1 if len(split.val) else 1 + FOLDS
    return 3.0 * VIEWS * networks * EPOCHS * rows * HIDDEN * classes


def _trained(
    graph: Graph | DiskGraph,
    split: Split,
    linear: NarrowModel,
    random: np.random.Generator,
    heat: HeatRows,
) -> Sampled:
    train, val = (
        _some(split.train, MOST_TRAINING, random),
        _some(split.val, MOST_VALIDATION, random),
    )
    free = random.integers(0, graph.n, 2 * UNLABELLED)
    free = random.permutation(np.setdiff1d(free, split.train))[:UNLABELLED]
    features, (taught, judged, sampled) = _gather(graph, linear, (train, val, free), heat)
    codes, val_codes = (
        torch.as_tensor(np.asarray(graph.labels[nodes], dtype=np.int64)) for nodes in (train, val)
    )
    lesson = _Lesson(features, sampled, judged, val_codes, len(graph.classes))
    network = lesson.learned(taught, codes)
    left_out = np.empty((0, len(graph.classes)))
    if not len(val) and len(train) >= 2 * FOLDS:
        left_out = np.empty((len(train), len(graph.classes)))
        folds = random.permutation(len(train)) % FOLDS
        for fold in range(FOLDS):
            kept, held = (torch.as_tensor(np.flatnonzero(own)) for own in
                          (folds != fold, folds == fold))  # fmt: skip
            other = lesson.learned(taught.some(kept), codes[kept])
            with torch.no_grad():
                left_out[held] = other(features, taught.some(held), None).numpy()

    def plain(tensor: Tensor) -> NDArray[np.float64]:
        return tensor.detach().numpy().astype(np.float64)

    model = SampledModel(
        linear.s,
        linear.self_weight,
        linear.scaling,
        np.ascontiguousarray(plain(network.first.weight).T),
        plain(network.bias),
        np.ascontiguousarray(plain(network.last.weight).T),
        plain(network.last.bias),
    )
    return Sampled(model, train, left_out)


@dataclass(frozen=True)
class _Lesson:
    """What networks on one graph share: features that were read, rows of nodes without labels."""

    features: Tensor
    sampled: _Rows
    judged: _Rows
    val_codes: Tensor
    classes: int

    def learned(self, taught: _Rows, codes: Tensor) -> _Network:
        """Return a network trained by labelled rows, and stopped by those that judge."""
        features, judges = self.features, len(self.val_codes) > 0
        network = _Network(features.shape[1], self.classes)
        optimizer = torch.optim.Adam(
            network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        )
        best, least, waited = copy.deepcopy(network.state_dict()), float("inf"), 0
        for epoch in range(EPOCHS):
            network.train()
            optimizer.zero_grad()
            views = [_kept(len(features)) for _ in range(VIEWS)]
            losses = [
                functional.cross_entropy(network(features, taught, keep), codes) for keep in views
            ]
            share = CONSISTENCY * min(1.0, epoch / WARM_UP)
            apart = _consistency(network, features, self.sampled, views)
            loss = torch.stack(losses).mean() + share * apart
            loss.backward()
            optimizer.step()
            if not judges:
                continue
            network.eval()
            with torch.no_grad():
                said = network(features, self.judged, None)
                now = float(functional.cross_entropy(said, self.val_codes))
            if now < least:
                best, least, waited = copy.deepcopy(network.state_dict()), now, 0
            else:
                waited += 1
                if waited >= PATIENCE:
                    break
        if judges:
            network.load_state_dict(best)
        network.eval()
        return network


def _kept(count: int) -> Tensor:
    return (torch.rand(count) >= DROP_NODES).float() / (1.0 - DROP_NODES)


def _consistency(network: _Network, features: Tensor, rows: _Rows, views: list[Tensor]) -> Tensor:
    """Return how far the views of sampled nodes are from their sharpened mean."""
    if not len(rows.places):
        return torch.zeros(())
    told = torch.stack([network(features, rows, keep).softmax(dim=1) for keep in views])
    with torch.no_grad():
        sharp = told.mean(dim=0) ** (1.0 / TEMPERATURE)
        sharp = sharp / sharp.sum(dim=1, keepdim=True)
    return ((told - sharp) ** 2).sum(dim=2).mean()


def _some(nodes: NDArray[np.int64], most: int, random: np.random.Generator) -> NDArray[np.int64]:
    if len(nodes) <= most:
        return np.sort(nodes)
    return np.sort(random.choice(nodes, most, replace=False))


def _gather(
    graph: Graph | DiskGraph,
    linear: NarrowModel,
    groups: tuple[NDArray[np.int64], ...],
    heat: HeatRows,
) -> tuple[Tensor, list[_Rows]]:
    """Return the features that rows of all groups look at, and the rows of each group."""
    tops = [_top(heat, nodes, linear) for nodes in groups]
    columns = np.unique(np.concatenate([columns.ravel() for columns, _ in tops]))
    read: Any = ScaledFeatures(graph, linear.scaling)[columns]
    dense = read.toarray() if hasattr(read, "toarray") else read
    rows = [
        _Rows(
            torch.as_tensor(np.searchsorted(columns, at)),
            torch.as_tensor(weights.astype(np.float32)),
        )
        for at, weights in tops
    ]
    return torch.as_tensor(np.asarray(dense, dtype=np.float32)), rows


def _top(
    heat: HeatRows, nodes: NDArray[np.int64], linear: NarrowModel
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return columns and weights that stand for rows, each of shape (k, TOP)."""
    columns = np.repeat(nodes[:, None], TOP, axis=1)
    weights = np.zeros((len(nodes), TOP))
    if not len(nodes):
        return columns, weights
    rows = heat.of(nodes, linear.s).rows
    for k, node in enumerate(nodes):
        part = slice(rows.indptr[k], rows.indptr[k + 1])
        at, shares = _few(rows.indices[part], rows.data[part], TOP - 1)
        columns[k, : len(at)] = at
        weights[k, : len(at)] = shares / shares.sum() * (1.0 - linear.self_weight)
        columns[k, -1], weights[k, -1] = node, linear.self_weight
    return columns, weights


def _few(
    at: NDArray[Any], shares: NDArray[np.float64], most: int
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return at most so many entries of a row: the larger half, and a fair sample of the others.

    The sample is systematic: an entry is taken as often as its share asks for, and all that are
    taken have one weight. So what the entries bring has the mean of what all of them bring.
    """
    order = np.lexsort((at, -shares))
    if len(order) <= most:
        return at[order], shares[order]
    large, rest = order[: most // 2], np.sort(order[most // 2 :])
    count = most - len(large)
    ends = np.cumsum(shares[rest])
    drawn = rest[np.searchsorted(ends, (np.arange(count) + 0.5) / count * ends[-1])]
    chosen = np.concatenate([large, drawn])
    return at[chosen], np.concatenate([shares[large], np.full(count, ends[-1] / count)])
