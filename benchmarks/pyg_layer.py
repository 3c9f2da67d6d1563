"""PyG's GCN on Cora with HeatConv in the place of GCNConv: eager, compiled, subgraphs, hetero.

    python benchmarks/pyg_layer.py [--rounds 60] [--threads 2,1]

The network is that of PyG's introduction: two layers, a ReLU and dropout between them, Adam. First
that each way gives the same logits and gradients, then what a training step takes, interleaved, the
best of several rounds, on one thread in processor seconds. GCNConv stands beside for scale.
torch.compile is inductor's, with fullgraph=True: a graph break would be an error. *Dense features*:
random numbers in the place of Cora's words, of which 1.3 % are not zero. Inductor draws dropout's
random numbers one at a time on a CPU, where eager torch draws vectors of them; *torch's random
numbers* is the same with ``torch._inductor.config.fallback_random = True``. Rows of an earlier run
with other threads stay.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from interleave import RESULTS, best_of, report
from torch import Tensor, nn
from torch._inductor import config as inductor
from torch.nn import functional
from torch_geometric.nn import GCNConv, HeteroConv, to_hetero
from torch_geometric.utils import k_hop_subgraph

from graphheat import datasets
from graphheat.pyg import HeatConv

S = 3.5
KIND = ("paper", "cites", "paper")


class GCN(nn.Module):
    """Two layers of any kind, as PyG's introduction has them."""

    def __init__(self, layer: Callable[[int, int], nn.Module], inputs: int, classes: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv1 = layer(inputs, 16)
        self.conv2 = layer(16, classes)
        self.dropout = nn.Dropout()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits, shape (n, classes)."""
        x = self.dropout(self.conv1(x, edge_index).relu())
        logits: Tensor = self.conv2(x, edge_index)
        return logits


def heat(inputs: int, outputs: int) -> HeatConv:
    return HeatConv(inputs, outputs, s=S, symmetrize="max")


def step_of(net: nn.Module, forward: Callable[[], Tensor], data: Any) -> Callable[[], Tensor]:
    """Return one training step; it leaves gradients in ``net`` and returns logits."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)

    def step() -> Tensor:
        optimizer.zero_grad()
        out = forward()
        functional.cross_entropy(out[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        return out.detach()

    return step


def outcome(net: nn.Module, forward: Callable[[], Tensor]) -> list[Tensor]:
    """Return logits and gradients of a net that drops nothing."""
    net.eval()
    net.zero_grad()
    out = forward()
    out.square().mean().backward()
    found = [out.detach(), *(p.grad.clone() for p in net.parameters() if p.grad is not None)]
    net.train()
    return found


def difference(found: list[Tensor], expected: list[Tensor]) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(found, expected, strict=True))


def equality(data: Any, sizes: tuple[int, int]) -> list[dict[str, Any]]:
    """Compare logits and gradients of each way with those of the plain, eager network."""
    net = GCN(heat, *sizes)
    plain = outcome(net, lambda: net(data.x, data.edge_index))
    compiled = torch.compile(net, fullgraph=True)
    found = {"compiled": difference(outcome(net, lambda: compiled(data.x, data.edge_index)), plain)}

    hetero = to_hetero(GCN(heat, *sizes), (["paper"], [KIND]))
    first, second = HeteroConv({KIND: net.conv1}), HeteroConv({KIND: net.conv2})
    for name in ("conv1", "conv2"):
        state = getattr(net, name).state_dict()
        getattr(hetero, name)["__".join(KIND)].load_state_dict(state)
    x_dict, edges = {"paper": data.x}, {KIND: data.edge_index}

    def by_relations() -> Tensor:
        hidden = {kind: x.relu() for kind, x in first(x_dict, edges).items()}
        logits: Tensor = second(hidden, edges)["paper"]
        return logits

    of_hetero = outcome(hetero, lambda: hetero(x_dict, edges)["paper"])
    found["to_hetero"] = difference(of_hetero, plain)
    found["HeteroConv"] = difference(outcome(net, by_relations), plain)

    # The component of node 5: what is not linked to it has no heat for it.
    nodes, index, place, _ = k_hop_subgraph(5, 40, data.edge_index, relabel_nodes=True)
    net.eval()
    whole, part = net(data.x, data.edge_index)[5], net(data.x[nodes], index)[place[0]]
    found[f"subgraph of {len(nodes):,} nodes"] = float((whole - part).abs().max())
    nodes, index, *_ = k_hop_subgraph([5, 700], 2, data.edge_index, relabel_nodes=True)
    one_way = index[:, index[0] > index[1]]  # one direction, as in a NeighborLoader's batch
    expected = outcome(net, lambda: net(data.x[nodes], index))
    for way, model in (("one-way subgraph", net), ("one-way subgraph, compiled", compiled)):
        there = outcome(net, lambda m=model: m(data.x[nodes], one_way))  # type: ignore[misc]
        found[way] = difference(there, expected)
    return [{"way": way, "largest difference": each} for way, each in found.items()]


def speed(data: Any, sizes: tuple[int, int], threads: int, rounds: int) -> list[dict[str, Any]]:
    """Time a training step of HeatConv and of GCNConv, eager and compiled."""
    torch.set_num_threads(threads)
    torch._dynamo.reset()
    dense = torch.rand_like(data.x)
    cases = {
        "HeatConv": (heat, data.x),
        "GCNConv": (GCNConv, data.x),
        "HeatConv on dense features": (heat, dense),
        "GCNConv on dense features": (GCNConv, dense),
    }
    ways: dict[str, Callable[[], Tensor]] = {}
    for name, (layer, x) in cases.items():
        for way in ("eager", "compiled", "compiled, torch's random numbers"):
            net = GCN(layer, *sizes)
            call = net if way == "eager" else torch.compile(net, fullgraph=True)
            step = ways[f"{name}, {way}"] = step_of(net, partial(call, x, data.edge_index), data)
            with inductor.patch(fallback_random="random" in way):
                for _ in range(3):
                    step()  # compiled, and operators built
    clock = time.process_time if threads == 1 else time.perf_counter
    best = best_of(ways, rounds, clock=clock)
    return [
        {
            "way": f"{way}, threads: {threads}",
            "step / its eager step": seconds / best[way.split(",")[0] + ", eager"],
            "step ms": 1e3 * seconds,
        }
        for way, seconds in best.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", default="2,1")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # torch's own, of what it will do away with
    data = datasets.load("cora").to_pyg()
    data.x = data.x / data.x.sum(dim=1, keepdim=True).clamp(min=1)
    sizes = data.num_features, int(data.y.max()) + 1
    rows = equality(data, sizes)
    for threads in options.threads.split(","):
        rows += speed(data, sizes, int(threads), options.rounds)
    file = RESULTS / "pyg_layer.json"
    ways = {row["way"] for row in rows}
    kept = json.loads(file.read_text())["rows"] if file.exists() else []
    report("pyg_layer", [*rows, *(row for row in kept if row["way"] not in ways)], s=S)


if __name__ == "__main__":
    main()
