"""Two layers that filter node signals in another domain: what Spectral CNN and GWNN share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.baselines.descent import descend, kipf_rule, seeded
from graphheat.baselines.inputs import network_input
from graphheat.graph import Graph, Split
from graphheat.nn.features import Input, dropout
from graphheat.progress import Progress

Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Domain:
    """A way from signals on nodes to signals elsewhere, and back.

    Attributes
    ----------
    size
        Number k of coordinates there.
    forth, back
        (n, c) → (k, c), and (k, c) → (n, c); both linear.
    back_to
        Given node indices, shape (r,): their rows of ``back``, (k, c) → (r, c).
    """

    size: int
    forth: Map
    back: Map
    back_to: Callable[[Tensor], Map]


class DiagonalFilter(nn.Module):
    """The layer y = back(g · forth(x W)) with weights W, shape (f, c), and a filter g, shape (k,).

    One filter serves all channels. It starts as ones, W as Glorot has it; there is no bias.
    """

    def __init__(self, in_channels: int, out_channels: int, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        nn.init.xavier_uniform_(self.weight)
        self.kernel = nn.Parameter(torch.ones(size))

    def forward(self, x: Input, forth: Map, back: Map) -> Tensor:
        """Return y; x W comes first, so that only c columns go forth and back."""
        return back(self.kernel[:, None] * forth(x @ self.weight))


@dataclass(frozen=True)
class FilterBaseline(Baseline):
    """Settings and training of a network of two such layers; a subclass names the domain.

    Parameters
    ----------
    hidden
        Channels between the two layers.
    dropout
        Share of input non-zeros and of hidden numbers that a training step leaves out.
    l2
        L2 penalty on both parameters of the first layer: its filter shrinks, too.
    learning_rate, max_epochs, patience
        Of Adam; training stops when the validation loss, penalty included, is above the mean of
        the ``patience`` before it, and keeps the last weights of the highest validation accuracy.
    """

    brief: ClassVar[Mapping[str, Any]] = {"max_epochs": 3}

    hidden: int = 16
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 1000
    patience: int = 100

    def domain(self, graph: Graph) -> Domain:
        """Return where the filters live."""
        raise NotImplementedError

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn the weights and filters of both layers; see :class:`Baseline`."""
        self.check(graph)
        domain = self.domain(graph)
        x = network_input(graph)
        # The loss needs the training rows of the last product alone, stopping the validation rows.
        back_to_train, back_to_val = (
            domain.back_to(torch.tensor(nodes)) for nodes in (split.train, split.val)
        )
        with seeded(seed):
            first = DiagonalFilter(x.size(1), self.hidden, domain.size)
            second = DiagonalFilter(self.hidden, len(graph.classes), domain.size)
            model = nn.ModuleList([first, second])

            def predict_to(back: Map) -> Tensor:
                h = torch.relu(
                    first(dropout(x, self.dropout, model.training), domain.forth, domain.back)
                )
                h = dropout(h, self.dropout, model.training)
                logits: Tensor = second(h, domain.forth, back)
                return logits

            groups: list[dict[str, Any]] = [
                {"params": first.parameters(), "weight_decay": self.l2},
                {"params": second.parameters()},
            ]
            return descend(
                model,
                lambda: predict_to(domain.back),
                torch.optim.Adam(groups, lr=self.learning_rate),
                graph,
                split,
                kipf_rule(self.max_epochs, self.patience, "accuracy"),
                predict_train=lambda: predict_to(back_to_train),
                predict_val=lambda: predict_to(back_to_val),
                progress=progress,
            )
