"""explore: from a graph or a run to a page."""

import json

import pytest
from helpers.command import call, invoke

from graphheat.datasets import block_model
from graphheat.io import write_npz

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(GRAPH, tmp_path / "g.npz")
    return tmp_path


@pytest.fixture
def run():
    call("fit", "g.npz", "--epochs", "5", "-s", "2", "--out", "run")
    return "run"


def refused(*args):
    result = invoke(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr


def test_a_graph_becomes_a_page(folder):
    result = invoke("explore", "g.npz", "--out", "page.html", "--json")
    assert result.exit_code == 0, result.output
    page = json.loads(result.stdout)
    assert page["nodes"] == 60
    assert page["explained"] == 0
    assert page["bytes"] == (folder / "page.html").stat().st_size


def test_a_run_finds_its_graph_and_is_explained(run):
    result = invoke("explore", run, "--out", "page.html", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["explained"] == 60
    assert invoke("explore", "run/checkpoint.safetensors", "--out", "page.html").exit_code == 0


def test_people_get_a_table_and_the_way_on(run):
    result = invoke("explore", run, "--out", "page.html")
    assert "labels explained" in result.stdout
    assert "Open it in a browser: page.html" in result.stderr


def test_a_graph_that_has_moved_is_named(run, folder):
    (folder / "g.npz").rename(folder / "h.npz")
    assert "name it with --graph" in refused("explore", run, "--out", "page.html")
    assert invoke("explore", run, "--graph", "h.npz", "--out", "page.html").exit_code == 0


def test_another_graph_is_refused(run, folder):
    write_npz(block_model(60, 3, features=8, seed=9), folder / "other.npz")
    message = refused("explore", run, "--graph", "other.npz", "--out", "page.html")
    assert "is not the graph that this run was fitted on" in message
    assert not (folder / "page.html").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere.npz", "--out", "p.html"], "neither a file nor a bundled graph"),
        (["g.npz", "--out", "no/p.html"], "there is no folder"),
        (["g.npz", "--graph", "g.npz", "--out", "p.html"], "--graph is for runs"),
        (["g.npz", "--out", "p.html", "--around", "nobody"], "has no node 'nobody'"),
        (["g.npz", "--out", "p.html", "--eps", "2"], "--eps must"),
        (["g.npz"], "--out"),
    ],
)
def test_mistakes_end_in_a_sentence(args, words):
    assert words in refused("explore", *args)


def test_graph_options_of_a_run_need_its_graph(run):
    message = refused("explore", run, "--title-column", "t", "--out", "p.html")
    assert "name that with --graph" in message


def test_a_page_is_headed_by_the_folder_of_a_file_that_is_called_as_any_other(folder):
    (folder / "people").mkdir()
    (folder / "people" / "edges.csv").write_text("source,target\na,b\nb,c\n")
    invoke("explore", "people/edges.csv", "--out", "page.html")
    assert "<title>people</title>" in (folder / "page.html").read_text("utf-8")
    invoke("explore", "people/edges.csv", "--title", "Friends", "--out", "page.html")
    assert "<title>Friends</title>" in (folder / "page.html").read_text("utf-8")
    invoke("explore", "g.npz", "--out", "page.html")
    assert f"<title>{GRAPH.name}</title>" in (folder / "page.html").read_text("utf-8")
