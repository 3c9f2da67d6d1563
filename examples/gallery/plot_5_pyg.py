"""
A layer for PyTorch Geometric
=============================

``HeatConv`` is called as PyG's layers are, with ``x`` and ``edge_index``. Its diffusion time is a
number that you give, or one that gradient descent finds.
"""

import matplotlib.pyplot as plt
import torch
from torch.nn.functional import cross_entropy, dropout

import graphheat
from graphheat import HeatConv

torch.manual_seed(0)
cora = graphheat.datasets.load("cora")
data = cora.to_pyg()
x = data.x / data.x.sum(dim=1, keepdim=True)

# %%
# Two layers, the paper's; K = 2 kernel terms each: the node itself, and what heat brings.


class Network(torch.nn.Module):
    """Two heat convolutions."""

    def __init__(self):
        super().__init__()
        self.first = HeatConv(x.size(1), 16, s=3.5)
        self.second = HeatConv(16, len(cora.classes), s=3.5)

    def forward(self, x, edge_index):
        """Return logits, shape (n, c)."""
        hidden = self.first(dropout(x, 0.5, self.training), edge_index).relu()
        return self.second(dropout(hidden, 0.5, self.training), edge_index)


network = Network()
optimizer = torch.optim.Adam(network.parameters(), lr=0.02, weight_decay=5e-4)
accuracies = []
for _ in range(60):
    network.train()
    logits = network(x, data.edge_index)
    loss = cross_entropy(logits[data.train_mask], data.y[data.train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    network.eval()
    with torch.no_grad():
        right = network(x, data.edge_index).argmax(dim=1) == data.y
    accuracies.append(
        [float(right[mask].float().mean()) for mask in (data.train_mask, data.val_mask)]
    )

# %%
# Accuracy on the 140 training and the 500 validation papers:

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(accuracies, label=["training", "validation"])
ax.set(xlabel="epoch", ylabel="accuracy")
ax.legend(frameon=False)
print(f"validation accuracy after 60 epochs: {accuracies[-1][1]:.3f}")
