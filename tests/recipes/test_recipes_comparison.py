"""compare and evaluate(jobs=…): the same runs, tables that can be read again, paired tests."""

import io

import numpy as np
import pandas
import pytest
from scipy.stats import ttest_rel, wilcoxon

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import OutputError, ParameterError
from graphheat.runs import Run

GRAPH = block_model(90, 3, features=8, feature_strength=0.3, homophily=0.5, seed=0)


@pytest.fixture(scope="module")
def result():
    return graphheat.compare(
        GRAPH, {"linear": {}, "little heat": {"recipe": "linear", "s": 0.1}}, splits=6, per_class=4
    )


def test_runs_of_several_processes_are_those_of_one():
    options = {"seeds": [4, 1, 2], "threads": 1, "max_epochs": 5}
    heard: list[Run] = []
    alone = graphheat.evaluate(GRAPH, "paper", **options)
    beside = graphheat.evaluate(GRAPH, "paper", jobs=2, callback=heard.append, **options)
    assert [run.seed for run in heard] == [4, 1, 2]
    for one, other in zip(alone.runs, beside.runs, strict=True):
        assert np.array_equal(one.probabilities, other.probabilities)
        assert one.settings == other.settings


def test_splits_of_several_processes_are_those_of_one(result):
    beside = graphheat.compare(GRAPH, ["linear"], splits=6, per_class=4, jobs=2)
    first = result.evaluations["linear"].accuracies
    assert np.array_equal(beside.evaluations["linear"].accuracies, first)


def test_the_tests_are_scipys_on_pairs(result):
    first, second = (result.evaluations[name].accuracies for name in ("linear", "little heat"))
    row = result.rows()[1]
    assert row["difference"] == pytest.approx((first - second).mean())
    assert row["larger"] == (first > second).sum()
    assert row["p"] == pytest.approx(ttest_rel(first, second).pvalue)
    assert row["p_wilcoxon"] == pytest.approx(wilcoxon(first, second).pvalue)
    assert result.rows()[0]["p"] is None


def test_equal_scores_have_no_p():
    same = {"one": {"recipe": "linear"}, "other": {"recipe": "linear"}}
    row = graphheat.compare(GRAPH, same, splits=2, per_class=4).rows()[1]
    assert (row["difference"], row["larger"], row["p"], row["p_wilcoxon"]) == (0, 0, None, None)


def test_tables_are_written_by_suffix(result, tmp_path):
    for suffix in (".csv", ".md", ".tex"):
        result.write(tmp_path / f"table{suffix}")
    again = pandas.read_csv(io.StringIO((tmp_path / "table.csv").read_text()))
    pandas.testing.assert_frame_equal(again, result.to_frame(), check_dtype=False)
    assert (tmp_path / "table.md").read_text().splitlines()[0].startswith("| recipe | mean ± std |")
    latex = (tmp_path / "table.tex").read_text()
    assert latex.count(r"\\") == 3
    assert latex.startswith(r"\begin{tabular}{lrrr}")
    with pytest.raises(OutputError, match=r"as \.csv, \.md or \.tex; got '\.xls'"):
        result.write(tmp_path / "table.xls")


def test_mistakes_are_answered():
    with pytest.raises(ParameterError, match="'jobs' parameter of evaluate"):
        graphheat.evaluate(GRAPH, "linear", seeds=[0], jobs=0)
    with pytest.raises(ParameterError, match="at least one recipe"):
        graphheat.compare(GRAPH, [])
