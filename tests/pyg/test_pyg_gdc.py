"""HeatGDC gives the edges that PyG's dense GDC gives."""

import numpy as np
import pytest
import torch

from graphheat import datasets
from graphheat.errors import GraphError, ParameterError

pytest.importorskip("torch_geometric")
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import GDC

from graphheat.pyg import HeatGDC


def dense(data):
    out = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.float64)
    out[data.edge_index[0], data.edge_index[1]] = data.edge_attr.double()
    return out.numpy()


def graph(weighted=False):
    data = datasets.block_model(120, 3, degree=6, labels_per_class=5, seed=0).to_pyg()
    if weighted:
        pair = torch.minimum(*data.edge_index) * 200 + torch.maximum(*data.edge_index)
        data.edge_attr = 0.5 + (pair % 7).float()
    return data


def reference(data, sparsify, **options):
    diffusion = {"method": "heat", "t": 3.0}
    return GDC(diffusion_kwargs=diffusion, sparsification_kwargs=sparsify, **options)(data)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalization", ["col", "row", "sym", None])
def test_threshold_equals_the_dense_transform(weighted, normalization):
    eps = 1e-3
    ours = dense(HeatGDC(3.0, eps=eps, normalization_out=normalization)(graph(weighted)))
    theirs = dense(
        reference(
            graph(weighted), {"method": "threshold", "eps": eps}, normalization_out=normalization
        )
    )
    assert np.count_nonzero((ours > 0) != (theirs > 0)) <= 2  # entries within rounding of eps
    assert np.abs(ours - theirs)[(ours > 0) == (theirs > 0)].max() < 2e-5


@pytest.mark.parametrize("self_loop_weight", [0.0, 1.0, 2.5])
def test_top_k_equals_the_dense_transform(self_loop_weight):
    options = {"self_loop_weight": self_loop_weight}
    ours = dense(HeatGDC(3.0, k=8, **options)(graph()))
    theirs = dense(reference(graph(), {"method": "topk", "k": 8, "dim": 0}, **options))
    assert np.count_nonzero(ours, axis=0).max() == 8  # an isolated node has its loop alone
    assert np.array_equal(ours > 0, theirs > 1e-7)
    assert np.abs(ours - theirs).max() < 2e-5


def test_the_result_feeds_an_ordinary_layer():
    data = HeatGDC(2.0, eps=1e-3)(graph())
    out = GCNConv(data.x.size(1), 4, normalize=False)(data.x, data.edge_index, data.edge_attr)
    assert out.shape == (data.num_nodes, 4)


def test_columns_sum_to_one_and_isolated_nodes_keep_a_loop():
    pair = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=3)
    heat = dense(HeatGDC(1.0, eps=1e-4)(pair))
    assert np.allclose(heat.sum(axis=0), 1.0)
    assert heat[2, 2] == pytest.approx(1.0)


def test_bad_parameters_are_said_in_a_sentence():
    with pytest.raises(ParameterError, match="either eps or k"):
        HeatGDC(3.0)
    with pytest.raises(ParameterError, match="either eps or k"):
        HeatGDC(3.0, eps=1e-3, k=4)
    with pytest.raises(ParameterError, match="'t'"):
        HeatGDC(-1.0, k=4)
    with pytest.raises(ParameterError, match="normalization_out"):
        HeatGDC(1.0, k=4, normalization_out="both")
    with pytest.raises(GraphError, match="symmetric"):
        HeatGDC(1.0, k=1)(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
