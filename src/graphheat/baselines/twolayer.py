"""Networks of two layers: how they are applied to a graph, and how they learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from graphheat.baselines.baseline import Outcome
from graphheat.baselines.descent import descend
from graphheat.baselines.field import Edges, field_of
from graphheat.baselines.inputs import network_input, rows
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input, dropout
from graphheat.progress import Progress
from graphheat.training.stop_rule import StopRule


class TwoLayers(nn.Module):
    """Dropout, layer, activation, dropout, layer.

    Shapes
    ------
    - **input**: x (n, f), dense or sparse; ``layers``: the edges of either layer
    - **output**: logits (n, c)
    """

    def __init__(
        self,
        first: nn.Module,
        second: nn.Module,
        rate: float,
        activation: Callable[[Tensor], Tensor] = torch.relu,
    ) -> None:
        super().__init__()
        self.first, self.second = first, second
        self.rate, self.activation = rate, activation

    def forward(self, x: Input, layers: Sequence[Edges]) -> Tensor:
        """Return the logits."""
        x = dropout(x, self.rate, self.training)
        hidden = self.activation(self.first(x, *layers[0]))
        hidden = dropout(hidden, self.rate, self.training)
        logits: Tensor = self.second(hidden, *layers[1])
        return logits


def adam(net: nn.Module, penalised: nn.Module, l2: float, learning_rate: float) -> torch.optim.Adam:
    """Return Adam with ½·``l2``·‖W‖² for each W of ``penalised`` that is not a bias."""
    held = [w for name, w in penalised.named_parameters() if not name.endswith("bias")]
    known = {id(weight) for weight in held}
    free = [weight for weight in net.parameters() if id(weight) not in known]
    groups: list[dict[str, Any]] = [{"params": held, "weight_decay": l2}, {"params": free}]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=learning_rate)


def learn(
    net: nn.Module,
    edges: Edges,
    optimizer: Any,
    graph: Graph,
    split: Split,
    rule: StopRule,
    *,
    progress: Progress | None = None,
) -> Outcome:
    """Train a network whose layers each send messages along ``edges`` once.

    A step looks at the fields of the training and of the validation nodes alone, which changes
    nothing but the time it takes.
    """
    x = network_input(graph)

    def outputs_of(nodes: Tensor) -> Callable[[], Tensor]:
        field = field_of(nodes, edges, graph.n)
        seen = rows(x, field.nodes)
        return lambda: net(seen, field.layers)[field.places]

    return descend(
        net,
        outputs_of(torch.arange(graph.n)),
        optimizer,
        graph,
        split,
        rule,
        predict_train=outputs_of(torch.tensor(split.train)),
        predict_val=outputs_of(torch.tensor(split.val)),
        progress=progress,
    )
