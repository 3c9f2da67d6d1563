"""A run is a function of graph, settings, seed and threads, and leaves the caller's torch alone."""

import numpy as np
import pytest
import torch
from helpers.network import fit_network

from graphheat import recipes
from graphheat.datasets import block_model
from graphheat.training import Epoch

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


def same_weights(a, b):
    return all(np.array_equal(a.weights[name], b.weights[name]) for name in a.weights)


@pytest.mark.parametrize("options", [{}, {"eps": None}, {"recipe": "authors"}, {"K": 3}])
def test_the_same_seed_twice_gives_the_same_run_to_the_bit(options):
    a, b = (fit_network(GRAPH, seed=3, max_epochs=20, **options) for _ in range(2))
    assert same_weights(a, b)
    assert a.history == b.history
    assert np.array_equal(a.probabilities, b.probabilities)


def test_another_seed_gives_another_run():
    a, b = (fit_network(GRAPH, seed=seed, max_epochs=5) for seed in (0, 1))
    assert not same_weights(a, b)


def test_the_random_state_of_the_caller_neither_matters_nor_changes():
    torch.manual_seed(1)
    a = fit_network(GRAPH, max_epochs=5)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    b = fit_network(GRAPH, max_epochs=5)
    assert torch.equal(before, torch.get_rng_state())
    assert same_weights(a, b)


def test_the_global_random_state_of_numpy_is_left_alone():
    before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    fit_network(GRAPH.with_split(), max_epochs=5)
    assert np.array_equal(before, np.random.get_state(legacy=False)["state"]["key"])  # noqa: NPY002


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_the_thread_count_of_the_caller_is_restored(two_threads):
    assert fit_network(GRAPH, threads=1, max_epochs=2).threads == 1
    assert torch.get_num_threads() == 2


def test_the_thread_count_is_restored_after_an_error(two_threads):
    def stop(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fit_network(GRAPH, threads=1, max_epochs=2, observer=stop)
    assert torch.get_num_threads() == 2


def test_the_observer_hears_of_every_epoch_in_order():
    heard: list[Epoch] = []
    run = fit_network(GRAPH, max_epochs=7, observer=heard.append)
    assert [epoch.epoch for epoch in heard] == list(range(1, 8))
    assert [epoch.max_epochs for epoch in heard] == [7] * 7
    assert [epoch.val_loss for epoch in heard] == run.history["val_loss"]
    assert [epoch.train_loss for epoch in heard] == run.history["train_loss"]


def test_the_kernel_reports_its_progress_up_to_the_last_row():
    rows = []
    recipe = recipes.get("paper")
    recipe.prepare(
        GRAPH, recipe.settings(GRAPH), progress=lambda done, n, text: rows.append((done, n))
    )
    assert rows[-1] == (GRAPH.n, GRAPH.n)


def test_sparse_and_dense_features_give_nearly_the_same_first_loss():
    import scipy.sparse as sp

    from graphheat.graph import Graph

    sparse = Graph.from_scipy(
        GRAPH.adjacency,
        sp.csr_array(GRAPH.features),
        GRAPH.labels,
        classes=GRAPH.classes,
        split=GRAPH.split,
    )
    a, b = (fit_network(g, max_epochs=1, dropout=0.0, scaling="l1") for g in (GRAPH, sparse))
    assert a.history["train_loss"] == pytest.approx(b.history["train_loss"], abs=1e-5)
