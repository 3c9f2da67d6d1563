"""MLP, ChebyNet, GCN, GraphSAGE, MoNet, GAT: PyG's mathematics, and what a user sees."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from odd_graphs import split_of

pytest.importorskip("torch_geometric")
from torch_geometric.nn import ChebConv, GATConv, GCNConv, GMMConv, SAGEConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from graphheat import baselines
from graphheat.baselines.chebynet import Chebyshev, scaled_laplacian
from graphheat.baselines.field import Edges, edges_of, field_of
from graphheat.baselines.graphsage import MeanLayer
from graphheat.baselines.inputs import Mapped, network_input, rows
from graphheat.baselines.monet import Mixture, MixtureNetwork, Turns, degree_edges
from graphheat.baselines.twolayer import TwoLayers, adam
from graphheat.datasets import block_model
from graphheat.errors import GraphError, MissingDependencyError, ParameterError
from graphheat.graph import Graph
from graphheat.nn import SparseFeatures
from graphheat.nn.features import dropout
from graphheat.training.stop_rule import StopRule

NAMES = ("mlp", "chebynet", "gcn", "graphsage", "monet", "gat")
LOOKING = NAMES[1:]  # those that see edges
KIPF = {
    "hidden": 16,
    "dropout": 0.5,
    "l2": 5e-4,
    "learning_rate": 0.01,
    "max_epochs": 200,
    "patience": 10,
}
SHCHUR = {**KIPF, "max_epochs": 100_000, "patience": 50}
GAT = {
    "hidden": 8,
    "heads": 8,
    "output_heads": 1,
    "dropout": 0.6,
    "l2": 5e-4,
    "learning_rate": 5e-3,
    "max_epochs": 100_000,
    "patience": 100,
    "watch": "both",
}
MONET = {**SHCHUR, "kernels": 2, "dimension": 2, "turn": 12}
PUBLISHED = {
    ("mlp", "cora"): KIPF,
    ("mlp", "citeseer"): KIPF,
    ("mlp", "pubmed"): KIPF,
    ("gcn", "cora"): KIPF,
    ("gcn", "citeseer"): KIPF,
    ("gcn", "pubmed"): KIPF,
    ("chebynet", "cora"): {**KIPF, "K": 2},
    ("chebynet", "citeseer"): {**KIPF, "K": 3},
    ("chebynet", "pubmed"): {**KIPF, "K": 3},
    ("graphsage", "cora"): SHCHUR,
    ("graphsage", "citeseer"): SHCHUR,
    ("graphsage", "pubmed"): SHCHUR,
    ("monet", "cora"): MONET,
    ("monet", "citeseer"): MONET,
    ("monet", "pubmed"): {**MONET, "dimension": 3},
    ("gat", "cora"): GAT,
    ("gat", "citeseer"): {**GAT, "watch": "accuracy"},
    ("gat", "pubmed"): {**GAT, "output_heads": 8, "learning_rate": 0.01, "l2": 1e-3},
}


def quick(name, epochs=20, **changes):
    return baselines.load(name)(**{"max_epochs": epochs, **changes})


def accuracy(outcome, graph, split):
    right = outcome.probabilities.argmax(axis=1)[split.test] == graph.labels[split.test]
    return right.mean()


def check_rows(probabilities, n, classes):
    assert probabilities.shape == (n, classes)
    assert np.isfinite(probabilities).all() and (probabilities >= 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-12)


@pytest.fixture(autouse=True)
def _repeatable():
    torch.manual_seed(0)


@pytest.fixture(scope="module")
def structured():
    """Edges say nearly everything, features little."""
    return block_model(
        240, 3, degree=8, homophily=0.97, features=24, feature_strength=1.0, labels_per_class=10
    )


@pytest.fixture(scope="module")
def small():
    """Weighted edges, a self-loop, isolated nodes; sparse words, one node without any."""
    rng = np.random.default_rng(3)
    n, f = 30, 12
    upper = np.triu(rng.random((n, n)) < 0.12, 1) * rng.uniform(0.5, 2.0, (n, n))
    adjacency = upper + upper.T
    adjacency[4, 4] = 1.0
    adjacency[[7, 8]] = adjacency[:, [7, 8]] = 0
    words = (rng.random((n, f)) < 0.3) * rng.integers(1, 4, (n, f)).astype(float)
    words[11] = 0
    return Graph.from_scipy(
        adjacency,
        sp.csr_array(words),
        rng.integers(0, 3, n),
        classes=range(3),
        split={"train": range(9), "val": range(9, 16), "test": range(16, 30)},
    )


# ------------------------------------------------------------------- the same as PyG's own layers


def same(mine, theirs, x, x_dense, mine_args, theirs_args, weights):
    """Compare outputs, and gradients of matching weights, of two layers."""
    a, b = mine(x, *mine_args), theirs(x_dense, *theirs_args)
    assert torch.allclose(a, b, atol=1e-6), (a - b).abs().max()
    pull = torch.randn(a.shape, generator=torch.Generator().manual_seed(0))
    (a * pull).sum().backward()
    (b * pull).sum().backward()
    for left, right in weights:
        assert left.grad.abs().max() > 0
        assert torch.allclose(left.grad, right.grad, atol=1e-5), (
            (left.grad - right.grad).abs().max()
        )


@pytest.fixture(scope="module", params=["sparse", "dense"])
def features(request, small):
    x = network_input(small)
    dense = x @ torch.eye(x.shape[1])
    return (x if request.param == "sparse" else dense), dense


def test_input_is_sparse_and_its_rows_sum_to_one(small):
    x = network_input(small)
    assert isinstance(x, SparseFeatures)
    sums = (x @ torch.ones(x.shape[1], 1)).ravel()
    assert torch.allclose(sums, torch.tensor([0.0 if i == 11 else 1.0 for i in range(30)]))


def test_gcn_layer_is_pygs(small, features):
    x, dense = features
    edges = edges_of(small, self_loops=False)
    theirs = GCNConv(12, 5, bias=False)
    mine = GCNConv(12, 5, normalize=False, bias=False)
    mine.load_state_dict(theirs.state_dict())
    mine = Mapped(mine)
    normalised = gcn_norm(*edges, num_nodes=small.n)
    same(mine, theirs, x, dense, normalised, edges, [(mine.map.weight, theirs.lin.weight)])


def test_gat_layer_is_pygs(small, features):
    x, dense = features
    bare = edges_of(small, self_loops=False).edge_index
    theirs, mine = GATConv(12, 4, 3), GATConv(12, 4, 3, add_self_loops=False)
    mine.load_state_dict(theirs.state_dict())
    mine = Mapped(mine)
    pairs = [
        (mine.map.weight, theirs.lin.weight),
        (mine.layer.att_src, theirs.att_src),
        (mine.layer.bias, theirs.bias),
    ]
    same(mine, theirs, x, dense, [edges_of(small, self_loops=True).edge_index], [bare], pairs)


@pytest.mark.parametrize("terms", [1, 2, 3, 4])
def test_chebynet_layer_is_pygs(small, features, terms):
    x, dense = features
    edges = edges_of(small, self_loops=False)
    mine, theirs = Chebyshev(12, 5, terms, bias=False), ChebConv(12, 5, terms, bias=False)
    mine.load_state_dict(theirs.state_dict())
    matrix = scaled_laplacian(small)
    adjacency = small.adjacency.toarray() - np.diag(small.adjacency.diagonal())
    degree = adjacency.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros(30), where=degree > 0)
    largest = np.linalg.eigvalsh(np.eye(30) - scale[:, None] * adjacency * scale)[-1]
    same(
        mine,
        lambda x, *edges: theirs(x, *edges, lambda_max=torch.tensor(largest, dtype=torch.float32)),
        x,
        dense,
        [SparseFeatures.from_scipy(matrix)],
        edges,
        [(a.weight, b.weight) for a, b in zip(mine.lins, theirs.lins, strict=True)],
    )


def test_scaled_laplacian_spans_minus_one_to_one():
    graph = block_model(200, 2, seed=4)  # large enough for the sparse way to its eigenvalue
    values = np.linalg.eigvalsh(scaled_laplacian(graph).toarray())
    assert values[0] == pytest.approx(-1, abs=1e-9)
    assert values[-1] == pytest.approx(1, abs=1e-9)


def test_graphsage_layer_is_pygs_cut_to_length_one(small, features):
    x, dense = features
    index = edges_of(small, self_loops=True).edge_index
    mine, theirs = MeanLayer(12, 5), SAGEConv(12, 5)
    mine.near.weight.data *= 3  # rows on either side of length 1
    mine.near.bias.data.uniform_(0, 0.3)
    theirs.lin_l.weight.data = mine.near.weight.data.clone()
    theirs.lin_l.bias.data = mine.near.bias.data.clone()
    theirs.lin_r.weight.data = mine.own.weight.data.clone()

    def cut(x, index):
        y = theirs(x, index)
        length = y.norm(dim=1, keepdim=True)
        assert (length < 1).any() and (length > 1).any()
        return torch.where(length > 1, y / length, y)

    pairs = [(mine.near.weight, theirs.lin_l.weight), (mine.own.weight, theirs.lin_r.weight)]
    same(mine, cut, x, dense, [index], [index], [*pairs, (mine.near.bias, theirs.lin_l.bias)])


def test_monet_layer_is_pygs_over_the_sum_of_its_weights(small, features):
    x, dense = features
    index, coordinates = degree_edges(small)
    mine = Mixture(12, 5, 2, 1)
    theirs, weights = (
        GMMConv(size, out, 2, 1, aggr="add", root_weight=False, bias=False)
        for size, out in ((12, 5), (1, 1))
    )
    theirs.load_state_dict(mine.state_dict())
    weights.load_state_dict({**mine.state_dict(), "g": torch.ones(1, 1)})

    def normalised(x, index, coordinates):
        # A pair of inputs with no target side: PyG 2.8 looks for a root weight otherwise.
        size = (30, 30)
        total = weights((torch.ones(30, 1), None), index, coordinates, size)
        return theirs((x, None), index, coordinates, size) / total

    edges = [index, coordinates]
    same(mine, normalised, x, dense, edges, edges, [(mine.g, theirs.g)])


def test_monet_sums_over_gaussians(small):
    x = network_input(small) @ torch.eye(12)
    index, coordinates = degree_edges(small)
    both = Mixture(12, 5, 2, 2)
    alone = [Mixture(12, 5, 2, 1) for _ in range(2)]
    for k, layer in enumerate(alone):
        layer.g.data = both.g.data[:, 5 * k : 5 * (k + 1)]
        layer.mu.data, layer.sigma.data = both.mu.data[k : k + 1], both.sigma.data[k : k + 1]
    total = sum(layer(x, index, coordinates) for layer in alone)
    assert torch.allclose(both(x, index, coordinates), total, atol=1e-6)
    assert both.mu.tolist() == [[-0.75, -0.75], [0.25, 0.25]]
    assert both.sigma.tolist() == [[1.0, 1.0], [1.0, 1.0]]


# --------------------------------------------------------------------------------- fields, inputs


@pytest.mark.parametrize("nodes", [[0, 3], [7], [5, 2, 29], list(range(30))])
def test_field_gives_outputs_and_gradients_of_the_whole_graph(small, nodes):
    x, wanted = network_input(small), torch.tensor(nodes)
    edges = Edges(*gcn_norm(*edges_of(small, self_loops=False), num_nodes=small.n))
    net = TwoLayers(
        Mapped(GCNConv(12, 6, normalize=False)), GCNConv(6, 3, normalize=False), rate=0.0
    )
    field = field_of(wanted, edges, small.n)
    part = net(rows(x, field.nodes), field.layers)[field.places]
    whole = net(x, [edges, edges])[wanted]
    assert torch.allclose(part, whole, atol=1e-6)
    gradients = [torch.autograd.grad(y.square().sum(), [*net.parameters()]) for y in (part, whole)]
    for a, b in zip(*gradients, strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_field_holds_no_more_than_two_steps():
    path = sp.csr_array(sp.diags_array(np.ones((2, 5)), offsets=[-1, 1]))
    edges = edges_of(Graph.from_scipy(path), self_loops=True)
    field = field_of(torch.tensor([0]), edges, 6)
    assert field.nodes.tolist() == [0, 1, 2]
    assert field.places.tolist() == [0]
    into = [sorted(zip(*layer.edge_index.tolist(), strict=True)) for layer in field.layers]
    assert into == [[(0, 0), (0, 1), (1, 0), (1, 1), (2, 1)], [(0, 0), (1, 0)]]


def test_edges_with_self_loops_have_one_of_weight_one_a_node(small):
    (source, target), weight = edges_of(small, self_loops=True)
    loops = source == target
    assert sorted(source[loops].tolist()) == list(range(30))
    assert (weight[loops] == 1).all()
    assert int((~loops).sum()) == small.adjacency.nnz - 1


def test_dropout_keeps_zeros_and_the_mean():
    x = SparseFeatures.from_scipy(sp.csr_array(np.ones((100, 100))))
    values = dropout(x, 0.6, True).values
    assert values.unique().tolist() == [0, 2.5]
    assert values.mean().item() == pytest.approx(1, abs=0.05)
    assert dropout(x, 0.6, False) is x


def test_penalty_is_on_matrices_of_the_part_that_is_named():
    net = TwoLayers(MeanLayer(4, 3), MeanLayer(3, 2), 0.5)
    held, free = adam(net, net.first, 0.25, 0.1).param_groups
    assert {id(w) for w in held["params"]} == {id(net.first.near.weight), id(net.first.own.weight)}
    assert (held["weight_decay"], free["weight_decay"], held["lr"]) == (0.25, 0, 0.1)
    assert len(held["params"]) + len(free["params"]) == len(list(net.parameters()))
    (everything, biases) = adam(net, net, 0.25, 0.1).param_groups
    assert (len(everything["params"]), len(biases["params"])) == (4, 2)


# ----------------------------------------------------------------------------------- the baselines


@pytest.mark.parametrize("name", NAMES)
def test_baseline_says_who_it_is(name):
    baseline = baselines.load(name)
    assert baseline.name == name
    assert baseline.title and baseline.reference[-4:].isdigit()
    assert baseline().as_dict() == baseline.preset("a graph of one's own").as_dict()
    with pytest.raises(ParameterError, match="no setting 'hiden'"):
        baseline.preset("cora", hiden=3)


def test_missing_library_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric.nn", None)
    monkeypatch.delitem(sys.modules, "graphheat.baselines.gcn", raising=False)
    with pytest.raises(
        MissingDependencyError, match=r"'gcn' recipe needs torch_geometric.*\[paper\]"
    ):
        baselines.load("gcn")


@pytest.mark.parametrize(("name", "graph"), PUBLISHED)
def test_presets_are_the_published_settings(name, graph):
    assert baselines.load(name).preset(graph).as_dict() == PUBLISHED[name, graph]
    assert set(baselines.load(name).presets) <= {"cora", "citeseer", "pubmed"}


@pytest.mark.parametrize("name", LOOKING)
def test_edges_find_what_features_do_not_tell(name, structured):
    split = structured.completed_split(0)
    outcome = quick(name, 100).fit(structured, split)
    assert accuracy(outcome, structured, split) > 0.93


def test_mlp_sees_features_alone(structured):
    split = structured.completed_split(0)
    order = np.random.default_rng(0).permutation(structured.n)
    shuffled = replace(structured, adjacency=structured.to_scipy()[order][:, order])
    outcome, again = (quick("mlp", 100).fit(graph, split) for graph in (structured, shuffled))
    assert np.array_equal(outcome.probabilities, again.probabilities)
    assert accuracy(outcome, structured, split) < 0.85
    telling = block_model(240, 3, homophily=0.34, feature_strength=8.0, labels_per_class=10)
    outcome = quick("mlp", 100).fit(telling, split)
    assert accuracy(outcome, telling, telling.completed_split(0)) > 0.97


@pytest.mark.parametrize("name", LOOKING)
def test_edges_change_the_answer(name, small):
    split = small.completed_split(0)
    bare = replace(small, adjacency=sp.csr_array((30, 30)))
    one, other = (quick(name, 5).fit(graph, split).probabilities for graph in (small, bare))
    assert not np.allclose(one, other, atol=1e-3)


@pytest.mark.parametrize("name", ["gcn", "chebynet"])
def test_edge_weights_change_the_answer(name, small):
    split = small.completed_split(0)
    plain = replace(small, adjacency=sp.csr_array(small.adjacency > 0).astype(float))
    one, other = (quick(name, 5).fit(graph, split).probabilities for graph in (small, plain))
    assert not np.allclose(one, other, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_seed_decides(name, structured):
    split = structured.completed_split(0)
    torch.manual_seed(9)
    state = torch.get_rng_state()
    first, again, other = (quick(name, 5).fit(structured, split, s) for s in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(first.probabilities, again.probabilities)
    assert first.history == again.history
    assert not np.allclose(first.probabilities, other.probabilities)


@pytest.mark.parametrize("name", NAMES)
def test_labels_outside_train_and_val_are_not_looked_at(name, structured):
    split = structured.completed_split(0)
    others = np.setdiff1d(np.arange(structured.n), np.concatenate([split.train, split.val]))
    for hidden in (-1, 2):
        labels = structured.labels.copy()
        labels[others] = hidden
        changed = replace(structured, labels=labels)
        one, two = (quick(name, 12).fit(graph, split) for graph in (structured, changed))
        assert np.array_equal(one.probabilities, two.probabilities)
        assert one.history == two.history


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_told_and_the_best_is_among_them(name, small):
    steps = []
    outcome = quick(name, 15).fit(
        small, small.completed_split(0), progress=lambda *step: steps.append(step)
    )
    check_rows(outcome.probabilities, 30, 3)
    epochs = len(outcome.history["train_loss"])
    assert [done for done, _, _ in steps] == list(range(1, epochs + 1))
    assert 1 <= outcome.best_epoch <= epochs <= 15
    assert np.isfinite(outcome.history["val_loss"]).all()


@pytest.mark.parametrize("name", NAMES)
def test_graph_of_ones_own(name):
    """String ids, dense features, weights, two classes of one label each, nodes without an edge."""
    graph = Graph.from_edges(
        ["ann", "bob", "cat", "dan"],
        ["bob", "cat", "dan", "eve"],
        [0.5, 2.0, 1e-3, 7.0],
        nodes=["ann", "bob", "cat", "dan", "eve", "far", "off"],
        features=np.array([[30, 1e4], [41, 2e4], [52, 0], [63, 5], [24, 1], [75, 3], [75, 3]]),
        labels=["yes", None, None, None, "no", None, None],
    )
    split = graph.completed_split(0)
    assert not len(split.val)
    outcome = quick(name, 10).fit(graph, split)
    check_rows(outcome.probabilities, 7, 2)
    assert len(outcome.history["train_loss"]) == outcome.best_epoch == 10
    assert np.allclose(outcome.probabilities[5], outcome.probabilities[6])  # both alone, and alike


@pytest.mark.parametrize("name", NAMES)
def test_graph_without_an_edge(name):
    graph = Graph.from_scipy(
        sp.csr_array((3, 3)), np.array([[1.0, 0], [0, 1], [1, 0]]), ["a", "b", None]
    )
    outcome = quick(name, 30).fit(graph, split_of(graph, [0, 1]))
    check_rows(outcome.probabilities, 3, 2)
    assert np.allclose(outcome.probabilities[0], outcome.probabilities[2])


def test_without_validation_labels_epochs_are_fixed(small):
    split = split_of(small, small.split.train, test=small.split.test)
    outcome = baselines.load("gat")().fit(small, split)
    assert len(outcome.history["train_loss"]) == outcome.best_epoch == StopRule(1, 1).fixed_epochs


@pytest.mark.parametrize("name", NAMES)
def test_features_are_needed(name):
    graph = block_model(40, 2, features=0, labels_per_class=2)
    with pytest.raises(GraphError, match=r"has no features.*lp or deepwalk"):
        quick(name).fit(graph, graph.completed_split(0))


def test_monet_learns_in_turns(small):
    net = MixtureNetwork(Mixture(12, 4, 2, 2), Mixture(4, 3, 2, 2), rate=0.0)
    optimizer = Turns(net, l2=0.1, learning_rate=0.01, turn=2)
    assert net.first.mu is net.second.mu
    decays = {id(w): g["weight_decay"] for g in optimizer.param_groups for w in g["params"]}
    assert {id(w) for w in net.parameters()} == set(decays)
    assert [w is net.first.g for w in net.parameters() if decays[id(w)]] == [True]
    edges = degree_edges(small)
    for expected in ("gaussians", "gaussians", "filters", "filters", "gaussians"):
        before = {name: weight.detach().clone() for name, weight in net.named_parameters()}
        optimizer.zero_grad()
        net(network_input(small), [edges, edges]).square().sum().backward()
        optimizer.step()
        moved = {
            "filters" if name.endswith(".g") else "gaussians"
            for name, weight in net.named_parameters()
            if not torch.equal(weight, before[name])
        }
        assert moved == {expected}
