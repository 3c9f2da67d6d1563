"""The graphs that come with the package; made by ``scripts/make_datasets.py``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.io.npz import read_npz


@dataclass(frozen=True)
class PaperCounts:
    """A data set as Table 1 of the paper counts it.

    ``edges`` are those of the raw files, with repeats and self-loops; a bundled graph holds each
    undirected edge once, so that :meth:`Graph.describe` counts fewer. ``label_rate`` is the share
    of nodes whose label is used in training.
    """

    nodes: int
    edges: int
    classes: int
    features: int
    label_rate: float


@dataclass(frozen=True)
class DatasetInfo:
    """What a bundled data set is and where it comes from.

    ``paper`` is None for a graph that the paper does not use.
    """

    name: str
    title: str
    source: str
    paper: PaperCounts | None = None


_BUNDLED = {
    entry.name: entry
    for entry in (
        DatasetInfo(
            "cora",
            "Cora: machine-learning papers, by topic",
            "LINQS; public split of Planetoid",
            PaperCounts(2708, 5429, 7, 1433, 0.052),
        ),
        DatasetInfo(
            "citeseer",
            "Citeseer: computer-science papers, by field",
            "LINQS; files and public split of Planetoid",
            PaperCounts(3327, 4732, 6, 3703, 0.036),
        ),
        DatasetInfo(
            "pubmed",
            "Pubmed: papers on diabetes, by type",
            "LINQS; files and public split of Planetoid",
            PaperCounts(19717, 44338, 3, 500, 0.003),
        ),
        DatasetInfo(
            "karate",
            "Zachary's karate club, by the side members took",
            "Zachary (1977), unweighted; from NetworkX",
        ),
    )
}


def names() -> tuple[str, ...]:
    """Return the names that :func:`load` knows.

    Examples
    --------
    >>> names()
    ('cora', 'citeseer', 'pubmed', 'karate')
    """
    return tuple(_BUNDLED)


def info(name: str) -> DatasetInfo:
    """Return what a bundled data set is, without reading it.

    Examples
    --------
    >>> info("cora").paper.edges
    5429
    """
    try:
        return _BUNDLED[name]
    except (KeyError, TypeError):
        words = ", ".join(repr(known) for known in _BUNDLED)
        raise ParameterError(
            f"The 'name' parameter of datasets must be one of {words}. Got {name!r} instead."
        ) from None


def paper_name(graph: Graph) -> str:
    """Return which data set of the paper a graph is, or ``""`` for any other.

    Its name says so, and its numbers of nodes and features agree: somebody's own cora.csv is not
    trained with Cora's settings.

    Examples
    --------
    >>> paper_name(load("cora")), paper_name(load("karate"))
    ('cora', '')
    """
    entry = _BUNDLED.get(graph.name)
    if entry is None or entry.paper is None or graph.features is None:
        return ""
    return graph.name if graph.features.shape == (entry.paper.nodes, entry.paper.features) else ""


def load(name: str) -> Graph:
    """Return a bundled graph; nothing is downloaded.

    Node ids are the row numbers of the public files and class codes are theirs, too. All labels
    are there, also those outside the training set: ``graph.split`` says which ones a method may
    use. Citeseer has 15 nodes without label and words.

    Parameters
    ----------
    name
        One of :func:`names`.

    Returns
    -------
    Graph
        Cora (2708 nodes, 1433 features), Citeseer (3327, 3703), Pubmed (19717, 500), karate
        (34, none).

    Examples
    --------
    >>> cora = load("cora")
    >>> cora
    Graph(nodes=2708, edges=5278, features=1433, classes=7, labelled=2708)
    >>> {name: len(indices) for name, indices in cora.split.items()}
    {'train': 140, 'val': 500, 'test': 1000}
    """
    file = resources.files("graphheat.datasets").joinpath("data", f"{info(name).name}.npz")
    with resources.as_file(file) as path:
        return read_npz(path)
