"""Spectral CNN and GWNN against their formulas, and on graphs whose answer is known."""

import numpy as np
import pytest
import torch
from odd_graphs import EASY, EASY_SPLIT, accuracy, is_valid, odd_graph, with_other_test_labels

from graphheat.baselines import eigenvectors, load
from graphheat.baselines.diagonal_filter import DiagonalFilter
from graphheat.baselines.eigenvectors import lowest_eigenvectors
from graphheat.baselines.gwnn import GWNN, _transforms
from graphheat.baselines.spectral_cnn import SpectralCNN
from graphheat.baselines.wavelets import check_matrix_memory, matrix_of
from graphheat.datasets import block_model
from graphheat.errors import GraphError, KernelMemoryError, ParameterError
from graphheat.heat import laplacian, normalized_adjacency
from graphheat.heat.engines import Auto

BASELINES = [
    ("spectral_cnn", {}),
    ("spectral_cnn", {"full_below": 0, "eigenvectors": 30}),
    ("gwnn", {"inverse": "published"}),
    ("gwnn", {"inverse": "exact"}),
    ("gwnn", {"inverse": "exact", "eps": None}),
]
every_baseline = pytest.mark.parametrize(("name", "changes"), BASELINES)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHHEAT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fit(name, changes, graph=EASY, split=EASY_SPLIT, seed=0, **settings):
    return load(name)(**{"max_epochs": 120, **changes, **settings}).fit(graph, split, seed)


def decomposed(graph):
    return np.linalg.eigh(laplacian(graph.adjacency).toarray())


# ---------------------------------------------------------------------- every baseline


@every_baseline
def test_easy_classes_are_found(name, changes):
    outcome = fit(name, changes)
    assert accuracy(outcome) > 0.9
    assert is_valid(outcome.probabilities, EASY)
    assert len(outcome.history["val_accuracy"]) >= outcome.best_epoch > 0


@every_baseline
def test_a_seed_repeats_and_another_does_not(name, changes):
    state = torch.get_rng_state()
    first, again, other = (fit(name, changes, seed=seed, max_epochs=5) for seed in (1, 1, 2))
    assert np.array_equal(first.probabilities, again.probabilities)
    assert not np.array_equal(first.probabilities, other.probabilities)
    assert torch.equal(state, torch.get_rng_state())


@every_baseline
def test_labels_outside_train_and_val_are_not_looked_at(name, changes):
    honest = fit(name, changes, max_epochs=10)
    hidden = fit(name, changes, with_other_test_labels(), max_epochs=10)
    assert np.array_equal(honest.probabilities, hidden.probabilities)
    assert honest.history == hidden.history


@every_baseline
@pytest.mark.parametrize("sparse", [True, False])
def test_odd_graphs(name, changes, sparse):
    graph, split = odd_graph(sparse=sparse)
    if "eigenvectors" in changes:
        changes = {**changes, "eigenvectors": 5}
    outcome = fit(name, changes, graph, split, max_epochs=200)
    assert is_valid(outcome.probabilities, graph)
    assert outcome.probabilities[:2].argmax(axis=1).tolist() == [0, 1]


@every_baseline
def test_a_graph_without_features_is_refused(name, changes):
    bare = block_model(20, 2, features=0, labels_per_class=2)
    with pytest.raises(GraphError, match="has no features"):
        fit(name, changes, bare, bare.completed_split(0))


@every_baseline
def test_the_weights_kept_are_the_last_of_the_best_validation_accuracy(name, changes):
    outcome = fit(name, changes, max_epochs=30)
    accuracies = np.array(outcome.history["val_accuracy"])
    assert outcome.best_epoch == 1 + np.flatnonzero(accuracies == accuracies.max())[-1]
    right = outcome.probabilities.argmax(axis=1) == EASY.labels
    assert right[EASY_SPLIT.val].mean() == accuracies.max()


# ---------------------------------------------------------------------- layers and formulas


def layer_output(domain, g, x=None):
    generator = torch.Generator().manual_seed(0)
    layer = DiagonalFilter(6, 4, domain.size)
    x = torch.randn(EASY.n, 6, generator=generator) if x is None else x
    with torch.no_grad():
        layer.kernel.copy_(g)
        whole = layer(x, domain.forth, domain.back)
        rows = torch.tensor([5, 0, 17])
        assert torch.allclose(layer(x, domain.forth, domain.back_to(rows)), whole[rows], atol=1e-5)
    return (x @ layer.weight).detach().numpy(), whole.numpy()


@pytest.mark.parametrize("baseline", [SpectralCNN(), GWNN(inverse="exact", eps=0.0)])
def test_a_filter_of_ones_is_no_filter(baseline):
    domain = baseline.domain(EASY)
    mixed, filtered = layer_output(domain, torch.ones(EASY.n))
    assert np.allclose(filtered, mixed, atol=1e-5)


def test_spectral_layer_is_the_formula():
    g = np.random.default_rng(1).uniform(-1, 2, EASY.n)
    domain = SpectralCNN().domain(EASY)
    mixed, filtered = layer_output(domain, torch.tensor(g))
    U = lowest_eigenvectors(EASY, EASY.n).astype(np.float64)
    assert np.allclose(U.T @ laplacian(EASY.adjacency) @ U, np.diag(decomposed(EASY)[0]), atol=1e-5)
    assert np.allclose(filtered, U @ np.diag(g) @ U.T @ mixed, atol=1e-4)


@pytest.mark.parametrize("eps", [None, 0.0, 1e-3])
@pytest.mark.parametrize("inverse", ["exact", "published"])
def test_wavelet_layer_is_the_formula(inverse, eps):
    s = 0.7
    g = np.random.default_rng(1).uniform(-1, 2, EASY.n)
    domain = GWNN(s=s, eps=eps, inverse=inverse).domain(EASY)
    mixed, filtered = layer_output(domain, torch.tensor(g))
    lamb, U = decomposed(EASY)

    def function(response):
        matrix = U @ np.diag(response) @ U.T
        return np.where(np.abs(matrix) >= (eps or 0.0), matrix, 0)

    psi = function(np.exp(-s * lamb))
    if inverse == "exact":
        expected = psi @ np.diag(g) @ function(np.exp(s * lamb)) @ mixed
    else:  # as in the authors' code: the eigenvalues are no longer λ but e^{-sλ}
        expected = function(np.exp(s * np.exp(-s * lamb))) @ np.diag(g) @ psi @ mixed
    assert np.allclose(filtered, expected, atol=1e-4)


def test_gradients_of_the_wavelet_layer():
    domain = GWNN(eps=1e-3).domain(EASY)
    x = torch.randn(EASY.n, 2, generator=torch.Generator().manual_seed(0), requires_grad=True)
    rows = torch.tensor([3, 4])
    domain.back_to(rows)(domain.forth(x)).square().sum().backward()
    by_rows, x.grad = x.grad, None
    domain.back(domain.forth(x))[rows].square().sum().backward()
    assert torch.allclose(by_rows, x.grad, atol=1e-4)


def test_the_published_inverse_has_no_negative_entry_and_the_exact_one_has():
    S = normalized_adjacency(EASY.adjacency)
    published = matrix_of(S, lambda x: np.exp(np.exp(-x)), 0.0)
    exact = matrix_of(S, np.exp, 0.0)
    assert published.min() > -1e-12
    assert 0.2 < (exact.data < 0).mean() < 0.8
    assert (exact - exact.T).nnz == 0


def test_matrices_by_compiled_loops_are_the_same(monkeypatch):
    S = normalized_adjacency(EASY.adjacency)
    plain = matrix_of(S, np.exp, 1e-4)
    monkeypatch.setattr("graphheat.baselines.wavelets.ONE_OFF", Auto(signals=0))
    compiled = matrix_of(S, np.exp, 1e-4, threads=1)
    assert abs(plain - compiled).max() < 1e-12
    assert plain.nnz == compiled.nnz


def test_wavelets_that_would_not_fit_are_refused_before_any_is_computed(monkeypatch):
    S = normalized_adjacency(EASY.adjacency)
    entries = matrix_of(S, np.exp, 1e-4).nnz
    room = 2.5 * 12 * entries
    monkeypatch.setattr("graphheat.baselines.wavelets.available_memory", lambda: 1.3 * room)
    check_matrix_memory(S, np.exp, 1e-4)
    monkeypatch.setattr("graphheat.baselines.wavelets.available_memory", lambda: 0.7 * room)
    monkeypatch.setattr("graphheat.baselines.gwnn.HeatKernel", None)
    with pytest.raises(KernelMemoryError, match=r"Raise eps, or pass eps=None"):
        GWNN(s=1.0, inverse="exact").domain(EASY)


def test_wavelets_are_computed_once_for_all_splits():
    gwnn = GWNN(s=0.123)
    gwnn.domain(EASY)
    before = _transforms.cache_info()
    gwnn.domain(with_other_test_labels())
    assert _transforms.cache_info().hits == before.hits + 1


def test_an_unknown_inverse_is_refused():
    with pytest.raises(ParameterError, match="'inverse' parameter of GWNN"):
        GWNN(inverse="none").domain(EASY)


# ---------------------------------------------------------------------- eigenvectors


@pytest.mark.parametrize("homophily", [0.95, 0.5])
def test_filtered_eigenvectors_are_those_of_the_dense_decomposition(homophily):
    graph = block_model(400, 4, degree=6, homophily=homophily, features=0, seed=3)
    found = lowest_eigenvectors(graph, 40).astype(np.float64)
    values, _ = decomposed(graph)
    L = laplacian(graph.adjacency)
    assert np.allclose(np.einsum("ij,ij->j", found, L @ found), values[:40], atol=1e-5)
    assert np.abs(L @ found - found * values[:40]).max() < 1e-5
    assert np.abs(found.T @ found - np.eye(40)).max() < 1e-5


def test_multiple_eigenvalues_are_all_found():
    cliques = np.kron(np.eye(60), np.ones((4, 4)) - np.eye(4))
    graph = EASY.from_scipy(cliques)
    found = lowest_eigenvectors(graph, 60).astype(np.float64)
    assert np.allclose(found @ found.T, np.kron(np.eye(60), np.full((4, 4), 0.25)), atol=1e-5)


@pytest.mark.parametrize("count", [20, 400])
def test_eigenvectors_are_read_from_the_cache(cache, count, monkeypatch):
    first = lowest_eigenvectors(EASY, count)
    assert first.shape == (240, min(count, 240))
    for way in ("_dense", "_filtered"):
        monkeypatch.setattr(eigenvectors, way, None)
    assert np.array_equal(lowest_eigenvectors(EASY, count), first)
    assert np.array_equal(lowest_eigenvectors(with_other_test_labels(), count), first)
    (file,) = cache.iterdir()
    assert file.suffix == ".npy"


@pytest.mark.parametrize("damage", ["cut", "garbage", "zeros", "nan", "shape", "dtype", "empty"])
def test_a_damaged_file_is_computed_again(cache, damage):
    first = lowest_eigenvectors(EASY, 20)
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    arrays = {
        "zeros": np.zeros_like(first),
        "nan": np.where(np.arange(240)[:, None] == 7, np.float32(np.nan), first),
        "shape": first[1:],
        "dtype": first.astype(np.float64),
    }
    if damage in arrays:
        np.save(file, arrays[damage])
    else:
        file.write_bytes({"cut": whole[:999], "garbage": b"no numbers" * 99, "empty": b""}[damage])
    assert np.array_equal(lowest_eigenvectors(EASY, 20), first)
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GRAPHHEAT_CACHE", str(tmp_path / "file" / "cache"))
    assert lowest_eigenvectors(EASY, 10).shape == (240, 10)


@pytest.mark.parametrize("count", [20, 240])
def test_too_little_memory_is_said_before(count, monkeypatch):
    monkeypatch.setattr(eigenvectors, "available_memory", lambda: 1000)
    with pytest.raises(KernelMemoryError, match="Ask for fewer eigenvectors"):
        lowest_eigenvectors(EASY, count)
