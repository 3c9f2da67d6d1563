"""explain: why a node got its label, from a run on the disk."""

import json

import pytest
from helpers.command import call, invoke

from graphheat.datasets import block_model
from graphheat.explain import explain
from graphheat.io import write_npz
from graphheat.runs import load_run

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    write_npz(GRAPH, folder / "g.npz")
    source = str(folder / "g.npz")
    call("fit", source, "--epochs", "5", "--out", folder / "run")
    call("fit", source, "--recipe", "lp", "--out", folder / "lp")
    return folder


def refused(*args):
    result = invoke("explain", *args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr


def test_one_object_holds_the_whole_explanation(folder):
    result = invoke("explain", folder / "run", 7, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    shown = explain(load_run(folder / "run"), GRAPH, 7)
    assert found["node"] == 7
    assert found["label"] == found["predicted"] == shown.label
    assert [each["node"] for each in found["sources"]] == shown.sources.tolist()
    total = found["constant"] + sum(each["contribution"] for each in found["sources"])
    assert total == pytest.approx(found["logit"], abs=1e-4)
    from_sources = found["logit"] - found["constant"]
    assert sum(found["by_hop"].values()) == pytest.approx(from_sources, abs=1e-4)
    assert found["without_largest"]["removed"] == [shown.nodes[shown.sources[0]]]


def test_people_get_a_sentence_a_table_and_what_would_be(folder):
    result = invoke("explain", folder / "run", 7, "--limit", 3)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Node 7: ")
    assert "other sources" in result.stdout
    assert "By distance: itself" in result.stdout
    assert "Without " in result.stdout


def test_a_class_is_chosen_by_its_name(folder):
    predicted = json.loads(invoke("explain", folder / "run", 7, "--json").stdout)["label"]
    rival = (predicted + 1) % 3
    found = json.loads(invoke("explain", folder / "run", 7, "--label", rival, "--json").stdout)
    assert (found["label"], found["predicted"]) == (rival, predicted)


def test_a_picture_is_drawn(folder):
    result = invoke("explain", folder / "run", 7, "--out", folder / "why.png")
    assert result.exit_code == 0, result.output
    assert (folder / "why.png").stat().st_size > 10_000
    assert "Picture: " in result.stderr


def test_the_graph_may_be_elsewhere(folder):
    assert invoke("explain", folder / "run", 7, "--graph", folder / "g.npz").exit_code == 0
    write_npz(block_model(60, 3, features=8, seed=9), folder / "other.npz")
    text = refused(folder / "run", 7, "--graph", folder / "other.npz")
    assert "is not the graph that this run was fitted on" in text


def test_mistakes_end_in_a_sentence(folder):
    assert "has no node 'nobody'" in refused(folder / "run", "nobody")
    assert "must be a class of the run" in refused(folder / "run", 7, "--label", "9")
    assert "--out takes a picture" in refused(folder / "run", 7, "--out", folder / "why.txt")
    assert "there is no folder" in refused(folder / "run", 7, "--out", folder / "no" / "why.png")
    assert "this is one of lp" in refused(folder / "lp", 7)
