"""Names and schema of features: checked, carried along, kept in files."""

import copy
import pickle

import numpy as np
import pytest
from helpers.sentences import refusal

from graphheat.features import FeatureSchema
from graphheat.graph import Graph
from graphheat.io import from_arrays, read_csv, read_npz, write_csv, write_npz

EDGES = {"source": ["ann", "bob"], "target": ["bob", "cat"]}
NODES = {
    "id": ["ann", "bob", "cat"],
    "label": ["x", "y", None],
    "age": [31, None, 3],
    "drink": ["tea", "milk", "tea"],
}
GRAPH = Graph.from_frames(EDGES, NODES)


def test_names_follow_from_the_schema():
    assert GRAPH.feature_names == ("age", "age is missing", "drink=milk", "drink=tea")
    assert isinstance(GRAPH.schema, FeatureSchema)
    assert GRAPH.features.shape == (3, 4)


def test_names_alone():
    graph = Graph.from_edges([0], [1], features=np.eye(2), feature_names=["a", "b"])
    assert graph.feature_names == ("a", "b")
    assert graph.schema is None
    assert Graph.from_edges([0], [1], features=np.eye(2)).feature_names is None
    assert Graph.from_edges([0], [1], feature_names=["a"]).feature_names is None
    assert "one per feature; got 1 for 2 features" in refusal(
        Graph.from_edges, [0], [1], features=np.eye(2), feature_names=["a"]
    )
    assert "must be distinct; 'a' appears more than once" in refusal(
        Graph.from_edges, [0], [1], features=np.eye(2), feature_names=["a", "a"]
    )


def test_names_are_no_part_of_the_identity():
    bare = Graph.from_edges([0], [1], features=np.eye(2))
    named = Graph.from_edges([0], [1], features=np.eye(2), feature_names=["a", "b"])
    assert bare.fingerprint == named.fingerprint


@pytest.mark.parametrize("graph", [GRAPH, GRAPH.with_split(test=[0])])
def test_names_go_along(graph):
    copies = copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))  # noqa: S301
    for other in copies:
        assert other.schema == graph.schema
        assert other.feature_names == graph.feature_names
        assert other.notes == graph.notes
    assert from_arrays(None, None, adjacency=graph).schema == graph.schema
    other = from_arrays(np.eye(3), None, adjacency=graph)
    assert other.schema is None
    assert other.feature_names is None


def test_names_are_kept_in_files(tmp_path):
    write_npz(GRAPH, tmp_path / "g.npz")
    back = read_npz(tmp_path / "g.npz")
    assert back.fingerprint == GRAPH.fingerprint
    assert back.schema == GRAPH.schema
    assert read_npz(tmp_path / "g.npz", features=np.eye(3)).schema is None
    named = Graph.from_edges([0], [1], features=np.eye(2), feature_names=["a", "b"])
    write_npz(named, tmp_path / "n.npz")
    assert read_npz(tmp_path / "n.npz").feature_names == ("a", "b")
    write_csv(GRAPH, tmp_path / "e.csv", tmp_path / "n.csv")
    again = read_csv(tmp_path / "e.csv", tmp_path / "n.csv")
    assert again.feature_names == GRAPH.feature_names
    assert again.fingerprint == GRAPH.fingerprint
    odd = Graph.from_edges([0], [1], features=np.eye(2), feature_names=["label", "b"])
    write_csv(odd, tmp_path / "e.csv", tmp_path / "n.csv")
    assert read_csv(tmp_path / "e.csv", tmp_path / "n.csv").feature_names == ("x0", "x1")


class Part:
    def __init__(self, ends=(), **attributes):
        self.tuple, self._attributes = ends, attributes

    def attributes(self):
        return self._attributes


class IGraph:
    """An igraph.Graph as far as graphheat looks at it; igraph itself is under the GPL."""

    def __init__(self, vertices, edges, directed=False):
        self.vs = VertexSequence(vertices)
        self.es = [Part(ends, **found) for ends, found in edges]
        self._directed = directed

    def is_directed(self):
        return self._directed

    def vcount(self):
        return len(self.vs.parts)


class VertexSequence:
    def __init__(self, vertices):
        self.parts = [Part(**found) for found in vertices]

    def attributes(self):
        return list(self.parts[0].attributes()) if self.parts else []

    def __getitem__(self, name):
        return [part.attributes()[name] for part in self.parts]

    def __iter__(self):
        return iter(self.parts)


def test_igraph():
    people = [{"name": n, "label": y, "age": a} for n, y, a in [("a", "x", 1), ("b", None, 2)]]
    graph = IGraph(people, [((0, 1), {"weight": 2.5})])
    read = Graph.from_igraph(graph, features=["age"])
    assert read.nodes.tolist() == ["a", "b"]
    assert read.adjacency[0, 1] == 2.5
    assert read.features.tolist() == [[1], [2]]
    assert read.feature_names == ("age",)
    assert read.classes == ("x",)
    assert Graph.from_igraph(IGraph([{}, {}], [((0, 1), {})])).nodes.tolist() == [0, 1]
    assert "undirected graph" in refusal(Graph.from_igraph, IGraph([{}], [], directed=True))
    words = IGraph([{"age": "old"}, {"age": 2}], [((0, 1), {})])
    assert "Attribute 'age' must be a number; got 'old' at node 0" in refusal(
        Graph.from_igraph, words, features=["age"]
    )
