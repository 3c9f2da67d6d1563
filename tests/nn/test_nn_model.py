"""GraphHeat, and HeatConv inside other people's models."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphheat import datasets
from graphheat.errors import ParameterError
from graphheat.nn import GraphHeat, HeatConv, SparseFeatures, heat_operator


@pytest.fixture(scope="module")
def karate():
    return datasets.load("karate")


def features_of(graph, channels=8, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(graph.n, channels, generator=generator).to(dtype)


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("eps", [None, 1e-4])
def test_parameters_and_logits_have_the_sizes_of_equation_15(karate, K, eps):
    model = GraphHeat(8, 4, s=3.0, K=K, eps=eps, hidden=5)
    assert sum(p.numel() for p in model.parameters()) == K * (8 * 5 + 5 * 4)
    assert model(features_of(karate), heat_operator(karate, 3.0, K=K, eps=eps)).shape == (34, 4)
    biased = GraphHeat(8, 4, s=3.0, K=K, hidden=5, bias=True)
    assert sum(p.numel() for p in biased.parameters()) == K * (8 * 5 + 5 * 4) + 5 + 4


def test_the_model_is_two_layers_with_a_relu_between_them(karate):
    model = GraphHeat(8, 4, s=3.0).eval()
    x, operator = features_of(karate), heat_operator(karate, 3.0)
    expected = model.second(torch.relu(model.first(x, operator)), operator)
    assert torch.equal(model(x, operator), expected)


def test_edges_operators_and_sparse_features_are_the_same_to_the_model(karate):
    coo = karate.adjacency.tocoo()
    edge_index = torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.long)
    model = GraphHeat(8, 4, s=3.0, eps=1e-4).eval()
    x = torch.relu(features_of(karate))
    expected = model(x, heat_operator(karate, 3.0, eps=1e-4))
    sparse = SparseFeatures.from_scipy(sp.csr_array(x.numpy()))
    assert torch.allclose(model(x, edge_index), expected, atol=1e-6)
    assert torch.allclose(model(sparse, edge_index), expected, atol=1e-6)


def test_dropout_works_in_training_alone(karate):
    model = GraphHeat(8, 4, s=3.0, dropout=0.5)
    x, operator = features_of(karate), heat_operator(karate, 3.0)
    sparse = SparseFeatures.from_scipy(sp.csr_array(x.numpy()))
    for given in (x, sparse):
        model.train()
        assert not torch.equal(model(given, operator), model(given, operator))
        model.eval()
        assert torch.equal(model(given, operator), model(given, operator))


@pytest.mark.parametrize("dropout", [-0.1, 1.0, float("nan")])
def test_dropout_is_a_number_from_0_to_below_1(dropout):
    with pytest.raises(ParameterError, match=rf"'dropout' parameter .*Got {dropout!r} instead"):
        GraphHeat(8, 4, s=3.0, dropout=dropout)


def test_a_state_makes_the_same_model(karate):
    coo = karate.adjacency.tocoo()
    edge_index = torch.tensor(np.stack([coo.row, coo.col]), dtype=torch.long)
    x, model = features_of(karate), GraphHeat(8, 4, s=3.0, eps=1e-4).eval()
    expected = model(x, edge_index)  # the cache is filled now, and is no part of the state
    other = GraphHeat(8, 4, s=3.0, eps=1e-4).eval()
    assert not torch.equal(other(x, edge_index), expected)
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x, edge_index), expected)
    assert torch.equal(copy.deepcopy(model)(x, edge_index), expected)
    other.reset_parameters()
    assert not torch.equal(other(x, edge_index), expected)


@pytest.mark.parametrize("options", [{}, {"learn_s": True}, {"eps": 1e-4}, {"K": 3, "bias": True}])
def test_the_layer_trains_in_an_ordinary_pyg_script(karate, options):
    pytest.importorskip("torch_geometric")
    torch.manual_seed(0)
    data = karate.to_pyg()
    data.x = features_of(karate)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = HeatConv(data.num_features, 16, s=1.0, **options)
            self.conv2 = HeatConv(16, 2, s=1.0, **options)

        def forward(self, data):
            x = self.conv1(data.x, data.edge_index).relu()
            return self.conv2(x, data.edge_index)

    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), data.y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
