"""HeatConv: its value from the definition, its gradients, its cache and its errors."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from graphheat.errors import GraphError, ParameterError
from graphheat.heat import HeatKernel, laplacian
from graphheat.nn import HeatConv, SparseFeatures, heat_operator

N, S = 14, 1.3


def weighted_graph(n=N, seed=0):
    """A random weighted graph whose last node is isolated, as matrix, edge_index and weights."""
    random = np.random.default_rng(seed)
    A = np.triu((random.random((n, n)) < 0.3) * random.uniform(0.5, 3, (n, n)), 1)
    A = A + A.T
    A[-1] = A[:, -1] = 0
    return A, *edges_of(A)


def edges_of(A):
    coo = sp.coo_array(A)
    edge_index = torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.long)
    return edge_index, torch.tensor(coo.data)


def heat(A, s):
    return torch.tensor(scipy.linalg.expm(-s * laplacian(sp.csr_array(A)).toarray()))


def signal(n=N, channels=5, seed=0, dtype=torch.float64):
    return torch.randn(
        n, channels, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ).to(dtype)


def layer(*sizes, **options):
    torch.manual_seed(0)
    return HeatConv(*sizes, **options).double()


# ------------------------------------------------------------------ value


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("eps", [None, 0.0, 1e-9])
@pytest.mark.parametrize("bias", [False, True])
def test_the_layer_is_equation_13(K, eps, bias):
    A, edge_index, weight = weighted_graph()
    x, conv = signal(), layer(5, 3, s=S, K=K, eps=eps, bias=bias)
    if bias:
        torch.nn.init.normal_(conv.bias)
    expected = sum(heat(A, k * S) @ x @ conv.weight[k] for k in range(K))
    expected = expected + conv.bias if bias else expected
    assert torch.allclose(conv(x, edge_index, weight), expected, atol=2e-5)


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_every_form_of_input_gives_the_same_output(eps):
    A, edge_index, weight = weighted_graph()
    x = signal() * (signal(seed=1) > 0)
    conv = layer(5, 3, s=S, K=3, eps=eps)
    expected = conv(x, edge_index, weight)
    operator = heat_operator(A, S, K=3, eps=eps, dtype=torch.float64)
    sparse = SparseFeatures.from_scipy(sp.csr_array(x.numpy()), dtype=torch.float64)
    strided = torch.empty(5, N, dtype=torch.float64).t().copy_(x)
    backwards = torch.arange(len(weight) - 1, -1, -1)
    for given in (
        (x, operator),
        (sparse, edge_index, weight),
        (sparse, operator),
        (strided, edge_index, weight),
        (x, edge_index.flip(0), weight),
        (x, edge_index[:, backwards], weight[backwards]),
    ):
        assert torch.allclose(conv(*given), expected, atol=1e-12)
    single = conv.float()(x.float(), edge_index, weight.float())
    assert torch.allclose(single.double(), expected, atol=1e-5)


def test_weights_of_one_are_no_weights():
    A = (weighted_graph()[0] > 0).astype(float)
    edge_index, weight = edges_of(A)
    conv = layer(5, 3, s=S)
    assert torch.equal(conv(signal(), edge_index), conv(signal(), edge_index, weight))


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_the_order_of_the_nodes_does_not_matter(eps):
    A, edge_index, weight = weighted_graph()
    x, conv = signal(), layer(5, 3, s=S, K=3, eps=eps)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(1))
    moved = edges_of(A[np.ix_(order.numpy(), order.numpy())])
    assert torch.allclose(conv(x[order], *moved), conv(x, edge_index, weight)[order], atol=1e-5)


def test_explicit_kernels_are_thresholded_once_and_never_squared():
    A, *_ = weighted_graph(30)
    eps = 0.03
    first, second = (
        matrix.rows(np.arange(30)).toarray()
        for matrix in heat_operator(A, S, K=3, eps=eps, dtype=torch.float64)._matrices
    )
    assert np.array_equal(first, HeatKernel(A, S).matrix(eps).toarray())
    assert np.array_equal(second, HeatKernel(A, 2 * S).matrix(eps).toarray())
    exact = heat(A, 2 * S).numpy()
    assert np.abs(second - exact)[exact >= eps + 1e-5].max() <= 1e-5
    assert np.abs(first @ first - exact)[exact >= eps + 1e-5].max() > 1e-3


def test_zero_diagonal_takes_the_diagonal_out_of_every_kernel():
    A, *_ = weighted_graph()
    plain, zeroed = (heat_operator(A, S, K=3, eps=1e-3, zero_diagonal=z) for z in (False, True))
    for pair in zip(plain._matrices, zeroed._matrices, strict=True):
        kept, bare = (torch.tensor(each.rows(np.arange(N)).toarray()) for each in pair)
        assert torch.equal(bare, kept - torch.diag(torch.diag(kept)))
    assert zeroed.nnz == plain.nnz - 2 * N


def test_an_operator_knows_what_it_is():
    A, *_ = weighted_graph()
    for eps in (None, 1e-3):
        for K in (1, 2, 3):
            operator = heat_operator(A, S, K=K, eps=eps, dtype=torch.float64)
            assert (operator.n, operator.K, operator.s, operator.eps) == (N, K, S, eps)
            assert operator.dtype == torch.float64


# ------------------------------------------------------------------ gradients


@pytest.mark.parametrize("eps", [None, 1e-2])
def test_gradients_in_features_weights_and_bias(eps):
    A, *_ = weighted_graph(8)
    operator = heat_operator(A, S, K=3, eps=eps, dtype=torch.float64)
    conv, x = layer(3, 2, s=S, K=3, eps=eps, bias=True), signal(8, 3).requires_grad_()

    def forward(x, weight, bias):
        parameters = {"weight": weight, "bias": bias}
        return torch.func.functional_call(conv, parameters, (x, operator))

    weight, bias = (p.detach().clone().requires_grad_() for p in (conv.weight, conv.bias))
    assert gradcheck(forward, (x, weight, bias))


def test_gradients_in_a_learnable_time():
    A, *_ = weighted_graph(8)
    operator = heat_operator(A, S, K=3, tol=1e-11, dtype=torch.float64)
    conv, x = layer(3, 2, s=S, K=3, learn_s=True), signal(8, 3).requires_grad_()
    weight, raw_s = (p.detach().clone().requires_grad_() for p in (conv.weight, conv.raw_s))

    def forward(x, weight, raw_s):
        parameters = {"weight": weight, "raw_s": raw_s}
        return torch.func.functional_call(conv, parameters, (x, operator))

    assert gradcheck(forward, (x, weight, raw_s))


def test_the_derivative_in_time_is_minus_L_times_the_heat():
    A, *_ = weighted_graph()
    operator = heat_operator(A, S, tol=1e-11, dtype=torch.float64)
    x, s = signal(), torch.tensor(S, dtype=torch.float64, requires_grad=True)
    operator([torch.zeros_like(x), x], s).sum().backward()
    L = torch.tensor(laplacian(sp.csr_array(A)).toarray())
    assert s.grad.item() == pytest.approx(-(L @ heat(A, S) @ x).sum().item(), rel=1e-9)


def test_gradients_through_the_layer_and_its_cache():
    A, edge_index, weight = weighted_graph()
    for eps in (None, 0.0):
        conv = layer(5, 3, s=S, eps=eps)
        for _ in range(2):
            x = signal().requires_grad_()
            conv.zero_grad()
            conv(x, edge_index, weight).sum().backward()
            ones = torch.ones(N, 3, dtype=torch.float64)
            expected = ones @ conv.weight[0].T + heat(A, S) @ ones @ conv.weight[1].T
            assert torch.allclose(x.grad, expected, atol=1e-5)
            assert torch.allclose(conv.weight.grad[1], (heat(A, S) @ x).T @ ones, atol=1e-4)


@pytest.mark.parametrize("start", [0.0, 0.5, 30.0])
def test_a_learnable_time_starts_where_it_is_told_and_moves(start):
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=start, learn_s=True)
    assert conv.s == pytest.approx(start, abs=2e-6)
    conv(signal(), edge_index, weight).square().sum().backward()
    assert math.isfinite(conv.raw_s.grad.item())
    assert conv.raw_s.grad.item() != 0
    with torch.no_grad():
        conv.raw_s.add_(1.0)
    same = layer(5, 3, s=conv.s)
    assert torch.allclose(
        conv(signal(), edge_index, weight), same(signal(), edge_index, weight), atol=1e-5
    )


# ------------------------------------------------------------------ cache


@pytest.fixture
def builds(monkeypatch):
    """Count the operators that layers build."""
    from graphheat.nn import conv as module

    built = []

    def count(*args, **options):
        built.append(options)
        return heat_operator(*args, **options)

    monkeypatch.setattr(module, "heat_operator", count)
    return built


def test_the_operator_is_kept_while_the_graph_stays(builds):
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=S, eps=1e-3)
    first = conv(signal(), edge_index, weight)
    assert torch.equal(conv(signal(), edge_index.clone(), weight.clone()), first)
    conv(signal(seed=1), edge_index, weight)
    assert len(builds) == 1


def test_the_operator_is_built_every_time_when_not_cached(builds):
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=S, cached=False)
    for _ in range(2):
        conv(signal(), edge_index, weight)
    assert len(builds) == 2


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_any_change_of_the_graph_is_seen(eps):
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=S, eps=eps)

    def check(*given):
        fresh = copy.deepcopy(conv)
        fresh._cache = None
        assert torch.equal(conv(*given), fresh(*given))

    check(signal(), edge_index, weight)
    check(signal(), *weighted_graph(seed=1)[1:])
    check(signal(), edge_index, weight)
    edge_index.copy_(N - 1 - edge_index)  # in place: the same tensor, other edges
    check(signal(), edge_index, weight)
    weight.copy_(weighted_graph()[2].flip(0) * 0 + 2.0)
    weight[(edge_index == edge_index[0, 0]).any(0)] = 5.0  # in place, still symmetric
    check(signal(), edge_index, weight)
    check(signal(), edge_index, weight.float())
    check(signal(), edge_index)
    check(signal(N + 3), edge_index)
    conv.float()
    check(signal(dtype=torch.float32), edge_index)
    assert conv(signal(dtype=torch.float32), edge_index).dtype == torch.float32


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_a_used_layer_can_be_copied_and_its_state_loaded(eps):
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=S, eps=eps, bias=True, learn_s=eps is None)
    expected = conv(signal(), edge_index, weight)
    twin = copy.deepcopy(conv)
    assert torch.equal(twin(signal(), edge_index, weight), expected)
    torch.manual_seed(1)
    other = HeatConv(5, 3, s=S, eps=eps, bias=True, learn_s=eps is None).double()
    other.load_state_dict(conv.state_dict())
    assert torch.equal(other(signal(), edge_index, weight), expected)
    assert all(isinstance(value, torch.Tensor) for value in conv.state_dict().values())


def test_reset_parameters_draws_anew():
    conv = layer(5, 3, s=S, bias=True, learn_s=True)
    before = conv.weight.detach().clone()
    torch.nn.init.ones_(conv.bias)
    torch.nn.init.ones_(conv.raw_s)
    conv.reset_parameters()
    assert not torch.equal(conv.weight, before)
    assert torch.equal(conv.bias, torch.zeros(3, dtype=torch.float64))
    assert conv.s == pytest.approx(S)


def test_the_layer_shows_what_it_is():
    assert repr(HeatConv(5, 3, s=2, K=3, learn_s=True)) == "HeatConv(5, 3, s=2, K=3, eps=None)"


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        ({"K": 0}, "K", 0),
        ({"K": 1.5}, "K", 1.5),
        ({"K": True}, "K", True),
        ({"s": -1}, "s", -1),
        ({"s": math.nan}, "s", math.nan),
        ({"s": 1e7}, "s", 1e7),
        ({"s": "a"}, "s", "a"),
        ({"eps": -1e-4}, "eps", -1e-4),
        ({"eps": 1}, "eps", 1),
    ],
)
def test_parameters_are_checked(options, name, value):
    with pytest.raises(ParameterError, match=rf"'{name}' parameter .*Got {value!r} instead"):
        HeatConv(5, 3, **{"s": 1.0, **options})
    with pytest.raises(ParameterError, match=rf"'{name}' parameter .*Got {value!r} instead"):
        heat_operator(weighted_graph()[0], **{"s": 1.0, **options})


@pytest.mark.parametrize(("inputs", "outputs"), [(0, 3), (5, -1), (5, 2.0)])
def test_channels_are_counts(inputs, outputs):
    with pytest.raises(ParameterError, match=r"_channels' parameter .* must be an int >= 1"):
        HeatConv(inputs, outputs, s=1.0)


def test_choices_that_exclude_each_other_are_errors():
    with pytest.raises(ParameterError, match=r"'zero_diagonal' .* give eps"):
        HeatConv(5, 3, s=1.0, zero_diagonal=True)
    with pytest.raises(ParameterError, match=r"'zero_diagonal' .* give eps"):
        heat_operator(weighted_graph()[0], 1.0, zero_diagonal=True)
    with pytest.raises(ParameterError, match=r"'learn_s' .* eps=None"):
        HeatConv(5, 3, s=1.0, eps=1e-4, learn_s=True)


def test_one_way_edges_are_an_error():
    _, edge_index, weight = weighted_graph()
    with pytest.raises(GraphError, match=r"must be symmetric; 1 of.*symmetrize='sum' to HeatConv"):
        layer(5, 3, s=S)(signal(), edge_index[:, 1:], weight[1:])


def test_a_kernel_matrix_has_no_gradients_in_weights():
    _, edge_index, weight = weighted_graph()
    conv = layer(5, 3, s=S, eps=1e-3)
    conv(signal(), edge_index, weight)  # also when an operator for equal weights is cached
    with pytest.raises(ParameterError, match=r"no gradients in edge weights.*detach"):
        conv(signal(), edge_index, weight.requires_grad_())


def test_an_operator_has_the_layers_terms_and_the_signals_nodes():
    A, *_ = weighted_graph()
    with pytest.raises(ParameterError, match="operator has K = 3 terms and this layer 2"):
        layer(5, 3, s=S)(signal(), heat_operator(A, S, K=3, dtype=torch.float64))
    with pytest.raises(ParameterError, match="one row per node; got 9 for 14 nodes"):
        layer(5, 3, s=S)(signal(9), heat_operator(A, S, dtype=torch.float64))
    with pytest.raises(ParameterError, match="K = 2 terms; got 1"):
        heat_operator(A, S)([signal()])


def test_edges_beyond_the_features_are_an_error():
    _, edge_index, weight = weighted_graph()
    with pytest.raises(GraphError, match=r"source must be in \[0, 5\)"):
        layer(5, 3, s=S)(signal(5), edge_index, weight)


def test_a_time_that_training_drove_to_nan_is_named():
    _, edge_index, _ = weighted_graph()
    conv = layer(5, 3, s=S, learn_s=True)
    torch.nn.init.constant_(conv.raw_s, math.nan)
    with pytest.raises(ParameterError, match=r"'s' parameter of HeatConv .*Got nan"):
        conv(signal(), edge_index)
