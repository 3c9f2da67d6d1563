"""Adam, without the second that torch's own takes to load its compiler.

``torch.optim`` imports ``torch._dynamo`` when the first optimizer is made: longer than it takes to
train on a small graph. The update is that of ``torch.optim.Adam`` with ``weight_decay``, and so are
the names in the state that a checkpoint holds.

References
----------
D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization, ICLR 2015.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

BETAS = (0.9, 0.999)
EPS = 1e-8


class Adam:
    """Adam for one group of parameters, L2 added to the gradient.

    Parameters
    ----------
    parameters
        What is learned.
    lr, weight_decay
        Learning rate, and λ of λ·½‖W‖².
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], *, lr: float, weight_decay: float
    ) -> None:
        self.param_groups: list[dict[str, Any]] = [
            {"params": list(parameters), "lr": lr, "weight_decay": weight_decay}
        ]
        self._state: dict[int, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self._parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Take a step along the gradients."""
        (group,) = self.param_groups
        for index, parameter in enumerate(self._parameters):
            if parameter.grad is None:
                continue
            if index not in self._state:
                self._state[index] = {
                    "step": torch.zeros(()),
                    "exp_avg": torch.zeros_like(parameter),
                    "exp_avg_sq": torch.zeros_like(parameter),
                }
            state = self._state[index]
            state["step"] += 1
            gradient = parameter.grad.add(parameter, alpha=group["weight_decay"])
            mean, square, step = state["exp_avg"], state["exp_avg_sq"], state["step"].item()
            mean.lerp_(gradient, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            spread = (square.sqrt() / (1 - BETAS[1] ** step) ** 0.5).add_(EPS)
            parameter.addcdiv_(mean, spread, value=-group["lr"] / (1 - BETAS[0] ** step))

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as torch's optimizers do."""
        group = {**self.param_groups[0], "params": list(range(len(self._parameters)))}
        return {"state": self._state, "param_groups": [group]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take up a state that :meth:`state_dict` gave."""
        self._state = {
            index: {name: tensor.clone() for name, tensor in each.items()}
            for index, each in state["state"].items()
        }

    @property
    def _parameters(self) -> list[nn.Parameter]:
        parameters: list[nn.Parameter] = self.param_groups[0]["params"]
        return parameters
