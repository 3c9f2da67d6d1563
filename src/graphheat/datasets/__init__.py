"""Graphs at hand: the paper's three data sets, the karate club, and a block model of any size."""

from graphheat.datasets.block_model import block_model
from graphheat.datasets.bundled import DatasetInfo, PaperCounts, info, load, names, paper_name

__all__ = ["DatasetInfo", "PaperCounts", "block_model", "info", "load", "names", "paper_name"]
