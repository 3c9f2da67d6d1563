"""Let gradient descent find the diffusion time: HeatConv with learn_s, in plain PyTorch."""

import torch
from torch.nn.functional import cross_entropy, dropout

from graphheat import HeatConv, datasets

torch.manual_seed(0)
graph = datasets.load("cora")
data = graph.to_pyg()
x = data.x / data.x.sum(dim=1, keepdim=True)
first = HeatConv(x.size(1), 16, s=1.0, learn_s=True)
second = HeatConv(16, len(graph.classes), s=1.0, learn_s=True)
parameters = [*first.parameters(), *second.parameters()]
optimizer = torch.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)

for epoch in range(101):
    hidden = first(dropout(x, 0.5), data.edge_index).relu()
    logits = second(dropout(hidden, 0.5), data.edge_index)
    loss = cross_entropy(logits[data.train_mask], data.y[data.train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        print(f"epoch {epoch:3d}: loss {loss:.3f}, s = {first.s:.2f} and {second.s:.2f}")
