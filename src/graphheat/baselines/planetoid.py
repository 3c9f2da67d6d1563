"""Planetoid-T: embeddings that predict a node's context and its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.descent import descend, seeded
from graphheat.features import Scaling, suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input, as_input
from graphheat.progress import Progress
from graphheat.training.stop_rule import StopRule

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]  # centres and contexts

CHUNK = 2e7  # numbers of a softmax over all nodes that are held at once


@dataclass(frozen=True)
class Planetoid(Baseline):
    r"""Planetoid, transductive (Yang et al. 2016): one embedding, for contexts and for classes.

    Every node gets an embedding e_i of ``dimensions`` numbers. It is first trained to predict
    contexts, each a node, by a softmax over all of them,

    .. math:: -\sum_{(i, c)} \log \frac{\exp(w_c^\top e_i + b_c)}{\sum_j \exp(w_j^\top e_i + b_j)}

    where pairs (i, c) are of two kinds. *Label contexts*: two training nodes of one class, so that
    nodes far apart in the graph come close. *Graph contexts*: nodes at most ``window`` steps apart
    on a random walk, as in DeepWalk. Then a classifier is trained on the labels, and the
    embeddings with it:

    .. math:: p(y \mid x_i, e_i) = \mathrm{softmax}\big(W_y\, [\mathrm{softmax}(W_x x_i) ;
              \mathrm{softmax}(W_e e_i)]\big)

    Both inner softmaxes are asked for the class themselves (their losses are added), and so each
    of the two sources must learn to classify on its own. All steps are plain gradient descent.

    Parameters
    ----------
    dimensions
        Of an embedding.
    label_batches, label_batch
        Number of batches of label contexts, and pairs in each.
    graph_batches, graph_batch
        Number of batches of graph contexts, and walks in each; walks start at every node in turn,
        in random order.
    walk, window
        Steps of a walk, and how far apart on it two nodes are each other's context. A node is a
        context of itself, too, as in the authors' code.
    context_rate, learning_rate
        Step sizes for contexts (on the sum over a batch) and for classes (on the mean).
    feature_rate
        The classifier's step size for the features' weights; None: ``learning_rate``. TF-IDF
        features, a hundred times smaller than words that are there or not, need a larger one.
    max_epochs, patience
        Steps on the classes at most, and how long neither validation loss nor accuracy may fail to
        reach its best; kept are the last weights of the highest validation accuracy.

    Notes
    -----
    The authors' settings are known for Citeseer alone: the defaults. On Cora none of four others
    (window 5, 300 graph batches, both, a context rate of 0.003) had a higher validation accuracy;
    on Pubmed, where they learn next to nothing, the presets are the cheapest of three that were
    within a node of each other, among six. Their script takes the best
    accuracy on the *test* nodes over an endless training; here validation nodes decide. Batches of
    200 labels, which in their data are all labels, are not cut smaller here. Bag-of-words
    features are taken as they are. The softmax is exact, at a cost of n per context; nodes without
    edges take no walk, and are known by their features.
    """

    brief: ClassVar[Mapping[str, Any]] = {"label_batches": 5, "graph_batches": 2, "max_epochs": 3}
    name: ClassVar[str] = "planetoid"
    title: ClassVar[str] = "Planetoid"
    reference: ClassVar[str] = (
        "Z. Yang, W. Cohen, R. Salakhutdinov: Revisiting Semi-Supervised Learning with Graph "
        "Embeddings, ICML 2016"
    )
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "pubmed": {
            "label_batches": 500, "graph_batches": 30, "context_rate": 0.003, "feature_rate": 10.0,
        },
    }  # fmt: skip

    dimensions: int = 50
    label_batches: int = 2000
    label_batch: int = 100
    graph_batches: int = 70
    graph_batch: int = 200
    walk: int = 10
    window: int = 3
    context_rate: float = 0.01
    learning_rate: float = 0.1
    feature_rate: float | None = None
    max_epochs: int = 10_000
    patience: int = 500

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn embeddings from contexts, then the classifier; see :class:`Baseline`."""
        features = self.features_of(graph)
        kind = suitable_scaling(graph)
        scaling = Scaling.learn(features, "none" if kind == "l1" else kind)
        x = as_input(scaling.apply(features))
        random = np.random.default_rng(seed)
        with seeded(seed):
            contexts = _Contexts(graph.n, self.dimensions)
            self._learn_contexts(contexts, graph, split, random, progress)
            model = _Classifier(x.size(1), contexts.embedding, len(graph.classes))
            train, val = torch.tensor(split.train), torch.tensor(split.val)
            x_train, x_val = (
                as_input(scaling.apply(features[part])) for part in (split.train, split.val)
            )
            known = torch.tensor(graph.labels)[train]
            inner: list[Tensor] = []

            def predict_train() -> Tensor:
                outputs: tuple[Tensor, Tensor, Tensor] = model(x_train, train)
                logits, *inner[:] = outputs
                return logits

            def inner_loss() -> Tensor:
                return torch.stack([cross_entropy(logits, known) for logits in inner]).sum()

            return descend(
                model,
                lambda: model(x, torch.arange(graph.n))[0],
                torch.optim.SGD(self._groups(model), lr=self.learning_rate),
                graph,
                split,
                StopRule(self.max_epochs, self.patience, "either", "accuracy", fixed_epochs=2000),
                extra_loss=inner_loss,
                predict_train=predict_train,
                predict_val=lambda: model(x_val, val)[0],
                progress=progress,
            )

    def _groups(self, model: _Classifier) -> list[dict[str, Any]]:
        rate = self.learning_rate if self.feature_rate is None else self.feature_rate
        others = [weight for weight in model.parameters() if weight is not model.of_features]
        return [{"params": [model.of_features], "lr": rate}, {"params": others}]

    def _learn_contexts(
        self,
        contexts: _Contexts,
        graph: Graph,
        split: Split,
        random: np.random.Generator,
        progress: Progress | None,
    ) -> None:
        walks = Walks(graph, random)
        steps = self.label_batches + self.graph_batches
        for step in range(steps):
            if step < self.label_batches:
                pairs = label_contexts(graph.labels, split.train, self.label_batch, random)
            else:
                pairs = window_pairs(walks.take(self.graph_batch, self.walk), self.window)
            contexts.learn(pairs, self.context_rate)
            if progress is not None:
                progress(step + 1, steps, "contexts")


class _Classifier(nn.Module):
    def __init__(self, features: int, embeddings: Tensor, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(embeddings)
        self.of_features = nn.Parameter(torch.empty(features, classes))
        self.of_embedding = nn.Linear(embeddings.shape[1], classes)
        self.of_both = nn.Linear(2 * classes, classes)
        self.bias = nn.Parameter(torch.zeros(classes))
        for weight in (self.of_features, self.of_embedding.weight, self.of_both.weight):
            nn.init.xavier_uniform_(weight)
        for bias in (self.of_embedding.bias, self.of_both.bias):
            nn.init.zeros_(bias)

    def forward(self, x: Input, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the logits by both, by features and by embeddings, shape (r, c) each."""
        by_features = x @ self.of_features + self.bias
        # Sparse: a step on some nodes costs nothing for the others.
        by_embedding = self.of_embedding(embedding(nodes, self.embedding, sparse=True))
        both = torch.cat([by_features.softmax(1), by_embedding.softmax(1)], dim=1)
        return self.of_both(both), by_features, by_embedding


class _Contexts:
    """A softmax over all n nodes on top of the embeddings, and its gradient written out."""

    def __init__(self, n: int, dimensions: int) -> None:
        self.embedding = 0.01 * torch.randn(n, dimensions)
        self.weight = nn.init.xavier_uniform_(torch.empty(dimensions, n))
        self.bias = torch.zeros(n)

    def learn(self, pairs: Pairs, rate: float) -> None:
        """Take one step down the summed loss of the pairs.

        Pairs with the same centre share their softmax: the cost is that of the distinct centres.
        """
        n = len(self.bias)
        ones = np.ones(len(pairs[0]), dtype=np.float32)
        counts = sp.coo_array((ones, pairs), shape=(n, n)).tocsr()
        centres = np.flatnonzero(np.diff(counts.indptr))
        to_embedding = torch.zeros(len(centres), self.embedding.shape[1])
        to_weight, to_bias = torch.zeros_like(self.weight), torch.zeros_like(self.bias)
        rows = max(1, int(CHUNK // n))
        for first in range(0, len(centres), rows):
            part = slice(first, min(first + rows, len(centres)))
            wanted = counts[centres[part]]
            e = self.embedding[centres[part]]
            gradient = torch.softmax(torch.addmm(self.bias, e, self.weight), dim=1)
            gradient *= torch.from_numpy(wanted.sum(axis=1))[:, None]
            i = np.repeat(np.arange(wanted.shape[0]), np.diff(wanted.indptr))
            gradient[i, wanted.indices] -= torch.from_numpy(wanted.data)
            to_embedding[part] = gradient @ self.weight.T
            to_weight += e.T @ gradient
            to_bias += gradient.sum(dim=0)
        self.embedding[centres] -= rate * to_embedding
        self.weight -= rate * to_weight
        self.bias -= rate * to_bias


class Walks:
    """Random walks from every node in turn; a step goes along an edge in proportion to its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from graphheat import Graph
    >>> pair = Graph.from_edges(["a"], ["b"], nodes=["a", "b", "alone"])
    >>> walks = Walks(pair, np.random.default_rng(0))
    >>> sorted(walks.take(2, 3).tolist())
    [[0, 1, 0, 1], [1, 0, 1, 0]]
    """

    def __init__(self, graph: Graph, random: np.random.Generator) -> None:
        self.adjacency, self.random = graph.adjacency, random
        self.totals = np.concatenate([[0.0], np.cumsum(graph.adjacency.data, dtype=np.float64)])
        self.starts = np.flatnonzero(np.diff(graph.adjacency.indptr))
        self.waiting = np.empty(0, dtype=np.int64)

    def take(self, count: int, steps: int) -> NDArray[np.int64]:
        """Return walks, shape (count, steps + 1); fewer where nodes to start from run out."""
        if not len(self.waiting):
            self.waiting = self.random.permutation(self.starts)
        start, self.waiting = self.waiting[:count], self.waiting[count:]
        walks = np.empty((len(start), steps + 1), dtype=np.int64)
        walks[:, 0] = start
        first, last = self.adjacency.indptr[:-1], self.adjacency.indptr[1:]
        for step in range(steps):
            at = walks[:, step]
            low, high = self.totals[first[at]], self.totals[last[at]]
            drawn = low + self.random.random(len(at)) * (high - low)
            edge = np.searchsorted(self.totals, drawn, side="right") - 1
            walks[:, step + 1] = self.adjacency.indices[np.clip(edge, first[at], last[at] - 1)]
        return walks


def window_pairs(walks: NDArray[np.int64], window: int) -> Pairs:
    """Return every two places of a walk at most ``window`` steps apart, both ways.

    Examples
    --------
    >>> import numpy as np
    >>> centres, contexts = window_pairs(np.array([[5, 6, 7]]), 1)
    >>> sorted(zip(centres.tolist(), contexts.tolist()))
    [(5, 5), (5, 6), (6, 5), (6, 6), (6, 7), (7, 6), (7, 7)]
    """
    places = np.arange(walks.shape[1])
    i, j = np.nonzero(np.abs(places[:, None] - places) <= window)
    return walks[:, i].ravel(), walks[:, j].ravel()


def label_contexts(
    labels: NDArray[np.int64], train: NDArray[np.int64], count: int, random: np.random.Generator
) -> Pairs:
    """Return ``count`` random training nodes, each with a random one of its class."""
    grouped = train[np.argsort(labels[train], kind="stable")]
    codes = labels[grouped]
    centre = random.integers(len(grouped), size=count)
    first, last = (np.searchsorted(codes, codes[centre], side=side) for side in ("left", "right"))
    return grouped[centre], grouped[random.integers(first, last)]


RECIPE = BaselineRecipe(Planetoid)
