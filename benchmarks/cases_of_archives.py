"""Archives of graphs and features, as strangers may send them."""

import functools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from cases_of_files import PATH
from hostile_cases import FAILED, REFUSED, Case

from graphheat.graph import Graph
from graphheat.io import write_npz

SMALL = Graph.from_scipy(PATH, features=sp.csr_array(np.eye(3)), labels=["a", "b", "a"])


def rewritten(graph=SMALL, **members):
    """Return what writes a graph's archive with members replaced."""

    def make():
        write_npz(graph, "g.npz")
        with np.load("g.npz") as archive:
            arrays = {name: archive[name] for name in archive.files}
        np.savez("g.npz", **{**arrays, **members})

    return make


def saved(**members):
    return lambda: np.savez("g.npz", **members)


def words(**changes):
    """Return a member of text, our own with entries changed."""

    def make():
        write_npz(SMALL, "g.npz")
        with np.load("g.npz") as archive:
            arrays = {name: archive[name] for name in archive.files}
        old = json.loads(arrays["words"].tobytes())
        arrays["words"] = np.frombuffer(json.dumps({**old, **changes}).encode(), dtype=np.uint8)
        np.savez("g.npz", **arrays)

    return make


def cases():
    case = functools.partial(Case, "b_npz")
    members: Any
    info, linear = ("info", "g.npz"), ("fit", "g.npz", "--recipe", "linear", "--out", "r")
    refused = (
        ("indptr not monotone", {"adjacency_indptr": [0, 2, 1, 2]}),
        ("indptr not monotone hi", {"adjacency_indptr": [0, 2**40, 1, 2]}),
        ("indptr negative", {"adjacency_indptr": [0, -3, 1, 2]}),
        ("indptr float", {"adjacency_indptr": [0.0, 1.0, 2.0, 2.0]}),
        ("indptr NaN", {"adjacency_indptr": [0, np.nan, 2, 2]}),
        ("indptr complex", {"adjacency_indptr": np.array([0, 1, 2, 2], dtype=complex)}),
        ("weights complex", {"adjacency_weights": np.array([1, 1j])}),
        ("labels uint64 huge", {"labels": np.array([2**64 - 1] * 3, dtype=np.uint64)}),
        ("words deep JSON", {"words": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}),
        ("sparse features col beyond", {"features_indices": [0, 1, 9]}),
        ("sparse features col huge", {"features_indices": [0, 1, 2**31 - 1]}),
        ("sparse features col negative", {"features_indices": [0, 1, -1]}),
        ("sparse features indptr not monotone", {"features_indptr": [0, 9, 2, 3]}),
        ("sparse features indptr not monotone high", {"features_indptr": [0, 2**40, 2, 3]}),
    )
    for name, members in refused:
        yield case(f"npz own {name}", info, rewritten(**members))
    beyond = rewritten(features_indices=[0, 1, 10**6])
    yield case("npz own sparse features col beyond fit", ("fit", "g.npz", "--out", "r"), beyond)
    yield case("npz own sparse features col beyond linear", linear, beyond)
    wide = rewritten(features_shape=[3, 2**40])
    for recipe in ("paper", "linear"):
        yield case(
            f"npz own sparse features huge columns fit {recipe}",
            ("fit", "g.npz", "--recipe", recipe, "--out", "r"),
            wide,
            (REFUSED, FAILED),
        )
    yield case("npz own name is a list in fit", linear, words(name=["a"]))
    yield case(
        "npz own name null explore", ("explore", "g.npz", "--out", "p.html"), words(name=None)
    )
    yield case("npz own classes nested lists", info, words(classes=[["a"], ["b"]]))
    yield case("npz own classes dicts", info, words(classes=[{}, {}]))
    yield case("npz own titles number", info, words(titles=7))
    pairs = np.array([[0, 1], [1, 0]])
    for name, members in (
        ("edge_index one id 2*10^9", {"edge_index": [[0, 2 * 10**9], [1, 0]]}),
        ("edge_index one id 10^12", {"edge_index": [[0, 10**12], [1, 0]]}),
        ("edge_index one id 2^63-1", {"edge_index": [[0, 2**63 - 1], [1, 0]]}),
        ("edge_index uint64 max", {"edge_index": np.array([[0, 2**64 - 1], [1, 0]], np.uint64)}),
        ("num_nodes 10^15", {"edge_index": pairs, "num_nodes": 10**15}),
        ("num_nodes 3*10^9", {"edge_index": pairs, "num_nodes": 3 * 10**9}),
        ("edge_weight complex", {"edge_index": pairs, "edge_weight": [1j, 1j]}),
    ):
        yield case(f"npz {name}", info, saved(**members))
    x = {
        "edge_index": pairs,
        "x_data": [1.0, 1.0],
        "x_indices": [0, 1],
        "x_indptr": [0, 1, 2],
        "x_shape": [2, 2],
    }
    for name, members in (
        ("col beyond", {"x_indices": [0, 99]}),
        ("col huge", {"x_indices": [0, 2**31 - 1]}),
        ("col negative", {"x_indices": [0, -1]}),
        ("indptr not monotone", {"x_indptr": [0, 7, 2]}),
        ("indptr not monotone high", {"x_indptr": [0, 2**40, 2]}),
        ("indptr float", {"x_indptr": [0.0, 1.0, 2.0]}),
        ("indices float", {"x_indices": [0.0, 1.0]}),
    ):
        yield case(f"npz x sparse {name}", info, saved(**{**x, **members}))
    for kind, name, members in (
        ("csr", "indices beyond", {"indices": [1, 0, 2, 99]}),
        ("csr", "indices huge", {"indices": [1, 0, 2, 2**31 - 1]}),
        ("csr", "indices -10^6", {"indices": [1, 0, 2, -(10**6)]}),
        ("csr", "indptr not monotone", {"indptr": [0, 9, 3, 4]}),
        ("csr", "indptr not monotone high", {"indptr": [0, 2**31 - 1, 3, 4]}),
        ("csr", "format unknown", {"format": b"dok"}),
        ("csr", "format number", {"format": 7}),
        ("bsr", "indices beyond", {"indices": [9] * 4}),
        ("bsr", "indices huge", {"indices": [2**31 - 1] * 4}),
    ):
        yield case(f"npz scipy {kind} {name}", info, scipy_file("g.npz", kind, members))
    features = ("info", "e.csv", "--features", "x.npz")
    for name, members in (
        ("indices beyond", {"indices": [0, 1, 99]}),
        ("indices huge", {"indices": [0, 1, 2**31 - 1]}),
        ("indices negative", {"indices": [0, 1, -1]}),
        ("indptr not monotone high", {"indptr": [0, 2**31 - 1, 2, 3]}),
    ):
        yield case(f"features npz {name}", features, eye(members))
    yield case("zip member is a nested zip", info, nested)


def scipy_file(path, kind, members):
    def make():
        sp.save_npz(path, sp.csr_array(PATH).asformat(kind))
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        np.savez(path, **{**arrays, **members})

    return make


def eye(members):
    def make():
        Path("e.csv").write_text("source,target\n0,1\n1,2\n")
        sp.save_npz("x.npz", sp.csr_array(np.eye(3)))
        with np.load("x.npz") as archive:
            arrays = {name: archive[name] for name in archive.files}
        np.savez("x.npz", **{**arrays, **members})

    return make


def nested():
    write_npz(SMALL, "inner.npz")
    with zipfile.ZipFile("g.npz", "w") as archive:
        archive.writestr("edge_index.npy", Path("inner.npz").read_bytes())
