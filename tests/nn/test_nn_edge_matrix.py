"""HeatConv in torch's operations alone: values, gradients, and that nothing leaves the device."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import torch
from helpers.weighted_edges import N, edges_of, random_graph, signal
from torch.autograd import gradcheck
from torch.utils._python_dispatch import TorchDispatchMode

from graphheat.errors import GraphError, ParameterError
from graphheat.heat import laplacian
from graphheat.heat.series import heat_series
from graphheat.nn import HeatConv, RelationalHeatConv
from graphheat.nn.edge_matrix import edge_matrix, heat_coefficients, relation_matrix

S = 1.3


def heat(A, s=S):
    return torch.tensor(scipy.linalg.expm(-s * laplacian(sp.csr_array(A)).toarray()))


def layer(*sizes, **options):
    torch.manual_seed(0)
    return HeatConv(*sizes, **{"s": S, **options}).double()


def by_edges(conv, x, *edges):
    """What the layer gives where edge weights learn: torch's operations alone."""
    edge_index, weight = edges
    weight = torch.ones(edge_index.shape[1]) if weight is None else weight
    return conv(x, edge_index, weight.double().requires_grad_())


# ------------------------------------------------------------------ value


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("learn_s", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_both_ways_give_one_output(K, learn_s, seed):
    A, edge_index, weight = random_graph(seed=seed)
    conv = layer(4, 3, K=K, learn_s=learn_s, bias=True)
    expected = sum(heat(A, k * S) @ signal() @ conv.weight[k] for k in range(K))
    assert torch.allclose(conv(signal(), edge_index, weight), expected, atol=1e-5)
    assert torch.allclose(by_edges(conv, signal(), edge_index, weight), expected, atol=1e-5)


@pytest.mark.parametrize("symmetrize", ["max", "sum"])
@pytest.mark.parametrize("seed", range(3))
def test_one_way_edges_are_made_symmetric_and_the_layer_says_so(symmetrize, seed):
    random = np.random.default_rng(seed)
    A = (random.random((N, N)) < 0.2) * random.uniform(0.5, 3, (N, N))
    both = np.maximum(A, A.T) if symmetrize == "max" else A + A.T
    edges, conv = edges_of(A), layer(4, 3, symmetrize=symmetrize)
    expected = signal() @ conv.weight[0] + heat(both) @ signal() @ conv.weight[1]
    assert torch.allclose(conv(signal(), *edges), expected, atol=1e-5)
    changed = int(((A != A.T) & (A != 0)).sum())
    assert conv.symmetrized == (
        f"{changed} of {np.count_nonzero(A)} edges had no equal reverse. "
        f"Edges were made symmetric by their {symmetrize}."
    )
    conv = copy.deepcopy(conv)
    assert torch.allclose(by_edges(conv, signal(), *edges), expected, atol=1e-5)
    assert conv.symmetrized.startswith(f"{changed} of")
    assert f"symmetrize='{symmetrize}'" in repr(conv)


def test_edges_that_are_symmetric_already_stay_what_they_are():
    _, edge_index, weight = random_graph()
    plain, made = layer(4, 3), layer(4, 3, symmetrize="max")
    assert torch.equal(plain(signal(), edge_index, weight), made(signal(), edge_index, weight))
    assert made.symmetrized.startswith("0 of")
    assert plain.symmetrized is None


def test_edges_named_again_count_once_on_both_ways():
    _, edge_index, weight = random_graph()
    twice = torch.cat([edge_index, edge_index[:, :5]], dim=1), torch.cat([weight, weight[:5]])
    conv = layer(4, 3)
    expected = conv(signal(), edge_index, weight)
    assert torch.allclose(conv(signal(), *twice), expected)
    assert torch.allclose(by_edges(conv, signal(), *twice), expected, atol=1e-6)


@pytest.mark.parametrize("adjacency", ["coo", "csr"])
def test_a_sparse_adjacency_may_stand_for_the_edges(adjacency):
    A, edge_index, weight = random_graph()
    matrix = torch.tensor(A)
    matrix = matrix.to_sparse_coo() if adjacency == "coo" else sparse_csr(matrix)
    conv = layer(4, 3)
    assert torch.equal(conv(signal(), matrix), conv(signal(), edge_index, weight))
    with pytest.raises(ParameterError, match="edge_weight must be None"):
        conv(signal(), matrix, weight)


@pytest.mark.filterwarnings("ignore:Sparse")
def sparse_csr(matrix):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return matrix.to_sparse_csr()


def test_no_edges_at_all():
    conv, none = layer(4, 3), torch.empty(2, 0, dtype=torch.long)
    expected = signal() @ conv.weight[0] + np.exp(-S) * signal() @ conv.weight[1]
    assert torch.allclose(conv(signal(), none), expected, atol=1e-6)
    assert torch.allclose(by_edges(conv, signal(), none, None), expected, atol=1e-6)


@pytest.mark.parametrize("s", [0.0, 0.3, 5.0, 20.0])
def test_coefficients_of_a_time_on_the_device_are_those_of_the_series(s):
    order = heat_series(20.0, 1e-6, 1).order
    found = heat_coefficients(torch.tensor(s, dtype=torch.float64), 20.0, order)
    expected = np.zeros(order + 1)
    known = heat_series(s, 1e-12, 1).coefficients[: order + 1]
    expected[: len(known)] = known
    assert np.allclose(found.numpy(), expected, atol=1e-9)


# ------------------------------------------------------------------ gradients


@pytest.mark.parametrize("symmetrize", [None, "max", "sum"])
def test_gradients_in_edge_weights(symmetrize):
    _, edge_index, weight = random_graph(7, share=0.5)
    conv = layer(2, 2, K=3, symmetrize=symmetrize)
    x = signal(7, 2).requires_grad_()
    low, high = torch.minimum(*edge_index), torch.maximum(*edge_index)
    place = torch.unique(low * 7 + high, return_inverse=True)[1]
    each = torch.zeros(int(place.max()) + 1, dtype=torch.float64).scatter(0, place, weight)
    each.requires_grad_()
    # One number for both directions, so that a small change keeps the edges symmetric.
    assert gradcheck(lambda x, each: conv(x, edge_index, each[place]), (x, each), atol=1e-4)


def test_gradients_of_one_way_edges():
    random = np.random.default_rng(1)
    edge_index, weight = edges_of((random.random((7, 7)) < 0.3) * random.uniform(1, 2, (7, 7)))
    weight.requires_grad_()
    for symmetrize in ("max", "sum"):
        conv = layer(2, 2, symmetrize=symmetrize)
        assert gradcheck(lambda w, c=conv: c(signal(7, 2), edge_index, w), weight, atol=1e-4)


def test_gradients_in_time_on_both_ways():
    _, edge_index, weight = random_graph()
    grads = []
    for way in (lambda c, *a: c(*a), by_edges):
        conv = layer(4, 3, K=3, learn_s=True)
        way(conv, signal(), edge_index, weight).square().sum().backward()
        grads.append((conv.raw_s.grad, conv.weight.grad))
    for a, b in zip(*grads, strict=True):
        assert torch.allclose(a, b, rtol=1e-4)


def test_a_weight_that_learns_moves_heat_to_where_it_is_wanted():
    """Node 1 has two neighbours; the loss asks for the heat of node 2, and its edge grows."""
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    raw = torch.zeros(2, requires_grad=True)
    conv, x = HeatConv(1, 1, s=1.0), torch.tensor([[0.0], [0.0], [1.0]])
    torch.nn.init.ones_(conv.weight)
    weight = torch.nn.functional.softplus(raw)[[0, 0, 1, 1]]
    (-conv(x, edge_index, weight)[1]).sum().backward()
    assert raw.grad[1] < 0 < raw.grad[0]


# ------------------------------------------------------------------ precision


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("weighted", [False, True])
def test_halves_are_diffused_in_float32(dtype, weighted):
    """A long diffusion adds up many small numbers: exact to the last bit of the result's dtype."""
    _, edge_index, weight = random_graph(40, seed=2)
    torch.manual_seed(0)
    conv = HeatConv(4, 3, s=30.0)
    x = signal(40).to(dtype)
    exact = copy.deepcopy(conv).to(dtype).double()(x.double(), edge_index, weight)
    conv = conv.to(dtype)
    edges = edge_index, weight.requires_grad_(weighted)
    out = conv(x, *edges)
    assert out.dtype == dtype
    assert torch.allclose(out.double(), exact, atol=8 * torch.finfo(dtype).eps)
    out.square().sum().backward()
    assert conv.weight.grad.dtype == dtype
    assert torch.isfinite(conv.weight.grad).all()


def test_autocast_is_followed():
    _, edge_index, weight = random_graph()
    conv = layer(4, 3).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = conv(signal().float(), edge_index, weight)
    assert out.dtype == torch.bfloat16
    assert torch.allclose(out.float(), conv(signal().float(), edge_index, weight), atol=0.05)


def test_another_dtype_than_the_weights_is_an_error():
    _, edge_index, weight = random_graph()
    with pytest.raises(ParameterError, match=r"x is torch.float32 .* call layer.to\(torch.float32"):
        layer(4, 3)(signal().float(), edge_index, weight)
    with pytest.raises(ParameterError, match="in_channels = 4 columns; got 5"):
        layer(4, 3)(signal(channels=5), edge_index, weight)


# ------------------------------------------------------------------ device


class OnDevice(TorchDispatchMode):
    """Fails where a value is read back to the host, or a tensor copied there."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = str(function)
        forbidden = ("_local_scalar_dense", "nonzero", "aten.equal", "unique", "is_nonzero")
        assert not any(each in name for each in forbidden), f"{name} waits for the device"
        if "_to_copy" in name or "copy_" in name:
            device = kwargs.get("device")
            assert device is None or torch.device(device).type == "meta", (
                f"{name} copies to {device}"
            )
        return function(*args, **kwargs)


@pytest.mark.parametrize(
    ("learn_s", "symmetrize", "grad", "kinds"),
    [(False, None, False, 1), (True, None, True, 1), (False, "max", True, 2)],
)
def test_nothing_is_read_back_from_a_device(monkeypatch, learn_s, symmetrize, grad, kinds):
    """torch's meta device has no values: whatever asks for one fails."""
    monkeypatch.setattr(torch.Tensor, "numpy", lambda *_: pytest.fail("NumPy in a layer"))
    conv = HeatConv(4 if kinds == 1 else (4, 5), 3, s=S, K=3, learn_s=learn_s,
                    symmetrize=symmetrize, bias=True).to("meta")  # fmt: skip
    first = torch.empty(N, 4, device="meta", requires_grad=True)
    x = first if kinds == 1 else (first, torch.empty(7, 5, device="meta"))
    edge_index = torch.empty(2, 30, dtype=torch.long, device="meta")
    weight = torch.empty(30, device="meta", requires_grad=grad)
    with OnDevice():
        for _ in range(2):  # the second time with what was kept
            out = conv(x, edge_index, weight)
            out.square().sum().backward()
    assert out.shape == ((N, 3) if kinds == 1 else (7, 3))
    for parameter in conv.parameters():
        assert parameter.grad is not None
        assert parameter.grad.device.type == "meta"
    assert (weight.grad is not None) == grad


def test_relations_read_nothing_back_either(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "numpy", lambda *_: pytest.fail("NumPy in a layer"))
    conv = RelationalHeatConv(4, 3, 2, s=S).to("meta")
    edges = torch.empty(2, 30, dtype=torch.long, device="meta")
    with OnDevice():
        out = conv(torch.empty(N, 4, device="meta"), edges, edges[0])
        out.square().sum().backward()
    assert conv.raw_shares.grad is not None


def test_on_a_device_a_graph_is_known_by_its_tensors():
    conv = HeatConv(4, 3, s=S).to("meta")
    x = torch.empty(N, 4, device="meta")
    edge_index = torch.empty(2, 30, dtype=torch.long, device="meta")
    conv(x, edge_index)
    kept = conv._cache[2]
    conv(x, edge_index)
    assert conv._cache[2] is kept
    edge_index.add_(1)  # written to: another graph
    conv(x, edge_index)
    assert conv._cache[2] is not kept


# ------------------------------------------------------------------ rules


@pytest.mark.parametrize(
    ("edges", "weight", "rule"),
    [
        ([[0, 1], [1, 2]], None, "both directions"),
        ([[0, 1], [1, 0]], [1.0, 2.0], "both directions"),
        ([[0, 1], [1, 0]], [-1.0, -1.0], "non-negative"),
        ([[0, 1], [1, 0]], [np.nan, np.nan], "non-negative"),
        ([[0, 1, 0], [1, 0, 1]], [1.0, 1.0, 2.0], "named twice"),
    ],
)
def test_the_device_asserts_what_the_host_would_check(edges, weight, rule):
    edges = torch.tensor(edges)
    weight = None if weight is None else torch.tensor(weight)
    with pytest.raises(RuntimeError, match=rule):
        edge_matrix(edges, weight, 3)
    conv = HeatConv(4, 3, s=S)
    with pytest.raises(GraphError):
        conv(signal(3).float(), edges, weight)
    if weight is not None:
        with pytest.raises(GraphError):
            conv(signal(3).float(), edges, weight.requires_grad_())


def test_a_learned_time_beyond_its_series_stops():
    with pytest.raises(RuntimeError, match="outgrown"):
        heat_coefficients(torch.tensor(30.0), 20.0, 10)
    with pytest.raises(RuntimeError, match="outgrown"):
        heat_coefficients(torch.tensor(float("nan")), 20.0, 10)


# ------------------------------------------------------------------ two kinds of nodes


@pytest.mark.parametrize("way", ["operator", "edges"])
def test_edges_between_two_kinds_are_one_graph(way):
    random = np.random.default_rng(0)
    B = (random.random((5, 7)) < 0.5) * random.uniform(0.5, 2, (5, 7))
    A = np.block([[np.zeros((5, 5)), B], [B.T, np.zeros((7, 7))]])
    x, y = signal(5, 4), signal(7, 2, seed=1)
    conv = layer((4, 2), 3, K=3)
    edges = edges_of(B)
    terms = [torch.cat([x @ conv.source_weight[k], y @ conv.weight[k + 1]]) for k in range(2)]
    expected = y @ conv.weight[0]
    for k, term in enumerate(terms, start=1):
        expected = expected + (heat(A, k * S) @ term)[5:]
    found = conv((x, y), *edges) if way == "operator" else by_edges(conv, (x, y), *edges)
    assert torch.allclose(found, expected, atol=1e-5)


def test_two_kinds_may_share_weights():
    edge_index = torch.tensor([[0, 1, 2], [0, 1, 1]])
    conv = layer(4, 3)
    out = conv((signal(3), signal(2, seed=1)), edge_index)
    stacked = torch.cat([signal(3), signal(2, seed=1)])
    both = torch.cat(
        [edge_index + torch.tensor([[0], [3]]), edge_index.flip(0) + torch.tensor([[3], [0]])], 1
    )
    assert torch.allclose(out, conv(stacked, both)[3:], atol=1e-6)


def test_edges_between_kinds_are_checked():
    conv = layer((4, 4), 3)
    with pytest.raises(GraphError, match=r"edge's source must be in \[0, 3\)"):
        conv((signal(3), signal(5)), torch.tensor([[4], [1]]))
    with pytest.raises(ParameterError, match="pair"):
        conv(signal(3), torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ParameterError, match="one is None"):
        conv((signal(3), None), torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(ParameterError, match="pair of numbers"):
        HeatConv((1, 2, 3), 4, s=1.0)


# ------------------------------------------------------------------ relations


def relation_layer(*sizes, **options):
    torch.manual_seed(0)
    return RelationalHeatConv(*sizes, **{"s": S, **options}).double()


def test_relations_are_one_laplacian():
    pairs = [random_graph(seed=seed)[0] for seed in range(3)]
    given = [edges_of(A) for A in pairs]
    edge_index = torch.cat([edges for edges, _ in given], dim=1)
    weight = torch.cat([weight for _, weight in given])
    kind = torch.repeat_interleave(torch.arange(3), torch.tensor([len(w) for _, w in given]))
    conv = relation_layer(4, 3, 3)
    with torch.no_grad():
        conv.raw_shares.copy_(torch.tensor([0.3, -1.0, 0.8]))
    L = sum(
        float(share) * laplacian(sp.csr_array(A), isolated="keep").toarray()
        for share, A in zip(conv.shares, pairs, strict=True)
    )
    H = torch.tensor(scipy.linalg.expm(-S * L))
    expected = signal() @ conv.weight[0] + H @ signal() @ conv.weight[1]
    assert torch.allclose(conv(signal(), edge_index, kind, weight), expected, atol=1e-5)
    order = torch.randperm(len(kind))
    moved = conv(signal(), edge_index[:, order], kind[order], weight[order])
    assert torch.allclose(moved, expected, atol=1e-5)


def test_one_relation_is_the_plain_layer():
    A = random_graph()[0][:-1, :-1]  # nobody isolated
    edge_index, weight = edges_of(A + np.eye(len(A)))
    plain, conv = layer(4, 3), relation_layer(4, 3, 1)
    conv.load_state_dict(plain.state_dict(), strict=False)
    x = signal(N - 1)
    kinds = torch.zeros(len(weight), dtype=torch.long)
    assert torch.allclose(
        conv(x, edge_index, kinds, weight), plain(x, edge_index, weight), atol=1e-5
    )


def test_gradients_in_the_shares_of_relations():
    given = [random_graph(7, seed)[1:] for seed in range(2)]
    edge_index = torch.cat([edges for edges, _ in given], dim=1)
    kind = torch.repeat_interleave(torch.arange(2), torch.tensor([len(w) for _, w in given]))
    weight = torch.cat([weight for _, weight in given])

    def value(shares):
        matrix = relation_matrix(edge_index, weight, kind, shares, 7)
        return matrix.apply(signal(7, 2), heat_series(S, 1e-12, 1).coefficients.tolist())

    assert gradcheck(value, torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True))


def test_types_of_edges_are_checked():
    conv = relation_layer(4, 3, 2)
    edges = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(GraphError, match=r"edge_type must be in \[0, 2\)"):
        conv(signal(3), edges, torch.tensor([0, 2]))
    with pytest.raises(GraphError, match="one type per edge"):
        conv(signal(3), edges, torch.tensor([0]))
    with pytest.raises(GraphError, match="symmetric"):
        conv(signal(3), edges, torch.tensor([0, 1]))
    with pytest.raises(ParameterError, match="num_relations"):
        RelationalHeatConv(4, 3, 0, s=1.0)


# ------------------------------------------------------------------ lazy


def test_lazy_channels_are_known_at_the_first_call():
    _, edge_index, weight = random_graph()
    torch.manual_seed(0)
    conv = HeatConv(-1, 3, s=S)
    assert repr(conv) == "HeatConv(-1, 3, s=1.3, K=2, eps=None)"
    torch.manual_seed(0)
    conv(signal().float(), edge_index, weight)
    assert repr(conv) == "HeatConv(4, 3, s=1.3, K=2, eps=None)"
    torch.manual_seed(0)
    assert torch.equal(conv.weight, HeatConv(4, 3, s=S).weight)
    pair = HeatConv((-1, -1), 3, s=S)
    pair((torch.ones(2, 4), torch.ones(3, 5)), torch.tensor([[0], [1]]))
    assert pair.in_channels == (4, 5)
    assert pair.source_weight.shape == (1, 4, 3)


def test_lazy_layers_take_a_state_that_is_loaded():
    _, edge_index, weight = random_graph()
    known, lazy = HeatConv(4, 3, s=S), HeatConv(-1, 3, s=S)
    lazy.load_state_dict(known.state_dict())
    x = signal().float()
    assert torch.equal(lazy(x, edge_index, weight), known(x, edge_index, weight))
    assert lazy.in_channels == 4
