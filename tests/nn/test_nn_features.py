"""Sparse features: products as of dense ones, dropout on the non-zeros alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from graphheat.nn import SparseFeatures


def random_features(n=40, f=12, density=0.2, dtype=torch.float64):
    matrix = sp.random_array((n, f), density=density, rng=np.random.default_rng(0), format="csr")
    return SparseFeatures.from_scipy(matrix, dtype=dtype), matrix


def dense_of(features):
    return features @ torch.eye(features.size(1), dtype=features.dtype)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_any_sparse_format_will_do(form):
    _, matrix = random_features()
    features = SparseFeatures.from_scipy(form(matrix), dtype=torch.float64)
    assert np.array_equal(dense_of(features).numpy(), matrix.toarray())
    assert features.shape == (features.size(0), features.size(1)) == matrix.shape
    assert features.dtype == torch.float64


def test_repeated_entries_add_up_and_the_given_matrix_is_left_alone():
    given = sp.csr_array(
        (np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 3)
    )
    before = given.toarray()
    assert dense_of(SparseFeatures.from_scipy(given)).tolist() == [[0, 3, 0], [0, 0, 0]]
    assert np.array_equal(given.toarray(), before)


def test_the_gradient_of_the_weight():
    features, _ = random_features(6, 4, 0.5)
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(features.__matmul__, (weight,))


def test_dropout_keeps_the_pattern_and_scales_what_stays():
    features, matrix = random_features(200, 50)
    torch.manual_seed(0)
    dropped = features.dropout(0.25, training=True)
    assert dropped.pattern is features.pattern
    ratio = dropped.values / features.values
    assert torch.allclose(ratio[ratio != 0], torch.tensor(1 / 0.75, dtype=torch.float64))
    assert 0.2 < (ratio == 0).double().mean() < 0.3
    assert np.array_equal(dense_of(features).numpy(), matrix.toarray())  # the original stays


def test_dropout_draws_anew_and_repeats_with_the_seed():
    features, _ = random_features()
    torch.manual_seed(0)
    first, second = (features.dropout(0.5, training=True).values for _ in range(2))
    torch.manual_seed(0)
    again = features.dropout(0.5, training=True).values
    assert not torch.equal(first, second)
    assert torch.equal(first, again)


def test_dropout_is_the_identity_when_not_training():
    features, _ = random_features()
    assert features.dropout(0.5, training=False) is features
    assert features.dropout(0.0, training=True) is features


def test_the_gradient_under_dropout_is_that_of_what_was_left():
    features, _ = random_features()
    dropped = features.dropout(0.5, training=True)
    weight = torch.randn(12, 3, dtype=torch.float64, requires_grad=True)
    grad = torch.randn(40, 3, dtype=torch.float64)
    (dropped @ weight).backward(grad)
    assert torch.allclose(weight.grad, dense_of(dropped).T @ grad)


def test_features_without_a_non_zero_are_zero():
    features = SparseFeatures.from_scipy(sp.csr_array((3, 4)))
    weight = torch.ones(4, 2, requires_grad=True)
    (features.dropout(0.5, training=True) @ weight).sum().backward()
    assert torch.equal(weight.grad, torch.zeros(4, 2))
