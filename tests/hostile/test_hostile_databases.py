"""Journals of labels and stores of runs that were tampered with: refused, and never run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.command import invoke
from helpers.sentences import refusal

from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.labeling.answers import Answers
from graphheat.labeling.journal import Entry, Journal
from graphheat.paper.store import Store, read_runs

GRAPH = block_model(30, 2, features=4, labels_per_class=2, seed=0)
RUNS = Path(__file__).parents[2] / "docs" / "results" / "runs.csv"
ENDLESS = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT @ FROM n"


def opened(path):
    return Journal(path, GRAPH.fingerprint, GRAPH.n, GRAPH.name, resume=True)


@pytest.fixture
def journal(tmp_path):
    with opened(tmp_path / "labels.sqlite") as made:
        made.add(Entry("a", "class", text="tea"), who="ann")
        made.add(Entry("b", "label", node=1, code=0), who="ann")
        made.note(2, 1, 0.5, 0.2, 0.8)
    return made.path


def change(path, script):
    with closing(sqlite3.connect(path)) as base:
        base.executescript(script)


def used(path):
    """Do with a journal what a session does."""
    with opened(path) as journal:
        Answers(GRAPH, ()).replay(journal.entries())
        return journal.estimates(), journal.of("b")


def test_the_journal_is_whole(journal):
    assert used(journal)[0] == [(1, 0.5, 0.2, 0.8)]


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE entries SET kind = 'evil' WHERE id = 'b'",
        "UPDATE entries SET node = 'one' WHERE id = 'b'",
        "UPDATE entries SET node = 1.5 WHERE id = 'b'",
        "UPDATE entries SET node = 10000000000 WHERE id = 'b'",
        "UPDATE entries SET class = 77 WHERE id = 'b'",
        "UPDATE entries SET class = x'00' WHERE id = 'b'",
        "UPDATE entries SET who = x'ff00' WHERE id = 'b'",
        "UPDATE entries SET at = 7 || '', id = x'00' WHERE id = 'a'",
        "UPDATE entries SET text = 7.5 + 0 WHERE id = 'a'; UPDATE entries SET text = x'00'",
        "UPDATE entries SET text = CAST(x'c328' AS TEXT) WHERE id = 'a'",
        "UPDATE estimates SET accuracy = 'high'",
        "UPDATE estimates SET accuracy = 9e999",
        "UPDATE estimates SET low = -1",
        "DELETE FROM graph",
        "INSERT INTO graph VALUES ('x', 1, 'y')",
        "UPDATE graph SET nodes = 'many'",
        "UPDATE graph SET name = x'00'",
        "DROP TABLE entries",
        "ALTER TABLE entries ADD COLUMN more TEXT",
        "CREATE TABLE more (x)",
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "DROP TABLE estimates; CREATE VIEW estimates AS "
        + ENDLESS.replace(
            "@", "k AS revision, 1 AS labels, 0.5 AS accuracy, 0.1 AS low, 0.9 AS high"
        ),
        "DROP TABLE entries; CREATE VIEW entries AS "
        + ENDLESS.replace(
            "@",
            "k AS revision, k AS id, '' AS at, '' AS who, 'skip' AS kind, 1 AS node, "
            "NULL AS class, NULL AS text",
        ),
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 9",
    ],
)
def test_journals_that_were_tampered_with(journal, script):
    change(journal, script)
    refusal(used, journal)


def test_a_journal_that_was_killed_before_its_first_line_is_begun(tmp_path):
    (tmp_path / "labels.sqlite").touch()
    with Journal(tmp_path / "labels.sqlite", "abc", 3, "people") as journal:
        assert journal.add(Entry("a", "skip", node=1), who="ann") == 1


def test_the_first_lines_of_a_journal_are_there_together(tmp_path, monkeypatch):
    from graphheat.labeling import journal as module

    monkeypatch.setattr(module, "SCHEMA", module.SCHEMA + "CREATE TABLE graph (x);")
    with pytest.raises(Exception, match="graph"):
        opened(tmp_path / "labels.sqlite")
    monkeypatch.undo()
    with opened(tmp_path / "labels.sqlite") as journal:
        assert journal.entries() == []


# ---------------------------------------------------------------------- label


def test_labelling_does_not_replace_a_run_or_what_it_reads(tmp_path, monkeypatch):
    pytest.importorskip("starlette")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graphheat.labeling.label_server.LabelServer.run", lambda self: None)
    write_npz(GRAPH, "g.npz")
    assert invoke("fit", "g.npz", "--recipe", "spreading", "--out", "run").exit_code == 0
    result = invoke("label", "g.npz", "--no-networks", "--out", "run")
    assert result.exit_code == 2
    assert "holds a run, and no labels" in result.stderr
    assert not Path("run/labels.sqlite").exists()
    Path("own").mkdir()
    write_npz(GRAPH, "own/graph.npz")
    result = invoke("label", "own/graph.npz", "--no-networks", "--out", "own")
    assert result.exit_code == 2
    assert "is what the command reads" in result.stderr


# ---------------------------------------------------------------------- stores


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE runs; CREATE VIEW runs AS "
        + ENDLESS.replace(
            "@",
            "'gcn' AS row, 'cora' AS graph, '{}' AS settings, k AS seed, '' AS started, "
            "1.0 AS seconds, 0.5 AS test_accuracy, 0.5 AS val_accuracy, '{}' AS metrics, "
            "'{}' AS versions, '0' AS test_predicted",
        ),
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
        "ALTER TABLE runs ADD COLUMN more AS (hex(zeroblob(400000000)))",
        "CREATE TABLE mine (x)",
    ],
    ids=["view", "trigger", "computed", "table"],
)
def test_stores_that_compute(tmp_path, script):
    path = tmp_path / "runs.sqlite"
    Store(path).take(read_runs(RUNS).head(3))
    change(path, script)
    refusal(read_runs, path)
    refusal(Store, path)
