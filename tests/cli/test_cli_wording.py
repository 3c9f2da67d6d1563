"""The shell speaks of its options, not of Python's keywords; names are answered with near ones."""

import json

import pytest
from helpers.command import call

from graphheat.cli.wording import in_shell_words

EDGES = "source,target\nann,bob\nbob,cat\ncat,dan\ndan,eve\n"
NODES = "id,title,drink,age\nann,Ann Lee,tea,1\nbob,Bob Ray,milk,2\ncat,Cat Fox,tea,3\n"
NODES += "dan,Dan Orr,milk,4\neve,Eve Orr,,5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(EDGES)
    (tmp_path / "n.csv").write_text(NODES)
    return tmp_path


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("Pass duplicates='sum', 'max' or 'first'.", "Pass --duplicates sum, 'max' or 'first'."),
        ("pass nodes=….", "pass --nodes."),
        ("pass header=True or header=False.", "pass --header or --no-header."),
        ("Raise eps, or pass eps=None.", "Raise eps, or pass --eps none."),
        ("pass decimal='.' or decimal=','.", "pass --decimal . or --decimal ,."),
        ("columns=[…], or rename", "--columns, or rename"),
        ("kinds={'a b': 'text'}", "--kind a b=text"),
        ("The 's' parameter of HeatKernel must be", "-s must be"),
        ("graph.with_split(…, split=3)", "graph.with_split(…, --split-column 3)"),
        ("Graph.extended(nodes=…)", "Graph.extended(nodes=…)"),
    ],
)
def test_keywords_become_options(python, shell):
    assert in_shell_words(python) == shell


def test_a_column_that_is_not_there(folder):
    message = call("info", "e.csv", "--nodes", "n.csv", "--label-column", "drunk", code=2).stderr
    assert "--label-column names a column that n.csv lacks: 'drunk'" in message
    message = call("info", "e.csv", "--label-column", "drink", code=2).stderr
    assert "pass --nodes" in message and "nodes=" not in message


def test_a_label_of_numbers_is_refused_with_the_way_out(folder):
    rows = "".join(f"n{k},{k * k}\n" for k in range(40))
    (folder / "p.csv").write_text("id,price\n" + rows)
    (folder / "pe.csv").write_text(
        "source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(39))
    )
    message = call("fit", "pe.csv", "--nodes", "p.csv", "--label-column", "price", code=2).stderr
    assert "Column 'price' of p.csv" in message and "graphheat.HeatRegressor" in message
    assert "--label-column" in message and "label=" not in message


def test_a_mistyped_id_is_answered_at_once_and_a_title_will_do(folder):
    how = ["--nodes", "n.csv", "--label-column", "drink"]
    call("fit", "e.csv", *how, "--recipe", "spreading", "--out", "run")
    found = json.loads(call("explain", "run", "cat fox", "--json").stdout)
    assert found["node"] == "cat"
    (folder / "e.csv").unlink()  # it is not even read
    assert "'ann'." in call("explain", "run", "anm", code=2).stderr
    assert "near it are 'Eve Orr' (eve)" in call("explain", "run", "Eve Or", code=2).stderr
