"""Which settings a grid search takes."""

from dataclasses import replace

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.features import Scaling
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.grid import Candidate, Grid, GridSearch, search_grid, sharpness_of
from graphheat.linear.ridge import Spectrum, one_hot

GRAPH = block_model(200, 3, features=20, labels_per_class=10, seed=2)
TRAIN = np.sort(GRAPH.split["train"])
CODES = GRAPH.labels[TRAIN]
GRID = Grid(np.array([0.0, 1.0, 4.0, 9.0]), np.array([1.0, 0.1]), (0.0, 0.3))


def searched(*kinds, grid=GRID, progress=None):
    diffusions = {kind: Diffusion(GRAPH, Scaling.learn(GRAPH.features, kind)) for kind in kinds}
    return search_grid(diffusions, grid, TRAIN, CODES, np.ones(len(TRAIN)), progress)


def test_the_row_of_least_loss_is_taken_and_of_equals_that_of_the_smallest_s():
    found = searched("standard")
    assert found.chosen == found.loss.argmin()
    without = searched("standard", grid=Grid(np.array([2.0, 2.0]), GRID.penalties, (0.0,)))
    assert without.s[without.chosen] == 2.0


def test_every_time_is_tried_once_and_other_forms_at_the_best_times_alone():
    found = searched("standard", "none")
    tried = set(zip(found.numbers.tolist(), found.s.tolist(), found.l2.tolist(), strict=True))
    assert len(tried) == len(found)
    first = found.s[found.numbers == found.candidates.index(Candidate("standard"))]
    assert set(first) == set(GRID.times)
    for number, candidate in enumerate(found.candidates):
        times = set(found.s[found.numbers == number])
        assert times <= set(GRID.times)
        assert candidate == ("standard", 0.0) or len(times) <= 3
        assert candidate.self_weight == 0 or 0.0 not in times


def test_a_row_is_the_leave_one_out_of_its_settings():
    found = searched("standard")
    truth = one_hot(CODES, 3)
    x = Scaling.learn(GRAPH.features, "standard").apply(GRAPH.features)[TRAIN]
    spectrum = Spectrum.of_rows(x, np.ones(len(TRAIN)))
    for row in np.flatnonzero(found.s == 0):
        scores = spectrum.left_out(truth, found.l2[row])
        assert found.loss[row] == pytest.approx(
            ((scores - truth) ** 2).sum(axis=1).mean(), rel=1e-4
        )
        assert found.accuracy[row] == (scores.argmax(axis=1) == CODES).mean()


def test_the_best_rows_differ_in_form_or_time():
    found = searched("standard", "none")
    rows = found.best(4)
    assert rows[0] == found.chosen
    assert (np.diff(found.loss[rows]) >= 0).all()
    assert len(set(zip(found.numbers[rows], found.s[rows], strict=True))) == len(rows) == 4
    for row in rows:
        alike = (found.numbers == found.numbers[row]) & (found.s == found.s[row])
        assert found.loss[row] == found.loss[alike].min()
    pairs = set(zip(found.numbers, found.s, strict=True))
    assert len(found.best(1000)) == len(pairs)


def test_progress_is_told_of_every_time():
    heard = []
    searched("standard", "none", progress=lambda *step: heard.append(step))
    assert all(1 <= done <= total for done, total, _ in heard)
    assert heard[-1][0] == heard[-1][1]
    assert "s = 9" in [text.split(", ")[1] for _, _, text in heard]


def test_where_nothing_was_tried_the_form_is_the_one_given():
    nothing = GridSearch.nothing(Candidate("l2", 0.2))
    assert nothing.candidate == ("l2", 0.2)
    assert (len(nothing), nothing.by, nothing.chosen) == (0, "", -1)
    assert len(nothing.frame()) == 0


def test_the_frame_marks_the_row_that_was_taken():
    found = searched("standard")
    frame = replace(found, chosen=3).frame()
    assert np.flatnonzero(frame["chosen"]).tolist() == [3]
    assert frame["val_loss"].tolist() == found.loss.tolist()


def test_logits_are_sharpened_until_they_are_as_sure_as_right():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 2000)
    logits = 2.0 * np.eye(3)[codes] + random.gumbel(size=(2000, 3))
    truth, loss = sharpness_of(logits, codes)
    faint, same = sharpness_of(logits / 1000, codes)
    assert faint == pytest.approx(1000 * truth, rel=1e-3) and same == pytest.approx(loss, rel=1e-6)
    assert np.isfinite(sharpness_of(np.zeros((4, 3)), np.zeros(4, dtype=int))[1])
