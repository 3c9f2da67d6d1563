"""Networks of two layers: how they are applied to a graph, and how they learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from graphheat.baselines.descent import Stopping, descend
from graphheat.baselines.field import Edges, field_of
from graphheat.baselines.inputs import Input, dropout, network_input, rows
from graphheat.baselines.system import Callback, Outcome
from graphheat.graph import Graph
from graphheat.training.holdout import Roles


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
        x = self.activation(self.first(x, *layers[0]))
        x = dropout(x, self.rate, self.training)
        return self.second(x, *layers[1])


def adam(
    net: nn.Module, penalised: nn.Module, weight_decay: float, learning_rate: float
) -> torch.optim.Adam:
    """Return Adam with ½·``weight_decay``·‖W‖² for each W of ``penalised`` that is not a bias."""
    held = [w for name, w in penalised.named_parameters() if not name.endswith("bias")]
    known = {id(weight) for weight in held}
    free = [weight for weight in net.parameters() if id(weight) not in known]
    groups = [{"params": held, "weight_decay": weight_decay}, {"params": free}]
    return torch.optim.Adam([group for group in groups if group["params"]], lr=learning_rate)


def learn(
    net: nn.Module,
    edges: Edges,
    optimizer: Any,
    graph: Graph,
    roles: Roles,
    stopping: Stopping,
    *,
    callback: Callback | None = None,
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
        roles,
        stopping,
        predict_train=outputs_of(torch.tensor(roles.train)),
        predict_val=outputs_of(torch.tensor(roles.val)),
        callback=callback,
    )
