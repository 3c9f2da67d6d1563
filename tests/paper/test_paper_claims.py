"""Claims on graphs: verdicts that are known both ways, and numbers with known answers."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat import datasets, fit
from graphheat.graph import Graph
from graphheat.heat import HeatKernel, neighborhood
from graphheat.paper.claims import (
    cost,
    density,
    neighbors,
    passbands,
)
from graphheat.paper.claims.claim import judge
from graphheat.paper.claims.reach import reach
from graphheat.paper.claims.smoothness import (
    equation_6,
    label_indicators,
    smoothness,
    smoothness_claims,
)
from graphheat.paper.markdown import table
from graphheat.paper.spectrum import Spectrum, decompose, eigenvalues
from graphheat.training import NetworkRun


@pytest.fixture(scope="module")
def karate():
    return datasets.load("karate")


@pytest.fixture(scope="module")
def blocks():
    return datasets.block_model(150, 3, degree=5, homophily=0.9, labels_per_class=5, seed=0)


def path(n):
    return Graph.from_scipy(np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))


def star(leaves):
    dense = np.zeros((leaves + 1, leaves + 1))
    dense[0, 1:] = dense[1:, 0] = 1
    return Graph.from_scipy(dense)


# ---------------------------------------------------------------- Claim


def test_a_verdict_sums_up_its_parts():
    assert judge([True, True]) == "holds"
    assert judge([True, False]) == "holds in part"
    assert judge([False, False]) == "does not hold"
    assert judge([]) == "not measured"


def test_a_table_in_markdown_stays_a_table():
    lines = table(["claim", "number"], [["A | B", "1\n2"], ["C", 3]]).splitlines()
    assert lines == ["| claim | number |", "|---|---|", r"| A \| B | 1 2 |", "| C | 3 |"]


# ---------------------------------------------------------------- smoothness


def test_labels_that_follow_the_edges_are_smooth_and_random_ones_are_not(blocks):
    assert smoothness(blocks, label_indicators(blocks)).smooth
    shuffled = np.random.default_rng(1).permutation(blocks.n)
    assert not smoothness(blocks, label_indicators(blocks)[shuffled]).smooth


def test_smoothness_is_the_quotient_of_equation_6(karate):
    x = np.random.default_rng(0).standard_normal((karate.n, 3))
    from graphheat.heat import laplacian

    exact = np.trace(x.T @ (laplacian(karate.adjacency) @ x)) / np.trace(x.T @ x)
    assert smoothness(karate, x).observed == pytest.approx(exact)
    assert smoothness(karate, sp.csr_array(x)) == smoothness(karate, x)
    # √d is the smoothest signal there is.
    degrees = np.asarray(karate.adjacency.sum(axis=1), dtype=float)
    assert smoothness(karate, np.sqrt(degrees)[:, None]).observed == pytest.approx(0, abs=1e-12)


def test_unlabelled_nodes_have_no_indicator():
    graph = Graph.from_scipy(np.eye(3)[::-1] + np.eye(3) * 0, labels=["a", None, "b"])
    assert label_indicators(graph).toarray().tolist() == [[1, 0], [0, 0], [0, 1]]


def test_equation_6_misses_isolated_nodes():
    whole = equation_6({"karate": datasets.load("karate")})
    assert whole.verdict == "holds"
    lonely = Graph.from_scipy(sp.block_diag([path(4).adjacency, np.zeros((2, 2))], format="csr"))
    both = equation_6({"karate": datasets.load("karate"), "lonely": lonely})
    assert both.verdict == "holds in part"
    assert "2 isolated nodes" in both.detail


def test_smoothness_claims_hold_on_blocks_and_fail_on_noise():
    clear = datasets.block_model(
        150, 3, degree=5, homophily=0.9, feature_strength=4, labels_per_class=5, seed=0
    )
    labels, features, _ = smoothness_claims({"clear": clear})
    assert labels.verdict == "holds"
    assert features.verdict == "holds"
    noise = datasets.block_model(
        150, 3, degree=5, homophily=1 / 3, feature_strength=0, labels_per_class=5, seed=0
    )
    labels, features, _ = smoothness_claims({"noise": noise})
    assert labels.verdict == "does not hold"
    assert features.verdict == "does not hold"


# ---------------------------------------------------------------- filters


def test_basic_filters_hold_for_eigenvectors_and_for_nothing_else(karate):
    spectrum = decompose(karate)
    assert passbands.basic_filters(spectrum).verdict == "holds"
    assert passbands.equation_7(karate, spectrum).verdict == "holds"
    bent = Spectrum(spectrum.values, spectrum.vectors + 1e-3)
    assert passbands.basic_filters(bent).verdict == "does not hold"
    assert passbands.equation_7(karate, Spectrum(spectrum.values + 0.1, spectrum.vectors)).verdict \
        == "does not hold"  # fmt: skip


def test_passbands_of_known_filters():
    values = np.linspace(0, 2, 201)
    heat, power, uniform = (
        passbands.passband(values, r) for r in (np.exp(-3 * values), values, np.ones(201))
    )
    assert (heat.falling, heat.correlation) == (1.0, -1.0)
    assert heat.high_to_low < 0.01
    assert (power.falling, power.correlation) == (0.0, 1.0)
    assert power.high_to_low > 1
    assert (uniform.falling, uniform.correlation, uniform.high_to_low) == (0.0, 0.0, 1.0)
    mirror = passbands.passband(values, 1 - values)
    assert mirror.falling == pytest.approx(0.5)
    assert mirror.high_to_low == pytest.approx(1)


def test_repeated_eigenvalues_are_one_step():
    band = passbands.passband(np.array([0.0, 0.0, 1.5, 1.5]), np.array([1.0, 1.0, 0.5, 0.5]))
    assert band.falling == 1.0


def test_filter_claims_of_a_graph(karate):
    spectrum, renormalised = decompose(karate), eigenvalues(karate, self_loops=1)
    claims = {
        claim.text: claim for claim in passbands.filter_claims(karate, spectrum, renormalised, 3.5)
    }
    verdicts = {text: claim.verdict for text, claim in claims.items()}
    assert verdicts["e^{-sλ} falls with λ: the heat kernel is a low-pass filter."] == "holds"
    # The layer is a low-pass filter for some weights and a high-pass one for others.
    assert "holds in part" in [v for text, v in verdicts.items() if "layer" in text]
    series = next(claim for text, claim in claims.items() if "Chebyshev" in text)
    assert series.verdict == "holds"
    assert f"order {HeatKernel(karate, 3.5).order}" in series.numbers


def test_gcn_is_judged_by_where_its_eigenvalues_are():
    # All eigenvalues but one below 1: I − L falls almost throughout.
    low = passbands._gcn("GCN", np.linspace(0, 1.2, 50))
    assert low.verdict == "does not hold"
    # Bipartite spectra are symmetric about 1: the highest frequency passes like the lowest.
    even = passbands._gcn("GCN", np.linspace(0, 2, 51))
    assert even.verdict == "holds"


def test_trained_layers_are_judged_by_their_weights(blocks):
    assert passbands.trained_layers(None).verdict == "not measured"
    run = fit(blocks, "consistent", max_epochs=2, threads=1)
    assert isinstance(run, NetworkRun)
    for name in ("first.weight", "second.weight"):
        theta = run.weights[name]
        theta[0], theta[1] = 0.5, 0.5
    assert passbands.trained_layers(run).verdict == "holds"
    for name in ("first.weight", "second.weight"):
        theta = run.weights[name]
        theta[0], theta[1] = 1.0, -0.9
    assert passbands.trained_layers(run).verdict == "does not hold"


# ---------------------------------------------------------------- reach


@pytest.mark.parametrize("name", ["karate", "blocks", "lonely"])
def test_reach_agrees_with_the_neighbourhood_of_every_node(name, karate, blocks):
    # Isolated nodes and two components in the last.
    lonely = Graph.from_scipy(sp.block_diag([path(4).adjacency, np.zeros((1, 1))], format="csr"))
    graph = {"karate": karate, "blocks": blocks, "lonely": lonely}[name]
    found = reach(graph, 1.5, 0.01)
    for index in range(graph.n):
        near = neighborhood(graph, index, 1.5, 0.01)
        assert found.neighbors[index] == len(near.neighbors)
        assert found.range[index] == near.range
        assert found.max_range[index] == near.max_range
    assert found.kept_by_hop[1:].sum() == found.neighbors.sum()
    assert found.pairs_by_hop[0] == graph.n
    assert found.pairs_by_hop[1:2].sum() == np.count_nonzero(graph.adjacency.toarray())


def test_reach_finds_second_order_neighbours_that_outweigh_first_order_ones(karate, blocks):
    for graph in (karate, blocks):
        found = reach(graph, 2.0, 1e-3)
        heat = HeatKernel(graph, 2.0).matrix(1e-3).toarray()
        dense = graph.adjacency.toarray() > 0
        two = (dense @ dense) & ~dense & ~np.eye(graph.n, dtype=bool)
        for index in range(graph.n):
            second, first = heat[index, two[index]], heat[index, dense[index]]
            assert found.has_second[index] == bool(len(second))
            heavier = bool(len(second)) and second.max() > first.min(initial=np.inf)
            assert found.second_is_heavier[index] == heavier


def test_reach_compares_hubs_with_a_nodes_other_neighbours():
    # 0 – 1 – 2 with 2 a hub: node 1's neighbours are a leaf and the hub.
    edges = [(0, 1), (1, 2), (2, 3), (2, 4), (2, 5), (2, 6)]
    dense = np.zeros((7, 7))
    for a, b in edges:
        dense[a, b] = dense[b, a] = 1
    found = reach(Graph.from_scipy(dense), 0.5, 0.0)
    assert found.has_hub.tolist() == [False, True, True, False, False, False, False]
    heat = HeatKernel(dense, 0.5).matrix().toarray()
    assert found.hub_is_lighter[1] == (heat[1, 2] < heat[1, 0])
    assert found.hub_is_lighter[1]
    assert found.hub_is_lighter[2] == (heat[2, 1] < heat[2, 3:].mean())


def test_reach_looks_past_self_loops(karate):
    looped = Graph.from_scipy(karate.adjacency + sp.eye_array(karate.n))
    found = reach(looped, 1.0, 0.01)
    assert found.max_range.tolist() == reach(karate, 1.0, 0.01).max_range.tolist()


def test_table_3_comes_out_exactly_and_a_wrong_range_is_seen():
    found = reach(datasets.load("cora"), 3.5, 1e-4)
    claim = neighbors.table_3(found)
    assert claim.verdict == "holds"
    assert "7 of 7 exact" in claim.numbers
    found.range[12] = 5
    assert neighbors.table_3(found).verdict == "holds in part"


def test_table_3_needs_cora(karate):
    assert neighbors.table_3(reach(karate, 1.0, 0.01)).verdict == "not measured"


# ---------------------------------------------------------------- neighbours


def test_sizes_over_s_are_those_of_the_kernel(karate):
    times, nodes = [0.5, 2.0], [0, 5, 33]
    counts = neighbors.sizes(karate, times, 0.02, nodes)
    for row, s in enumerate(times):
        for column, node in enumerate(nodes):
            assert counts[row, column] == len(neighborhood(karate, node, s, 0.02).neighbors)


def test_dropped_neighbours_are_counted_by_order(blocks):
    keeps = reach(blocks, 2.0, 1e-6)
    claim = neighbors.dropped_neighbors({"blocks": keeps})
    assert claim.verdict == "holds in part"  # far ones are taken in, near ones not left out
    assert "dropped 0 of first order, 0 of second" in claim.numbers
    drops = neighbors.dropped_neighbors({"blocks": reach(blocks, 2.0, 0.01)})
    assert drops.verdict == "holds"
    # A star's second order is its last: nothing beyond to take in, nothing left out.
    ends = neighbors.dropped_neighbors({"star": reach(star(4), 2.0, 1e-6)})
    assert ends.verdict == "does not hold"


def test_part_of_the_immediate_neighbours(blocks):
    assert neighbors.part_of_immediate({"b": reach(blocks, 2.0, 1e-6)}).verdict == "does not hold"
    assert neighbors.part_of_immediate({"b": reach(blocks, 0.05, 0.02)}).verdict == "holds"


def test_ranges_vary_on_a_random_graph_and_not_on_a_ring(blocks):
    assert neighbors.varying_range({"blocks": reach(blocks, 2.0, 0.01)}).verdict == "holds"
    ring = Graph.from_scipy(np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0))
    assert neighbors.varying_range({"ring": reach(ring, 1.0, 0.01)}).verdict == "does not hold"


def test_no_neighbour_outweighs_another_on_a_star():
    assert neighbors.heavier_second_order({"star": reach(star(5), 0.5, 1e-4)}).verdict == (
        "does not hold"
    )
    # Beside a hub a neighbour of the neighbour is nearer than the hub.
    claim = neighbors.heavier_second_order({"cora": reach(datasets.load("karate"), 3.0, 1e-4)})
    assert claim.verdict == "holds"


def test_hubs_are_light_soon_and_heavy_late(karate):
    # At the end of time a weight is √(d_i d_j) / Σd: the higher the degree, the heavier.
    assert neighbors.light_hubs({"karate": reach(karate, 0.3, 1e-6)}).verdict == "holds"
    assert neighbors.light_hubs({"karate": reach(karate, 60.0, 1e-6)}).verdict == "does not hold"


def test_energy_adds_up_on_a_ring_and_not_on_a_star():
    ring = Graph.from_scipy(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    assert neighbors.energy({"ring": ring}, {"ring": 1.0}).verdict == "holds"
    assert neighbors.energy({"star": star(4)}, {"star": 1.0}).verdict == "holds in part"


def test_neighbourhoods_grow_in_smaller_steps_than_hops():
    grown = datasets.block_model(400, 4, degree=4, features=0, labels_per_class=1)
    assert neighbors.continuity(grown, reach(grown, 3.5, 1e-4)).verdict == "holds"
    # On two nodes everything is in at once, by heat as by hops.
    assert neighbors.continuity(path(2), reach(path(2), 3.5, 1e-4)).verdict == "holds"


# ---------------------------------------------------------------- cost


def test_parameters_are_counted_in_the_network_itself():
    assert {cost.graphheat_parameters(1433, 7, s) for s in (0.5, 3.5, 10.0)} == {46080}
    assert cost.chebynet_parameters(1433, 7, 2) == 46080
    assert cost.chebynet_parameters(1433, 7, 6) == 3 * 46080


def test_chebynet_counts_as_pygs_layers_do():
    layers = pytest.importorskip("torch_geometric.nn")
    made = [layers.ChebConv(30, 16, K=3, bias=False), layers.ChebConv(16, 4, K=3, bias=False)]
    counted = sum(weight.numel() for layer in made for weight in layer.parameters())
    assert counted == cost.chebynet_parameters(30, 4, 3)


def test_products_are_linear_and_matrices_are_not(karate, monkeypatch):
    monkeypatch.setattr(cost, "NODES", (100, 200, 400))
    product = cost.product_work({"karate": karate}, {"karate": 3.0})
    order = HeatKernel(karate, 3.0).order
    assert f"{order} × 156 = {order * 156:,}" in product.numbers
    assert product.verdict == "holds"
    found = reach(karate, 3.0, 1e-4)
    matrix = cost.matrix_work({"karate": karate}, {"karate": found})
    assert matrix.verdict == "does not hold"
    assert f"keeps {found.entries:,} entries" in matrix.numbers
    assert "n^2.00" in matrix.numbers


def test_a_threshold_saves_entries_or_not(karate):
    some, none = (
        cost.threshold_savings({"karate": karate}, {"karate": reach(karate, 3.0, eps)})
        for eps in (0.02, 1e-6)
    )
    assert some.verdict == "holds"
    assert none.verdict == "does not hold"


def test_parameters_against_range(blocks):
    claim = cost.parameters_against_range(blocks, reach(blocks, 2.0, 1e-3))
    assert claim.verdict == "holds"
    assert "1 hop per layer" in claim.numbers


# ---------------------------------------------------------------- the data sets


def test_claims_on_the_data_sets(blocks):
    sparse = datasets.block_model(150, 3, degree=2, labels_per_class=20, seed=0)
    rate, degree = density.density_claims({"pubmed": blocks, "citeseer": sparse})
    assert rate.verdict == degree.verdict == "holds"
    rate, degree = density.density_claims({"pubmed": sparse, "citeseer": blocks})
    assert rate.verdict == degree.verdict == "does not hold"
    assert {claim.verdict for claim in density.density_claims({"cora": blocks})} == {"not measured"}
