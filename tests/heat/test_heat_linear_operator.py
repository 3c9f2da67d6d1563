"""HeatKernel as a SciPy LinearOperator."""

import numpy as np
from scipy.sparse.linalg import eigsh

from graphheat import HeatKernel, datasets


def test_the_view_multiplies_as_the_kernel_does():
    kernel = HeatKernel(datasets.load("karate"), 2.0, tol=1e-10)
    view, x = kernel.as_linear_operator(), np.random.default_rng(0).random((34, 3))
    assert view.shape == (34, 34)
    assert np.array_equal(view @ x, kernel.apply(x))
    assert np.array_equal(view.T @ x[:, 0], kernel.apply(x[:, 0]))


def test_the_largest_eigenvalue_is_one_and_its_vector_the_root_of_the_degrees():
    graph = datasets.load("karate")
    values, vectors = eigsh(HeatKernel(graph, 2.0, tol=1e-10).as_linear_operator(), k=1)
    root = np.sqrt(graph.adjacency.sum(axis=1))
    assert np.isclose(values[0], 1.0, atol=1e-8)
    assert np.allclose(np.abs(vectors[:, 0]), root / np.linalg.norm(root), atol=1e-6)
