"""Stopping rules on validation losses and accuracies written by hand."""

import math

import numpy as np
import pytest
import torch
from odd_graphs import split_of
from torch import nn

from graphheat.baselines.descent import descend, kipf_rule, seeded
from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.training.stop_rule import StopRule

GRAPH = Graph.from_scipy(
    np.zeros((7, 7)), labels=[0, 0, 0, 0, 0, 1, 1], classes=[0, 1], split={"val": range(4)}
)
SPLIT = split_of(GRAPH, train=[4, 5], val=range(4), test=[6])
NO_VAL = split_of(GRAPH, train=[4, 5], test=[6])


class Scripted(nn.Module):
    """Gives the validation losses and accuracies of a script, and knows the epoch as a weight."""

    epoch: torch.Tensor

    def __init__(self, script, weights=None):
        super().__init__()
        self.script, self.weights = script, weights
        self.weight = nn.Parameter(torch.ones(1))
        self.register_buffer("epoch", torch.zeros(()))

    def train_logits(self):
        self.epoch += 1
        if self.weights is not None:
            self.weight.data.fill_(self.weights[int(self.epoch) - 1])
        return self.weight * torch.tensor([[1.0, 0.0], [0.0, 1.0]])

    def val_logits(self):
        """All of the loss is at the nodes that are wrong; the others are certain."""
        loss, accuracy = self.script[int(self.epoch) - 1]
        right = round(4 * accuracy)
        each = loss / (1 - accuracy)
        wrong = math.log(math.expm1(each)) if each < 30 else each
        first = torch.tensor([60.0] * right + [-wrong] * (4 - right))
        return torch.stack([first, torch.zeros(4)], dim=1)

    def logits(self):
        return torch.stack([self.epoch.expand(7) / 100, torch.zeros(7)], dim=1)

    def run(self, rule, split=SPLIT, weight_decay=0.0, **more):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.0, weight_decay=weight_decay)
        outcome = descend(
            self,
            self.logits,
            optimizer,
            GRAPH,
            split,
            rule,
            predict_train=self.train_logits,
            predict_val=self.val_logits,
            **more,
        )
        odds = outcome.probabilities[:, 0] / outcome.probabilities[:, 1]
        kept = 100 * np.log(odds)  # the epoch whose weights made the probabilities
        assert np.allclose(kept, outcome.best_epoch, atol=1e-3)
        return len(outcome.history["train_loss"]), outcome


def losses(*values, accuracy=0.5):
    return [(value, accuracy) for value in values]


def test_script_gives_what_it_says():
    script = [(2.0, 0.5), (0.7, 0.0), (1.5, 0.75), (9.0, 0.25)]
    _, outcome = Scripted(script).run(StopRule(4, 4, "never", "last"))
    assert np.allclose(outcome.history["val_loss"], [loss for loss, _ in script], atol=1e-5)
    assert outcome.history["val_accuracy"] == [accuracy for _, accuracy in script]


def test_mean_stops_above_the_mean_of_the_losses_before():
    # Window 3: epochs 5 to 7 are below the mean of the three before, epoch 8 (3.0) is above 2.67.
    falling = losses(9, 8, 7, 6, 5, 2, 1, 3, 0.9, 0.9)
    epochs, outcome = Scripted(falling).run(kipf_rule(10, 3))
    assert epochs == outcome.best_epoch == 8


def test_mean_first_speaks_at_patience_plus_two():
    # Rising from the start; Kipf's code asks from the epoch of index patience + 1 on.
    rising = losses(*range(1, 21))
    epochs, _ = Scripted(rising).run(kipf_rule(20, 10))
    assert epochs == 12


def test_mean_that_is_equal_goes_on():
    epochs, _ = Scripted(losses(*[2.0] * 9)).run(kipf_rule(9, 3))
    assert epochs == 9


def test_loss_waits_and_keeps_the_lowest():
    script = losses(5, 4, 3, 4, 3, 2.5, 6, 6, 6, 1)
    epochs, outcome = Scripted(script).run(StopRule(10, 3, "loss", "loss"))
    assert (epochs, outcome.best_epoch) == (9, 6)  # an equal loss (epoch 5) does not renew


def test_either_waits_for_loss_and_accuracy_and_keeps_where_both_were_best():
    script = [(3, 0.5), (2, 0.5), (4, 0.75), (1.9, 0.5), (5, 0.5), (5, 0.25), (5, 0.25), (1, 0.75)]
    epochs, outcome = Scripted(script).run(StopRule(8, 3, "either", "both"))
    # Epoch 3 renews by accuracy and 4 by loss, yet at neither was the other as good as before.
    assert (epochs, outcome.best_epoch) == (7, 2)


def test_either_is_renewed_by_an_equal_accuracy():
    script = [(2, 0.5), *[(3, 0.5)] * 9]
    epochs, outcome = Scripted(script).run(StopRule(10, 2, "either", "both"))
    assert (epochs, outcome.best_epoch) == (10, 1)


def test_accuracy_watches_nothing_else():
    script = [(3, 0.5), (4, 0.75), (2, 0.5), (5, 0.75), (1, 0.5), (0.9, 0.5), (0.8, 0.5), (9, 0.75)]
    epochs, outcome = Scripted(script).run(StopRule(8, 3, "accuracy", "accuracy"))
    assert (epochs, outcome.best_epoch) == (7, 4)


def test_never_runs_to_the_end():
    epochs, outcome = Scripted(losses(*range(1, 7))).run(StopRule(6, 1, "never", "loss"))
    assert (epochs, outcome.best_epoch) == (6, 1)


def test_penalised_loss_counts_the_weight_decay():
    script, weights = losses(4, 3.9, 3.8, 3.7, 3.6), [1.0, 2.0, 3.0, 4.0, 5.0]
    plain = StopRule(5, 2, "loss", "loss")
    epochs, outcome = Scripted(script, weights).run(plain, weight_decay=1.0)
    assert (epochs, outcome.best_epoch) == (5, 5)
    watched = StopRule(5, 2, "loss", "loss", penalised=True)  # 4.5, 5.9, 8.3, …
    epochs, outcome = Scripted(script, weights).run(watched, weight_decay=1.0)
    assert (epochs, outcome.best_epoch) == (3, 1)
    assert np.allclose(outcome.history["val_loss"], [4, 3.9, 3.8])  # the history is plain


def test_without_validation_labels_it_runs_a_fixed_time_and_keeps_the_last():
    model = Scripted([])
    epochs, outcome = model.run(StopRule(1000, 5, "loss", "loss"), NO_VAL)
    assert epochs == outcome.best_epoch == StopRule(1, 1).fixed_epochs
    assert all(math.isnan(value) for value in outcome.history["val_loss"])
    assert Scripted([]).run(kipf_rule(7, 5), NO_VAL)[0] == 7


def test_stops_when_the_loss_is_not_a_number():
    epochs, outcome = Scripted(losses(2, 1, math.nan, 1)).run(StopRule(4, 4, "loss", "loss"))
    assert (epochs, outcome.best_epoch) == (3, 2)


def test_diverged_outputs_are_an_error(monkeypatch):
    model = Scripted(losses(1, 1))
    monkeypatch.setattr(model, "logits", lambda: torch.full((7, 2), math.nan))
    with pytest.raises(GraphError, match="diverged"):
        model.run(StopRule(2, 2, "never", "last"))


def test_extra_loss_is_part_of_the_training_loss():
    plain, more = (
        Scripted(losses(1)).run(StopRule(1, 1, "never", "last"), extra_loss=extra)[1]
        for extra in (None, lambda: torch.tensor(3.0))
    )
    assert more.history["train_loss"][0] == pytest.approx(plain.history["train_loss"][0] + 3)


def test_progress_counts_from_one():
    steps = []
    Scripted(losses(2, 1)).run(
        StopRule(2, 2, "never", "last"), progress=lambda *step: steps.append(step)
    )
    assert steps == [(1, 2, "val loss 2.000"), (2, 2, "val loss 1.000")]


def test_seeded_repeats_and_leaves_the_caller_alone():
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    with seeded(1):
        first = torch.rand(2)
    assert torch.equal(torch.rand(2), expected)
    with seeded(1):
        assert torch.equal(torch.rand(2), first)
