"""``graphheat paper``: from the command to tables, figures, claims and a page."""

from __future__ import annotations

import json

import pandas
import pytest
from helpers.command import call

from graphheat.baselines import NAMES, load
from graphheat.paper import document, report, tables
from graphheat.paper.claims import Claim
from graphheat.paper.rows import GRAPHS, ROWS
from graphheat.paper.store import Store, committed_runs, read_runs


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A short profile of three rows of Table 2, made by the command itself."""
    folder = tmp_path_factory.mktemp("paper")
    words = ("all", "--short", "--jobs", 1, "--rows", "lp,gcn,graphheat", "--out", folder)
    return folder, json.loads(call("paper", *words, "--json").stdout)


def test_everything_is_made(made):
    folder, result = made
    assert result["failures"] == []
    assert result["runs"] == 1 + 3 + 3 + 8  # LP once, three seeds each, and Figure 4's
    for number in range(1, 6):
        for suffix in ("png", "svg", "csv"):
            assert (folder / f"figure{number}.{suffix}").stat().st_size > 200
    text = (folder / "results.md").read_text()
    assert "This is the short profile" in text
    assert "7 of 7 nodes as the paper has them" in text
    assert all(f"![Figure {number}]" in text for number in range(1, 6))


def test_a_second_call_makes_no_run_again(made, monkeypatch):
    folder, result = made
    monkeypatch.setattr("graphheat.paper.sweep.run_task", None)  # it would fail
    monkeypatch.setattr(report, "write_report", lambda *args, **kwargs: [])
    words = ("all", "--short", "--jobs", 1, "--rows", "lp,gcn,graphheat", "--out", folder)
    again = call("paper", *words, "--json")
    assert json.loads(again.stdout)["runs"] == result["runs"]


def test_runs_are_listed_exported_and_taken_over(made, tmp_path):
    folder, result = made
    listed = json.loads(call("paper", "runs", "--results", folder / "runs.sqlite", "--json").stdout)
    assert listed["total"] == result["runs"] == sum(each["runs"] for each in listed["runs"])
    call("paper", "runs", "--results", folder / "runs.sqlite", "--export", tmp_path / "runs.csv")
    other = Store(tmp_path / "other.sqlite")
    assert other.take(read_runs(tmp_path / "runs.csv")) == result["runs"]
    assert other.take(read_runs(folder / "runs.sqlite")) == 0
    original = Store(folder / "runs.sqlite").runs()
    pandas.testing.assert_frame_equal(
        other.runs().drop(columns="seconds"), original.drop(columns="seconds"), check_dtype=False
    )


@pytest.mark.parametrize("table", ["table1", "table3"])
def test_tables_that_need_no_runs(table):
    rows = json.loads(call("paper", table, "--json").stdout)[table]
    assert len(rows) == {"table1": 15, "table3": 7}[table]
    assert call("paper", table).stdout


def test_table2_says_what_there_is(made):
    folder, _ = made
    words = ("table2", "--results", folder / "runs.csv", "--rows", "gcn,graphheat")
    cells = json.loads(call("paper", *words, "--json").stdout)["table2"]
    # Brief runs are not made with the presets, so that the table stays empty.
    assert {cell["runs"] for cell in cells} == {0}
    assert "GraphHeat" in call("paper", *words).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table2", "--results", "nowhere.csv"], "There are no runs at nowhere.csv"),
        (["table2", "--rows", "gnc"], "There is no row 'gnc'"),
        (["all", "--graphs", "cora,youtube"], "--graphs takes cora, citeseer, pubmed"),
        (["all", "--rows", "gnc"], "There is no row 'gnc'"),
        (["all", "--out", "/dev/null/x"], "cannot be made"),
    ],
)
def test_mistakes_are_said_in_a_sentence(words, message):
    assert message in call("paper", *words, code=2).stderr.replace("\n", " ")


def test_a_page_explains_what_is_far_from_published():
    settings = ROWS["lp"]
    runs = pandas.DataFrame(
        {"row": "lp", "graph": "cora", "settings": [load("lp").preset("cora").as_dict()],
         "seed": 0, "seconds": 1.0, "test_accuracy": 0.999}
    )  # fmt: skip
    claim = Claim("4.4", "A claim.", "1 of 1", "holds", "Counted.")
    text = document.render(runs, [claim], [], {})
    assert f"**{settings.title}" not in text
    assert "Cora 99.9 (published 68.0)" in text
    assert "**holds** | 1 of 1" in text


def test_the_committed_page_is_that_of_the_committed_runs():
    runs = read_runs(committed_runs())
    text = (committed_runs().parent / "results.md").read_text()
    cells = tables.table2(runs)
    for graph in GRAPHS:
        for line in tables.table2_lines(cells, graph):
            assert "| " + " | ".join(line) + " |" in text


def test_every_baseline_has_a_title_a_reference_and_brief_settings():
    for name in NAMES:
        baseline = load(name)
        assert baseline.name == name
        assert baseline.title and baseline.reference and baseline.__doc__
        assert baseline(**baseline.preset("cora", **baseline.brief).as_dict())
