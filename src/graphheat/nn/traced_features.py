"""xΘ in a traced graph for features that are mostly zero, as bags of words are.

PyG's data sets keep such features dense, so that most of a step on them is multiplying by zero.
Here x is read once per step, and what is not zero is multiplied; the backward pass goes straight to
it. Nothing is kept from call to call: x may be another tensor each time, or the same one with other
numbers in it. Features of which more than a few per cent are not zero are multiplied by torch.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphheat.heat.engines.auto import NUMBA
from graphheat.heat.engines.engine import is_installed

MOST_FILLED = 0.03  # share of non-zeros up to which reading x pays
LEAST_WIDTH = 64  # columns of features that are worth a look
SAMPLE = 64  # rows that are looked at first
PARTS = 4  # of the rows, whatever the threads: so their number changes no bit
ROOM = 16  # one place for a column's number per so many numbers of x

HAS_LOOPS = is_installed(NUMBA)  # known before a tracer looks


def applies(x: Tensor, weight: Tensor) -> bool:
    """Tell whether x, shape (n, f), may be features of which most are zero, so far as is known."""
    return (
        HAS_LOOPS
        and x.device.type == "cpu"
        and x.dim() == 2
        and x.dtype in (torch.float32, torch.float64)
        and x.dtype == weight.dtype
        and not x.requires_grad
        and not torch.is_autocast_enabled("cpu")
        and x.shape[1] >= LEAST_WIDTH
    )


def traced_product(x: Tensor, weight: Tensor) -> Tensor:
    """Return xW, shape (n, c), differentiable in W, for x that ``applies``."""
    product: Tensor = _product(x, weight)[0]
    return product


def _room(n: int, width: int) -> int:
    """Return how many column numbers a part of the rows has room for."""
    return (n // PARTS + 1) * width // ROOM + 16  # a block's at least


@torch.library.custom_op("graphheat::features", mutates_args=())
def _product(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return xW, and where x is not zero: starts of rows and columns; a start of −1: not noted."""
    n, width = x.shape
    room = _room(n, width)
    starts = torch.empty(n + PARTS, dtype=torch.int64)
    columns = torch.empty(PARTS * room, dtype=torch.int32)
    if x.is_contiguous() and x.data_ptr() % 8 == 0 and _is_mostly_zero(x):
        y = torch.zeros(n, weight.shape[1], dtype=x.dtype)
        if _scan(x, weight.contiguous(), y, starts, columns):
            return y, starts, columns
    starts[0] = -1
    return x @ weight, starts, columns


@_product.register_fake
def _(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    n, width = x.shape
    return (
        x.new_empty(n, weight.shape[1]),
        x.new_empty(n + PARTS, dtype=torch.int64),
        x.new_empty(PARTS * _room(n, width), dtype=torch.int32),
    )


@torch.library.custom_op("graphheat::features_gradient", mutates_args=())
def _gradient(x: Tensor, grad: Tensor, starts: Tensor, columns: Tensor) -> Tensor:
    """Return xᵀ grad, shape (f, c)."""
    if int(starts[0]) < 0:
        return x.T @ grad
    from graphheat.nn.feature_loops import add_products

    y = torch.zeros(x.shape[1], grad.shape[1], dtype=grad.dtype)
    flat, rows = _flat(x), grad.contiguous().numpy()
    for part in range(PARTS):
        first, last, near, found = _part(part, x, starts, columns)
        add_products(first, last, x.shape[1], flat, near, found, True, rows, y.numpy())
    return y


@_gradient.register_fake
def _(x: Tensor, grad: Tensor, starts: Tensor, columns: Tensor) -> Tensor:
    return grad.new_empty(x.shape[1], grad.shape[1])


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1], output[2])
    ctx.mark_non_differentiable(output[1], output[2])


def _backward(ctx: Any, grad: Tensor, *of_places: Any) -> tuple[None, Tensor]:
    x, starts, columns = ctx.saved_tensors
    return None, _gradient(x, grad, starts, columns)


_product.register_autograd(_backward, setup_context=_keep)


def _is_mostly_zero(x: Tensor) -> bool:
    """Tell whether few numbers of evenly spaced rows are not zero."""
    some = x[:: max(1, len(x) // SAMPLE)]
    return int(torch.count_nonzero(some)) <= MOST_FILLED * some.numel()


def _flat(x: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = x.numpy().reshape(-1)
    return array


def _part(
    part: int, x: Tensor, starts: Tensor, columns: Tensor
) -> tuple[int, int, NDArray[Any], NDArray[Any]]:
    """Return the rows of a part, and its share of starts and columns."""
    n, width = x.shape
    first, last = n * part // PARTS, n * (part + 1) // PARTS
    room = _room(n, width)
    near = starts.numpy()[first + part : last + part + 1]
    return first, last, near, columns.numpy()[part * room : (part + 1) * room]


def _scan(x: Tensor, weight: Tensor, y: Tensor, starts: Tensor, columns: Tensor) -> bool:
    """Add xW to ``y`` and note where x is not zero; False: that is too often."""
    from graphheat.nn import feature_loops

    flat = _flat(x)
    words = flat[: flat.nbytes // 8 * 8 // flat.itemsize].view(np.uint64)
    theta, total = weight.detach().numpy(), y.numpy()  # here: threads record gradients by default

    def scan(part: int) -> bool:
        first, last, near, found = _part(part, x, starts, columns)
        noted: bool = feature_loops.places(first, last, x.shape[1], flat, words, near, found)
        if noted:
            feature_loops.add_products(
                first, last, x.shape[1], flat, near, found, False, theta, total
            )
        return noted

    threads = min(torch.get_num_threads(), PARTS)
    if threads == 1:
        return all(scan(part) for part in range(PARTS))
    noted = list(_pool(threads, os.getpid()).map(scan, range(PARTS)))  # all of them are over then
    return all(noted)


@functools.lru_cache(maxsize=1)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for work: a step is over sooner than new ones have begun.

    A forked process has none of its parent's threads, hence a pool for each process.
    """
    return ThreadPoolExecutor(threads, thread_name_prefix="graphheat-features")
