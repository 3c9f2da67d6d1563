"""What a page holds: packed and unpacked, whole or in part."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat import datasets, fit
from graphheat.datasets import block_model
from graphheat.errors import FileFormatError, NodeNotFoundError, ParameterError
from graphheat.explain import NetworkExplainer
from graphheat.explorer.data import EXPLAINED, graph_data, run_data
from graphheat.explorer.part import choose_part
from graphheat.explorer.payload import pack, unpack
from graphheat.explorer.schema import SOURCES
from graphheat.graph import Graph, Split
from graphheat.heat import HeatKernel

BLOCKS = block_model(120, 3, degree=5, features=8, labels_per_class=4, seed=0)


@pytest.fixture(scope="module")
def run():
    return fit(BLOCKS, "paper", max_epochs=15)


@pytest.fixture(scope="module")
def whole():
    return choose_part(BLOCKS, 3.0)


def places(part):
    return np.full((len(part.rows), 2), 0.5)


def edges(blocks):
    ends = blocks["edge_targets"]
    return np.repeat(np.arange(len(blocks["edge_counts"])), blocks["edge_counts"]), ends


# ------------------------------------------------------------------ packing


def test_what_is_packed_comes_back():
    random = np.random.default_rng(0)
    given = {
        name: random.integers(0, 100, 7).astype(name)
        for name in ("uint8", "uint16", "uint32", "int8", "int16", "float32", "float64")
    }
    header, blocks = unpack(pack({"title": "</script>\u202e\ud800"}, given))
    assert header["title"] == "</script>\u202e\ud800"
    for name, array in given.items():
        assert blocks[name].dtype == array.dtype
        assert np.array_equal(blocks[name], array)
        assert header["blocks"][name]["offset"] % 8 == 0


def test_packing_repeats_and_knows_its_types():
    blocks = {"x": np.arange(100, dtype=np.uint32)}
    assert pack({}, blocks) == pack({}, blocks)
    with pytest.raises(TypeError, match="int64"):
        pack({}, {"x": np.arange(3)})


@pytest.mark.parametrize("hurt", ["!!!", "AAAA", "", "middle"])
def test_damaged_data_are_told(hurt):
    text = pack({}, {"x": np.arange(5000, dtype=np.uint32)})
    broken = text[:200] + ("B" if text[200] == "A" else "A") + text[201:]
    with pytest.raises(FileFormatError, match="The page's data"):
        unpack(broken if hurt == "middle" else hurt)


# ------------------------------------------------------------------ graphs


def test_edges_labels_and_names_are_those_of_the_graph(whole):
    header, blocks = graph_data(BLOCKS, whole, places(whole))
    assert header["nodes"] == 120
    assert header["edges"] == len(blocks["edge_targets"])
    rows, columns = edges(blocks)
    rebuilt = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(120, 120)).toarray()
    assert np.array_equal(np.maximum(rebuilt, rebuilt.T), BLOCKS.adjacency.toarray())
    assert "weights" not in blocks  # all are 1
    assert "degrees" not in blocks
    assert blocks["labels"].tolist() == BLOCKS.labels.tolist()
    assert (blocks["split"] == 1).sum() == len(BLOCKS.split["train"])


def test_weights_and_self_loops_go_along():
    graph = Graph.from_scipy(np.array([[2.0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]]))
    part = choose_part(graph, 1.0)
    _, blocks = graph_data(graph, part, places(part))
    assert blocks["edge_counts"].tolist() == [2, 0, 0]
    assert blocks["weights"].tolist() == [2.0, 0.5]


def test_words_of_people_stay_words():
    graph = Graph.from_scipy(
        np.ones((2, 2)) - np.eye(2), nodes=["<b>", "שלום"], titles=['"', "🔥"], labels=["a", "</p>"]
    )
    part = choose_part(graph, 1.0)
    header, blocks = graph_data(graph, part, places(part))
    words = json.loads(blocks["text"].tobytes())
    assert words == {"ids": ["<b>", "שלום"], "titles": ['"', "🔥"], "features": None}
    assert header["classes"] == ["</p>", "a"]


# ------------------------------------------------------------------ runs


def test_probabilities_sets_and_reasons_of_a_run(run, whole):
    about, blocks = run_data(run, BLOCKS, whole)
    shares = blocks["probabilities"].reshape(120, 3) / 65535
    assert np.abs(shares - run.probabilities).max() < 1e-5
    assert about["temperature"] > 0
    assert 0 <= about["error_after"] <= 1
    assert "optimistic" in about["caution"]
    assert blocks["sets"].reshape(120, 3).any(axis=1).all()
    better = blocks["calibrated"].reshape(120, 3) / 65535
    order = better.max(axis=1)[blocks["why_nodes"]]
    assert (np.diff(order) >= -1e-4).all()  # least confident first


def test_nodes_that_calibrate_are_shown_as_validation_nodes(whole):
    val = BLOCKS.split["val"]
    graph = BLOCKS.with_split(**{**BLOCKS.split, "val": val[::2], "calibration": val[1::2]})
    about, blocks = run_data(fit(graph, "paper", max_epochs=5), graph, whole)
    assert (blocks["split"][val] == 2).all()
    assert "caution" not in about
    assert (graph_data(graph, whole, places(whole))[1]["split"][val] == 2).all()


def test_listed_sources_and_the_rest_sum_to_the_logits(run, whole):
    _, blocks = run_data(run, BLOCKS, whole)
    m = min(EXPLAINED, 120)
    given = blocks["why_given"].reshape(m, SOURCES, 2)
    classes = blocks["why_classes"].reshape(m, 2)
    totals = given.sum(axis=1) + blocks["why_rest"].reshape(m, 2)
    logits = NetworkExplainer(run, BLOCKS).logits
    for k, node in enumerate(blocks["why_nodes"]):
        assert np.abs(totals[k] - logits[node, classes[k]]).max() < 1e-4
        assert classes[k, 0] == run.predicted[node]
    by_hop = blocks["why_hops"].reshape(m, 2, -1).sum(axis=2)
    assert np.abs(by_hop - totals).max() < 1e-4


def test_a_linear_run_has_reasons_too(whole):
    run = fit(BLOCKS, "linear")
    about, blocks = run_data(run, BLOCKS, whole)
    assert (about["recipe"], about["s"]) == ("linear", run.settings_dict()["s"])
    m = min(EXPLAINED, 120)
    totals = blocks["why_given"].reshape(m, SOURCES, 2).sum(axis=1)
    totals += blocks["why_rest"].reshape(m, 2)
    every = np.arange(m)
    p = run.probabilities[blocks["why_nodes"]]
    first, second = blocks["why_classes"].reshape(m, 2).T
    odds = np.log(p[every, first] / p[every, second])
    assert np.abs(totals[:, 0] - totals[:, 1] - odds).max() < 1e-4


def test_a_run_without_validation_nodes_has_no_sets(whole, run):
    from dataclasses import replace

    codes = run.split.codes()
    split = Split.from_codes(np.where(codes == 2, 0, codes))
    about, blocks = run_data(replace(run, split=split), BLOCKS, whole)
    assert about["temperature"] is None
    assert "sets" not in blocks
    assert "calibrated" not in blocks


# ------------------------------------------------------------------ parts


def test_a_graph_within_the_limits_is_taken_whole(whole):
    assert whole.note is None
    assert len(whole.rows) == 120


def test_a_part_holds_the_warmest_nodes_and_says_so():
    graph = datasets.load("cora")
    part = choose_part(graph, 3.5, [2027], max_nodes=300)
    assert len(part.rows) == 300
    assert 2027 in part.rows
    assert "300 of 2,708 nodes that most heat from 2027 reaches" in part.note
    heat = HeatKernel(graph, 3.5, tol=1e-10).row(2027).toarray().ravel()
    left_out = np.setdiff1d(np.arange(graph.n), part.rows)
    assert heat[part.rows].min() >= heat[left_out].max() - 1e-9


def test_weights_near_the_chosen_node_are_those_of_the_whole_graph():
    graph = datasets.load("cora")
    part = choose_part(graph, 2.0, [2027], max_nodes=800)
    scale = 1 / np.sqrt(part.degrees)
    S = scale[:, None] * part.adjacency.toarray() * scale
    from scipy.linalg import expm

    inside = expm(2.0 * S)[np.searchsorted(part.rows, 2027)] * np.exp(-2.0)
    heat = HeatKernel(graph, 2.0, tol=1e-10).row(2027).toarray().ravel()[part.rows]
    top = np.argsort(-heat)[:20]
    assert np.abs(inside - heat)[top].max() < 1e-3
    assert (inside <= heat + 1e-9).all()  # what leaves the part is lost, never added


def test_the_limit_of_edges_holds_and_a_default_is_named():
    graph = datasets.load("cora")
    part = choose_part(graph, 3.0, max_edges=400)
    assert sp.triu(part.adjacency).nnz <= 400
    assert "the node of highest degree" in part.note
    assert 1358 in part.rows  # Cora's hub


def test_bad_choices_are_told():
    with pytest.raises(NodeNotFoundError):
        choose_part(BLOCKS, 1.0, ["nobody"])
    with pytest.raises(ParameterError, match="max_nodes"):
        choose_part(BLOCKS, 1.0, max_nodes=0)
