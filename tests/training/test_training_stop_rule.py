"""When training stops, what it keeps, and which loss it follows, against plain rewritings."""

import numpy as np
import pytest
import torch
from helpers.network import fit_network, network_settings
from torch.nn.functional import cross_entropy

from graphheat import Graph
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.nn import GraphHeat
from graphheat.training import prepare_network

GRAPH = block_model(60, 3, features=8, feature_strength=0.5, labels_per_class=4, seed=0)


def stops_by_patience(losses, patience):
    best = int(np.argmin(losses))
    return len(losses) - 1 - best >= patience


def stops_by_mean(losses, patience):
    return len(losses) > patience and losses[-1] > sum(losses[-patience - 1 : -1]) / patience


@pytest.mark.parametrize(
    ("stopping", "stops"), [("patience", stops_by_patience), ("mean", stops_by_mean)]
)
@pytest.mark.parametrize("patience", [1, 4, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_training_stops_at_the_first_epoch_that_its_rule_names(stopping, stops, patience, seed):
    run = fit_network(
        GRAPH, seed=seed, stopping=stopping, patience=patience, learning_rate=0.05, max_epochs=150
    )
    losses = run.history["val_loss"]
    first = next((e for e in range(1, len(losses) + 1) if stops(losses[:e], patience)), None)
    assert first is not None
    assert run.epochs == first


def test_training_ends_with_its_last_epoch():
    assert fit_network(GRAPH, max_epochs=3).epochs == 3


@pytest.mark.parametrize("recipe", ["paper", "authors"])
def test_the_weights_of_the_lowest_validation_loss_are_kept(recipe):
    run = fit_network(GRAPH, recipe, learning_rate=0.05, patience=20, max_epochs=100)
    losses = run.history["val_loss"]
    assert run.best_epoch == int(np.argmin(losses)) + 1
    assert run.best_epoch < run.epochs
    val = GRAPH.split["val"]
    chosen = run.probabilities[val, GRAPH.labels[val]]
    assert -np.log(chosen).mean() == pytest.approx(min(losses), rel=1e-5)
    assert run.val_accuracy == pytest.approx(run.history["val_accuracy"][run.best_epoch - 1])


def plain_training(graph, settings, seed, epochs):
    """Adam on cross-entropy + l2/2 ‖W₁‖², written out; returns losses and weights an epoch."""
    prepared = prepare_network(graph, settings)
    labels, train = torch.tensor(graph.labels), torch.tensor(graph.split["train"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = GraphHeat(
            prepared.x.size(1),
            len(graph.classes),
            s=settings.s,
            eps=settings.eps,
            dropout=0.0,
        )
    adam = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    losses, weights = [], []
    for _ in range(epochs):
        adam.zero_grad()
        loss = cross_entropy(model(prepared.x, prepared.operator)[train], labels[train])
        penalty = settings.l2 / 2 * (model.first.weight**2).sum()
        (loss + penalty).backward()
        adam.step()
        losses.append(loss.item())
        weights.append({k: v.detach().clone() for k, v in model.state_dict().items()})
    return losses, weights


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_the_loss_is_cross_entropy_plus_half_l2_times_the_first_layers_squared_norm(l2):
    settings = network_settings(GRAPH, dropout=0.0, l2=l2, max_epochs=15)
    losses, weights = plain_training(GRAPH, settings, 4, 15)
    run = fit_network(GRAPH, seed=4, dropout=0.0, l2=l2, max_epochs=15)
    assert run.history["train_loss"] == pytest.approx(losses, abs=1e-5)
    for name, weight in weights[run.best_epoch - 1].items():
        torch.testing.assert_close(torch.tensor(run.weights[name]), weight, atol=1e-4, rtol=1e-3)


def test_l2_shrinks_the_first_layer_alone():
    small, large = (fit_network(GRAPH, l2=l2, max_epochs=60, dropout=0.0) for l2 in (0.0, 1.0))
    norms = [
        {k: float(np.linalg.norm(v)) for k, v in run.weights.items()} for run in (small, large)
    ]
    assert norms[1]["first.weight"] < 0.5 * norms[0]["first.weight"]
    assert norms[1]["second.weight"] > 0.5 * norms[0]["second.weight"]


def test_a_network_that_diverges_says_so_instead_of_predicting_nothing():
    vast = Graph.from_scipy(
        GRAPH.adjacency, np.full((GRAPH.n, 4), 3e38), GRAPH.labels, classes=GRAPH.classes,
        split=GRAPH.split,
    )  # fmt: skip
    with pytest.raises(GraphError, match="Training diverged"):
        fit_network(vast, scaling="none", max_epochs=5, dropout=0.0)
    few = vast.with_split(train=[np.flatnonzero(GRAPH.labels == code)[0] for code in range(3)])
    with pytest.raises(GraphError, match="Training diverged"):
        fit_network(few, scaling="none", max_epochs=5, dropout=0.0)
