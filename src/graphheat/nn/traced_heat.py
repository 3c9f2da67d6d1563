"""A layer's products as one operation of torch, so that tracers see a node and not our loops.

``torch.compile`` cannot look into numba's loops nor into products with CSR matrices. Here a whole
layer's diffusion is one custom operation, ``graphheat::heat``: in a compiled graph it is called as
it is, with the operator that the layer keeps.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from graphheat.errors import UnsupportedError
from graphheat.nn.graph_edges import GraphEdges
from graphheat.nn.operator import HeatOperator

if TYPE_CHECKING:
    from graphheat.nn.conv import HeatConv

# An operation takes tensors and plain values; a layer is known to it by its number.
_numbers = count(1)
_layers: WeakValueDictionary[int, HeatConv] = WeakValueDictionary()


def enlist(layer: HeatConv) -> int:
    """Return the number by which :func:`traced_heat` finds a layer of this process."""
    number = next(_numbers)
    _layers[number] = layer
    return number


def traced_heat(
    joined: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    s: Tensor | None,
    layer: int,
    sources: int | None,
) -> Tensor:
    """Return Σ_k e^{-ksL} of a layer's terms, shape (n, c), from (n, K · c), in a traced graph."""
    y: Tensor = _heat(joined, edge_index, edge_weight, s, layer, -1 if sources is None else sources)
    return y


def _operator(
    signal: Tensor, edge_index: Tensor, edge_weight: Tensor | None, layer: int, sources: int
) -> tuple[HeatConv, HeatOperator]:
    found = _layers.get(layer)
    if found is None:
        raise UnsupportedError(
            "This compiled graph belongs to a HeatConv of another process or one that is gone; "
            "compile the model here, or use torch.export.export, whose graphs stand alone."
        )
    edges = GraphEdges.of(
        edge_index, edge_weight, signal.shape[0], None if sources < 0 else sources, found.symmetrize
    )
    # Who compiles a model applies it often: loops are worth their start.
    return found, found._operator(edges, signal.dtype).by_loops()


@torch.library.custom_op("graphheat::heat", mutates_args=())
def _heat(
    joined: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    s: Tensor | None,
    layer: int,
    sources: int,
) -> Tensor:
    conv, operator = _operator(joined, edge_index, edge_weight, layer, sources)
    y = operator(list(joined.split(conv.out_channels, dim=1)), s)
    return y.clone() if y.data_ptr() == joined.data_ptr() else y.contiguous()  # K = 1


@_heat.register_fake
def _(
    joined: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    s: Tensor | None,
    layer: int,
    sources: int,
) -> Tensor:
    return joined.new_empty(joined.shape[0], _layers[layer].out_channels)


@torch.library.custom_op("graphheat::heat_gradients", mutates_args=())
def _heat_gradients(
    grad: Tensor,
    joined: Tensor | None,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    s: Tensor | None,
    layer: int,
    sources: int,
) -> tuple[Tensor, Tensor]:
    conv, operator = _operator(grad, edge_index, edge_weight, layer, sources)
    if s is None or joined is None:  # linear, so that the terms themselves are not needed
        return torch.cat(operator.transposed(grad), dim=1), grad.new_zeros(())
    terms = list(joined.split(conv.out_channels, dim=1))
    to_terms, to_time = operator.gradients(grad, terms, s)
    return torch.cat(to_terms, dim=1), to_time


@_heat_gradients.register_fake
def _(
    grad: Tensor,
    joined: Tensor | None,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    s: Tensor | None,
    layer: int,
    sources: int,
) -> tuple[Tensor, Tensor]:
    width = _layers[layer].K * grad.shape[1]
    return grad.new_empty(grad.shape[0], width), (grad if s is None else s).new_empty(())


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    joined, edge_index, edge_weight, s, layer, sources = inputs
    ctx.save_for_backward(None if s is None else joined, edge_index, edge_weight, s)
    ctx.layer, ctx.sources = layer, sources


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    joined, edge_index, edge_weight, s = ctx.saved_tensors
    to_joined, to_s = _heat_gradients(
        grad.contiguous(), joined, edge_index, edge_weight, s, ctx.layer, ctx.sources
    )
    return to_joined, None, None, None if s is None else to_s, None, None


_heat.register_autograd(_backward, setup_context=_keep)
