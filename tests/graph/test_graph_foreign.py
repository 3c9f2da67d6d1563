"""PyG and NetworkX, there and back."""

from types import SimpleNamespace

import networkx
import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import GraphError
from graphheat.graph import Graph


def test_pyg_round_trip():
    pytest.importorskip("torch_geometric")
    graph = Graph.from_edges(
        [0, 1, 2],
        [1, 2, 2],
        [0.5, 2.0, 1.0],
        nodes=range(4),
        features=sp.csr_array(np.eye(4)),
        labels=[0, 1, None, 0],
        split={"train": [0, 1], "test": [3]},
    )
    data = graph.to_pyg()
    assert data.num_nodes == 4
    assert data.edge_index.shape == (2, 5)
    assert data.y.tolist() == [0, 1, -1, 0]
    back = Graph.from_pyg(data)
    assert np.array_equal(back.adjacency.toarray(), graph.adjacency.toarray())
    assert np.array_equal(back.features, np.eye(4))
    assert back.labels.tolist() == graph.labels.tolist()
    assert back.classes == graph.classes
    assert {name: part.tolist() for name, part in back.split.items()} == {
        "train": [0, 1],
        "test": [3],
    }


def test_anything_with_the_attributes_of_data_will_do():
    torch = pytest.importorskip("torch")
    data = SimpleNamespace(
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        x=torch.eye(3).to_sparse(),
        y=torch.tensor([[0], [1], [1]]),
        edge_attr=torch.tensor([[3.0], [3.0]]),
    )
    graph = Graph.from_pyg(data, name="duck")
    assert (graph.n, graph.adjacency[0, 1], graph.name) == (3, 3.0, "duck")
    assert graph.labels.tolist() == [0, 1, 1]


def test_edge_vectors_are_not_weights():
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), edge_attr=np.ones((2, 5)) * 7)
    assert Graph.from_pyg(data).adjacency[0, 1] == 1


def test_pyg_objects_that_do_not_fit():
    with pytest.raises(GraphError, match="needs an object with an edge_index"):
        Graph.from_pyg(SimpleNamespace(x=np.eye(2)))
    one_way = SimpleNamespace(edge_index=np.array([[0], [1]]), num_nodes=2)
    with pytest.raises(GraphError, match="symmetrize='max'"):
        Graph.from_pyg(one_way)
    assert Graph.from_pyg(one_way, symmetrize="max").describe().edges == 1


def test_networkx_round_trip():
    graph = Graph.from_edges(
        ["ann", "bob", "cat"],
        ["bob", "cat", "cat"],
        [1.0, 2.5, 1.0],
        nodes=["cat", "ann", "bob", "dan"],
        labels=["x", None, "y", "x"],
        titles=["C", "A", "B", "D"],
    )
    back = Graph.from_networkx(graph.to_networkx())
    assert back.fingerprint == graph.fingerprint
    assert graph.to_networkx().nodes["cat"] == {"label": "x", "title": "C"}


def test_networkx_attributes():
    club = networkx.karate_club_graph()
    graph = Graph.from_networkx(club, label="club", weight=None)
    assert graph.describe().edges == 78
    assert graph.classes == ("Mr. Hi", "Officer")
    assert not graph.describe().weighted
    assert graph.nodes.tolist() == list(range(34))
    networkx.set_node_attributes(club, {node: node / 2 for node in club}, "half")
    assert Graph.from_networkx(club, features=["half"]).features[3, 0] == 1.5
    with pytest.raises(GraphError, match=r"34 nodes lack one of the attributes \['age'\]"):
        Graph.from_networkx(club, features=["age"])


def test_networkx_graphs_that_do_not_fit():
    with pytest.raises(GraphError, match="directed"):
        Graph.from_networkx(networkx.DiGraph([(0, 1)]))
    with pytest.raises(GraphError, match="The graph is empty"):
        Graph.from_networkx(networkx.Graph())
    several = networkx.MultiGraph()
    several.add_edge("a", "b", weight=1.0)
    several.add_edge("a", "b", weight=2.0)
    with pytest.raises(GraphError, match="different weights"):
        Graph.from_networkx(several)
    assert Graph.from_networkx(several, duplicates="sum").adjacency[0, 1] == 3
