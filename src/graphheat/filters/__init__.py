"""Functions of a graph's Laplacian with a stated error: filters, wavelets, kernels, your own."""

from graphheat.filters.filter import Filter
from graphheat.filters.filter_bank import FilterBank
from graphheat.filters.graph_filter import GraphFilter
from graphheat.filters.responses import (
    band_pass,
    custom,
    diffusion,
    heat,
    high_pass,
    low_pass,
    matern,
    pagerank,
    tikhonov,
)
from graphheat.filters.trace import Trace
from graphheat.filters.wavelet_bank import WaveletBank, hammond, mexican_hat

__all__ = [
    "Filter",
    "FilterBank",
    "GraphFilter",
    "Trace",
    "WaveletBank",
    "band_pass",
    "custom",
    "diffusion",
    "hammond",
    "heat",
    "high_pass",
    "low_pass",
    "matern",
    "mexican_hat",
    "pagerank",
    "tikhonov",
]
