"""The layout of kernel matrices, and products with some of their rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphheat import HeatKernel, datasets
from graphheat.heat import normalized_adjacency
from graphheat.nn import heat_operator
from graphheat.nn.kernel_matrix import KernelMatrix


def stars(leaves=12, hubs=4):
    """A ring of hubs, each with leaves that are twins of each other, and two isolated nodes."""
    n = hubs * (1 + leaves) + 2
    A = sp.lil_array((n, n))
    for hub in range(hubs):
        A[hub, (hub + 1) % hubs] = A[(hub + 1) % hubs, hub] = 1
        for leaf in range(leaves):
            node = hubs + hub * leaves + leaf
            A[hub, node] = A[node, hub] = 2
    order = np.random.default_rng(0).permutation(n)
    return sp.csr_array(A)[order][:, order]


def laid_out(A, s=2.0, eps=1e-3, dtype=torch.float64):
    H = HeatKernel(A, s, tol=1e-9).matrix(eps)
    return KernelMatrix.lay_out(H, normalized_adjacency(A), dtype), H


@pytest.mark.parametrize("eps", [0.0, 1e-3, 0.02])
def test_twins_are_kept_once_and_products_are_the_same(eps):
    matrix, H = laid_out(stars(), eps=eps)
    assert matrix.twins is not None
    assert matrix.nnz < 0.8 * H.nnz
    x = torch.randn(H.shape[0], 3, dtype=torch.float64)
    assert torch.allclose(matrix @ x, torch.tensor(H @ x.numpy()), atol=1e-12)


def test_a_graph_without_twins_keeps_its_matrix():
    graph = datasets.block_model(60, 3, seed=0)
    matrix, H = laid_out(graph.adjacency)
    assert matrix.twins is None
    x = torch.randn(graph.n, 3, dtype=torch.float64)
    assert torch.allclose(matrix @ x, torch.tensor(H @ x.numpy()), atol=1e-12)


def test_rows_that_are_no_twins_in_the_kernel_are_kept_apart():
    A = stars()
    H = HeatKernel(A, 2.0).matrix(0.0)
    leaf = int(np.flatnonzero(np.diff(A.indptr) == 1)[0])
    H[leaf, leaf - 1] = H[leaf - 1, leaf] = 0.5  # as if rounding had separated them
    matrix = KernelMatrix.lay_out(sp.csr_array(H), normalized_adjacency(A), torch.float64)
    x = torch.randn(A.shape[0], 2, dtype=torch.float64)
    assert torch.allclose(matrix @ x, torch.tensor(H @ x.numpy()), atol=1e-12)


@pytest.mark.parametrize("A", [stars(), datasets.block_model(60, 3, seed=0).adjacency])
def test_rows_are_those_of_the_kernel(A):
    matrix, H = laid_out(A)
    index = np.array([5, 0, 5, A.shape[0] - 1])
    assert np.allclose(matrix.rows(index).toarray(), H.toarray()[index], atol=1e-12)


@pytest.mark.parametrize("eps", [None, 1e-3])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_an_operator_at_some_rows_gives_those_rows_and_their_gradients(eps, K):
    A = stars()
    operator = heat_operator(A, 1.5, K=K, eps=eps, dtype=torch.float64)
    index = torch.tensor([3, 1, 40])
    part = operator.rows(index)
    terms = [torch.randn(A.shape[0], 2, dtype=torch.float64, requires_grad=True) for _ in range(K)]
    weight = torch.randn(3, 2, dtype=torch.float64)
    whole = torch.autograd.grad((operator(terms)[index] * weight).sum(), terms)
    rows = torch.autograd.grad((part(terms) * weight).sum(), terms)
    assert torch.allclose(part(terms), operator(terms)[index], atol=1e-12)
    for a, b in zip(whole, rows, strict=True):
        assert torch.allclose(a, b, atol=1e-12)


def test_an_operator_at_no_rows_is_empty():
    operator = heat_operator(stars(), 1.5, eps=1e-3).rows(torch.empty(0, dtype=torch.int64))
    x = torch.zeros(operator.n, 2)
    assert operator([x, x]).shape == (0, 2)
