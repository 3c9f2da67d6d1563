"""DeepWalk of Perozzi, Al-Rfou and Skiena: random walks as sentences, nodes as words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.one_vs_rest import OneVsRest
from graphheat.checks import check_count, check_number
from graphheat.errors import MissingDependencyError
from graphheat.graph import Graph, Split
from graphheat.graph.adjacency import without_diagonal
from graphheat.progress import Progress

try:
    from gensim.models import Word2Vec
except ImportError as error:
    raise MissingDependencyError("DeepWalk needs gensim: pip install graphheat[paper].") from error


@dataclass(frozen=True)
class DeepWalk(Baseline):
    r"""Embed nodes by who is met with whom on random walks, then classify the embeddings.

    ``walks`` times, in a new order, a walk of ``length`` nodes starts at every node; its next node
    is drawn among the neighbours, in proportion to weight. The walks are read as sentences by
    skip-gram: for every node v of a walk and every u within a distance of at most ``window``
    (drawn anew for each v), the vector :math:`\phi(u)` is to predict v,

    .. math:: \max_{\phi, \psi} \sum_{(u, v)} \log p(v \mid \phi(u)), \qquad
              p(v \mid \phi) = \prod_{b \in \text{path to } v} \sigma(\pm\, \psi_b^\top \phi)

    with the product over the inner nodes of a Huffman tree of the nodes (hierarchical softmax), by
    stochastic gradients whose step falls from 0.025 to 0.0001. The labels enter only afterwards:
    logistic regression, each class against the rest, on the vectors of the training nodes.

    The defaults are those of the authors' code (github.com/phanein/deepwalk): 10 walks of 40 nodes
    from each node, window 5, 64 dimensions, scikit-learn's logistic regression as it was; and of
    gensim 0.10.2, with which they say their results are reproduced: each walk is read once and no
    frequent node is skipped (a present gensim, left alone, reads five times and skips). In the
    paper itself, 80 walks, window 10 and 128 dimensions on graphs larger than these.

    The row of Yang et al. (2016; 67.2 / 43.2 / 65.3 on Cora, Citeseer and Pubmed) is of their own
    skip-gram, with walks of 10 nodes and window 3.

    Parameters
    ----------
    walks, length
        Walks from each node, and nodes of a walk.
    window
        Farthest distance at which one node predicts another.
    dimensions
        Of the embedding.
    epochs
        Times that each walk is read.
    C
        Inverse strength of the classifier's L2 penalty, > 0.

    Notes
    -----
    Skip-gram is gensim's. Cost: O(n × walks × length × window × dimensions × log n), one thread;
    about 45 seconds for Pubmed. Deterministic for a seed, in any process. Nodes without neighbours
    have no walk; their vector is 0, and the classifier's intercepts alone decide. Self-loops are
    left out, as the authors do. Features are not used.
    """

    walks: int = 10
    length: int = 40
    window: int = 5
    dimensions: int = 64
    epochs: int = 1
    C: float = 1.0

    brief: ClassVar[Mapping[str, Any]] = {"walks": 1, "length": 5}
    name: ClassVar[str] = "deepwalk"
    title: ClassVar[str] = "DeepWalk"
    reference: ClassVar[str] = (
        "Perozzi, Al-Rfou and Skiena, DeepWalk: Online Learning of Social Representations, KDD 2014"
    )
    needs_features: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("walks", "length", "window", "dimensions", "epochs"):
            check_count(getattr(self, name), name, self.title)
        check_number(self.C, "C", self.title, 0.0, np.inf, left="open")

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Walk, embed, classify; see :class:`Baseline`."""
        self.check(graph)
        vectors = self.embed(graph, seed)
        if progress is not None:
            progress(1, 2, "embedded")
        model = OneVsRest(vectors[split.train], graph.labels[split.train], self.C)
        probabilities = model.probabilities(model.scores(vectors), len(graph.classes))
        if progress is not None:
            progress(2, 2, "classified")
        return Outcome(probabilities)

    def embed(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return one vector per node, shape (n, dimensions); labels are not looked at."""
        vectors = np.zeros((graph.n, self.dimensions))
        corpus = Corpus(graph, self.walks, self.length, seed)
        if not len(corpus.starts):
            return vectors
        model = Word2Vec(
            corpus,
            vector_size=self.dimensions,
            window=self.window,
            epochs=self.epochs,
            sg=1,
            hs=1,
            negative=0,
            sample=0.0,
            min_count=0,
            workers=1,  # with more, threads race for the vectors
            seed=seed,
            hashfxn=int,  # Python's own differs from process to process
        )
        vectors[[int(word) for word in model.wv.index_to_key]] = model.wv.vectors
        return vectors


class Corpus:
    """Random walks as sentences; every time it is read, the same ones.

    Attributes
    ----------
    starts
        The nodes that have a neighbour, shape (≤ n,).
    """

    def __init__(self, graph: Graph, walks: int, length: int, seed: int) -> None:
        self.weights = without_diagonal(graph.adjacency)
        self.walks, self.length, self.seed = walks, length, seed
        degrees = self.weights.sum(axis=1)
        self.starts = np.flatnonzero(degrees > 0)
        rows = np.repeat(np.arange(graph.n), np.diff(self.weights.indptr))
        # Row i's edges divide the interval from i to i + 1 by their shares of its weight.
        ends = np.cumsum(self.weights.data / degrees[rows])
        before = np.concatenate([[0.0], ends])[self.weights.indptr[:-1]]
        self._ends = rows + (ends - before[rows])
        self._words = np.array([str(node) for node in range(graph.n)], dtype=object)

    def __iter__(self) -> Iterator[list[str]]:
        random = np.random.default_rng(self.seed)
        for _ in range(self.walks):
            yield from self._words[self.round(random)].tolist()

    def round(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Return one walk from each start, in random order, shape (starts, length)."""
        result = np.empty((len(self.starts), self.length), dtype=np.int64)
        result[:, 0] = random.permutation(self.starts)
        first, last = self.weights.indptr[:-1], self.weights.indptr[1:] - 1
        for step in range(1, self.length):
            here = result[:, step - 1]
            edge = np.searchsorted(self._ends, here + random.random(len(here)), side="right")
            # Rounding may miss the end of a row by one.
            result[:, step] = self.weights.indices[np.clip(edge, first[here], last[here])]
        return result


RECIPE = BaselineRecipe(DeepWalk)
