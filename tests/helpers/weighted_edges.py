"""Random weighted graphs as PyTorch layers take them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch

N = 12


def random_graph(n=N, seed=0, share=0.3):
    """A random weighted graph with loops and an isolated last node: matrix, edges, weights."""
    random = np.random.default_rng(seed)
    A = np.triu((random.random((n, n)) < share) * random.uniform(0.5, 3, (n, n)))
    A = np.maximum(A, A.T)
    A[-1] = A[:, -1] = 0
    return A, *edges_of(A)


def edges_of(A):
    coo = sp.coo_array(A)
    return torch.tensor(np.stack([coo.row, coo.col])).long(), torch.tensor(coo.data)


def signal(n=N, channels=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, channels, generator=generator, dtype=torch.float64)
