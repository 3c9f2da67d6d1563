"""The paper's figures: identities of their data, axes in and axes out, files whole."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from graphheat import datasets, fit
from graphheat.errors import GraphError, OutputError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.heat import HeatKernel
from graphheat.paper.figures import (
    FIGURES,
    architecture,
    case_study,
    draw_all,
    frequencies,
    influence,
    neighborhoods,
)
from graphheat.paper.figures.ego import draw_edges, draw_ground, ego_network, free_place
from graphheat.paper.figures.style import write
from graphheat.paper.spectrum import decompose, eigenvalues, responses
from graphheat.paper.trend import COLUMNS, trend


def new_axes(count=1):
    made = Figure(layout="constrained").subplots(count)
    return made if count > 1 else [made]


def points_of(ax):
    """All places that a scatter of the axes marks, but for the ground beneath the nodes."""
    marks = [c for c in ax.collections if c.get_zorder() == 3]
    return np.concatenate([np.asarray(c.get_offsets()) for c in marks])


@pytest.fixture(scope="module")
def cora():
    return datasets.load("cora")


@pytest.fixture(scope="module")
def karate():
    return datasets.load("karate")


@pytest.fixture(scope="module")
def blocks():
    return datasets.block_model(120, 3, degree=4, labels_per_class=5, seed=0)


@pytest.fixture(scope="module")
def run(blocks):
    return fit(blocks, "paper", max_epochs=10, threads=1)


def sweep_frame(test, validation=None):
    """Runs of three seeds from {(s, eps): accuracy}, one point apart."""
    rows = []
    for (s, eps), accuracy in test.items():
        val = accuracy if validation is None else validation[s, eps]
        for seed, shift in enumerate((-0.01, 0.0, 0.01)):
            rows.append((s, eps, seed, accuracy + shift, val + shift))
    return pd.DataFrame(rows, columns=list(COLUMNS))


HILL = {
    (0.5, 1e-4): 0.70, (3.5, 1e-4): 0.83, (9.0, 1e-4): 0.75,
    (3.5, 0.0): 0.83, (3.5, 1e-2): 0.80, (3.5, 1e-1): 0.60,
}  # fmt: skip


# ---------------------------------------------------------------- the spectrum and Figure 1


def test_the_spectrum_is_that_of_the_laplacian(karate):
    spectrum = decompose(karate)
    assert np.allclose(spectrum.values, eigenvalues(karate), atol=1e-12)
    kernel = HeatKernel(karate, 2.0, tol=1e-10).matrix().toarray()
    rebuilt = (spectrum.vectors * np.exp(-2.0 * spectrum.values)) @ spectrum.vectors.T
    assert np.allclose(kernel, rebuilt, atol=1e-9)
    assert spectrum.values[0] == pytest.approx(0, abs=1e-12)


def test_every_filter_lets_a_constant_pass_as_its_equation_says(karate):
    data = frequencies.filters_data(karate, 3.5)
    assert len(data) == karate.n
    smooth, rough = data.iloc[0], data.iloc[-1]
    # λ = 0: heat, GCN and uniform pass all of it, powers of L none.
    assert smooth[["graphheat", "gcn", "gcn_renormalised", "spectral_cnn"]].tolist() == (
        pytest.approx([1, 1, 1, 1])
    )
    assert smooth[["chebynet_0", "chebynet_1", "chebynet_2"]].tolist() == pytest.approx([1, 0, 0])
    top = rough["eigenvalue"]
    assert rough["graphheat"] == pytest.approx(np.exp(-3.5 * top))
    assert rough["chebynet_2"] == pytest.approx(top**2)
    assert np.allclose(data["layer_half"], 0.5 + 0.5 * data["graphheat"])
    assert np.allclose(data["layer_high"] + data["graphheat"], 1)
    assert (np.diff(data["graphheat"]) <= 0).all()


def test_self_loops_draw_the_renormalised_spectrum_in(karate):
    data = frequencies.filters_data(karate)
    assert data["renormalised_eigenvalue"].max() < data["eigenvalue"].max()
    assert (data["gcn_renormalised"] == 1 - data["renormalised_eigenvalue"]).all()


def test_a_learned_diagonal_is_drawn_and_must_fit(karate):
    learned = np.linspace(0.5, 1.5, karate.n)
    data = frequencies.filters_data(karate, learned=learned)
    assert np.array_equal(data["spectral_cnn"], learned)
    ax = frequencies.draw_spectral_cnn(data, new_axes()[0])
    assert np.array_equal(ax.lines[0].get_ydata(), learned)
    with pytest.raises(ParameterError, match="one weight per eigenvalue"):
        frequencies.filters_data(karate, learned=[1.0, 2.0])


def test_a_spectrum_too_large_to_be_dense_is_an_error(karate, monkeypatch):
    monkeypatch.setattr("graphheat.paper.spectrum.MAX_NODES", 10)
    with pytest.raises(ParameterError, match="at most 10 nodes; karate has 34"):
        eigenvalues(karate)


@pytest.mark.parametrize(
    "draw",
    [
        frequencies.draw_spectral_cnn,
        frequencies.draw_chebynet,
        frequencies.draw_gcn,
        frequencies.draw_graphheat,
        frequencies.draw_spectrum,
    ],
)
def test_panels_of_figure_1_use_the_axes_given(karate, draw):
    values = np.linspace(0, 2, 20)
    data = responses(values, values * 0.75, 3.5)
    (ax,) = new_axes()
    assert draw(data, ax) is ax
    assert draw(data) is not ax
    assert ax.has_data()


# ---------------------------------------------------------------- ego networks


def test_an_ego_network_holds_every_node_and_edge_once(karate):
    ego = ego_network(karate, 5, 2)
    hops = hop_distances(karate.adjacency, 5)
    assert sorted(ego.indices) == np.flatnonzero(hops <= 2).tolist()
    assert ego.indices[0] == 5
    assert (ego.nodes["hop"] == hops[ego.indices]).all()
    dense = karate.adjacency.toarray()
    inside = dense[np.ix_(ego.indices, ego.indices)]
    assert len(ego.edges) == np.count_nonzero(np.triu(inside, 1))
    assert (dense[ego.edges["source"], ego.edges["target"]] > 0).all()
    assert len({frozenset(pair) for pair in ego.edges[["source", "target"]].to_numpy().tolist()}) \
        == len(ego.edges)  # fmt: skip


def test_the_tree_of_an_ego_network_joins_every_node_to_a_nearer_one(karate):
    ego = ego_network(karate, 5, 3)
    tree = ego.edges[ego.edges["tree"]]
    assert len(tree) == len(ego.nodes) - 1
    hop = dict(zip(ego.nodes["index"], ego.nodes["hop"], strict=True))
    assert all(
        abs(hop[a] - hop[b]) == 1 for a, b in zip(tree["source"], tree["target"], strict=True)
    )


def test_places_are_apart_repeat_and_have_the_target_in_the_middle(karate):
    ego = ego_network(karate, 5, 3)
    again = ego_network(karate, 5, 3)
    assert np.array_equal(ego.places, again.places)
    assert np.isfinite(ego.places).all()
    assert np.array_equal(ego.places[0], [0, 0])
    apart = np.linalg.norm(ego.places[:, None] - ego.places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0.1


def test_a_path_is_laid_out_as_a_line_of_equal_steps():
    path = Graph.from_scipy(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1))
    ego = ego_network(path, 0, 4)
    steps = np.linalg.norm(np.diff(ego.places, axis=0), axis=1)
    assert np.allclose(steps, 1, atol=1e-3)


def test_further_nodes_come_with_a_way_to_the_target(cora):
    hops = hop_distances(cora.adjacency, 2027)
    far = int(np.flatnonzero(hops == 5)[0])
    ego = ego_network(cora, 2027, 2, also=[far])
    assert set(np.flatnonzero((hops >= 0) & (hops <= 2))) < set(ego.indices)
    assert len(ego.nodes) == (hops >= 0).sum() - (hops > 2).sum() + 3
    assert far in ego.indices
    tree = ego.edges[ego.edges["tree"]]
    assert len(tree) == len(ego.nodes) - 1


def test_a_lonely_node_can_be_drawn():
    lonely = Graph.from_scipy(np.zeros((2, 2)), labels=["a", "b"])
    ego = ego_network(lonely, 1, 2)
    assert ego.indices.tolist() == [1]
    ax = case_study.draw_case_study(case_study.case_study_data(lonely, 1))
    assert "node 1" in ax.get_title()


def test_the_ground_is_laid_under_members_alone(karate):
    ego = ego_network(karate, 5, 2)
    (ax,) = new_axes()
    members = ego.indices[:4]
    assert draw_ground(ego, members, ax, color="grey", size=10, zorder=0) is ax
    assert draw_edges(ego, ax) is ax
    discs = ax.collections[1].get_offsets()
    assert np.allclose(discs, ego.places[:4])


def test_words_are_put_where_no_node_is(karate):
    ego = ego_network(karate, 5, 2)
    place = free_place(ego, 5)
    assert np.linalg.norm(ego.places - place, axis=1).min() > 0.15


# ---------------------------------------------------------------- Figure 2


@pytest.fixture(scope="module")
def heat_and_hops(cora):
    return neighborhoods.neighborhoods_data(cora)


def test_figure_2_shows_what_it_is_for(heat_and_hops):
    nodes = heat_and_hops.ego.nodes
    first, second, third = (nodes[nodes["hop"] == hop] for hop in (1, 2, 3))
    assert 0 < first["in_small"].sum() < len(first)
    assert not second["in_small"].any()
    assert third["in_large"].any()
    assert (second["behind_hub"] & ~second["in_large"]).any()
    assert len(nodes) <= neighborhoods.MOST_NODES
    assert nodes["hub"].sum() == 1
    assert nodes.loc[nodes["hub"], "degree"].item() == first["degree"].max()
    assert 0 < heat_and_hops.examples < heat_and_hops.candidates


def test_memberships_of_figure_2_are_those_of_the_kernel(cora, heat_and_hops):
    ego = heat_and_hops.ego
    for name, s in (("small", heat_and_hops.small), ("large", heat_and_hops.large)):
        kept = HeatKernel(cora, s, tol=1e-7).row(int(ego.indices[0]), heat_and_hops.eps)
        assert set(kept.indices) == set(ego.indices[ego.nodes[f"in_{name}"]])
    table = neighborhoods.counts(heat_and_hops)
    assert table["nodes"].sum() == len(ego.nodes) - 1
    assert "of order 3" in neighborhoods.caption(heat_and_hops)


@pytest.mark.parametrize("draw", [neighborhoods.draw_hops, neighborhoods.draw_heat])
def test_panels_of_figure_2_draw_every_node_once(heat_and_hops, draw):
    (ax,) = new_axes()
    assert draw(heat_and_hops, ax) is ax
    drawn = points_of(ax)
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, heat_and_hops.ego.places))
    assert draw(heat_and_hops) is not ax


def test_a_graph_without_an_example_needs_a_node_named():
    ring = Graph.from_scipy(np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0))
    with pytest.raises(GraphError, match="Name one by index="):
        neighborhoods.neighborhoods_data(ring)
    data = neighborhoods.neighborhoods_data(ring, 3)
    assert data.ego.indices[0] == 3
    assert data.examples == 0


# ---------------------------------------------------------------- Figure 3


def test_the_last_depth_is_the_network_itself(blocks, run):
    depths = architecture.probabilities_by_depth(blocks, run)
    assert np.allclose(depths[2], run.probabilities, atol=1e-5)
    for depth in depths:
        assert np.allclose(depth.sum(axis=1), 1)
    assert not np.allclose(depths[0], depths[2], atol=1e-4)


def test_without_edges_heat_in_a_layer_is_a_smaller_weight_on_the_node_itself():
    # e^{-sL} of isolated nodes is e^{-s} I, so at s = 0 all depths are the same.
    graph = datasets.block_model(60, 3, degree=0, labels_per_class=5, seed=0)
    run = fit(graph, "paper", max_epochs=3, threads=1, s=0.0)
    depths = architecture.probabilities_by_depth(graph, run)
    assert np.allclose(depths[0], depths[1], atol=1e-5)
    assert np.allclose(depths[0], depths[2], atol=1e-5)


def test_figure_3_selects_by_heat_and_names_the_label(blocks, run):
    data = architecture.architecture_data(blocks, run, 7)
    row = HeatKernel(blocks, run.settings.s).row(7, run.settings.eps)
    assert data.selected == row.nnz - 1
    assert set(data.ego.indices[data.ego.nodes["selected"]]) <= set(row.indices)
    assert data.classes["probability"].sum() == pytest.approx(1)
    assert data.predicted == str(run.classes[run.predicted[7]])
    assert data.classes["true"].sum() == 1


def test_panels_of_figure_3_use_the_axes_given(blocks, run):
    data = architecture.architecture_data(blocks, run, 7)
    a, b, c, d = new_axes(4)
    assert architecture.draw_selection(data, a) is a
    assert architecture.draw_layer(data, 1, b) is b
    assert architecture.draw_layer(data, 2, c) is c
    assert architecture.draw_label(data, d) is d
    for ax in (a, b, c):
        assert len(points_of(ax)) == len(data.ego.nodes)
    assert len(d.patches) == len(data.classes)


def test_figure_3_refuses_the_run_of_another_graph(karate, run):
    with pytest.raises(GraphError, match="fitted on block model"):
        architecture.architecture_data(karate, run, 0)


# ---------------------------------------------------------------- Figure 4


def test_figure_4_averages_over_seeds_along_both_axes():
    data = influence.influence_data(sweep_frame(HILL))
    s, eps = (data[data["parameter"] == name] for name in ("s", "eps"))
    assert s["value"].tolist() == [0.5, 3.5, 9.0]
    assert s["test_mean"].tolist() == pytest.approx([0.70, 0.83, 0.75])
    assert s["test_std"].tolist() == pytest.approx([0.01] * 3)
    assert eps["value"].tolist() == [0.0, 1e-4, 1e-2, 1e-1]
    assert (data["runs"] == 3).all()
    assert s["paper"].tolist() == [False, True, False]
    assert eps["paper"].tolist() == [False, True, False, False]


def test_the_words_beneath_figure_4_say_what_is_found():
    hill = influence.influence_data(sweep_frame(HILL))
    assert "rises 13.0 points (13.0 std) to s = 3.5, then falls 8.0 (8.0 std) by s = 9" in (
        influence.finding(hill, "s")
    )
    assert "paper's 3.5 ranks 1 of 3" in influence.finding(hill, "s")
    slope = {(s, 1e-4): 0.7 + 0.01 * s for s in (0.5, 3.5, 9.0)}
    rising = influence.influence_data(sweep_frame(slope))
    assert "does not fall" in influence.finding(rising, "s")
    assert "paper's 3.5 ranks 2 of 3" in influence.finding(rising, "s")
    falling = influence.influence_data(sweep_frame({k: 1 - v for k, v in slope.items()}))
    assert "is highest at s = 0.5 and falls" in influence.finding(falling, "s")


def test_no_threshold_has_a_place_of_its_own_on_the_log_axis():
    places, ticks = influence.log_places(np.array([0.0, 1e-5, 1e-2]))
    assert places.tolist() == pytest.approx([-6, -5, -2])
    assert ticks[-6] == "0"
    assert set(ticks) == {-6, -5, -4, -3, -2}


def test_a_missing_eps_is_the_implicit_kernel_which_drops_nothing():
    frame = sweep_frame(HILL)
    frame["eps"] = frame["eps"].where(frame["eps"] > 0)
    data = influence.influence_data(frame)
    assert 0.0 in data.loc[data["parameter"] == "eps", "value"].tolist()


def test_panels_of_figure_4_use_the_axes_given():
    data = influence.influence_data(sweep_frame(HILL))
    a, b = new_axes(2)
    assert influence.draw_s(data, a) is a
    assert influence.draw_eps(data, b) is b
    labels = [text.get_text() for text in a.get_legend().get_texts()]
    assert labels == ["the paper's choice", "test", "validation"]
    assert "Test accuracy rises" in a.get_xlabel().replace("\n", " ")
    assert "0: nothing dropped" in b.get_xlabel()


def test_a_sweep_along_one_axis_is_drawn_alone_and_none_is_an_error():
    only_s = sweep_frame({key: v for key, v in HILL.items() if key[1] == 1e-4 and key[0] != 3.5})
    ax = influence.compose(influence.influence_data(only_s))
    assert len(ax.figure.axes) == 1
    with pytest.raises(ParameterError, match="sweep through them"):
        influence.influence_data(sweep_frame({(1.0, 0.5): 0.3}))
    with pytest.raises(ParameterError, match="need a column 'seed'"):
        influence.influence_data(only_s.drop(columns="seed"))


def test_a_trend_of_single_runs_has_no_deviation_to_speak_of():
    frame = pd.DataFrame({"s": [1.0, 2.0, 3.0], "test": [0.5, 0.7, 0.6]})
    found = trend(frame, "s", "test")
    assert found.std.tolist() == [0, 0, 0]
    assert found.rises and found.falls
    assert "one run each" in found.words()
    assert found.rank(3.0) == 2
    assert found.rank(9.0) is None
    assert trend(frame[:1], "s", "test").words() == "only s = 1 was run"
    with pytest.raises(ParameterError, match="no run with both"):
        trend(frame[:0], "s", "test")


def test_a_change_within_one_deviation_is_neither_rise_nor_fall():
    frame = pd.DataFrame({"s": [1, 1, 2, 2, 3, 3], "test": [0.70, 0.80, 0.72, 0.82, 0.71, 0.81]})
    found = trend(frame, "s", "test")
    assert found.best == 1
    assert not found.rises
    assert not found.falls


# ---------------------------------------------------------------- Figure 5


def test_the_case_study_has_the_papers_two_weights(cora):
    ego = case_study.case_study_data(cora)
    b, c = case_study.marked(ego, "b"), case_study.marked(ego, "c")
    assert (b["node"], b["hop"], round(b["heat"], 4)) == (2025, 1, 0.0408)
    assert (c["node"], c["hop"], round(c["heat"], 4)) == (2611, 2, 0.0568)
    target = case_study.marked(ego, "a")
    assert cora.classes[target["label"]] == "Neural_Networks"
    first = ego.nodes[ego.nodes["hop"] == 1]
    assert sorted(first["label"]) == [0, 0, 3, 3]
    assert len(ego.nodes) == 1 + 4 + 18
    assert "c > first-order b" in case_study.title_of(ego, 3.5)


def test_figure_5_draws_every_node_once_with_its_label(cora):
    ego = case_study.case_study_data(cora)
    (ax,) = new_axes()
    assert case_study.draw_case_study(ego, ax) is ax
    assert sorted(map(tuple, points_of(ax))) == sorted(map(tuple, ego.places))
    codes = [text.get_text() for text in ax.texts if len(text.get_text()) == 1]
    assert sorted(codes) == sorted(map(str, ego.nodes["label"]))
    assert any("2611\n0.0568" in text.get_text() for text in ax.texts)
    assert case_study.add_heat_scale(ego, ax).figure is ax.figure


# ---------------------------------------------------------------- files


def test_every_figure_with_its_input_is_written_whole(cora, heat_and_hops, tmp_path, monkeypatch):
    # The whole spectrum of Cora is for the command; here a few frequencies will do.
    monkeypatch.setattr(neighborhoods, "neighborhoods_data", lambda graph: heat_and_hops)
    monkeypatch.setattr(
        frequencies,
        "eigenvalues",
        lambda graph, self_loops=0.0: np.linspace(0, 2 - self_loops / 2, 9),
    )
    seen = []
    files = draw_all(
        tmp_path / "new", cora, sweep=sweep_frame(HILL), callback=lambda each: seen.append(each)
    )
    assert list(files) == [1, 2, 4, 5]  # there is no run for Figure 3
    assert [each.number for each in seen] == [each.number for each in FIGURES]
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == sorted(path.name for paths in files.values() for path in paths)
    for number, paths in files.items():
        assert [path.suffix for path in paths[:3]] == [".svg", ".png", ".csv"]
        assert paths[0].name == f"figure{number}.svg"
        for path in paths:
            assert path.stat().st_size > 100
    nodes = pd.read_csv(tmp_path / "new" / "figure5.csv")
    assert nodes["heat"].max() == pytest.approx(0.1115, abs=1e-4)


def test_figure_3_is_written_with_a_run(blocks, run, tmp_path, monkeypatch):
    follow = architecture.architecture_data
    monkeypatch.setattr(architecture, "architecture_data", lambda g, r: follow(g, r, 7))
    files = draw_all(tmp_path, blocks, run=run, numbers=[3])
    assert [path.name for path in files[3]] == [
        "figure3.svg", "figure3.png", "figure3.csv", "figure3-edges.csv", "figure3-classes.csv"
    ]  # fmt: skip


def test_the_same_data_give_the_same_bytes(tmp_path):
    data = influence.influence_data(sweep_frame(HILL))
    first = write(tmp_path / "a", "figure4", influence.draw_eps(data), {"": data})
    second = write(tmp_path / "b", "figure4", influence.draw_eps(data), {"": data})
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_failed_figure_leaves_the_old_file_alone(tmp_path, monkeypatch):
    data = influence.influence_data(sweep_frame(HILL))
    (old,) = write(tmp_path, "figure4", influence.draw_s(data), {})[:1]
    before = old.read_bytes()

    def full(self, *args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(OutputError, match="No space left"):
        write(tmp_path, "figure4", influence.draw_s(data), {"": data})
    assert old.read_bytes() == before
    assert not (tmp_path / "figure4.csv").exists()


def test_composed_figures_lay_out_without_a_warning(heat_and_hops, blocks, run):
    values = np.linspace(0, 2, 30)
    made = [
        frequencies.compose(responses(values, values * 0.75, 3.5)),
        neighborhoods.compose(heat_and_hops),
        architecture.compose(architecture.architecture_data(blocks, run, 7)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in made:
            ax.figure.draw_without_rendering()
