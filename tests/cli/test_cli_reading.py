"""What commands say of what they read, and the options of readers in the shell."""

import json

import pandas as pd
import pytest
from helpers.command import call, invoke

EDGES = "source,target,year\nann,bob,2019\nbob,cat,2021\ncat,dan,2021\n"
NODES = "id,label,age,fruit\nann,x,31,fig\nbob,y,,kiwi\ncat,x,28,fig\ndan,y,3,kiwi\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "n.csv").write_text(NODES)
    return tmp_path


COMMANDS = [
    ("info", "e.csv", "--nodes", "n.csv"),
    ("info", "e.csv", "--nodes", "n.csv", "--json"),
    ("neighbors", "e.csv", "ann", "-s", "1", "--nodes", "n.csv"),
    ("kernel", "e.csv", "-s", "1", "--plan", "--nodes", "n.csv"),
    ("fit", "e.csv", "--nodes", "n.csv", "--recipe", "linear", "--json"),
    ("explore", "e.csv", "--nodes", "n.csv", "--out", "page.html"),
]


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: args[0])
def test_every_command_that_reads_says_what_it_took_for_what(args):
    lines = call(*args).stderr.splitlines()
    assert lines[:3] == [
        "e.csv: 'source' and 'target' are the ends of an edge, every weight is 1; "
        "left out: 'year'.",
        "n.csv: 'id' is the id, 'label' the label, 2 columns are features ('age' number, "
        "'fruit' category).",
        "1 values are missing, of 'age' (1): filled in, and marked by a feature '… is missing'.",
    ]


def test_bundled_graphs_need_no_account():
    assert call("info", "karate").stderr == ""


def test_info_shows_columns_and_their_kinds():
    shown = call("info", "e.csv", "--nodes", "n.csv").stdout
    assert "category" in shown
    assert "2 values: fig, kiwi" in shown
    report = json.loads(call("info", "e.csv", "--nodes", "n.csv", "--json").stdout)
    assert [column["kind"] for column in report["columns"]] == ["number", "category"]
    assert len(report["account"]) == 2
    words = ("--kind", "age=category", "--kind", "fruit=skip", "--weight-column", "year")
    message = json.loads(call("info", "e.csv", "--nodes", "n.csv", "--json", *words).stdout)
    assert [column["kind"] for column in message["columns"]] == ["category", "skip"]
    assert message["features"] == 3 + 1
    assert message["weighted"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--missing", "error"), "Column 'age' of n.csv must have a value in every row"),
        (("--kind", "age=colour"), "The kind of column 'age' must be one of number"),
        (("--kind", "age"), "'age' is not COLUMN=KIND."),
        (("--kind", "size=text"), "no feature: 'size'"),
    ],
)
def test_options_of_readers(options, words):
    result = invoke("info", "e.csv", "--nodes", "n.csv", *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_parquet_and_databases_in_the_shell():
    pytest.importorskip("pyarrow")
    pd.read_csv("e.csv").to_parquet("e.parquet")
    pd.read_csv("n.csv").to_parquet("n.parquet")
    words = ("--recipe", "linear", "--json", "--out")
    call("fit", "e.csv", "--nodes", "n.csv", *words, "one")
    call("fit", "e.parquet", "--nodes", "n.parquet", *words, "two")
    one, two = (pd.read_csv(f"{out}/predictions.csv") for out in ("one", "two"))
    pd.testing.assert_frame_equal(one, two)
    from contextlib import closing
    from sqlite3 import connect

    with closing(connect("shop.db")) as base:
        pd.read_csv("e.csv").to_sql("edges", base, index=False)
        pd.read_csv("n.csv").to_sql("nodes", base, index=False)
    shown = json.loads(call("info", "shop.db::edges", "--nodes", "shop.db::nodes", "--json").stdout)
    assert shown["features"] == 4
    assert "is neither a file nor a bundled graph" in invoke("info", "none.db::edges").stderr


def test_several_labels_per_node_from_the_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"{k},{k + 1}\n" for k in range(9)))
    cells = ["tv", "tv|news", "tv", "", "", "", "news", "news", "", "news"]
    rows = "".join(f"{k},{cell},{int('tv' in cell)},{k}\n" for k, cell in enumerate(cells))
    (tmp_path / "n.csv").write_text(f"id,watched,size,x\n{rows}")
    how = ["--nodes", "n.csv", "--label-column", "watched", "--label-separator", "|"]
    found = call("fit", "e.csv", *how, "--out", "run", "--json")
    assert json.loads(found.stdout)["recipe"] == "linear"
    assert "several of 2 labels" in found.stderr
    table = pd.read_csv(tmp_path / "run" / "predictions.csv")
    assert {"p_tv", "p_news"} < set(table.columns)
    assert call("info", "e.csv", *how).exit_code == 0
    message = call("fit", "e.csv", *how, "--recipe", "paper", code=2).stderr
    assert "several labels per node" in message
    call("predict", "run", "--out", "again.csv")
    assert pd.read_csv(tmp_path / "again.csv").equals(table)
    (tmp_path / "m.csv").write_text(
        "id,tv,news\n" + "".join(f"{k},{k % 2},{int(k > 4)}\n" for k in range(10))
    )
    words = ["--label-column", "tv", "--label-column", "news"]
    found = call("fit", "e.csv", "--nodes", "m.csv", *words, "--json")
    assert json.loads(found.stdout)["recipe"] == "spreading"
