"""HeatConv where PyG's users have GCNConv: batches, subgraphs, hetero graphs, explanations."""

import copy
import pickle

import pytest
import torch
from torch import nn

from graphheat import datasets
from graphheat import nn as heat_nn
from graphheat.errors import GraphError, ParameterError

pytest.importorskip("torch_geometric")
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import HeteroConv, to_hetero
from torch_geometric.utils import k_hop_subgraph

from graphheat.pyg import HeatConv


def block(n=120, seed=0):
    return datasets.block_model(n, 3, degree=6, labels_per_class=5, seed=seed).to_pyg()


class GCN(nn.Module):
    """The network of PyG's introduction, with HeatConv in the place of GCNConv."""

    def __init__(self, inputs, outputs, **options):
        super().__init__()
        torch.manual_seed(0)
        self.conv1 = HeatConv(inputs, 8, s=1.5, **options)
        self.conv2 = HeatConv(8, outputs, s=1.5, **options)

    def forward(self, x, edge_index):
        x = self.conv1(x, edge_index).relu()
        return self.conv2(x, edge_index)


def test_it_is_the_plain_layer():
    data = block()
    torch.manual_seed(0)
    plain = heat_nn.HeatConv(data.num_features, 4, s=2.0, bias=True)
    torch.manual_seed(0)
    conv = HeatConv(data.num_features, 4, s=2.0, bias=True)
    assert repr(conv) == repr(plain)
    expected = plain(data.x, data.edge_index)
    assert torch.equal(conv(data.x, data.edge_index), expected)
    for twin in (copy.deepcopy(conv), pickle.loads(pickle.dumps(conv))):  # noqa: S301
        assert torch.equal(twin(data.x, data.edge_index), expected)


def test_a_batch_of_graphs_is_each_graph_by_itself():
    graphs = [block(40 + 10 * k, seed=k) for k in range(3)]
    for data in graphs:
        data.x = data.x[:, :5]
    batch, net = Batch.from_data_list(graphs), GCN(5, 3)
    expected = torch.cat([net(data.x, data.edge_index) for data in graphs])
    assert torch.allclose(net(batch.x, batch.edge_index), expected, atol=1e-6)


def sampled(data, seeds, sizes, generator):
    """What NeighborLoader yields: seeds first, and edges that lead towards them alone."""
    nodes, frontier, edges = list(seeds), list(seeds), []
    place = {node: row for row, node in enumerate(nodes)}
    for size in sizes:
        reached = []
        for node in frontier:
            sources = data.edge_index[0, data.edge_index[1] == node]
            chosen = sources[torch.randperm(len(sources), generator=generator)[:size]].tolist()
            for source in chosen:
                if source not in place:
                    place[source] = len(nodes)
                    nodes.append(source)
                    reached.append(source)
                edges.append((place[source], place[node]))
        frontier = reached
    index = torch.tensor(sorted(set(edges))).t()
    return Data(x=data.x[nodes], edge_index=index, n_id=torch.tensor(nodes), batch_size=len(seeds))


def test_sampled_subgraphs_lead_one_way_and_the_layer_makes_them_symmetric():
    data = block()
    batch = sampled(data, [3, 17, 60], [3, 2], torch.Generator().manual_seed(0))
    one_way = GCN(data.num_features, 3)
    with pytest.raises(GraphError, match=r"Pass symmetrize='max' or symmetrize='sum' to HeatConv"):
        one_way(batch.x, batch.edge_index)
    net = GCN(data.num_features, 3, symmetrize="max")
    out = net(batch.x, batch.edge_index)[: batch.batch_size]
    both = torch.cat([batch.edge_index, batch.edge_index.flip(0)], dim=1)
    expected = one_way(batch.x, torch.unique(both, dim=1))[: batch.batch_size]
    assert torch.allclose(out, expected, atol=1e-6)
    assert "edges had no equal reverse" in net.conv1.symmetrized


def test_far_enough_a_subgraph_gives_what_the_whole_graph_gives():
    """All heat that a node can notice is within the order of the two series."""
    data = datasets.block_model(900, 3, degree=2, labels_per_class=5, seed=0).to_pyg()
    net = GCN(data.num_features, 3)
    nodes, edge_index, place, _ = k_hop_subgraph(5, 30, data.edge_index, relabel_nodes=True)
    assert len(nodes) < 900
    expected = net(data.x, data.edge_index)[5]
    assert torch.allclose(net(data.x[nodes], edge_index)[place[0]], expected, atol=1e-5)


def test_a_hetero_graph_of_one_kind_is_that_graph():
    data = block()
    kind = ("paper", "cites", "paper")
    x, edges = {"paper": data.x}, {kind: data.edge_index}
    net = GCN(data.num_features, 3)
    expected = net(data.x, data.edge_index)
    hetero = to_hetero(net, (["paper"], [kind]))
    for name, layer in (("conv1", net.conv1), ("conv2", net.conv2)):
        getattr(hetero, name)["paper__cites__paper"].load_state_dict(layer.state_dict())
    assert torch.allclose(hetero(x, edges)["paper"], expected, atol=1e-6)
    first, second = HeteroConv({kind: net.conv1}), HeteroConv({kind: net.conv2})
    hidden = {name: each.relu() for name, each in first(x, edges).items()}
    assert torch.allclose(second(hidden, edges)["paper"], expected, atol=1e-6)
    relational = heat_nn.RelationalHeatConv(data.num_features, 8, 1, s=1.5)
    relational.load_state_dict(net.conv1.state_dict(), strict=False)
    kinds = torch.zeros(data.num_edges, dtype=torch.long)
    linked = torch.zeros(data.num_nodes, dtype=torch.bool)
    linked[data.edge_index[0]] = True  # its isolated nodes keep their heat, as documented
    found = relational(data.x, data.edge_index, kinds)
    assert torch.allclose(found[linked], net.conv1(data.x, data.edge_index)[linked], atol=1e-5)


def library():
    generator = torch.Generator().manual_seed(0)
    data = HeteroData()
    data["paper"].x = torch.randn(20, 6, generator=generator)
    data["author"].x = torch.randn(9, 4, generator=generator)
    index = torch.randint(0, 20, (2, 30), generator=generator)
    data["paper", "cites", "paper"].edge_index = torch.unique(
        torch.cat([index, index.flip(0)], dim=1), dim=1
    )
    writes = torch.stack([torch.randint(0, 9, (25,), generator=generator),
                          torch.randint(0, 20, (25,), generator=generator)])  # fmt: skip
    data["author", "writes", "paper"].edge_index = torch.unique(writes, dim=1)
    data["paper", "of", "author"].edge_index = torch.unique(writes, dim=1).flip(0)
    return data


def test_several_kinds_of_nodes_add_up_over_relations():
    data = library()
    net = to_hetero(GCN((-1, -1), 3), data.metadata())
    out = net(data.x_dict, data.edge_index_dict)
    assert {name: each.shape for name, each in out.items()} == {"paper": (20, 3), "author": (9, 3)}
    convs = {kind: HeatConv((-1, -1) if kind[0] != kind[2] else -1, 5, s=1.0)
             for kind in data.edge_types}  # fmt: skip
    layer = HeteroConv(convs, aggr="sum")
    out = layer(data.x_dict, data.edge_index_dict)
    cites, writes = ("paper", "cites", "paper"), ("author", "writes", "paper")
    paper, author = data["paper"].x, data["author"].x
    expected = convs[cites](paper, data[cites].edge_index)
    expected = expected + convs[writes]((author, paper), data[writes].edge_index)
    assert torch.allclose(out["paper"], expected, atol=1e-6)
    sum(each.square().sum() for each in out.values()).backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_relations_of_a_hetero_graph_learn_their_shares():
    """Papers' labels follow one relation and not the other: its share grows."""
    data = block(150)
    generator = torch.Generator().manual_seed(0)
    noise = torch.randint(0, 150, (2, 600), generator=generator)
    noise = torch.unique(torch.cat([noise, noise.flip(0)], dim=1), dim=1)
    hetero = HeteroData()
    hetero["paper"].x, hetero["paper"].y = data.x, data.y
    hetero["paper", "cites", "paper"].edge_index = data.edge_index
    hetero["paper", "beside", "paper"].edge_index = noise
    flat = hetero.to_homogeneous()
    torch.manual_seed(0)
    conv = heat_nn.RelationalHeatConv(data.num_features, 3, 2, s=3.0)
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        out = conv(flat.x, flat.edge_index, flat.edge_type)
        nn.functional.cross_entropy(out, data.y).backward()
        optimizer.step()
    assert conv.shares[0] > 0.6


def test_masks_of_edges_explain_a_label():
    """Two stars side by side: edges that bring a node its heat are marked, others are not."""
    star = torch.tensor([[0, 0, 0, 4, 4, 4], [1, 2, 3, 5, 6, 7]])
    edge_index = torch.cat([star, star.flip(0)], dim=1)
    x = torch.eye(8)
    net = GCN(8, 2)
    with torch.no_grad():
        net.conv2.weight.mul_(3)
    explainer = Explainer(
        net,
        GNNExplainer(epochs=60, lr=0.1),
        explanation_type="model",
        node_mask_type=None,
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node",
                      "return_type": "raw"},
    )  # fmt: skip
    torch.manual_seed(0)
    before = net(x, edge_index)
    explanation = explainer(x, edge_index, index=1)
    mask = explanation.edge_mask
    own = (edge_index < 4).all(dim=0)
    assert mask.shape == (12,)
    assert mask[own].max() > 0
    assert (mask[~own] == 0).all()
    assert torch.equal(net(x, edge_index), before)  # masks are taken off again


def test_a_mask_of_ones_changes_nothing_and_one_of_zeros_cuts_the_edges():
    data = block()
    conv = HeatConv(data.num_features, 4, s=2.0)
    conv.explain = True  # type: ignore[assignment]  # PyG has no types
    conv._apply_sigmoid = False  # type: ignore[assignment]
    conv._edge_mask = torch.ones(data.num_edges)
    conv._loop_mask = torch.ones(data.num_edges, dtype=torch.bool)
    masked = conv(data.x, data.edge_index)
    conv._edge_mask = torch.zeros(data.num_edges)
    cut = conv(data.x, data.edge_index)
    conv._edge_mask = torch.ones(3)
    with pytest.raises(ParameterError, match="one value per edge; got 3"):
        conv(data.x, data.edge_index)
    conv.explain = None
    assert torch.allclose(masked, conv(data.x, data.edge_index), atol=1e-5)
    nothing = torch.empty(2, 0, dtype=torch.long)
    assert torch.allclose(cut, conv(data.x, nothing), atol=1e-5)
