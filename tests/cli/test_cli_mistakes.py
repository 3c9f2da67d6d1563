"""A user's mistake ends in one sentence on standard error and exit code 2, never in a traceback."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.command import call, invoke

from graphheat.datasets import block_model
from graphheat.errors import GraphHeatError
from graphheat.heat import kernel as kernel_module
from graphheat.io import write_npz

EDGES = "source,target\na,b\nb,c\nc,d\n"
NODES = "id,label,x\na,t,1\nb,u,2\nc,t,3\nd,u,4\n"
FIT = ("fit", "e.csv", "--nodes", "n.csv", "--epochs", "2")
PAPER = ("--recipe", "paper")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "n.csv").write_text(NODES)
    return tmp_path


def refused(*args, code=2):
    """Return the sentence; nothing on standard output, and no more than what was read before it."""
    result = invoke(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    *account, error = result.stderr.splitlines()
    assert error.startswith("Error: ")
    assert all(line.split(": ")[0] in ("e.csv", "n.csv", "g.npz", "x.npy") for line in account)
    assert "Traceback" not in result.stderr
    return error.removeprefix("Error: ").strip()


# Files in place of the good ones, and the words of the sentence.
BAD_FILES: dict[str, tuple[dict[str, str | bytes], str]] = {
    "infinite feature": ({"n.csv": NODES.replace("d,u,4", "d,u,inf")}, "finite number"),
    "NaN weight": ({"e.csv": "source,target,weight\na,b,nan\nb,c,1\nc,d,1\n"}, "weight"),
    "infinite weight": ({"e.csv": "source,target,weight\na,b,inf\nb,c,1\nc,d,1\n"}, "weight"),
    "negative weight": ({"e.csv": "source,target,weight\na,b,-1\nb,c,1\nc,d,1\n"}, "negative"),
    "two weights": ({"e.csv": "source,target,weight\na,b,1\nb,a,2\nb,c,1\nc,d,1\n"}, "duplicates"),
    "edge of an unknown node": ({"e.csv": EDGES + "d,ghost\n"}, "'ghost'"),
    "words among the features": ({"n.csv": NODES.replace("d,u,4", "d,u,tall")}, "'tall' in row 4"),
    "the same node twice": ({"n.csv": NODES + "a,t,1\n"}, "'a'"),
    "no label": ({"n.csv": "id,label,x\na,,1\nb,,2\nc,,3\nd,,4\n"}, "no labelled node"),
    "one class": ({"n.csv": NODES.replace(",u,", ",t,")}, "one class only"),
    "no nodes": ({"n.csv": "id,label,x\n"}, "no rows"),
    "empty file": ({"e.csv": ""}, "is empty"),
    "binary garbage": ({"e.csv": b"\x80\xff\x00\x01" * 50}, "not text"),
    "not UTF-8": ({"e.csv": "a,b\né,c\n".encode("latin-1")}, "UTF-8"),
    "ragged rows": ({"e.csv": "source,target\na,b\na,b,c,d,e\n"}, "e.csv"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(case, folder):
    files, words = BAD_FILES[case]
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    assert words in refused(*FIT)
    assert words in refused(*FIT, "--out", "run", "--json")
    assert not list(folder.glob("run/*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--eps", "-0.1"], "--eps must be a number in [0, 1). Got -0.1"),
        (["--eps", "1"], "--eps must"),
        (["--eps", "nan"], "--eps must"),
        (["-s", "-1"], "-s must be a number in [0, 1e+06]. Got -1.0 instead."),
        (["-s", "nan"], "-s must"),
        (["-s", "1e7"], "-s must"),
        (["--recipe", "mine"], "--recipe must"),
        (["--recipe", "authors", "--eps", "none"], "needs an explicit kernel"),
        (["--label-column", "kind"], "'kind'"),
        (["--columns", "y"], "'y'"),
        (["--symmetrize", "max"], "an edge list is undirected"),
        (["--features", "none.csv"], "none.csv does not exist"),
    ],
)
def test_values_outside_their_range(options, words):
    assert words in refused(*FIT, *options)


@pytest.mark.parametrize("s", ["0", "1e6"])
def test_the_ends_of_the_range_of_s_are_answered(s):
    call(*FIT, "-s", s)
    assert invoke("neighbors", "e.csv", "a", "-s", s).exit_code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("neighbors", "e.csv", "a", "--eps", "1"),
        ("neighbors", "e.csv", "a", "--s", "-1"),
        ("neighbors", "e.csv", "nobody"),
        ("kernel", "e.csv", "--s", "nan", "--plan"),
        ("kernel", "e.csv", "--s", "1", "--eps", "-1", "--plan"),
        ("kernel", "e.csv", "--s", "1", "--tol", "0", "--plan"),
        ("info", "none.csv"),
        ("info", "."),
        ("info", "n.docx"),
        ("predict", "none", "--out", "l.csv"),
        ("predict", ".", "--out", "l.csv"),
        ("predict", "e.csv", "--out", "l.csv"),
    ],
)
def test_other_commands_refuse_in_a_sentence_too(args, folder):
    (folder / "n.docx").write_text("x")
    refused(*args)
    refused(*args, "--json")


@pytest.mark.parametrize(
    "args",
    [
        ("fit",),
        ("fit", "karate", "--seed", "1", "--seeds", "2"),
        ("fit", "karate", "--seeds", "0"),
        ("fit", "karate", "--seed", "-1"),
        ("fit", "karate", "--seed", "x"),
        ("fit", "karate", "--epochs", "0"),
        ("fit", "karate", "--eps", "small"),
        ("fit", "karate", "--resume"),
        ("fit", "karate", "--force"),
        ("fit", "karate", "--out", "x", "--resume", "--force"),
        ("fit", "karate", "--nodes", "n.csv"),
        ("fit", "karate", "--threads", "0"),
        ("fit", "karate", "--colour"),
        ("kernel", "karate"),
        ("kernel", "karate", "--s", "1"),
        ("kernel", "karate", "--s", "1", "--out", "k.txt"),
        ("predict", "run"),
        ("neighbors", "karate"),
        ("sing",),
    ],
)
def test_wrong_usage_is_exit_code_2_with_a_hint(args):
    result = invoke(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Usage:")
    assert "Error: " in result.stderr


# ------------------------------------------------------------------ matrices, archives


def test_an_asymmetric_matrix_names_count_pair_and_option(folder):
    from scipy.io import mmwrite

    mmwrite(folder / "m.mtx", sp.coo_array(np.triu(np.ones((4, 4)), 1)), symmetry="general")
    sentence = refused("info", "m.mtx")
    assert "symmetric" in sentence
    assert "(0, 1)" in sentence
    assert "symmetrize" in sentence
    assert invoke("info", "m.mtx", "--symmetrize", "max").exit_code == 0


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_truncated_archive(folder, share):
    write_npz(block_model(60, 3, features=8, labels_per_class=4), folder / "g.npz")
    data = (folder / "g.npz").read_bytes()
    (folder / "g.npz").write_bytes(data[: int(share * len(data))])
    assert "g.npz is not a whole npz archive" in refused("info", "g.npz")


def test_fewer_rows_of_features_than_nodes(folder):
    np.save(folder / "x.npy", np.ones((3, 2)))
    assert "x.npy" in refused(*FIT, "--features", "x.npy")


def test_a_duplicate_edge_can_be_settled(folder):
    (folder / "e.csv").write_text("source,target,weight\na,b,1\nb,a,2\nb,c,1\nc,d,1\n")
    call(*FIT, "--duplicates", "sum")


# ------------------------------------------------------------------ right answers


def test_without_features_the_default_is_answered_and_a_network_refuses(folder):
    (folder / "n.csv").write_text("id,label\na,t\nb,u\nc,t\nd,u\n")
    assert "look at who a node's neighbours are" in call(*FIT).stderr
    for recipe in ("consistent", "linear"):
        words = refused("fit", "e.csv", "--nodes", "n.csv", "--recipe", recipe, "--out", "run")
        assert "HeatLabelSpreading" in words
    assert not list(folder.glob("run/*"))


def test_odd_graphs_that_are_answered(folder):
    (folder / "e.csv").write_text("source,target\na,a\na,b\nc,d\n")
    rows = ["a,t,1", "b,u,2", "c,,3", "d,,4", "lonely,t,5", "e,v,1"]
    (folder / "n.csv").write_text("id,label,x\n" + "\n".join(rows))
    call(*FIT, "--out", "run", "--json")
    table = (folder / "run/predictions.csv").read_text().splitlines()
    assert len(table) == 7
    reached = {line.split(",")[0]: line.split(",")[4] for line in table[1:]}
    assert reached["c"] == reached["d"] == "False"
    assert reached["a"] == "True"


def test_one_node(folder):
    (folder / "e.csv").write_text("source,target\n")
    (folder / "n.csv").write_text("id,label,x\na,t,1\n")
    assert json.loads(invoke("info", "e.csv", "--nodes", "n.csv", "--json").stdout)["nodes"] == 1
    assert "one class only" in refused(*FIT)


def test_no_graph_at_all(folder):
    (folder / "e.csv").write_text("source,target\n")
    assert "The graph is empty" in refused("info", "e.csv")


# ------------------------------------------------------------------ failures that are no mistakes


def test_a_kernel_that_would_not_fit_is_refused_with_its_plan(monkeypatch, folder):
    monkeypatch.setattr(kernel_module, "available_memory", lambda: 100)
    for args in ((*FIT, *PAPER, "--out", "run"), ("kernel", "e.csv", "--s", "1", "--out", "k.npz")):
        sentence = refused(*args, code=1)
        assert "would not fit in memory" in sentence
        assert "entries" in sentence
    assert not (folder / "k.npz").exists()
    call(*FIT, *PAPER, "--eps", "none")


def test_an_unforeseen_error_is_exit_code_1_and_points_to_debug(monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("disk on fire")

    monkeypatch.setattr("graphheat.heat.neighborhood", broken)
    sentence = refused("neighbors", "e.csv", "a", code=1)
    assert sentence == "RuntimeError: disk on fire (run with --debug for the details)"


def test_ctrl_c_says_how_to_go_on(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphheat.training.train.train_network", interrupted)
    words = refused(*FIT, "--recipe", "consistent", "--out", "run", code=1)
    assert "--resume" in words


def test_ctrl_c_keeps_what_the_default_has(monkeypatch, folder):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphheat.training.ensemble.train_ensemble", interrupted)
    result = call(*FIT, "--out", "run")
    assert (
        "Interrupted: the answer is that of the stages so far; --resume goes on." in result.stderr
    )
    assert len((folder / "run/predictions.csv").read_text().splitlines()) == 5


def test_debug_lets_the_error_through():
    result = invoke("info", "none.csv", "--debug")
    assert isinstance(result.exception, GraphHeatError)
    assert result.exc_info[2] is not None
