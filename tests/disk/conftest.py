"""A block model with string ids, as files, and the same graph ingested."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.big_tables import write_tables

from graphheat.datasets import block_model
from graphheat.disk import ingest


@pytest.fixture(scope="session")
def memory_graph():
    return block_model(3000, 4, degree=8, homophily=0.8, features=12, labels_per_class=30, seed=2)


@pytest.fixture(scope="session")
def tables(memory_graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return write_tables(memory_graph, folder)


@pytest.fixture(scope="session")
def disk_graph(tables, tmp_path_factory):
    out = tmp_path_factory.mktemp("graphs") / "small.graph"
    return ingest(tables.edges, out, nodes=tables.nodes, threads=1, memory="500MB")


@pytest.fixture(scope="session")
def weighted(tmp_path_factory):
    """Return a weighted graph with isolated nodes and self-loops, in memory and on disk."""
    from graphheat import Graph

    random = np.random.default_rng(0)
    upper = sp.triu(sp.random_array((300, 300), density=0.01, rng=random), format="coo")
    upper.data = np.round(upper.data * 4 + 0.5, 3)
    matrix = sp.coo_array(upper + sp.triu(upper, k=1).T)
    graph = Graph.from_scipy(matrix, nodes=np.arange(1000, 1300), name="weighted")
    folder = tmp_path_factory.mktemp("weighted")
    files = write_tables(graph, folder)
    return graph, ingest(files.edges, folder / "w.graph", nodes=files.nodes, memory="500MB")
