"""Graphs at hand: the paper's data sets, the karate club, block models, local copies of others."""

from graphheat.datasets.block_model import block_model
from graphheat.datasets.bundled import DatasetInfo, PaperCounts, info, load, names, paper_name
from graphheat.datasets.local_copies import fetch_dgl, fetch_ogb, fetch_pyg

__all__ = [
    "DatasetInfo",
    "PaperCounts",
    "block_model",
    "fetch_dgl",
    "fetch_ogb",
    "fetch_pyg",
    "info",
    "load",
    "names",
    "paper_name",
]
