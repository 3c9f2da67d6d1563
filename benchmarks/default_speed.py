"""The default recipe and the linear one beside PyG's GCN, in one process: seconds as ratios.

GCN as its paper has it: two layers, 16 hidden units, dropout 0.5, 200 epochs, no early stop,
validation looked at every epoch, features dense, as PyG's own examples do. Regime (a) of suite.py,
split 0. Each in turn, best of --rounds. Rows of graphs that are not asked for stay in the results.

OMP_NUM_THREADS=1 python benchmarks/default_speed.py [--graphs cora,acm] [--rounds 2]
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import torch
from interleave import RESULTS, best_of, report
from suite import GRAPHS, parted
from torch.nn.functional import cross_entropy, dropout, relu
from torch_geometric.nn import GCNConv

import graphheat
from graphheat import Graph

EPOCHS = 200


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--graphs", default=",".join(GRAPHS))
    options.add_argument("--rounds", type=int, default=2)
    arguments = options.parse_args()
    rows = []
    for name in arguments.graphs.split(","):
        graph = parted(name, "a", 0)
        data = graph.to_pyg()

        def auto(graph: Graph = graph) -> None:
            graphheat.fit(graph)

        def linear(graph: Graph = graph) -> None:
            graphheat.fit(graph, "linear")

        def gcn(data: Any = data) -> None:
            train_gcn(data)

        seconds = best_of({"gcn": gcn, "auto": auto, "linear": linear}, arguments.rounds)
        rows.append(
            {
                "graph": name,
                "nodes": graph.n,
                "GCN, seconds": round(seconds["gcn"], 2),
                "auto / GCN": round(seconds["auto"] / seconds["gcn"], 3),
                "linear / GCN": round(seconds["linear"] / seconds["gcn"], 3),
            }
        )
        print(rows[-1], flush=True)
    kept = RESULTS / "default_speed.json"
    before = json.loads(kept.read_text())["rows"] if kept.exists() else []
    found = {row["graph"]: row for row in [*before, *rows]}
    ordered = [found[name] for name in GRAPHS if name in found]
    report("default_speed", ordered, threads=torch.get_num_threads())


class GCN(torch.nn.Module):
    """Two layers, as in PyG's documentation."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(features, 16), GCNConv(16, classes)

    def forward(self, x: Any, edge_index: Any) -> Any:
        """Return logits, shape (n, c)."""
        x = dropout(x, 0.5, self.training)
        hidden = relu(self.first(x, edge_index))
        return self.second(dropout(hidden, 0.5, self.training), edge_index)


def train_gcn(data: Any) -> None:
    """Train for 200 epochs."""
    net = GCN(data.x.shape[1], int(data.y.max()) + 1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(EPOCHS):
        net.train()
        optimizer.zero_grad()
        logits = net(data.x, data.edge_index)
        cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        net.eval()
        with torch.no_grad():
            logits = net(data.x, data.edge_index)
            cross_entropy(logits[data.val_mask], data.y[data.val_mask])


if __name__ == "__main__":
    main()
