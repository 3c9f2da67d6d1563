"""Notebooks and interpreters: small tables, short reprs, and progress=True."""

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import graphheat
from graphheat import Graph
from graphheat.datasets import block_model
from graphheat.explorer import write_page
from graphheat.heat import HeatKernel, neighborhood
from graphheat.html_table import html_table
from graphheat.progress_bar import in_notebook, showing, terminal_bar

BLOCKS = block_model(400, 3, seed=0)


def objects():
    run = graphheat.fit(BLOCKS, "linear")
    return {
        "graph": BLOCKS,
        "run": run,
        "evaluation": graphheat.evaluate(BLOCKS, "linear", seeds=range(3)),
        "explanation": run.explainer(BLOCKS).explain(7),
        "neighborhood": neighborhood(BLOCKS, 7, 3.0),
        "predictions": run.predictions(),
        "suspects": graphheat.suspects(BLOCKS),
    }


def test_reprs_fit_on_a_line_and_tables_on_a_screen():
    for name, each in objects().items():
        assert len(repr(each)) < 200, name
        if name != "suspects":
            markup = each._repr_html_()
            assert markup.startswith("<table>") and len(markup) < 4000, name


def test_the_words_of_people_are_escaped():
    graph = Graph.from_edges(["<b>", "c"], ["c", "d"], name="<script>", labels=["<i>", None, "x"])
    markup = graph._repr_html_()
    assert "<script>" not in markup and "&lt;script&gt;" in markup and "&lt;i&gt;" in markup
    assert "<p>&lt;a&gt;</p>" in html_table("t", [], notes=["<a>"])
    assert len(html_table("t", [["x" * 10_000]])) < 1000


def test_a_bar_in_a_terminal_and_lines_in_a_file():
    for terminal in (True, False):
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=terminal, width=80)
        with terminal_bar(console, console.print) as bar:
            bar(1, 2, "epochs")
            bar.tell("half of it")
            bar(2, 2, "epochs")
        assert "half of it" in stream.getvalue()
        assert ("epochs" in stream.getvalue()) == terminal


def test_progress_is_a_bar_for_true(monkeypatch, tmp_path, capsys):
    steps: list[Any] = []

    class Bar:
        def __call__(self, done, total, text, /):
            steps.append((done, total, text))

    from contextlib import contextmanager

    @contextmanager
    def fake(console, say):
        yield Bar()

    monkeypatch.setattr("graphheat.progress_bar.terminal_bar", fake)
    run = graphheat.fit(BLOCKS, "linear", progress=True)
    assert steps
    for call in (
        lambda: graphheat.evaluate(BLOCKS, "linear", seeds=range(2), progress=True),
        lambda: write_page(run, tmp_path / "p.html", graph=BLOCKS, progress=True),
        lambda: HeatKernel(BLOCKS, 1.0).matrix(1e-3, progress=True),
    ):
        steps.clear()
        call()
        assert steps and steps[-1][0] == steps[-1][1]
    steps.clear()
    graphheat.fit(BLOCKS, "linear", progress=False)
    assert not steps


def test_a_bar_in_a_notebook(monkeypatch):
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: type("ZMQInteractiveShell", (), {})()
    output: Any = ModuleType("IPython.display")
    output.HTML, output.display = str, lambda first, display_id: handle
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", output)
    assert in_notebook()
    with showing(True) as bar:
        assert bar is not None
        bar(1, 4, "<epochs>")
        getattr(bar, "tell")("a & b")  # noqa: B009 - of bars alone
    assert '<progress value="1" max="4">' in shown[0] and "&lt;epochs&gt;" in shown[0]
    assert shown[-1] == "a &amp; b<br>"


@pytest.mark.parametrize("given", [None, False])
def test_no_bar_unless_asked_for(given):
    with showing(given) as progress:
        assert progress is None
