"""S of an edge list in torch operations alone: any device, any tracer, gradients in the weights.

Nothing here is read back to the host, and every shape follows from those of the arguments, so that
the same lines run on a GPU without a wait, on torch's ``meta`` device, and inside ``torch.compile``
and ``torch.export``. On the CPU, where compiled loops and MKL's products are faster, layers use
:mod:`graphheat.nn.operator` wherever it will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

Symmetrize = Literal["max", "sum"]

RULES = {
    "symmetric": "edge_index must name both directions of each edge, with one weight. "
    "Pass symmetrize='max' or 'sum' to the layer.",
    "weights": "edge_weight must be finite and non-negative.",
    "repeats": "An edge is named twice with different weights. Coalesce edge_index first.",
    "time": "The learned s has outgrown the order of its series. Give the layer a larger s.",
}


@dataclass(frozen=True, eq=False)
class EdgeMatrix:
    """A symmetric matrix S, shape (n, n), spectrum in [−1, 1], as a list of entries.

    Attributes
    ----------
    row, col, value
        Shape (m,); entries of one place add up, and some are 0.
    n
        Number of nodes.
    """

    row: Tensor
    col: Tensor
    value: Tensor
    n: int

    def apply(self, x: Tensor, coefficients: Sequence[float] | Tensor) -> Tensor:
        """Return Σ_k c_k T_k(S) x, shape (n, c), differentiable in x, S and the coefficients."""
        if not isinstance(coefficients, Tensor):
            coefficients = torch.tensor(coefficients, dtype=x.dtype, device=x.device)
        result: Tensor = _Series.apply(
            x, self.value.to(x.dtype), coefficients.to(x.dtype), self.row, self.col
        )
        return result


def precise(device: torch.device) -> torch.dtype:
    """Return what degrees are added up in: float64 where the device has it."""
    return torch.float32 if device.type == "mps" else torch.float64


def edge_matrix(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    n: int,
    *,
    symmetrize: Symmetrize | None = None,
    mask: Tensor | None = None,
) -> EdgeMatrix:
    """Return S = D^{-1/2} A D^{-1/2}; a node without edges has a row of zeros.

    Parameters
    ----------
    edge_index, edge_weight
        Shape (2, e) and (e,); no weights: 1 each. An edge that is named again with the same
        weight counts once.
    symmetrize
        ``"max"``: the larger weight of both directions, ``"sum"``: their sum, None: the edges must
        be symmetric, which is asserted on the device.
    mask
        What S is multiplied with, edge by edge, shape (e,), the degrees staying as they are; the
        mean of both directions counts.

    Examples
    --------
    >>> edge_index = torch.tensor([[0, 1], [1, 2]])
    >>> edge_matrix(edge_index, None, 3, symmetrize="max").apply(torch.eye(3), [0.0, 1.0])
    tensor([[0.0000, 0.7071, 0.0000],
            [0.7071, 0.0000, 0.7071],
            [0.0000, 0.7071, 0.0000]])
    """
    pairs = _pairs(edge_index, _weights(edge_index, edge_weight), n, None, symmetrize)
    row, col, weight = pairs.entries(pairs.weight)
    scale = _inverse_root(pairs.degrees(n))
    value = weight * scale[row] * scale[col]
    if mask is not None:
        value = value * pairs.entries(pairs.mean(mask.to(weight.dtype)))[2]
    return EdgeMatrix(row, col, value, n)


def relation_matrix(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    edge_type: Tensor,
    shares: Tensor,
    n: int,
    *,
    symmetrize: Symmetrize | None = None,
) -> EdgeMatrix:
    """Return S = I − Σ_r w_r L_r, with a Laplacian L_r for each type of edges.

    A node without edges of a type has L_r = 0 there: what does not touch it takes none of its
    heat. With w ≥ 0 and Σ w = 1 the spectrum of S is in [−1, 1].

    Parameters
    ----------
    edge_type
        0 … r − 1 of each edge, shape (e,).
    shares
        w, shape (r,); S is differentiable in it.
    """
    kinds = shares.shape[0]
    pairs = _pairs(edge_index, _weights(edge_index, edge_weight), n, edge_type, symmetrize)
    row, col, weight = pairs.entries(pairs.weight)
    kind = torch.cat([pairs.kind, pairs.kind])
    degree = torch.zeros(kinds * n, dtype=weight.dtype, device=weight.device)
    degree = degree.index_add(0, kind * n + row, weight)
    scale = _inverse_root(degree)
    share = shares.to(weight.dtype)
    value = weight * scale[kind * n + row] * scale[kind * n + col] * share[kind]
    alone = (degree.view(kinds, n) == 0).to(weight.dtype)
    nodes = torch.arange(n, device=row.device)
    return EdgeMatrix(
        torch.cat([row, nodes]), torch.cat([col, nodes]), torch.cat([value, share @ alone]), n
    )


def heat_coefficients(s: Tensor, most: float, order: int) -> Tensor:
    """Return the Chebyshev coefficients of e^{-sL}, differentiable in s, for any s ≤ ``most``.

    ``order`` is that of ``most``, so that s need not be known on the host. The coefficients are
    those of the interpolant in Chebyshev's points, more of them than the order: what aliasing adds
    is below what the cut leaves out.
    """
    points = 2 * order + 16
    dtype = precise(s.device)
    _require((s >= 0) & (s <= most), "time")
    angle = (torch.arange(points, dtype=dtype, device=s.device) + 0.5) * (torch.pi / points)
    response = torch.exp(-s.to(dtype) * (1.0 - torch.cos(angle)))
    waves = torch.cos(torch.arange(order + 1, dtype=dtype, device=s.device)[:, None] * angle)
    doubled = waves @ response * (2.0 / points)
    return torch.cat([doubled[:1] / 2, doubled[1:]])


# ------------------------------------------------------------------ edges as pairs


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Undirected pairs, as many as there are edges; those beyond the last have the weight 0.

    Attributes
    ----------
    low, high, weight, kind
        Ends, weight and type of each pair, shape (e,).
    group, order
        The pair of each edge, the edges being sorted by pairs, and their positions before; shape
        (e,).
    """

    low: Tensor
    high: Tensor
    weight: Tensor
    kind: Tensor
    group: Tensor
    order: Tensor

    def entries(self, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return rows, columns and values of the symmetric matrix, shape (2e,)."""
        other = torch.where(self.low == self.high, torch.zeros_like(weight), weight)
        row, col = torch.cat([self.low, self.high]), torch.cat([self.high, self.low])
        return row, col, torch.cat([weight, other])

    def degrees(self, n: int) -> Tensor:
        """Return the sums of rows, shape (n,)."""
        row, _, weight = self.entries(self.weight)
        return torch.zeros(n, dtype=weight.dtype, device=weight.device).index_add(0, row, weight)

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean over the edges of each pair, shape (e,); 0 where there are none."""
        zeros = torch.zeros_like(values)
        total = zeros.index_add(0, self.group, values[self.order])
        count = zeros.index_add(0, self.group, torch.ones_like(values))
        return total / count.clamp(min=1)


def _pairs(
    edge_index: Tensor,
    weight: Tensor,
    n: int,
    kind: Tensor | None,
    symmetrize: Symmetrize | None,
) -> _Pairs:
    source, target = edge_index[0].long(), edge_index[1].long()
    low, high = torch.minimum(source, target), torch.maximum(source, target)
    if kind is None:
        kind = torch.zeros_like(low)
    key, order = torch.sort((kind.long() * n + low) * n + high, stable=True)
    starts = torch.cat([torch.ones_like(key[:1]), (key[1:] != key[:-1]).long()])
    group = torch.cumsum(starts, 0) - 1
    forward, weight = (source <= target)[order], weight[order]
    loop = (source == target)[order]
    zeros = torch.zeros_like(weight)
    up = zeros.scatter_reduce(0, group, torch.where(forward, weight, zeros), "amax")
    back = torch.where(forward & ~loop, zeros, weight)
    down = zeros.scatter_reduce(0, group, back, "amax")
    # An edge named again must have its weight again: each is the largest of its direction.
    largest = torch.where(forward, up[group], down[group])
    _require((weight == largest).all(), "repeats")
    if symmetrize == "max":
        joined = torch.maximum(up, down)
    elif symmetrize == "sum":
        joined = up + down
    else:
        _require((up == down).all(), "symmetric")
        joined = (up + down) / 2
    blank = torch.zeros_like(low)
    return _Pairs(
        low=blank.scatter(0, group, low[order]),
        high=blank.scatter(0, group, high[order]),
        weight=joined,
        kind=blank.scatter(0, group, kind.long()[order]),
        group=group,
        order=order,
    )


def _weights(edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
    dtype = precise(edge_index.device)
    if edge_weight is None:
        return torch.ones(edge_index.shape[1], dtype=dtype, device=edge_index.device)
    weight = edge_weight.reshape(-1).to(dtype)
    _require((torch.isfinite(weight) & (weight >= 0)).all(), "weights")
    return weight


def _inverse_root(degree: Tensor) -> Tensor:
    """Return 1/√d, and 0 where d = 0, with gradients that are finite there, too."""
    some = degree > 0
    return torch.where(some, torch.rsqrt(torch.where(some, degree, 1.0)), 0.0)


def _require(holds: Tensor, rule: str) -> None:
    """Stop the program where a rule is broken, without waiting for the device's answer."""
    torch._assert_async(holds, RULES[rule])


# ------------------------------------------------------------------ products


class _Series(torch.autograd.Function):
    """y = Σ_k c_k T_k(S) x, with gradients in x, in the entries of S and in c.

    With t_k = T_k(S)x and g the gradient of y, what reaches t_k is a_k = c_k g + 2Sᵀa_{k+1} −
    a_{k+2} (Clenshaw's recurrence), and an entry of S gets Σ_k 2 a_{k+1}[row]·t_k[col]. So the
    backward pass stores the t_k, of nodes and not of edges.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, value: Tensor, coefficients: Tensor, row: Tensor, col: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, value, coefficients, row, col)
        total = coefficients[0] * x
        before = now = x
        for k in range(1, coefficients.shape[0]):
            step = _product(row, col, value, now)
            before, now = now, step if k == 1 else 2 * step - before
            total = total + coefficients[k] * now
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, value, coefficients, row, col = ctx.saved_tensors
        order = coefficients.shape[0] - 1
        wants_x, wants_value, wants_coefficients = ctx.needs_input_grad[:3]
        basis: list[Tensor] = []
        if wants_value or wants_coefficients:
            basis = [x]
            for k in range(1, order + 1):
                step = _product(row, col, value, basis[-1])
                basis.append(step if k == 1 else 2 * step - basis[-2])
        to_value = torch.zeros_like(value) if wants_value else None
        after = later = torch.zeros_like(grad)
        if wants_x or wants_value:
            for k in range(order, 0, -1):
                factor = 1.0 if k == 1 else 2.0
                now = coefficients[k] * grad
                if k < order:
                    now = now + 2 * _product(col, row, value, after) - later
                if to_value is not None:
                    to_value = to_value + factor * (now[row] * basis[k - 1][col]).sum(dim=1)
                after, later = now, after
        to_x = coefficients[0] * grad
        if order:
            to_x = to_x + _product(col, row, value, after) - later
        to_coefficients = (
            torch.stack([(grad * each).sum() for each in basis]) if wants_coefficients else None
        )
        return (to_x if wants_x else None), to_value, to_coefficients, None, None


def _product(row: Tensor, col: Tensor, value: Tensor, x: Tensor) -> Tensor:
    """Return Sx, shape (n, c), S given by its entries, shape (m,)."""
    index = row[:, None].expand(-1, x.shape[1])
    return torch.zeros_like(x).scatter_add(0, index, value[:, None] * x[col])
