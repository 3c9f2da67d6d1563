"""Consistency regularisation, on graphs whose answers are known."""

import numpy as np
import pytest
import torch
from helpers.network import fit_network, network_settings

from graphheat.datasets import block_model
from graphheat.errors import GraphHeatError
from graphheat.heat import normalized_adjacency
from graphheat.nn.operator import powers_operator
from graphheat.runs import Run
from graphheat.training import ConsistencySettings, prepare_network
from graphheat.training.batchnorm import BatchNormObjective
from graphheat.training.build import build_network
from graphheat.training.consistency import ConsistencyObjective, consistency_loss, sharpened
from graphheat.training.dropout import drop_values, kept_share
from graphheat.training.objective import Targets

GRAPH = block_model(90, 3, features=8, labels_per_class=5, seed=0)
BRIEF = {"max_epochs": 25}
KINDS = [{}, {"normalize": True, "batch": 20}]


def prepared(**changes):
    return prepare_network(GRAPH, network_settings(GRAPH, "consistent", s=2.0, **changes))


@pytest.mark.parametrize("changes", KINDS)
def test_it_learns_what_the_blocks_are(changes):
    run = fit_network(GRAPH, "consistent", s=2.0, max_epochs=150, **changes)
    assert run.recipe == "consistent"
    assert run.test_accuracy > 0.8


@pytest.mark.parametrize("changes", KINDS)
@pytest.mark.parametrize("epoch", [1, 10, 13])
def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path, changes, epoch):
    options = {"s": 2.0, **BRIEF, **changes}
    whole = fit_network(GRAPH, "consistent", **options)

    def stop(now):
        if now.epoch == epoch:
            raise KeyboardInterrupt

    path = tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        fit_network(GRAPH, "consistent", checkpoint=path, observer=stop, **options)
    resumed = fit_network(GRAPH, "consistent", checkpoint=path, resume=True, **options)
    assert resumed.history == whole.history
    assert resumed.best_epoch == whole.best_epoch
    assert np.array_equal(resumed.probabilities, whole.probabilities)


def test_a_run_survives_its_file(tmp_path):
    run = fit_network(GRAPH, "consistent", **BRIEF)
    run.save(tmp_path / "run.safetensors")
    read = Run.load(tmp_path / "run.safetensors")
    assert read.settings == run.settings
    assert np.array_equal(read.probabilities, run.probabilities)


def test_views_without_drops_are_the_network_itself():
    whole = prepared(input_dropout=0.0, dropout=0.0, drop_nodes=0.0)
    everyone = np.arange(GRAPH.n)
    objective = ConsistencyObjective(whole, Targets(everyone, GRAPH.labels, everyone), seed=0)
    views = objective.views().detach()
    assert views.shape == (GRAPH.n, whole.settings.views, 3)
    expected = objective.logits().detach()
    for view in views.unbind(1):
        assert torch.allclose(view, expected, atol=1e-5)


def test_a_node_without_features_gives_nothing_to_its_view():
    whole = prepared(input_dropout=0.0, dropout=0.0, drop_nodes=0.9)
    everyone = np.arange(GRAPH.n)
    objective = ConsistencyObjective(whole, Targets(everyone, GRAPH.labels, everyone), seed=0)
    torch.manual_seed(3)
    kept = kept_share((GRAPH.n, whole.settings.views, 1), 0.9)
    torch.manual_seed(3)
    views = objective.views().detach()
    for view, mask in zip(views.unbind(1), kept.unbind(1), strict=True):
        expected = objective.module(whole.x * mask, whole.operator).detach()
        assert torch.allclose(view, expected, atol=1e-4)


def test_without_the_self_term_its_weights_stay_zero():
    run = fit_network(GRAPH, "consistent", self_term=False, **BRIEF)
    for layer in ("first", "second"):
        assert not run.weights[f"{layer}.weight"][0].any()
        assert run.weights[f"{layer}.weight"][1].any()


def test_normalisations_fold_into_the_weights():
    whole = prepared(normalize=True, batch=20)
    everyone = np.arange(GRAPH.n)
    targets = Targets(everyone[:20], GRAPH.labels[:20], everyone)
    objective = BatchNormObjective(whole, targets, seed=0)
    objective.start(0)
    optimizer = torch.optim.Adam(objective.groups(), lr=0.1)
    for _ in range(12):
        optimizer.zero_grad()
        objective.loss().backward()
        optimizer.step()
    objective.module.eval()
    network = build_network(8, 3, whole.settings)
    network.load_state_dict(objective.weights())
    network.eval()
    with torch.no_grad():
        assert torch.allclose(network(whole.x, whole.operator), objective.logits(), atol=1e-4)


def test_views_that_agree_cost_their_own_doubt_alone():
    settings = network_settings(GRAPH, "consistent", sharpening=1.0, consistency=2.0)
    assert isinstance(settings, ConsistencySettings)
    logits = torch.randn(5, 1, 3).expand(5, 2, 3)
    p = logits[:, 0].softmax(dim=1)
    entropy = -(p * p.log()).sum(dim=1).mean()
    train, labels = torch.tensor([0]), torch.tensor([1])
    whole = consistency_loss(logits, train, labels, settings, step=settings.warmup)
    assert float(whole) == pytest.approx(float(2 * entropy - p[0, 1].log()), rel=1e-5)
    half = consistency_loss(logits, train, labels, settings, step=settings.warmup // 2)
    assert float(half) == pytest.approx(float(entropy - p[0, 1].log()), rel=1e-5)


def test_however_sharp_what_views_are_drawn_to_is_a_distribution():
    p = torch.tensor([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    assert sharpened(p, 1e-3).tolist() == [[1, 0, 0], [0.5, 0.5, 0]]
    assert np.isfinite(
        fit_network(GRAPH, "consistent", s=2.0, sharpening=0.01, **BRIEF).history["val_loss"]
    ).all()


def test_a_training_that_came_to_nothing_says_so(monkeypatch):
    losses = iter([1.0, 1.0, float("nan")])
    right = ConsistencyObjective.loss
    monkeypatch.setattr(ConsistencyObjective, "loss", lambda self: right(self) * next(losses))
    run = fit_network(GRAPH, "consistent", s=2.0, **BRIEF)
    assert run.epochs == 3 and run.best_epoch <= 2
    assert any("diverged at epoch 3" in note for note in run.notes)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_drops_are_as_many_as_asked_and_keep_the_mean(p):
    torch.manual_seed(0)
    kept = kept_share((200_000,), p)
    assert float((kept == 0).float().mean()) == pytest.approx(p, abs=0.006)
    assert float(kept.mean()) == pytest.approx(1.0, abs=0.03)


def test_no_drops_leave_everything():
    x = torch.randn(4, 3)
    assert torch.equal(drop_values(x, 0.0), x)


def test_powers_are_their_mean():
    S = normalized_adjacency(GRAPH.adjacency, self_loops=1.0).toarray()
    expected = sum(np.linalg.matrix_power(S, k) for k in range(5)) / 5
    x = torch.randn(GRAPH.n, 4)
    found = powers_operator(GRAPH, 4, self_loops=1.0)([torch.zeros_like(x), x])
    assert np.allclose(found.numpy(), expected @ x.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"eps": 1e-4}, "eps"),
        ({"K": 3}, "K"),
        ({"views": 0}, "views"),
        ({"drop_nodes": 1.0}, "drop_nodes"),
        ({"sharpening": 0.0}, "sharpening"),
        ({"keep": "last"}, "keep"),
        ({"propagation": "cold"}, "propagation"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_bad_settings_are_named(changes, word):
    with pytest.raises(GraphHeatError, match=word):
        network_settings(GRAPH, "consistent", **changes)


def test_more_views_than_are_held_are_refused():
    with pytest.raises(GraphHeatError, match="'views' parameter of fit must be at most 8"):
        fit_network(GRAPH, "consistent", views=9, normalize=True, **BRIEF)
