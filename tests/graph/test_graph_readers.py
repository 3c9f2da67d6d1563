"""from_scipy, from_edges and from_edge_index: what they accept, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.errors import GraphError, GraphHeatError, NodeNotFoundError, ParameterError
from graphheat.graph import Graph

TRIANGLE = np.ones((3, 3)) - np.eye(3)


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        lambda a: a.tolist(),
        lambda a: a.astype(bool),
        lambda a: sp.csr_array(a.astype(np.int8)),
    ],
)
def test_every_form_of_a_matrix_gives_the_same_graph(form):
    assert Graph.from_scipy(form(TRIANGLE)).fingerprint == Graph.from_scipy(TRIANGLE).fingerprint


def test_adjacency_is_canonical():
    messy = sp.coo_array(([0.5, 0.5, 1.0, 0.0], ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3))
    matrix = Graph.from_scipy(messy).adjacency
    assert isinstance(matrix, sp.csr_array)
    assert matrix.has_canonical_format
    assert matrix.nnz == 2  # duplicates summed, the stored zero dropped
    assert matrix.dtype == np.float64
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_asymmetry_names_the_count_the_first_pair_and_the_option():
    skewed = TRIANGLE.copy()
    skewed[1, 2] = 0
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(skewed)
    assert str(caught.value) == (
        "adjacency must be symmetric; 1 of 5 entries differ (first at (1, 2)). "
        "Pass symmetrize='max' where the Graph is made."
    )
    assert np.array_equal(Graph.from_scipy(skewed, symmetrize="max").adjacency.toarray(), TRIANGLE)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.nan, "Edge weights must be finite; 2 of 2 are not (first nan at (0, 1))"),
        (np.inf, "Edge weights must be finite"),
        (-1.0, "Edge weights must be non-negative; 2 of 2 are not (first -1.0 at (0, 1))"),
    ],
)
def test_bad_weights_of_a_matrix(bad, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(np.array([[0, bad], [bad, 0]]))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.nan, "Edge weights must be finite; 1 of 2 are not (first nan at edge 1)"),
        (-2.0, "Edge weights must be non-negative; 1 of 2 are not (first -2.0 at edge 1)"),
    ],
)
def test_bad_weights_of_an_edge_list(bad, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_edges([0, 1], [1, 2], [1.0, bad])
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.zeros((0, 0)), "The graph is empty"),
        (np.ones((2, 3)), "adjacency must be square; got shape (2, 3)"),
        (np.ones(3), "adjacency must be a numeric matrix"),
        (sp.coo_array(np.ones(3)), "adjacency must be a numeric matrix"),
        (np.array([["a"]]), "adjacency must be a numeric matrix"),
        (np.array([[1j]]), "adjacency must be a numeric matrix"),
        (sp.csr_array([[1j]]), "adjacency must be a numeric matrix"),
    ],
)
def test_what_is_not_an_adjacency(matrix, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(matrix)
    assert words in str(caught.value)


def test_self_loops_are_kept_and_counted_or_dropped():
    looped = TRIANGLE + np.diag([2.0, 0, 0])
    assert Graph.from_scipy(looped).describe().self_loops == 1
    dropped = Graph.from_scipy(looped, self_loops="drop")
    assert dropped.describe().self_loops == 0
    assert dropped.fingerprint == Graph.from_scipy(TRIANGLE).fingerprint


@pytest.mark.parametrize("option", ["symmetrize", "self_loops"])
def test_an_unknown_choice_is_refused_with_the_choices(option):
    with pytest.raises(ParameterError, match=f"'{option}' parameter .* must be one of"):
        Graph.from_scipy(TRIANGLE, **{option: "mean"})


def test_one_node():
    graph = Graph.from_scipy([[0.0]], labels=["only"])
    assert (graph.n, graph.describe().isolated, graph.describe().homophily) == (1, 1, None)


# ------------------------------------------------------------------------ edge lists


def test_an_edge_list_is_undirected_and_repeats_count_once():
    graph = Graph.from_edges([0, 1, 0], [1, 0, 1], [2.0, 2.0, 2.0])
    assert graph.adjacency.toarray().tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize(("how", "weight"), [("sum", 3.0), ("max", 2.0), ("first", 1.0)])
def test_differing_weights_are_settled_as_asked(how, weight):
    graph = Graph.from_edges(["a", "b"], ["b", "a"], [1.0, 2.0], duplicates=how)
    assert graph.adjacency.toarray().tolist() == [[0, weight], [weight, 0]]


def test_sum_leaves_equal_repeats_alone():
    graph = Graph.from_edges([0, 0], [1, 1], [2.0, 2.0], duplicates="sum")
    assert graph.adjacency[0, 1] == 2


def test_differing_weights_are_an_error_that_names_the_nodes():
    with pytest.raises(GraphError) as caught:
        Graph.from_edges(["ann", "bob", "bob"], ["bob", "ann", "cat"], [1.0, 2.0, 1.0])
    assert str(caught.value) == (
        "1 edges are named with different weights (first between ann and bob). "
        "Pass duplicates='sum', 'max' or 'first'."
    )


def test_a_self_loop_in_a_list_is_one_entry():
    assert Graph.from_edges([0, 0], [0, 1], [3.0, 1.0]).adjacency.toarray().tolist() == [
        [3, 1],
        [1, 0],
    ]


def test_nodes_give_the_order_and_isolated_nodes():
    graph = Graph.from_edges(["b"], ["a"], nodes=["c", "b", "a"])
    assert graph.nodes.tolist() == ["c", "b", "a"]
    assert graph.describe().isolated == 1


def test_edges_to_unknown_nodes_are_named():
    with pytest.raises(
        GraphError, match="2 ids of the edges are not in the list of nodes: 'x', 'y'"
    ):
        Graph.from_edges(["a", "x"], ["x", "y"], nodes=["a"])


def test_ids_may_come_as_objects():
    whole = Graph.from_edges(np.array([1, 2], dtype=object), np.array([2, 3], dtype=object))
    assert whole.nodes.dtype == np.int64
    mixed = Graph.from_edges(np.array([1, "a"], dtype=object), np.array(["a", 2], dtype=object))
    assert mixed.nodes.tolist() == ["1", "2", "a"]
    plain = Graph.from_edges([np.str_("a")], [np.str_("b")])
    assert {type(node) for node in plain.nodes} == {str}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Graph.from_edges([], []), "The graph is empty"),
        (lambda: Graph.from_edges([0.5], [1.5]), "node ids must be integers or strings"),
        (lambda: Graph.from_edges([0, 1], [1]), "as many sources as targets"),
        (lambda: Graph.from_edges([0], [1], [1.0, 2.0]), "as many sources as targets"),
        (lambda: Graph.from_scipy(TRIANGLE, nodes=["a", "b"]), "one per node; got shape (2,)"),
        (lambda: Graph.from_scipy(TRIANGLE, nodes=["a", "b", "a"]), "'a' appears more than once"),
        (lambda: Graph.from_scipy(TRIANGLE, titles=["a"]), "titles must be one per node; got 1"),
        (lambda: Graph.from_edges([0], [1], [1.0], duplicates="mean"), "'duplicates' parameter"),
    ],
)
def test_lists_that_do_not_fit(call, words):
    with pytest.raises(GraphHeatError) as caught:
        call()
    assert words in str(caught.value)


# ------------------------------------------------------------------------ edge_index


def test_edge_index_needs_both_directions():
    both = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    assert Graph.from_edge_index(both).describe().edges == 2
    with pytest.raises(GraphError, match=r"2 of 2 entries differ \(first at \(0, 1\)\).*'max'"):
        Graph.from_edge_index(both[:, ::2])
    assert Graph.from_edge_index(both[:, ::2], symmetrize="max").describe().edges == 2


@pytest.mark.parametrize(
    ("pairs", "n", "words"),
    [
        ([[0.5], [1.0]], None, "integers in shape (2, e)"),
        ([[0, 1]], None, "integers in shape (2, e)"),
        ([[0], [3]], 2, "target must be in [0, 2); got 3"),
        ([[-1], [0]], None, "source must be in [0, 1); got -1"),
        (np.zeros((2, 0), dtype=int), None, "The graph is empty"),
    ],
)
def test_bad_edge_index(pairs, n, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_edge_index(np.array(pairs), num_nodes=n)
    assert words in str(caught.value)


# -------------------------------------------------------------------------- features


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, lambda x: x.tolist()])
def test_features_are_single_precision(form):
    X = np.arange(6.0).reshape(3, 2)
    features = Graph.from_scipy(TRIANGLE, form(X)).features
    assert features.dtype == np.float32
    dense = features.toarray() if sp.issparse(features) else features
    assert np.array_equal(dense, X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_must_be_finite(form, bad):
    X = np.ones((3, 2))
    X[2, 1] = bad
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(TRIANGLE, form(X))
    assert "features must be finite" in str(caught.value)
    assert "first at row 2, column 1" in str(caught.value)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((2, 4)), "one row per node; got shape (2, 4) for 3 nodes"),
        (np.ones(3), "one row per node; got shape (3,)"),
        (np.array([["a"], ["b"], ["c"]]), "features must be real numbers"),
        (sp.csr_array(np.ones((3, 1)) * 1j), "features must be real numbers"),
    ],
)
def test_features_that_do_not_fit(X, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(TRIANGLE, X)
    assert words in str(caught.value)


def test_features_without_columns_are_none():
    assert Graph.from_scipy(TRIANGLE, np.ones((3, 0))).features is None


# ----------------------------------------------------------------------------- split


def test_split_by_mask_or_index():
    graph = Graph.from_scipy(
        TRIANGLE, labels=["a", "b", "a"], split={"train": [True, False, False], "test": [2, 1]}
    )
    assert {name: part.tolist() for name, part in graph.split.items()} == {
        "train": [0],
        "test": [2, 1],
    }


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ({"train": [3]}, "split['train'] must hold indices in [0, 3)"),
        ({"train": [0, 0]}, "split['train'] names a node more than once"),
        ({"train": [0], "test": [0]}, "split['train'] and split['test'] share 1 nodes (first 0)"),
        ({"train": [1]}, "split['train'] holds 1 nodes without a label"),
        ({"train": [0.5]}, "split['train'] must hold node indices"),
        ({"train": [True]}, "is a mask of shape (1,); it needs (3,)"),
    ],
)
def test_bad_splits(split, words):
    with pytest.raises(GraphError) as caught:
        Graph.from_scipy(TRIANGLE, labels=["a", None, "b"], split=split)
    assert words in str(caught.value)


def test_index_of():
    numbered = Graph.from_edges([10, 20], [20, 30])
    assert numbered.index_of(20) == numbered.index_of("20") == numbered.index_of(np.int64(20)) == 1
    with pytest.raises(NodeNotFoundError) as caught:
        numbered.index_of("x")
    assert str(caught.value) == "graph has no node 'x'; its 3 ids run from 10 to 30."
    assert isinstance(caught.value, KeyError)
