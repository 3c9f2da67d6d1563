"""Claims: verdicts that are known both ways, and structural numbers with known answers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphheat import datasets, fit
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel, neighborhood
from graphheat.paper.claims import (
    HEADER,
    Claim,
    Results,
    accuracy,
    all_claims,
    cost,
    disagreement,
    filters,
    markdown,
    neighbors,
    result_claims,
    selection,
    sets,
    structural_claims,
)
from graphheat.paper.claims.claim import judge, not_measured
from graphheat.paper.claims.reach import reach
from graphheat.paper.claims.smoothness import (
    equation_6,
    label_indicators,
    smoothness,
    smoothness_claims,
)
from graphheat.paper.spectrum import Spectrum, decompose, eigenvalues

VERDICTS = {"holds", "holds in part", "does not hold", "not measured"}


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


def test_claims_become_rows_and_markdown_that_stays_a_table():
    claims = [
        Claim("3.1", "A | B", "1\n2", "holds", "x"),
        not_measured("4.4", "C", "runs"),
    ]
    assert [claim.row()[0] for claim in claims] == ["3.1", "4.4"]
    assert len(claims[0].row()) == len(HEADER)
    lines = markdown(claims).splitlines()
    assert len(lines) == 4
    assert lines[2] == r"| 3.1 | A \| B | holds | 1 2 | x |"
    assert "not measured" in lines[3]


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
    assert filters.basic_filters(spectrum).verdict == "holds"
    assert filters.equation_7(karate, spectrum).verdict == "holds"
    bent = Spectrum(spectrum.values, spectrum.vectors + 1e-3)
    assert filters.basic_filters(bent).verdict == "does not hold"
    assert filters.equation_7(karate, Spectrum(spectrum.values + 0.1, spectrum.vectors)).verdict \
        == "does not hold"  # fmt: skip


def test_passbands_of_known_filters():
    values = np.linspace(0, 2, 201)
    heat, power, uniform = (
        filters.passband(values, r) for r in (np.exp(-3 * values), values, np.ones(201))
    )
    assert (heat.falling, heat.correlation) == (1.0, -1.0)
    assert heat.high_to_low < 0.01
    assert (power.falling, power.correlation) == (0.0, 1.0)
    assert power.high_to_low > 1
    assert (uniform.falling, uniform.correlation, uniform.high_to_low) == (0.0, 0.0, 1.0)
    mirror = filters.passband(values, 1 - values)
    assert mirror.falling == pytest.approx(0.5)
    assert mirror.high_to_low == pytest.approx(1)


def test_repeated_eigenvalues_are_one_step():
    band = filters.passband(np.array([0.0, 0.0, 1.5, 1.5]), np.array([1.0, 1.0, 0.5, 0.5]))
    assert band.falling == 1.0


def test_filter_claims_of_a_graph(karate):
    spectrum, renormalised = decompose(karate), eigenvalues(karate, self_loops=1)
    claims = {
        claim.text: claim for claim in filters.filter_claims(karate, spectrum, renormalised, 3.5)
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
    low = filters._gcn("GCN", np.linspace(0, 1.2, 50))
    assert low.verdict == "does not hold"
    # Bipartite spectra are symmetric about 1: the highest frequency passes like the lowest.
    even = filters._gcn("GCN", np.linspace(0, 2, 51))
    assert even.verdict == "holds"


def test_trained_layers_are_judged_by_their_weights(blocks):
    assert filters.trained_layers(None).verdict == "not measured"
    run = fit(blocks, max_epochs=2, threads=1)
    for name in ("first.weight", "second.weight"):
        theta = run.weights[name]
        theta[0], theta[1] = 0.5, 0.5
    assert filters.trained_layers(run).verdict == "holds"
    for name in ("first.weight", "second.weight"):
        theta = run.weights[name]
        theta[0], theta[1] = 1.0, -0.9
    assert filters.trained_layers(run).verdict == "does not hold"


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
    assert "1 hop a layer" in claim.numbers


# ---------------------------------------------------------------- the data sets


def test_claims_on_the_data_sets(blocks):
    sparse = datasets.block_model(150, 3, degree=2, labels_per_class=20, seed=0)
    rate, density = sets.set_claims({"pubmed": blocks, "citeseer": sparse})
    assert rate.verdict == density.verdict == "holds"
    rate, density = sets.set_claims({"pubmed": sparse, "citeseer": blocks})
    assert rate.verdict == density.verdict == "does not hold"
    assert {claim.verdict for claim in sets.set_claims({"cora": blocks})} == {"not measured"}


# ---------------------------------------------------------------- accuracy


def runs_of(means, seeds=8, spread=0.004, graphs=("cora", "citeseer", "pubmed")):
    """Runs of systems from {system: mean}, around their means by the same pattern."""
    rows = []
    for graph in graphs:
        for system, mean in means.items():
            for seed in range(seeds):
                shift = spread * np.cos(3.0 * seed + len(system))
                rows.append((system, graph, seed, mean + shift, mean + shift))
    columns = ["system", "graph", "seed", "test_accuracy", "val_accuracy"]
    return pd.DataFrame(rows, columns=columns)


BASE = {"mlp": 0.55, "planetoid": 0.75, "chebynet": 0.80, "gcn": 0.81, "monet": 0.81, "gat": 0.82}


def test_compare_finds_a_difference_and_no_difference():
    shifts = 0.004 * np.cos(np.arange(10))
    a = pd.Series(0.80 + shifts)
    better, same, worse = (
        accuracy.compare(a + gap, pd.Series(0.80 + shifts[::-1])) for gap in (0.02, 0.0, -0.02)
    )
    assert better.significant and not same.significant and not worse.significant
    assert better.difference == pytest.approx(0.02)
    assert same.welch == pytest.approx(1)
    assert max(better.welch, better.ranks, better.paired, better.signed_ranks) < 0.01
    assert "+2.00 points" in str(better)


def test_compare_takes_few_runs_and_constant_ones():
    one = accuracy.compare(pd.Series([0.8]), pd.Series([0.7]))
    assert np.isnan(one.welch)
    assert not one.significant
    constant = accuracy.compare(pd.Series([0.8] * 4), pd.Series([0.7] * 4))
    assert constant.welch == 0.0
    assert accuracy.compare(pd.Series([0.8] * 4), pd.Series([0.8] * 4)).welch == 1.0
    # A system without chance is one figure.
    seeds = pd.Series(0.80 + 0.004 * np.cos(np.arange(8)))
    fixed = accuracy.compare(seeds, pd.Series([0.75]))
    assert fixed.significant
    assert not accuracy.compare(seeds, pd.Series([0.80])).significant


def test_only_the_papers_settings_of_graphheat_count():
    runs = pd.DataFrame(
        {
            "system": "graphheat",
            "graph": "cora",
            "seed": [0, 1, 0, 0],
            "s": [3.5, 3.5, 9.0, 3.5],
            "eps": [1e-4, 1e-4, 1e-4, None],
            "test_accuracy": [0.83, 0.84, 0.5, 0.6],
        }
    )
    assert accuracy.accuracies(runs, "graphheat", "cora").tolist() == [0.83, 0.84]
    assert accuracy.accuracies(runs, "gcn", "cora").empty


def test_convolutional_networks_against_earlier_methods():
    claim = accuracy.convolutional_against_previous(runs_of(BASE))
    assert claim.verdict == "holds"
    assert "least net chebynet" in claim.numbers
    weak = accuracy.convolutional_against_previous(runs_of({**BASE, "chebynet": 0.74}))
    assert weak.verdict == "does not hold"
    # Ahead, but not by much.
    close = accuracy.convolutional_against_previous(runs_of({**BASE, "chebynet": 0.751}))
    assert close.verdict == "does not hold"
    assert accuracy.convolutional_against_previous(None).verdict == "not measured"
    nets_only = runs_of({"gcn": 0.8})
    assert accuracy.convolutional_against_previous(nets_only).verdict == "not measured"


def test_better_than_all():
    ahead = runs_of({**BASE, "graphheat": 0.83})
    assert accuracy.better_than_all(ahead).verdict == "holds"
    behind = runs_of({**BASE, "graphheat": 0.815})
    assert accuracy.better_than_all(behind).verdict == "does not hold"
    part = pd.concat([ahead[ahead["graph"] == "cora"], behind[behind["graph"] != "cora"]])
    assert accuracy.better_than_all(part).verdict == "holds in part"
    # Two data sets cannot bear out a claim on three.
    two = ahead[ahead["graph"] != "pubmed"]
    assert accuracy.better_than_all(two).verdict == "holds in part"
    assert accuracy.better_than_all(runs_of(BASE)).verdict == "not measured"


def test_significance():
    sure = accuracy.significance(runs_of({**BASE, "graphheat": 0.84}), "pubmed")
    assert sure.verdict == "holds"
    assert "Welch" in sure.numbers and "gcn" in sure.numbers and "gat" in sure.numbers
    part = accuracy.significance(runs_of({**BASE, "graphheat": 0.82}), "pubmed")
    assert part.verdict == "holds in part"
    none = accuracy.significance(runs_of({**BASE, "graphheat": 0.80}), "pubmed")
    assert none.verdict == "does not hold"
    without = runs_of({"gcn": 0.81, "graphheat": 0.84})
    assert accuracy.significance(without, "pubmed").verdict == "holds in part"
    assert "Not run: gat" in accuracy.significance(without, "pubmed").detail
    single = runs_of({"gcn": 0.81, "graphheat": 0.84}, seeds=1)
    assert accuracy.significance(single, "pubmed").verdict == "not measured"


def test_matches_gat():
    level = runs_of({"gat": 0.72, "graphheat": 0.721})
    assert accuracy.matches_gat(level).verdict == "holds"
    apart = runs_of({"gat": 0.72, "graphheat": 0.74})
    assert accuracy.matches_gat(apart).verdict == "does not hold"
    assert accuracy.matches_gat(None).verdict == "not measured"


def test_noise_is_removed_where_the_threshold_gains():
    gains = runs_of({"graphheat": 0.83, "graphheat_implicit": 0.81})
    assert accuracy.removes_noise(gains).verdict == "holds"
    level = runs_of({"graphheat": 0.83, "graphheat_implicit": 0.83})
    assert accuracy.removes_noise(level).verdict == "does not hold"
    assert accuracy.removes_noise(runs_of({"graphheat": 0.83})).verdict == "not measured"


# ---------------------------------------------------------------- s, eps and epochs


def sweep_of(table, graph=None):
    rows = [
        (s, eps, seed, test + shift, val + shift)
        for (s, eps), (test, val) in table.items()
        for seed, shift in enumerate((-0.004, 0.0, 0.004))
    ]
    frame = pd.DataFrame(rows, columns=["s", "eps", "seed", "test_accuracy", "val_accuracy"])
    return frame if graph is None else frame.assign(graph=graph)


def test_validation_chooses_the_papers_setting_or_another():
    table = {(1.0, 1e-4): (0.8, 0.77), (3.5, 1e-4): (0.83, 0.80), (9.0, 1e-4): (0.8, 0.76)}
    first = selection.validation_choice(sweep_of(table), "cora")
    assert first.verdict == "holds"
    assert "rank 1 of 3" in first.numbers
    near = selection.validation_choice(sweep_of({**table, (5.0, 1e-4): (0.82, 0.802)}), "cora")
    assert near.verdict == "holds in part"
    assert "best s = 5" in near.numbers
    far = selection.validation_choice(sweep_of({**table, (5.0, 1e-4): (0.82, 0.83)}), "cora")
    assert far.verdict == "does not hold"
    assert "Test accuracy is 82.0 there and 83.0" in far.detail
    elsewhere = sweep_of({(1.0, 1e-4): (0.8, 0.8), (2.0, 1e-4): (0.8, 0.8)})
    assert selection.validation_choice(elsewhere, "cora").verdict == "not measured"
    assert selection.validation_choice(None, "cora").verdict == "not measured"


def test_sweeps_of_several_graphs_are_told_apart():
    cora = sweep_of({(s, 1e-4): (0.8, 0.8 - abs(s - 3.5)) for s in (1.0, 3.5, 9.0)}, "cora")
    pubmed = sweep_of({(s, 1e-5): (0.8, 0.8 - abs(s - 9.0)) for s in (3.0, 9.0)}, "pubmed")
    claims = selection.selection_claims(pd.concat([cora, pubmed]))
    chosen = [claim for claim in claims if "validation chooses" in claim.text]
    assert [claim.verdict for claim in chosen] == ["holds", "does not hold"]
    assert len(selection.selection_claims(None)) == 3
    assert {claim.verdict for claim in selection.selection_claims(None)} == {"not measured"}


def test_accuracy_rises_and_then_falls_or_does_not():
    hill = sweep_of({(0.5, 1e-4): (0.7, 0.7), (3.5, 1e-4): (0.83, 0.8), (9.0, 1e-4): (0.8, 0.8)})
    assert selection.rises_then_falls(hill).verdict == "holds"
    rise = sweep_of({(0.5, 1e-4): (0.7, 0.7), (3.5, 1e-4): (0.8, 0.8), (9.0, 1e-4): (0.83, 0.8)})
    assert selection.rises_then_falls(rise).verdict == "holds in part"
    flat = sweep_of({(s, 1e-4): (0.8 + 0.0001 * s, 0.8) for s in (0.5, 3.5, 9.0)})
    assert selection.rises_then_falls(flat).verdict == "does not hold"
    two = sweep_of({(0.5, 1e-4): (0.7, 0.7), (3.5, 1e-4): (0.8, 0.8)})
    assert selection.rises_then_falls(two).verdict == "not measured"


def test_accuracy_falls_with_eps_or_does_not():
    fall = sweep_of({(3.5, 1e-4): (0.83, 0.8), (3.5, 0.1): (0.6, 0.6)})
    assert selection.falls_with_eps(fall).verdict == "holds"
    rise = sweep_of({(3.5, 1e-4): (0.6, 0.8), (3.5, 0.1): (0.83, 0.6)})
    assert selection.falls_with_eps(rise).verdict == "does not hold"
    assert selection.falls_with_eps(None).verdict == "not measured"


def test_picks_are_set_beside_the_printed_figure():
    def picks(honest, best):
        shifts = np.array([-0.003, 0.0, 0.003])
        return pd.DataFrame(
            {
                "graph": "cora",
                "seed": range(3),
                "last": honest - 0.01 + shifts,
                "best_val_accuracy": honest - 0.002 + shifts,
                "best_test": best + shifts,
                "lowest_val_loss": honest + shifts,
            }
        )

    optimistic = selection.pick_claims(picks(0.83, 0.837))
    assert [claim.verdict for claim in optimistic] == [
        "does not hold", "not measured", "not measured"
    ]  # fmt: skip
    assert "best test accuracy comes nearest" in optimistic[0].detail
    assert "83.7 ± 0.3" in optimistic[0].numbers
    assert selection.pick_claims(picks(0.836, 0.845))[0].verdict == "holds"
    assert selection.pick_claims(picks(0.85, 0.86))[0].verdict == "holds"
    assert {claim.verdict for claim in selection.pick_claims(None)} == {"not measured"}


# ---------------------------------------------------------------- predictions


def test_nodes_right_here_and_wrong_there(blocks):
    truth, test = blocks.labels, blocks.split["test"]
    wrong = (truth + 1) % 3
    ours, theirs = (np.tile(truth, (3, 1)) for _ in range(2))
    theirs[:, test[:20]] = wrong[test[:20]]
    ours[:, test[20:25]] = wrong[test[20:25]]
    claim = disagreement.right_here_wrong_there(blocks, {"graphheat": ours, "gcn": theirs})
    assert claim.verdict == "holds"
    assert "20 right here and wrong there, 5 the reverse" in claim.numbers
    assert "on average 20.0 and 5.0" in claim.numbers
    turned = disagreement.right_here_wrong_there(blocks, {"graphheat": theirs, "gcn": ours})
    assert turned.verdict == "holds in part"
    same = disagreement.right_here_wrong_there(blocks, {"graphheat": ours, "gcn": ours})
    assert same.verdict == "does not hold"


def test_a_majority_decides_and_mistakes_off_the_test_set_do_not_count(blocks):
    truth, test = blocks.labels, blocks.split["test"]
    ours = np.full((3, blocks.n), -1)
    ours[:, test] = truth[test]
    theirs = ours.copy()
    theirs[0, test] = (truth[test] + 1) % 3  # one seed of three is wrong everywhere
    claim = disagreement.right_here_wrong_there(blocks, {"graphheat": ours, "gcn": theirs})
    assert claim.verdict == "does not hold"
    assert f"a seed on average {len(test) / 3:.1f}" in claim.numbers


def test_the_case_study_is_decided_by_most_seeds(blocks):
    node = int(blocks.split["test"][0])
    right = np.tile(blocks.labels, (5, 1))
    wrong = right.copy()
    wrong[:3, node] = (blocks.labels[node] + 1) % 3
    claim = disagreement.case_study(blocks, {"graphheat": right, "gcn": wrong}, node=node)
    assert claim.verdict == "holds"
    assert "right in 5 of 5 seeds here, in 2 of 5 with GCN" in claim.numbers
    both = disagreement.case_study(blocks, {"graphheat": right, "gcn": right}, node=node)
    assert both.verdict == "holds in part"
    neither = disagreement.case_study(blocks, {"graphheat": wrong, "gcn": right}, node=node)
    assert neither.verdict == "does not hold"


def test_predictions_that_are_missing_or_of_another_size(blocks):
    assert {c.verdict for c in disagreement.disagreement_claims(blocks, None)} == {"not measured"}
    assert {c.verdict for c in disagreement.disagreement_claims(None, {})} == {"not measured"}
    only = {"graphheat": np.zeros((2, blocks.n), int)}
    assert {c.verdict for c in disagreement.disagreement_claims(blocks, only)} == {"not measured"}
    with pytest.raises(ParameterError, match=r"shape \(seeds, 150\); got \(2, 3\)"):
        disagreement.disagreement_claims(
            blocks, {"graphheat": np.zeros((2, 3)), "gcn": np.zeros((2, 3))}
        )


# ---------------------------------------------------------------- all of them


def test_without_results_every_claim_on_results_is_not_measured():
    claims = result_claims(Results())
    assert {claim.verdict for claim in claims} == {"not measured"}
    assert all(claim.detail.startswith("Needs ") for claim in claims)
    assert all_claims(Results()) == sorted(claims, key=lambda claim: claim.section)
    assert structural_claims({}) == []


def test_all_claims_on_small_graphs(blocks, monkeypatch):
    monkeypatch.setattr(cost, "NODES", (100, 200, 400))
    said = []
    sparse = datasets.block_model(120, 3, degree=3, labels_per_class=5, seed=1)
    claims = all_claims(
        Results(
            {"pubmed": blocks, "citeseer": sparse}, runs_of({**BASE, "graphheat": 0.84}),
        ),
        progress=said.append,
    )  # fmt: skip
    assert len(said) >= 4
    assert {claim.verdict for claim in claims} <= VERDICTS
    assert [claim.section for claim in claims] == sorted(claim.section for claim in claims)
    assert len({claim.text for claim in claims}) == len(claims)
    measured = [claim for claim in claims if claim.verdict != "not measured"]
    assert len(measured) > 20
    for claim in claims:
        assert claim.text.endswith(".")
        # Neither a table in Markdown nor a terminal's markup may take offence.
        assert not set("|[]\n") & set("".join(claim.row()))
        assert "nan" not in claim.numbers
