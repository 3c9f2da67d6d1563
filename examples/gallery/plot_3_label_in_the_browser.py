"""
Look, label, look again
=======================

A page of the graph shows where labels are missing or doubtful. Here the same is done in Python:
ask for the label of the node that the model is least sure of, spread again, and see what it
brings.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import graphheat
from graphheat.explorer import write_page

graph = graphheat.datasets.block_model(400, 4, homophily=0.8, seed=1)
truth = np.array(graph.classes)[graph.labels]
first = [np.flatnonzero(graph.labels == code)[0] for code in range(4)]


def accuracies(choose, questions=40):
    """Return the accuracy after each answer, beginning with one label per class."""
    known, found = list(first), []
    for _ in range(questions):
        model = graphheat.HeatLabelSpreading(s=8.0).fit(known, truth[known], graph=graph)
        found.append(float(np.mean(model.predict() == truth)))
        known.append(choose(model.predict_proba(), known))
    return found


def least_sure(probabilities, known):
    """Return the node whose best class has the lowest probability."""
    sure = probabilities.max(axis=1)
    sure[known] = 2.0
    return int(sure.argmin())


# %%
# Beside it, nodes drawn at random, ten times:

draws = np.random.default_rng(0)
at_random = [
    accuracies(lambda _, known: int(draws.choice(np.setdiff1d(np.arange(graph.n), known))))
    for _ in range(10)
]
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
labels = np.arange(4, 44)
ax.plot(labels, accuracies(least_sure), label="the least sure node")
ax.plot(labels, np.mean(at_random, axis=0), label="a random node, mean of ten draws")
ax.set(xlabel="known labels", ylabel="accuracy on all nodes")
ax.legend(frameon=False)

# %%
# A page to look at, in one file that needs no server; the front page of this site is one of Cora.

page = write_page(
    graphheat.fit(graph, "linear"), Path(tempfile.mkdtemp()) / "blocks.html", graph=graph
)
print(page.nodes, "nodes,", page.bytes, "bytes")
