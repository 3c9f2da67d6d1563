"""Pictures: axes in, axes out; files whole."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.linear import linear_run
from matplotlib.patches import Rectangle

from graphheat import datasets, fit, plot
from graphheat.errors import OutputError, ParameterError
from graphheat.explain import NetworkExplainer


@pytest.fixture(scope="module")
def run():
    graph = datasets.block_model(120, 3, labels_per_class=5, seed=0)
    return fit(graph, "consistent", max_epochs=10)


def test_the_training_curve_shows_losses_accuracy_and_the_kept_epoch(run):
    ax = plot.training_curve(run)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "training loss",
        "validation loss",
        "validation accuracy",
        f"kept: epoch {run.best_epoch}",
    ]
    assert np.array_equal(ax.lines[0].get_ydata(), run.history["train_loss"])


def test_the_confusion_matrix_counts_every_test_node(run):
    ax = plot.confusion_matrix(run)
    counted = sum(int(text.get_text()) for text in ax.texts)
    assert counted == len(run.split.test)


def test_the_reliability_diagram_counts_every_test_node_and_names_the_errors(run):
    ax = plot.reliability(run)
    assert sum(int(text.get_text()) for text in ax.texts) == len(run.split.test)
    report = run.calibration_report()
    for key in ("error_before", "error_after", "expected_by_chance"):
        assert f"{report[key]:.3f}" in ax.get_title()
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {"before", "perfect", f"after scaling, T = {run.temperature:.2f}"}
    assert plot.reliability(run, ax) is ax


def test_the_path_marks_what_was_chosen():
    run = linear_run(datasets.block_model(300, 3, seed=0))
    ax = plot.new_axes()
    assert plot.path(run, ax) is ax
    marked = ax.lines[-1]
    assert np.asarray(marked.get_xdata()).tolist() == [run.s]
    assert f"s = {run.s:g}" in str(marked.get_label())


def test_where_nothing_was_tried_there_is_no_path():
    given = linear_run(datasets.block_model(300, 3, seed=0), s=2.0, l2=0.01)
    with pytest.raises(ParameterError, match="no path to draw"):
        plot.path(given)


def test_axes_that_are_given_are_drawn_on(run):
    ax = plot.new_axes()
    assert plot.training_curve(run, ax) is ax
    assert plot.confusion_matrix(run, ax=plot.new_axes()) is not ax


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_saving_writes_the_format_of_the_suffix(run, tmp_path, suffix):
    path = tmp_path / f"curve.{suffix}"
    plot.save(plot.training_curve(run), path)
    assert path.stat().st_size > 1000
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_place_that_cannot_be_written_is_an_error(run, tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        plot.save(plot.training_curve(run), tmp_path / "missing" / "curve.png")


@pytest.fixture(scope="module")
def shown():
    graph = datasets.block_model(120, 3, labels_per_class=5, seed=0)
    explainer = NetworkExplainer(fit(graph, "consistent", max_epochs=10), graph)
    return graph, explainer.explain(int(graph.split["test"][0]))


def test_an_explanation_shows_its_largest_sources_and_bars_that_sum_to_the_logit(shown):
    graph, explanation = shown
    ax = plot.explanation(explanation, graph, limit=12)
    texts = {text.get_text() for text in ax.texts}
    assert {str(node) for node in explanation.sources[:8]} <= texts
    assert str(explanation.node) in texts
    (bars,) = ax.child_axes
    widths = [bar.get_width() for bar in bars.patches if isinstance(bar, Rectangle)]
    assert sum(widths) == pytest.approx(explanation.logit, abs=1e-4)


def test_an_explanation_is_drawn_on_the_axes_given_and_is_the_same_file_twice(shown, tmp_path):
    graph, explanation = shown
    ax = plot.new_axes()
    assert plot.explanation(explanation, graph, ax) is ax
    for name in ("a.png", "b.png"):
        plot.save(plot.explanation(explanation, graph), tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_an_explanation_without_sources_is_a_node_alone(shown):
    graph, explanation = shown
    empty = {name: getattr(explanation, name)[:0]
             for name in ("sources", "contributions", "hops", "training")}  # fmt: skip
    alone = replace(explanation, without_largest=None, **empty)
    texts = [text.get_text() for text in plot.explanation(alone, graph).texts]
    assert texts == [str(explanation.node)]
