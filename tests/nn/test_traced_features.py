"""Features that are mostly zero in a traced graph: torch's product, values and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from graphheat.nn import HeatConv, traced_features

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore:<class 'torch.autograd.function.Function'>")


def words(n, width, share=0.02, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    kept = torch.rand(n, width, generator=generator) < share
    return torch.randn(n, width, generator=generator, dtype=dtype) * kept


def outcome(product, x, weight):
    weight = weight.clone().requires_grad_()
    y = product(x, weight)
    y.square().sum().backward()
    return y.detach(), weight.grad


def places_are_noted(x):
    return int(traced_features._product(x, torch.ones(x.shape[1], 2, dtype=x.dtype))[1][0]) >= 0


CASES = {
    "odd width": words(300, 67),
    "even width": words(301, 128),
    "float64": words(100, 71, dtype=torch.float64),
    "all zero": torch.zeros(90, 80),
    "three rows": words(3, 200, 0.01),
    "one row": words(1, 333, 0.01),
    "no row": torch.zeros(0, 64),
    "last number alone": torch.zeros(50, 77).index_put((torch.tensor(49), torch.tensor(76)),
                                                       torch.tensor(2.0)),
    "negative zeros": words(64, 90) * -1,
}  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_product_and_gradient_are_those_of_torch(name, threads):
    x = CASES[name]
    weight = torch.randn(x.shape[1], 6, dtype=x.dtype, generator=torch.Generator().manual_seed(1))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        found = outcome(traced_features.traced_product, x, weight)
    finally:
        torch.set_num_threads(before)
    for ours, theirs in zip(found, outcome(torch.matmul, x, weight), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert not x.numel() or places_are_noted(x)


@pytest.mark.parametrize(
    "x",
    [
        words(100, 80, share=0.5),
        words(160, 80).T.contiguous().T,
        torch.cat([torch.zeros(630, 80), torch.ones(10, 80)])[torch.randperm(640)],
        torch.cat([torch.zeros(300, 64), words(31, 64, share=0.9)]),
        words(1, 40 * 80 + 1).reshape(-1)[1:].reshape(40, 80),
    ],
    ids=["half full", "by columns", "few full rows", "full at the end", "between two words"],
)
def test_what_is_not_mostly_zero_or_not_in_order_is_multiplied_by_torch(x):
    weight = torch.randn(x.shape[1], 3)
    expected = outcome(torch.matmul, x, weight)
    for ours, theirs in zip(
        outcome(traced_features.traced_product, x, weight), expected, strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_one_number_of_threads_gives_the_bits_of_another():
    x, weight = words(997, 131), torch.randn(131, 5)
    before = torch.get_num_threads()
    found = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(outcome(traced_features.traced_product, x, weight))
    torch.set_num_threads(before)
    assert all(
        torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True)
    )


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = HeatConv(90, 70, s=1.3), HeatConv(70, 3, s=1.3)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def step(call, net, x, edge_index):
    net.zero_grad()
    call(x, edge_index).square().sum().backward()
    return [p.grad.clone() for p in net.parameters()]


def test_compiled_layers_see_what_features_are_now():
    torch._dynamo.reset()
    net = Net()
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    ring = torch.arange(200)
    edge_index = torch.stack([torch.cat([ring, ring.roll(1)]), torch.cat([ring.roll(1), ring])])
    x = words(200, 90)
    of_numpy = x.numpy()  # writes through it are counted nowhere
    for change in (1.0, -3.0, 0.0):
        of_numpy[::7] *= change
        of_numpy[5, :20] += change
        found, expected = step(compiled, net, x, edge_index), step(net, net, x, edge_index)
        for ours, theirs in zip(found, expected, strict=True):
            torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    learns = words(200, 90).requires_grad_()  # its gradient is wanted: torch's product
    compiled(learns, edge_index).sum().backward()
    found, learns.grad = learns.grad, None
    net(learns, edge_index).sum().backward()
    torch.testing.assert_close(found, learns.grad, atol=1e-4, rtol=1e-4)
    torch._dynamo.reset()
