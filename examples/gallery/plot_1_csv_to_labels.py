"""
From CSV files to labels
========================

Three hundred people who know each other, five numbers about each of them, and the favourite drink
of fifty. What do the others drink, and how sure can one be?
"""

import matplotlib.pyplot as plt
import numpy as np

import graphheat

# %%
# Two tables: edges, and nodes with a label where it is known. Before anything is learned, the
# graph says what was taken for what.

graph = graphheat.read_csv("../people/edges.csv", "../people/nodes.csv", id="id", label="drink")
print(*graph.account, sep="\n")
print(graph.describe())

# %%
# One call labels everybody. The default spreads the labels by heat, fits linear models and, where
# torch is installed, trains small networks; labels that a stage has not seen decide how much it
# counts.

model = graphheat.GraphHeatClassifier(random_state=0).fit(graph)
frame = model.predictions_frame()
print(frame[["node", "label", "predicted", "confidence"]].head())

# %%
# The confidence is worth looking at: here are those of the people whose drink was not known.

unknown = frame[frame["label"].isna()]
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for drink, part in unknown.groupby("predicted"):
    ax.hist(part["confidence"], bins=np.linspace(0, 1, 26), alpha=0.6, label=drink)
ax.set(xlabel="confidence", ylabel="people")
ax.legend(title="predicted", frameon=False)

# %%
# Why did one of them get a label? What each source gave, and from how far:

print(model.explain(unknown["node"].iloc[0]))
