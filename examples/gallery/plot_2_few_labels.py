"""
Few labels
==========

How far do one, two, five or twenty labels per class go on Cora's 2,708 papers? Label spreading
needs the graph alone; the linear recipe uses the words of each paper, too.
"""

import matplotlib.pyplot as plt

import graphheat

cora = graphheat.datasets.load("cora")
counts = [1, 2, 5, 10, 20]

# %%
# ``compare`` fits every recipe on the same random splits, so that differences are paired.

means = {"linear": [], "spreading": []}
for count in counts:
    result = graphheat.compare(cora, list(means), splits=5, per_class=count, val_per_class=0)
    for row in result.rows():
        means[row["recipe"]].append(row["mean"])
print(result)  # of the last: twenty labels per class

# %%
# Accuracy on all papers that were not trained on, mean of five splits:

fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for recipe, values in means.items():
    ax.plot(counts, values, marker="o", label=recipe)
ax.set(xlabel="labels per class", ylabel="accuracy", xscale="log")
ax.set_xticks(counts, [str(count) for count in counts])
ax.legend(frameon=False)
