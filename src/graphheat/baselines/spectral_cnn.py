"""Spectral CNN: filters in the graph's own frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from graphheat.baselines.baseline_run import BaselineRecipe
from graphheat.baselines.diagonal_filter import Domain, FilterBaseline
from graphheat.baselines.eigenvectors import lowest_eigenvectors
from graphheat.graph import Graph


@dataclass(frozen=True)
class SpectralCNN(FilterBaseline):
    r"""Spectral networks (Bruna et al. 2014): convolution as a product in the Fourier domain.

    The eigenvectors U of L = I − D^{-1/2} A D^{-1/2} are to a graph what sines are to a line, and
    their eigenvalues λ the frequencies. A convolution multiplies each frequency of a signal by a
    number, and here these numbers are learned, one per eigenvector (the paper's Eq. 2):

    .. math:: y = U \, g_\theta \, U^\top x, \qquad g_\theta = \mathrm{diag}(\theta_1 … \theta_n)

    The network has two such layers. Each mixes channels with a matrix W first and then filters all
    of them with one diagonal, Y = U g Uᵀ X W: this is the form of the published figures (Xu et al.
    2019, "Graph Wavelet Neural Network"), where Bruna has a diagonal for every pair of channels.
    Filters start as ones, where U g Uᵀ is the identity and the network an MLP.

    Three things are wrong with it, which its successors set right: the eigenvectors cost O(n³) to
    compute and are dense to multiply with, a layer has n numbers to learn from few labels, and the
    filter of a node's neighbourhood may reach across the whole graph. Graphs of ``full_below``
    nodes or more use only the ``eigenvectors`` of the smallest eigenvalues, as Bruna et al. do
    for smooth filters; U g Uᵀ then leaves out what is not smooth, whatever g.

    Parameters
    ----------
    eigenvectors
        How many, on graphs of at least ``full_below`` nodes.
    full_below
        Smaller graphs use all.
    """

    name: ClassVar[str] = "spectral_cnn"
    title: ClassVar[str] = "Spectral CNN"
    reference: ClassVar[str] = (
        "J. Bruna, W. Zaremba, A. Szlam, Y. LeCun: Spectral Networks and Locally Connected "
        "Networks on Graphs, ICLR 2014"
    )

    eigenvectors: int = 1000
    full_below: int = 5000

    def domain(self, graph: Graph) -> Domain:
        """Return the Fourier domain of the graph, or its smooth part."""
        count = graph.n if graph.n < self.full_below else self.eigenvectors
        U = torch.from_numpy(lowest_eigenvectors(graph, count))
        return Domain(
            size=U.shape[1],
            forth=lambda x: U.T @ x,
            back=lambda z: U @ z,
            back_to=lambda rows: U[rows].__matmul__,
        )


RECIPE = BaselineRecipe(SpectralCNN)
