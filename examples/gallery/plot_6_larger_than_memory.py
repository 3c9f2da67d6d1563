"""
Larger than memory
==================

A graph that does not fit into memory is ingested once, into a folder of memory-mapped arrays, and
then fitted and labelled as any other. Here it is small, so that this page builds in seconds; the
calls are the same for a hundred million edges.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas

import graphheat

folder = Path(tempfile.mkdtemp())
blocks = graphheat.datasets.block_model(3000, 3, features=6, homophily=0.8, seed=0)
graphheat.write_csv(blocks, folder / "edges.csv", folder / "nodes.csv")

# %%
# ``memory`` bounds what ingestion takes; edges are sorted on disk.

graph = graphheat.disk.ingest(
    folder / "edges.csv", folder / "blocks.graph", nodes=folder / "nodes.csv", memory="1GB"
)
print(graph.describe())

# %%
# The linear recipe learns from certified rows of e^{-sL}, whose cost does not grow with the
# graph, and labels stream into a file.

run = graphheat.fit(graph, "linear")
run.write_predictions(folder / "labels.parquet")
frame = pandas.read_parquet(folder / "labels.parquet")
print(frame.head())

# %%
# Predicted classes, by confidence:

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
frame["confidence"].plot.hist(ax=ax, bins=30)
ax.set(xlabel="confidence")
