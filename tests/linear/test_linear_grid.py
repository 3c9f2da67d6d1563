"""Which settings a grid search takes."""

import numpy as np
import pytest

from graphheat.linear.grid import best_of, deal_folds, sharpness_of


def test_a_pair_is_judged_with_its_neighbours():
    accuracy = np.full((1, 5, 5), 0.7)
    accuracy[0, 0, 4] = 0.9  # a lucky pair
    accuracy[0, 3, 1:4] = accuracy[0, 4, 1:4] = 0.8
    chosen = np.unravel_index(best_of(accuracy, np.ones((1, 5, 5))), accuracy.shape)
    assert chosen == (0, 4, 2)


def test_loss_settles_what_accuracy_does_not():
    loss = np.array([[[0.6, 0.5], [0.7, 0.5]]])
    assert best_of(np.full((1, 2, 2), 0.8), loss) == 1


def test_logits_are_sharpened_until_they_are_as_sure_as_right():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 2000)
    logits = 2.0 * np.eye(3)[codes] + random.gumbel(size=(2000, 3))
    truth, loss = sharpness_of(logits, codes)
    faint, same = sharpness_of(logits / 1000, codes)
    assert faint == pytest.approx(1000 * truth, rel=1e-3) and same == pytest.approx(loss, rel=1e-6)
    assert np.isfinite(sharpness_of(np.zeros((4, 3)), np.zeros(4, dtype=int))[1])


def test_folds_leave_every_class_a_label():
    codes = np.array([0, 1, 1, 2, 2, 2, 2, 2, 2, 2])
    folds = deal_folds(codes, seed=0)
    assert folds[0] == -1 and folds.max() == 4
    for k in range(5):
        assert set(codes[folds != k]) == {0, 1, 2}
    assert deal_folds(np.array([0, 1, 2]), seed=0) is None
