"""Adam takes the steps of torch's, and keeps its state under the same names."""

import pytest
import torch
from torch import nn

from graphheat.training.adam import Adam

OPTIONS = {"lr": 0.02, "weight_decay": 5e-3}


def parameters():
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in ((4, 3), (3,))]


def steps(optimizer, weights, count, first=0):
    for step in range(first, first + count):
        optimizer.zero_grad()
        sum(((step % 7 - 3) * w.sin()).sum() for w in weights).backward()
        optimizer.step()


def test_its_steps_are_those_of_torch():
    ours, theirs = parameters(), parameters()
    one, other = Adam(ours, **OPTIONS), torch.optim.Adam(theirs, **OPTIONS)
    for optimizer, weights in ((one, ours), (other, theirs)):
        steps(optimizer, weights, 50)
    for mine, torchs in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, torchs, rtol=1e-5, atol=1e-6)
    expected = other.state_dict()["state"]
    for index, state in one.state_dict()["state"].items():
        assert state.keys() == expected[index].keys()
        for name, tensor in state.items():
            torch.testing.assert_close(tensor, expected[index][name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("after", [1, 13])
def test_a_state_is_taken_up_bit_for_bit(after):
    whole, begun, resumed = parameters(), parameters(), parameters()
    steps(Adam(whole, **OPTIONS), whole, 20)
    first = Adam(begun, **OPTIONS)
    steps(first, begun, after)
    for mine, found in zip(resumed, begun, strict=True):
        mine.data.copy_(found.data)
    second = Adam(resumed, **OPTIONS)
    second.load_state_dict(first.state_dict())
    steps(second, resumed, 20 - after, first=after)
    assert all(torch.equal(one, other) for one, other in zip(whole, resumed, strict=True))


def test_a_parameter_without_a_gradient_stays():
    weights = parameters()
    before = weights[1].detach().clone()
    optimizer = Adam(weights, **OPTIONS)
    optimizer.zero_grad()
    weights[0].sum().backward()
    optimizer.step()
    assert torch.equal(weights[1], before)
