"""The paper's tables: what is counted, and how runs become cells."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from graphheat.errors import ParameterError
from graphheat.paper import profile, tables
from graphheat.paper.rows import GRAPHS, ROWS, row_named
from graphheat.paper.task import Task, full_settings


def runs_of(row, accuracies, graph="cora", seeds=None, changes=()):
    seeds = range(len(accuracies)) if seeds is None else seeds
    settings = full_settings(row, graph, dict(changes))
    return pandas.DataFrame(
        {
            "row": row,
            "graph": graph,
            "settings": [settings] * len(accuracies),
            "seed": list(seeds),
            "seconds": 2.0,
            "test_accuracy": accuracies,
        }
    )


def cell_of(cells, row, graph="cora"):
    return next(cell for cell in cells if cell.row.key == row and cell.graph == graph)


def test_table1_counts_what_the_paper_counts_but_edges_once():
    frame = tables.table1()
    differing = frame[frame["paper"] != frame["counted"]]
    assert set(differing["count"]) == {"edges"}
    assert (differing["counted"] < differing["paper"]).all()


def test_table3_is_exactly_the_papers():
    frame = tables.table3()
    assert frame["range"].tolist() == frame["paper_range"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert frame["max_range"].tolist() == frame["paper_max_range"].tolist()


def test_table3_depends_on_s():
    assert (tables.table3(s=0.1)["range"] < tables.table3()["range"]).any()


def test_a_cell_is_mean_and_sample_deviation_of_the_preset_runs():
    other = runs_of("graphheat", [0.1, 0.2], changes=[("s", 1.0)])
    runs = pandas.concat([runs_of("graphheat", [0.80, 0.82, 0.84]), other])
    cell = cell_of(tables.table2(runs), "graphheat")
    assert (cell.n, cell.p) == (3, None)
    assert cell.mean == pytest.approx(82)
    assert cell.std == pytest.approx(2)
    assert cell.gap == pytest.approx(82 - 83.7)
    assert tables.accuracy_text(cell) == "82.0 ± 2.0 (3)"


def test_a_recipe_without_runs_has_an_empty_cell():
    cell = cell_of(tables.table2(runs_of("graphheat", [0.8])), "gcn", "pubmed")
    assert (cell.n, cell.mean) == (0, None)
    assert tables.accuracy_text(cell) == "—"


def test_runs_are_compared_by_seed():
    heat = runs_of("graphheat", [0.80, 0.90, 0.70, 0.85])
    # Always one point below, whatever the seed: a paired test sees it, an unpaired would not.
    below = runs_of("graphheat_implicit", [0.789, 0.891, 0.690, 0.839], seeds=[0, 1, 2, 3])
    assert tables.compare(below, heat) < 0.001
    shuffled = below.assign(seed=[3, 2, 1, 0])
    assert tables.compare(shuffled, heat) > 0.5


def test_the_comparison_copes_with_equal_few_and_single_runs():
    heat = runs_of("graphheat", [0.80, 0.82, 0.81, 0.83])
    assert tables.compare(heat, heat) == 1.0
    assert tables.compare(heat[:2], heat) is None
    single = runs_of("graphheat_implicit", [0.70])
    assert tables.compare(single, heat) < 0.001


def test_figures_from_elsewhere_stand_in_brackets():
    cells = tables.table2(runs_of("graphheat", [0.8]), ["gwnn", "gcn", "monet"])
    lines = {line[0]: line for line in tables.table2_lines(cells, "citeseer")}
    assert lines["GWNN, exact inverse"][1] == "(71.7)"
    assert lines["GCN"][1] == "70.3"
    assert lines["MoNet"][1] == "—"


@pytest.mark.parametrize(("p", "text"), [(None, "—"), (0.0001, "< .001"), (0.25, ".250")])
def test_p_values_read_as_people_write_them(p, text):
    assert tables.p_text(p) == text


def test_the_rows_are_the_papers_fifteen_recipes_and_three_variants():
    in_table = [row for row in ROWS.values() if any(row.published)]
    assert len(in_table) == 12
    assert len({row.recipe for row in ROWS.values()}) == 16  # GraphHeat in two recipes
    with pytest.raises(ParameterError, match="no row 'gnc'"):
        row_named("gnc")


def test_the_full_profile_runs_chance_often_and_certainty_once():
    tasks = profile.full(5, ["lp", "graphheat"])
    counts = pandas.Series([(task.row, task.graph) for task in tasks if not task.changes])
    counts = counts.value_counts()
    assert all(counts["lp", graph] == 1 for graph in GRAPHS)
    assert all(counts["graphheat", graph] == 5 for graph in GRAPHS)
    assert len(set(tasks)) == len(tasks)
    changed = [dict(task.changes) for task in tasks if task.changes]
    assert {tuple(each) for each in changed} == {("s",), ("eps",)}


def test_settings_say_everything_that_decides_a_run():
    settings = Task("graphheat", "citeseer", 0).settings
    assert (settings["s"], settings["eps"], settings["hidden"]) == (4.5, 1e-5, 16)
    assert Task("graphheat_implicit", "pubmed", 0).settings["eps"] is None
    assert Task("graphheat", "cora", 0, (("s", 1.0),)).settings["s"] == 1.0


def test_a_paired_difference_without_spread_is_certain():
    heat = runs_of("graphheat", [0.5, 0.25, 0.75])
    below = heat.assign(test_accuracy=heat["test_accuracy"] - 0.25)
    assert tables.compare(below, heat) == 0.0
    assert np.isfinite(tables.compare(below, heat))
