"""Random graphs with known classes: a stochastic block model of any size."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import ParameterError
from graphheat.graph import Graph


def block_model(
    nodes: int = 1000,
    classes: int = 4,
    *,
    degree: float = 10.0,
    homophily: float = 0.8,
    features: int = 64,
    feature_strength: float = 1.0,
    labels_per_class: int = 20,
    val: int | None = None,
    test: int | None = None,
    seed: int = 0,
) -> Graph:
    r"""Return a random graph whose classes are known.

    There are :math:`m = \mathrm{round}(n \cdot \mathrm{degree} / 2)` distinct edges;
    :math:`\mathrm{round}(m \cdot \mathrm{homophily})` of them join two nodes of one class and the
    others two nodes of different classes, uniformly at random. The features of node i are
    :math:`\mathrm{feature\_strength} \cdot \mu_{y_i} + \mathcal{N}(0, I)`, with one random unit
    vector :math:`\mu` a class.

    Parameters
    ----------
    nodes
        Number of nodes n.
    classes
        Number of classes, of equal size (±1). Nodes are in random order.
    degree
        Mean degree.
    homophily
        Share of edges that join equal labels; ``1 / classes`` is a graph that knows nothing.
    features
        Number of features; 0 means none.
    feature_strength
        Length of the class means, in standard deviations of the noise; 0 means noise alone.
    labels_per_class
        Training nodes of each class.
    val, test
        Sizes of the validation and test sets, drawn from the other nodes. Default: 500 (at most
        a third of the other nodes) and 1000 (at most the rest).
    seed
        The graph is a function of the parameters. Edges stay as they are when features or split
        change.

    Returns
    -------
    Graph
        Adjacency of shape (n, n), dense features (n, features) or None, all labels, and the split
        ``train``, ``val``, ``test``.

    Notes
    -----
    Exact: the numbers of edges are those asked for. Time and memory grow with edges and features,
    never with n²: a million nodes take seconds. Deterministic for a seed. A node is isolated with
    a probability near exp(−degree).

    Examples
    --------
    >>> graph = block_model(200, classes=2, homophily=0.9, labels_per_class=5, seed=1)
    >>> graph
    Graph(nodes=200, edges=1000, features=64, classes=2, labelled=200)
    >>> graph.describe().homophily
    0.9
    """
    nodes = _integer("nodes", nodes, 2)
    classes = _integer("classes", classes, 2, nodes)
    degree = _number("degree", degree, 0, nodes - 1)
    homophily = _number("homophily", homophily, 0, 1)
    features = _integer("features", features, 0)
    feature_strength = _number("feature_strength", feature_strength, 0)
    labels_per_class = _integer("labels_per_class", labels_per_class, 0, nodes // classes)
    seed = _integer("seed", seed, 0)
    others = nodes - classes * labels_per_class
    val = min(500, others // 3) if val is None else _integer("val", val, 0, others)
    test = min(1000, others - val) if test is None else _integer("test", test, 0, others - val)

    # One stream a part, so that asking for other features leaves the edges alone.
    order_rng, edge_rng, feature_rng, split_rng = np.random.default_rng(seed).spawn(4)
    # Class k owns the places bounds[k] … bounds[k + 1]; a node's number is random.
    bounds = np.arange(classes + 1) * nodes // classes
    number = order_rng.permutation(nodes)
    labels = np.empty(nodes, dtype=np.int64)
    labels[number] = np.repeat(np.arange(classes), np.diff(bounds))

    low, high = (number[places] for places in _edges(bounds, degree, homophily, edge_rng))
    pairs = (np.concatenate([low, high]), np.concatenate([high, low]))
    return Graph.from_scipy(
        sp.coo_array((np.ones(len(pairs[0])), pairs), shape=(nodes, nodes)),
        _features(labels, classes, features, feature_strength, feature_rng),
        labels,
        classes=range(classes),
        split=_split(labels, classes, labels_per_class, val, test, split_rng),
        name="block model",
    )


def _edges(
    bounds: NDArray[np.int64], degree: float, homophily: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two ends of every edge, as places.

    All pairs inside classes are numbered, and so are all pairs between classes; distinct numbers
    are drawn and turned back into pairs.
    """
    size, n = np.diff(bounds), int(bounds[-1])
    edges = round(n * degree / 2)
    inside = round(edges * homophily)
    pairs_inside = size * (size - 1) // 2
    pairs_between = size * (n - bounds[1:])  # with the classes that come later
    for wanted, pairs, where in (
        (inside, pairs_inside, "inside"),
        (edges - inside, pairs_between, "between"),
    ):
        if wanted > pairs.sum():
            raise ParameterError(
                f"block_model has room for {pairs.sum():,} edges {where} classes; degree={degree} "
                f"and homophily={homophily} ask for {wanted:,}. Lower 'degree' or add 'nodes'."
            )

    k, position = _block(_distinct(int(pairs_inside.sum()), inside, rng), pairs_inside)
    upper = np.floor((1 + np.sqrt(1 + 8 * position.astype(np.float64))) / 2).astype(np.int64)
    upper -= upper * (upper - 1) // 2 > position  # the square root may round up
    upper += upper * (upper + 1) // 2 <= position  # or down
    first = bounds[k] + position - upper * (upper - 1) // 2
    second = bounds[k] + upper

    k, position = _block(_distinct(int(pairs_between.sum()), edges - inside, rng), pairs_between)
    later = n - bounds[k + 1]
    return (
        np.concatenate([first, bounds[k] + position // later]),
        np.concatenate([second, bounds[k + 1] + position % later]),
    )


def _distinct(total: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``count`` different numbers below ``total``, sorted, in O(count) memory."""
    if count > total // 2:
        # Draw what to leave out: most draws would be repeats otherwise.
        keep = np.ones(total, dtype=bool)
        keep[_distinct(total, total - count, rng)] = False
        return np.flatnonzero(keep)
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        more = rng.integers(total, size=count - len(drawn))
        drawn = np.sort(np.concatenate([drawn, more]))
        drawn = drawn[np.diff(drawn, prepend=-1) > 0]  # np.unique hashes, which is slower
    return drawn


def _block(
    numbers: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the block of each number and its position there; blocks follow one another."""
    ends = np.cumsum(sizes)
    block = np.searchsorted(ends, numbers, side="right")
    return block, numbers - (ends - sizes)[block]


def _features(
    labels: NDArray[np.int64], classes: int, count: int, strength: float, rng: np.random.Generator
) -> NDArray[np.float32] | None:
    if count == 0:
        return None
    means = rng.standard_normal((classes, count), dtype=np.float32)
    means *= np.float32(strength) / np.linalg.norm(means, axis=1, keepdims=True)
    values = rng.standard_normal((len(labels), count), dtype=np.float32)
    for k in range(classes):  # a class at a time: no second array of this size
        values[labels == k] += means[k]
    return values


def _split(
    labels: NDArray[np.int64],
    classes: int,
    labels_per_class: int,
    val: int,
    test: int,
    rng: np.random.Generator,
) -> dict[str, NDArray[np.int64]]:
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    starts = np.searchsorted(labels[by_class], np.arange(classes))
    train = by_class[(starts[:, None] + np.arange(labels_per_class)).ravel()]
    rest = shuffled[~np.isin(shuffled, train)]
    return {
        "train": np.sort(train),
        "val": np.sort(rest[:val]),
        "test": np.sort(rest[val : val + test]),
    }


def _integer(name: str, value: object, low: int, high: int | None = None) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if low <= number and (high is None or number <= high):
            return number
    rule = f"an integer in [{low}, {'inf)' if high is None else f'{high}]'}"
    raise _refusal(name, rule, value)


def _number(name: str, value: object, low: float, high: float = math.inf) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if low <= number <= high and math.isfinite(number):
            return number
    raise _refusal(name, f"a number in [{low}, {'inf)' if high == math.inf else f'{high}]'}", value)


def _refusal(name: str, rule: str, value: object) -> ParameterError:
    return ParameterError(
        f"The '{name}' parameter of block_model must be {rule}. Got {value!r} instead."
    )
