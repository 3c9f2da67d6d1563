"""What heat layers share: weights of the kernel's terms, and a time that may be learned."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from graphheat.checks import check_count, check_s
from graphheat.errors import ParameterError, UnsupportedError
from graphheat.heat.series import heat_series
from graphheat.nn import traced_features
from graphheat.nn.edge_matrix import EdgeMatrix, heat_coefficients

Channels = int | tuple[int, int]

TOL = 1e-6  # of a layer's products
HALVES = (torch.float16, torch.bfloat16)
_is_exporting = getattr(torch.compiler, "is_exporting", lambda: False)  # torch 2.6 has none


class HeatLayer(nn.Module):
    """Weights Θ_k of K kernel terms, a bias, and the diffusion time s.

    Parameters
    ----------
    in_channels
        Number of input features; −1: known at the first call. A pair of numbers: of the sources
        and of the targets of edges between two kinds of nodes; (−1, −1) becomes one number where
        the first call has nodes of one kind.
    out_channels, s, K, learn_s, bias
        As for :class:`~graphheat.nn.HeatConv`.

    Attributes
    ----------
    weight
        Θ_0 … Θ_{K−1}, shape (K, in_channels, out_channels).
    source_weight
        Θ_1 … Θ_{K−1} of the sources, shape (K − 1, in_channels[0], out_channels); None where both
        ends of an edge are of one kind.
    """

    weight: nn.Parameter
    source_weight: nn.Parameter | None

    def __init__(
        self, in_channels: Channels, out_channels: int, s: float, K: int, learn_s: bool, bias: bool
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.in_channels = in_channels
        self.out_channels = check_count(out_channels, "out_channels", owner)
        self.K = check_count(K, "K", owner)
        self._s = check_s(s, owner)
        self.learn_s = learn_s
        # Known before a tracer looks, which would not follow into SciPy's Bessel functions.
        self._coefficients = tuple(heat_series(self._s, TOL, 1).coefficients.tolist())
        self._order = heat_series(self.most_s, TOL, 1).order if learn_s else 0
        ends = in_channels if isinstance(in_channels, tuple) else (None, in_channels)
        if len(ends) != 2:
            raise ParameterError(
                f"The 'in_channels' parameter of {owner} must be a number or a pair of numbers. "
                f"Got {in_channels!r} instead."
            )
        self.weight = self._blank(self.K, ends[1])
        self.source_weight = None if ends[0] is None else self._blank(self.K - 1, ends[0])
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.raw_s = nn.Parameter(torch.empty(())) if learn_s else None
        self._lazy: Any = None
        if self._is_lazy():
            self._lazy = self.register_forward_pre_hook(_materialize, with_kwargs=True)
        self.reset_parameters()

    def _blank(self, terms: int, channels: int) -> Any:
        if channels == -1:
            return UninitializedParameter()
        channels = check_count(channels, "in_channels", type(self).__name__)
        return nn.Parameter(torch.empty(terms, channels, self.out_channels))

    def _is_lazy(self) -> bool:
        return any(isinstance(each, UninitializedParameter) for each in self.parameters())

    @property
    def s(self) -> float:
        """The diffusion time, as it is now."""
        return self._s if self.raw_s is None else float(nn.functional.softplus(self.raw_s.detach()))

    @property
    def most_s(self) -> float:
        """What a learned s may grow to where it is not read back from the device."""
        return max(4 * self._s, 20.0)

    def time(self) -> Tensor | None:
        """Return s as a tensor with gradients; None where it is not learned."""
        return None if self.raw_s is None else nn.functional.softplus(self.raw_s)

    def reset_parameters(self) -> None:
        """Draw the weights after Glorot, zero the bias, set s to its first value."""
        for weight in (self.weight, self.source_weight):
            if weight is not None and not isinstance(weight, UninitializedParameter):
                for term in weight:
                    nn.init.xavier_uniform_(term)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.raw_s is not None:
            start = torch.tensor(max(self._s, 1e-6), dtype=torch.float64)
            with torch.no_grad():
                self.raw_s.copy_(start + torch.log(-torch.expm1(-start)))  # softplus inverted

    def weighted(self, x: Any, weight: Tensor) -> Tensor:
        """Return xΘ for the terms of ``weight`` side by side, shape (n, terms · out_channels).

        Multiplying first, products with the kernel have out_channels columns, not in_channels.
        """
        if x.dtype != weight.dtype and not torch.is_autocast_enabled(weight.device.type):
            raise ParameterError(
                f"x is {x.dtype} and the layer's weights are {weight.dtype}; "
                f"call layer.to({x.dtype}), or pass x.to({weight.dtype})."
            )
        if x.size(-1) != weight.shape[1]:
            raise ParameterError(
                f"x must have in_channels = {weight.shape[1]} columns; got {x.size(-1)}."
            )
        theta = weight.permute(1, 0, 2).reshape(weight.shape[1], -1)
        if is_traced() and not is_exported() and traced_features.applies(x, theta):
            return traced_features.traced_product(x, theta)
        product: Tensor = x @ theta
        return product

    def horner(self, matrix: EdgeMatrix, joined: Tensor) -> Tensor:
        """Return z_0 + H(z_1 + H(z_2 + …)), H = e^{-sL}, of terms side by side, (n, K · c)."""
        terms = list(joined.split(self.out_channels, dim=1))
        s = self.time()
        coefficients = (
            self._coefficients if s is None else heat_coefficients(s, self.most_s, self._order)
        )
        total: Tensor = terms[-1]
        for term in reversed(terms[:-1]):
            total = term + matrix.apply(total, coefficients)
        return total

    # ------------------------------------------------------------------ state

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *more: Any) -> None:
        """Give lazy weights the shapes of those that are loaded."""
        for name in ("weight", "source_weight"):
            weight, found = getattr(self, name), state.get(prefix + name)
            if not isinstance(weight, UninitializedParameter):
                continue
            if isinstance(found, Tensor) and not isinstance(found, UninitializedParameter):
                weight.materialize(tuple(found.shape))
        if not self._is_lazy():
            self._settle()
        super()._load_from_state_dict(state, prefix, *more)

    def _settle(self) -> None:
        """Note the channels of weights that have a shape now."""
        if self._lazy is not None:
            self._lazy.remove()
            self._lazy = None
            own = self.weight.shape[1]
            source = self.source_weight
            self.in_channels = own if source is None else (source.shape[1], own)

    def __prepare_scriptable__(self) -> HeatLayer:
        raise UnsupportedError(
            f"{type(self).__name__} cannot be scripted: torch.jit.script, which torch has "
            "deprecated, knows too little of Python. Use torch.compile, or torch.export.export for "
            "a graph without Python."
        )

    def extra_repr(self) -> str:
        """Return what ``repr`` shows."""
        return f"{self.in_channels}, {self.out_channels}, s={self.s:g}, K={self.K}"


def is_traced() -> bool:
    """Tell whether a tracer is looking, which sees operations of torch and no values."""
    tracing: bool = torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
    return tracing or torch.compiler.is_compiling()


def is_exported() -> bool:
    """Tell whether what is traced must run without this package."""
    tracing: bool = torch.jit.is_tracing()  # type: ignore[attr-defined,no-untyped-call]
    return tracing or bool(_is_exporting())


def single_precision(device: torch.device) -> AbstractContextManager[Any]:
    """Return a context in which autocast leaves float32 alone."""
    if device.type == "meta":
        return nullcontext()
    return torch.autocast(device.type, enabled=False)


def _materialize(layer: HeatLayer, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Give lazy weights the shapes that the first input asks for."""
    x = given[0] if given else named["x"]
    source, own = x if isinstance(x, tuple) else (None, x)
    if source is None and isinstance(layer.source_weight, UninitializedParameter):
        layer.source_weight = None  # one kind of nodes after all, as in PyG's to_hetero
    pairs = [(layer.weight, own, layer.K), (layer.source_weight, source, layer.K - 1)]
    for weight, x, terms in pairs:
        if isinstance(weight, UninitializedParameter) and x is not None:
            weight.materialize((terms, x.size(-1), layer.out_channels))
            for term in weight:
                nn.init.xavier_uniform_(term)
    if not layer._is_lazy():
        layer._settle()
