"""Pictures: axes in, axes out; files whole."""

import numpy as np
import pytest

from graphheat import datasets, fit, plot
from graphheat.errors import OutputError


@pytest.fixture(scope="module")
def run():
    return fit(datasets.block_model(120, 3, labels_per_class=5, seed=0), max_epochs=10)


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
    assert counted == (run.roles == 3).sum()


def test_the_reliability_diagram_counts_every_test_node_and_names_the_errors(run):
    ax = plot.reliability(run)
    assert sum(int(text.get_text()) for text in ax.texts) == (run.roles == 3).sum()
    report = run.calibration_report()
    for key in ("error_before", "error_after", "expected_by_chance"):
        assert f"{report[key]:.3f}" in ax.get_title()
    labels = {text.get_text() for text in ax.get_legend().get_texts()}
    assert labels == {"before", "perfect", f"after scaling, T = {run.temperature:.2f}"}
    assert plot.reliability(run, ax) is ax


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
