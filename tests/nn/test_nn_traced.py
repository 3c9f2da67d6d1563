"""HeatConv under torch's tracers: compiled whole, exported, checkpointed, and refused by script."""

from __future__ import annotations

import copy

import pytest
import torch
from helpers.weighted_edges import N, random_graph, signal
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from graphheat.errors import GraphError, UnsupportedError
from graphheat.nn import GraphHeat, HeatConv, RelationalHeatConv

pytestmark = [
    # torch's own, while it traces: of autograd functions, and of inputs that are not leaves.
    pytest.mark.filterwarnings("ignore:<class 'torch.autograd.function.Function'>"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
]


class Net(nn.Module):
    """A PyG user's two layers."""

    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(0)
        self.conv1 = HeatConv(4, 8, s=1.3, **options)
        self.conv2 = HeatConv(8, 3, s=1.3, **options)

    def forward(self, x, edge_index, edge_weight=None):
        x = functional.relu(self.conv1(x, edge_index, edge_weight))
        return self.conv2(x, edge_index, edge_weight)


def graph(n=N, seed=0):
    _, edge_index, weight = random_graph(n, seed)
    return signal(n).float(), edge_index, weight.float()


def step(net, *given):
    net.zero_grad()
    out = net(*given)
    out.square().sum().backward()
    return [out.detach(), *(p.grad.clone() for p in net.parameters())]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def same(found, expected, atol=1e-5):
    return all(torch.allclose(a, b, atol=atol) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    "options", [{}, {"eps": 1e-3}, {"K": 3, "learn_s": True, "bias": True}, {"symmetrize": "max"}]
)
def test_a_compiled_step_is_the_eager_step(options):
    net, given = Net(**options), graph()
    expected = step(net, *given)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    assert same(step(compiled, *given), expected)
    other = graph(N, seed=1)  # other edges, as many of them or not: the graph is not baked in
    assert same(step(compiled, *other), step(copy.deepcopy(net), *other))
    bigger = graph(N + 5, seed=2)
    assert same(step(compiled, *bigger), step(copy.deepcopy(net), *bigger))


def test_weights_that_learn_are_compiled_too():
    x, edge_index, _ = graph()
    raw = torch.zeros(edge_index.shape[1], requires_grad=True)
    net = Net(symmetrize="sum")

    def loss(net):
        raw.grad = None
        net(x, edge_index, functional.softplus(raw)).square().sum().backward()
        return torch.clone(raw.grad)

    expected = loss(net)
    compiled = torch.compile(net, fullgraph=True, backend="eager")
    assert torch.allclose(loss(compiled), expected, atol=1e-5)


def test_relations_and_whole_models_are_compiled():
    x, edge_index, weight = graph()
    kinds = torch.zeros(len(weight), dtype=torch.long)
    torch.manual_seed(0)
    conv = RelationalHeatConv(4, 3, 2, s=1.3)
    compiled = torch.compile(conv, fullgraph=True, backend="eager")
    assert same(
        step(compiled, x, edge_index, kinds, weight), step(conv, x, edge_index, kinds, weight)
    )
    model = GraphHeat(4, 3, s=1.3).eval()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    assert torch.allclose(compiled(x, edge_index, weight), model(x, edge_index, weight), atol=1e-6)


def test_a_compiled_layer_still_refuses_one_way_edges():
    x, edge_index, weight = graph()
    compiled = torch.compile(Net(), fullgraph=True, backend="eager")
    with pytest.raises(GraphError, match="symmetrize="):
        compiled(x, edge_index[:, 1:], weight[1:])


def test_an_exported_graph_stands_alone_and_takes_other_graphs():
    """Operations of torch alone, for graphs of any size."""
    x, edge_index, weight = graph()
    net = Net(symmetrize="max")
    nodes, edges = torch.export.Dim("nodes", min=3), torch.export.Dim("edges", min=3)
    shapes = {"x": {0: nodes}, "edge_index": {1: edges}, "edge_weight": {0: edges}}
    program = torch.export.export(net, (x, edge_index, weight), dynamic_shapes=shapes)
    names = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert not any("graphheat" in name for name in names)
    module = program.module()
    for given in (graph(), graph(N + 5, seed=2)):
        assert torch.allclose(module(*given), net(*given), atol=1e-5)


def test_script_is_refused_with_what_to_use_instead():
    with pytest.raises(UnsupportedError, match=r"HeatConv cannot be scripted.*torch\.export"):
        torch.jit.script(Net())


@pytest.mark.filterwarnings("ignore:`torch.jit.trace", "ignore::torch.jit.TracerWarning")
def test_a_traced_layer_has_not_baked_its_edges_in():
    (x, edge_index, weight), net = graph(), Net(symmetrize="max").eval()
    traced = torch.jit.trace(net, (x, edge_index, weight), check_trace=False)
    for index in (edge_index, (edge_index + 1) % N):
        assert torch.allclose(traced(x, index, weight), net(x, index, weight), atol=1e-5)


def test_activation_checkpointing_changes_nothing():
    x, *edges = graph()
    net = Net()
    expected = step(net, x, *edges)

    def forward(*given):
        return checkpoint(net, *given, use_reentrant=False)

    net.zero_grad()
    out = forward(x, *edges)
    out.square().sum().backward()
    assert same([out.detach(), *(p.grad for p in net.parameters())], expected, atol=0)


def test_a_saved_state_goes_on_where_it_stopped(tmp_path):
    given = graph()

    def train(net, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            net(*given).square().sum().backward()
            optimizer.step()

    net = Net(learn_s=True)
    optimizer = torch.optim.Adam(net.parameters())
    train(net, optimizer, 2)
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "at_2.pt")
    train(net, optimizer, 2)
    other = Net(learn_s=True)
    resumed = torch.optim.Adam(other.parameters())
    state = torch.load(tmp_path / "at_2.pt", weights_only=True)
    other.load_state_dict(state["net"])
    resumed.load_state_dict(state["optimizer"])
    train(other, resumed, 2)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True))


def test_a_graph_of_a_layer_that_is_gone_says_so():
    from graphheat.nn.traced_heat import traced_heat

    _, edge_index, weight = graph()
    with pytest.raises(UnsupportedError, match="another process or one that is gone"):
        traced_heat(torch.ones(N, 6), edge_index, weight, None, 10**9, None)
