"""The page as a file: whole, closed to the outside, refused where it cannot be."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import graphheat
from graphheat import fit
from graphheat.datasets import block_model
from graphheat.errors import GraphError, OutputError, ParameterError
from graphheat.explorer import write_page
from graphheat.explorer.page import _hash, asset
from graphheat.explorer.payload import unpack
from graphheat.graph import Graph

BLOCKS = block_model(60, 3, features=8, labels_per_class=4, seed=0)
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


class Elements(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts = [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags:
            self.texts.setdefault(self.tags[-1][0], []).append(data)


def parsed(path):
    elements = Elements()
    elements.feed(path.read_text(encoding="utf-8"))
    return elements


def data_of(path):
    return unpack(re.search(r'id="data">([^<]*)<', path.read_text(encoding="utf-8"))[1])


def test_a_page_is_one_file_that_names_nothing_outside(tmp_path):
    page = write_page(BLOCKS, tmp_path / "page.html")
    assert page.nodes == 60
    assert page.bytes == (tmp_path / "page.html").stat().st_size
    tags = parsed(tmp_path / "page.html").tags
    assert [name for name, _ in tags if name in ("script", "img", "iframe", "object")] == [
        "script",
        "script",
    ]
    for _, attributes in tags:
        for name in ("src", "href", "srcset", "action"):
            assert attributes.get(name, "data:,") == "data:,"


def test_the_policy_lets_in_the_page_s_own_script_and_style_and_no_connection(tmp_path):
    write_page(BLOCKS, tmp_path / "page.html")
    (policy,) = [
        attributes["content"]
        for name, attributes in parsed(tmp_path / "page.html").tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'none'"
    assert rules["script-src"] == f"'{_hash(asset('explorer.js'))}'"
    assert rules["style-src"] == f"'{_hash(asset('explorer.css'))}'"
    assert "unsafe" not in policy


def test_the_same_input_gives_the_same_bytes(tmp_path):
    run = fit(BLOCKS, "paper", max_epochs=5)
    write_page(run, tmp_path / "a.html", graph=BLOCKS)
    write_page(run, tmp_path / "b.html", graph=BLOCKS)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_names_cannot_leave_their_place(tmp_path):
    graph = Graph.from_scipy(
        np.ones((3, 3)) - np.eye(3),
        nodes=[NASTY, "b", "c"],
        titles=[NASTY, "ש", "🔥"],
        labels=[NASTY, "x", None],
        name=NASTY,
    )
    write_page(graph, tmp_path / "page.html")
    elements = parsed(tmp_path / "page.html")
    assert [name for name, _ in elements.tags].count("script") == 2
    assert "img" not in [name for name, _ in elements.tags]
    assert NASTY in "".join(elements.texts["title"])
    header, _ = data_of(tmp_path / "page.html")
    assert header["classes"] == sorted([NASTY, "x"])


def test_lone_surrogates_are_written(tmp_path):
    write_page(BLOCKS, tmp_path / "page.html", title="\ud800")
    assert data_of(tmp_path / "page.html")[0]["title"] == "\ud800"


@pytest.mark.parametrize("what", ["bare", "labels", "alone", "loops"])
def test_graphs_that_lack_something_have_a_page(tmp_path, what):
    matrix = {"alone": np.zeros((1, 1)), "loops": np.eye(4)}.get(what, np.ones((4, 4)) - np.eye(4))
    graph = Graph.from_scipy(matrix, labels=["a", None, "b", None] if what == "labels" else None)
    page = write_page(graph, tmp_path / "page.html")
    assert page.explained == 0
    assert data_of(tmp_path / "page.html")[0]["run"] is None


def test_sliders_start_where_the_run_was(tmp_path):
    run = fit(BLOCKS, "paper", max_epochs=5, s=2.5, eps=None)
    page = write_page(run, tmp_path / "page.html", graph=BLOCKS)
    header, _ = data_of(tmp_path / "page.html")
    assert (header["s"], header["eps"]) == (2.5, 1e-4)
    assert page.explained == 60
    write_page(run, tmp_path / "page.html", graph=BLOCKS, s=1.0, eps=0.01)
    header, _ = data_of(tmp_path / "page.html")
    assert (header["s"], header["eps"]) == (1.0, 0.01)


def test_a_part_is_said_on_the_page(tmp_path):
    page = write_page(BLOCKS, tmp_path / "page.html", around=[7], max_nodes=20)
    header, blocks = data_of(tmp_path / "page.html")
    assert page.nodes == header["nodes"] == 20
    assert header["whole"] == 60
    assert "20 of 60 nodes" in header["note"] == page.note
    assert len(blocks["degrees"]) == 20


def test_a_part_of_a_run_is_explained_too(tmp_path):
    run = fit(BLOCKS, "paper", max_epochs=5)
    page = write_page(run, tmp_path / "page.html", graph=BLOCKS, around=[7], max_nodes=20)
    _, blocks = data_of(tmp_path / "page.html")
    assert page.explained == 20
    sources = blocks["why_sources"]
    assert set(sources[sources != 2**32 - 1].tolist()) <= set(range(20))


def test_refusals(tmp_path):
    run = fit(BLOCKS, "paper", max_epochs=2)
    with pytest.raises(GraphError, match="give its graph"):
        write_page(run, tmp_path / "page.html")
    with pytest.raises(GraphError, match="not the graph that this run was fitted on"):
        write_page(run, tmp_path / "page.html", graph=block_model(60, 3, seed=5))
    with pytest.raises(GraphError, match="this is one of lp"):
        write_page(graphheat.fit(BLOCKS, "lp"), tmp_path / "page.html", graph=BLOCKS)
    with pytest.raises(OutputError, match="there is no folder"):
        write_page(BLOCKS, tmp_path / "no" / "page.html")
    with pytest.raises(OutputError, match="is a folder"):
        write_page(BLOCKS, tmp_path)
    with pytest.raises(ParameterError, match="'s' parameter"):
        write_page(BLOCKS, tmp_path / "page.html", s=-1)
    with pytest.raises(ParameterError, match="'eps' parameter"):
        write_page(BLOCKS, tmp_path / "page.html", eps=1.0)
    assert not list(tmp_path.iterdir())
