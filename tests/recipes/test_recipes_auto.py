"""The default: stages in order, each judged by labels it has not seen, and their combination."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

import graphheat
from graphheat import recipes
from graphheat.datasets import block_model
from graphheat.errors import KernelMemoryError, ParameterError
from graphheat.graph import Graph
from graphheat.runs import Run
from graphheat.runs.combined_run import CombinedRun

GRAPH = block_model(150, 3, features=12, labels_per_class=6, feature_strength=1.0, seed=0)
UNVALIDATED = GRAPH.with_split(train=GRAPH.split["train"], test=GRAPH.split["test"])
BARE = Graph.from_scipy(
    GRAPH.adjacency, labels=GRAPH.labels, classes=GRAPH.classes, split=GRAPH.split, name="bare"
)
BRIEF = {"max_epochs": 10, "threads": 1}


def fit(graph, *recipe, **options):
    return graphheat.fit(graph, *recipe, **options)


@cache
def fitted(*, validated=True, **changes):
    return fit(GRAPH if validated else UNVALIDATED, **BRIEF, **changes)


def names(run):
    return [stage.name for stage in run.stages]


def predicted_scores(run, graph):
    test = graph.split["test"]
    return balanced_accuracy_score(graph.labels[test], run.predicted[test])


# ------------------------------------------------------------------ stages


def test_stages_come_in_order_and_each_is_judged():
    pytest.importorskip("torch")
    run = fitted()
    assert isinstance(run, CombinedRun)
    assert names(run) == ["spreading", "linear", "ensemble"]
    seconds = [stage.seconds for stage in run.stages]
    assert seconds == sorted(seconds) and seconds[-1] <= run.seconds + 1e-3
    assert all(0 <= stage.accuracy <= 1 and stage.loss > 0 for stage in run.stages)
    frame = run.stages_frame()
    assert frame["name"].tolist() == names(run)
    assert frame["weight"].tolist() == [stage.weight for stage in run.stages]


def test_stages_of_weight_are_the_parts_of_the_answer():
    run = fitted()
    weights = {stage.name: stage.weight for stage in run.stages if stage.weight > 0}
    assert [part.recipe for part in run.parts] == list(weights)
    np.testing.assert_allclose(run.weights, list(weights.values()), atol=1e-4)


def test_it_is_no_worse_than_its_stages_on_the_labels_that_judge():
    run = fitted()
    val = run.members("val")
    loss = -np.log(run.probabilities[val, run.labels[val]]).mean()
    assert loss <= min(stage.loss for stage in run.stages) + 0.05


@pytest.mark.parametrize("validated", [True, False])
def test_validation_labels_judge_or_predictions_out_of_fold(validated):
    run = fitted(validated=validated)
    assert run.judged_by == ("validation" if validated else "out-of-fold")
    part = next(part for part in run.parts if part.recipe == "linear")
    stage = run.stages[1]
    if validated:
        assert stage.accuracy == part.val_accuracy
    else:
        train = np.sort(UNVALIDATED.split["train"])
        right = part.out_of_fold.argmax(axis=1) == UNVALIDATED.labels[train]
        assert stage.accuracy == right.mean()
        assert stage.accuracy < 1 or stage.loss > 0
    assert np.array_equal(run.members("train"), np.sort(GRAPH.split["train"]))  # none held out


def _judged_parts(stage):
    """What labels weigh within a stage: the two kinds of networks; of any other, the stage."""
    return stage.parts if stage.recipe == "ensemble" else (stage,)


def test_no_stage_has_seen_the_labels_that_judge():
    labels = GRAPH.labels.copy()
    val = GRAPH.split["val"]
    labels[val] = (labels[val] + 1) % 3
    other = Graph.from_scipy(
        GRAPH.adjacency, GRAPH.features, labels, classes=GRAPH.classes, split=GRAPH.split
    )
    run = fit(other, **BRIEF)
    ours, theirs = (
        {part.recipe: part for stage in each.parts for part in _judged_parts(stage)}
        for each in (fitted(), run)
    )
    assert ours.keys() & theirs.keys()
    for name in ours.keys() & theirs.keys():
        assert np.array_equal(theirs[name].probabilities, ours[name].probabilities)
    assert all(stage.accuracy < 0.5 for stage in run.stages)


def test_each_stage_is_handed_out_as_soon_as_it_is_there():
    recipe = recipes.get("auto")
    heard: list[Run] = []
    prepared = recipe.prepare(GRAPH, recipe.settings(GRAPH, max_epochs=2), threads=1)
    run = recipe.fit(prepared, 0, stage=heard.append)
    assert [each.recipe for each in heard] == names(run)
    assert all(each.probabilities.shape == (GRAPH.n, 3) for each in heard)


def test_each_stage_is_told_in_a_line():
    pytest.importorskip("torch")
    lines = []

    class Listener:
        def __call__(self, done, total, text):
            pass

        def tell(self, text):
            lines.append(text)

    fit(UNVALIDATED, progress=Listener(), **BRIEF)
    assert [line.split()[2].rstrip(",") for line in lines] == ["spreading", "linear", "ensemble"]
    assert all(line.endswith("% of the labels left out right") for line in lines)


def test_weights_calibrate_so_no_temperature_is_learned():
    assert fitted().temperature == fitted(validated=False).temperature == 1.0


def test_the_run_survives_its_file_with_its_stages(tmp_path):
    pytest.importorskip("torch")
    run = fitted()
    run.save(tmp_path / "run.safetensors")
    back = CombinedRun.load(tmp_path / "run.safetensors")
    assert back.stages == run.stages and back.judged_by == run.judged_by
    assert back.metrics()["stages"][2]["name"] == "ensemble"


# ------------------------------------------------------------------ what may be missing


def test_a_graph_of_labels_alone_is_fitted():
    run = fit(BARE, **BRIEF)
    assert names(run) == ["spreading", "neighbors"]
    assert any("look at who a node's neighbours are" in note for note in run.notes)
    assert run.test_accuracy > 0.6


def test_of_a_large_graph_without_features_labels_are_spread_alone(monkeypatch):
    monkeypatch.setattr("graphheat.linear.neighbor_run.MOST_NODES", BARE.n - 1)
    run = fit(BARE, **BRIEF)
    assert names(run) == ["spreading"]
    assert any("labels are spread by heat alone" in note for note in run.notes)


def test_stages_of_a_graph_without_features_are_judged_by_the_same_labels_left_out():
    run = fit(BARE.with_split(train=BARE.split.train), **BRIEF)
    assert run.judged_by == "out-of-fold"
    assert all(0 <= stage.accuracy <= 1 for stage in run.stages)
    assert np.isfinite(run.probabilities).all()


def test_without_torch_there_are_no_networks_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(
        "graphheat.recipes.auto_recipe.find_spec", lambda name: None if name == "torch" else name
    )
    run = fit(GRAPH, **BRIEF)
    assert names(run) == ["spreading", "linear"]
    assert any("torch is not installed" in note for note in run.notes)


def test_networks_can_be_left_out_or_insisted_on(monkeypatch):
    pytest.importorskip("torch")
    assert names(fit(GRAPH, networks=False, **BRIEF)) == ["spreading", "linear"]
    monkeypatch.setattr("graphheat.recipes.memory_plan.HEAVY", 1.0)
    large = fit(GRAPH, **BRIEF)
    assert names(large) == ["spreading", "linear", "sampled"]  # a network from rows instead
    assert any("networks=True" in note for note in large.notes)
    assert names(fit(GRAPH, networks=True, **BRIEF))[-1] == "ensemble"
    monkeypatch.setattr("graphheat.recipes.memory_plan.HEAVY_OUTPUT", 1.0)
    many = fit(GRAPH, **BRIEF)
    assert names(many) == ["spreading", "linear"]
    assert any("too many for networks" in note for note in many.notes)


def test_a_budget_of_nothing_keeps_label_spreading_and_says_so():
    run = fit(GRAPH, budget=0, **BRIEF)
    assert names(run) == ["spreading"]
    assert run.notes[-1] == "Linear models were left out: the budget of 0 s was used up."
    assert run.test_accuracy > 0.6


def test_a_budget_stops_networks_where_they_are(monkeypatch):
    pytest.importorskip("torch")
    clock = iter(range(100_000))
    monkeypatch.setattr("graphheat.recipes.auto_recipe.time.monotonic", lambda: 0.01 * next(clock))
    run = fit(GRAPH, budget=0.3, max_epochs=500, threads=1)
    network = next(part for part in run.parts if part.recipe == "ensemble")
    assert names(run)[-1] == "ensemble" and 1 <= network.best_epoch < 100


@pytest.mark.parametrize("stage", ["fit_averaged", "fit_ensemble"])
def test_an_interrupt_keeps_the_stages_so_far(monkeypatch, stage):
    if stage == "fit_ensemble":
        pytest.importorskip("torch")

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"graphheat.recipes.auto_recipe.{stage}", interrupted)
    run = fit(GRAPH, **BRIEF)
    assert names(run) == ["spreading", "linear"][: 1 if stage == "fit_averaged" else 2]
    assert any("Interrupted" in note for note in run.notes)
    assert run.test_accuracy > 0.6


def test_an_interrupt_before_the_first_stage_is_an_interrupt(monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphheat.recipes.auto_recipe.fit_spreading", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(GRAPH, **BRIEF)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't allocate memory: 1 byte")])
def test_memory_that_ends_is_said_in_a_sentence(monkeypatch, error):
    def short(*args, **options):
        raise error

    monkeypatch.setattr("graphheat.recipes.auto_recipe.fit_spreading", short)
    with pytest.raises(KernelMemoryError, match="ran out of memory on"):
        fit(GRAPH, **BRIEF)


def test_one_label_per_class():
    pytest.importorskip("torch")
    train = [int(np.flatnonzero(GRAPH.labels == code)[0]) for code in range(3)]
    run = fit(GRAPH.with_split(train=train), **BRIEF)
    assert names(run) == ["spreading", "linear", "ensemble"]
    assert np.isfinite(run.probabilities).all()
    assert set(run.predicted[train]) == {0, 1, 2}


# ------------------------------------------------------------------ chance


def test_a_seed_decides_the_run():
    pytest.importorskip("torch")
    again = fit(GRAPH, **BRIEF)
    assert np.array_equal(again.probabilities, fitted().probabilities)
    assert np.array_equal(again.weights, fitted().weights)
    other = fit(GRAPH, seed=1, **BRIEF)
    assert not np.array_equal(other.probabilities, again.probabilities)


def test_seeds_that_draw_the_labels_that_choose_do_not_share_them():
    graph = block_model(600, 2, features=4, labels_per_class=150, seed=1)
    together = graphheat.evaluate(graph, seeds=[1, 0], networks=False, threads=1)
    alone = fit(graph, seed=0, networks=False, threads=1)
    assert np.array_equal(together.runs[1].probabilities, alone.probabilities)


# ------------------------------------------------------------------ unbalanced labels


def unbalanced():
    """Ten nodes of one class to one of the other; 30 labels drawn at random."""
    rng = np.random.default_rng(0)
    whole = block_model(
        1100, 2, homophily=0.9, features=16, feature_strength=2.0, labels_per_class=2, seed=2
    )
    rare = np.flatnonzero(whole.labels == 1)
    kept = np.sort(np.concatenate([np.flatnonzero(whole.labels == 0), rare[: len(rare) // 10]]))
    adjacency = whole.adjacency[kept][:, kept]
    train = rng.choice(len(kept), 30, replace=False)
    return Graph.from_scipy(
        adjacency, whole.features[kept], whole.labels[kept], classes=whole.classes
    ).with_split(train=train, test=np.setdiff1d(np.arange(len(kept)), train))


def test_networks_do_not_collapse_on_unbalanced_labels():
    graph = unbalanced()
    shares = np.bincount(graph.labels) / graph.n
    assert shares.max() > 10 * shares.min() * 0.9
    linear, ensemble, auto = (
        fit(graph, name, threads=1) for name in ("linear", "ensemble", "auto")
    )
    least = predicted_scores(linear, graph) - 0.03
    assert least > 0.75
    assert predicted_scores(ensemble, graph) > least
    assert predicted_scores(auto, graph) > least
    assert auto.test_accuracy > shares.max()


def test_balanced_class_weights_give_rare_classes_more():
    graph = unbalanced()
    plain, balanced = (
        fit(graph, threads=1, networks=False, class_weight=kind) for kind in (None, "balanced")
    )
    parts = [{part.recipe: part for part in run.parts} for run in (plain, balanced)]
    one, other = (each["linear"].probabilities[:, 1].mean() for each in parts)
    assert other > one
    assert balanced.settings_dict()["class_weight"] == "balanced"


# ------------------------------------------------------------------ settings


def test_s_is_that_of_a_layer_and_of_half_the_linear_model():
    run = fit(GRAPH, s=1.5, **BRIEF)
    parts = {part.recipe: part for part in run.parts}
    assert {part.s for part in parts["linear"].parts} == {3.0}
    if "ensemble" in parts:
        assert {part.settings.s for part in parts["ensemble"].parts} == {1.5}


@pytest.mark.parametrize(
    "wrong",
    [{"budget": -1}, {"networks": 3}, {"class_weight": "even"}, {"s": "soon"}, {"hidden": 0}],
)
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        fit(GRAPH, **wrong)


@pytest.mark.parametrize("validated", [True, False])
def test_a_very_large_graph_has_a_network_trained_from_rows(monkeypatch, tmp_path, validated):
    network = pytest.importorskip("graphheat.training.sampled_network")
    monkeypatch.setattr(network, "EPOCHS", 25)
    monkeypatch.setattr(network, "UNLABELLED", 100)
    monkeypatch.setattr("graphheat.recipes.memory_plan.HEAVY", 0.0)
    graph = graphheat.datasets.block_model(600, 3, homophily=0.8, seed=0)
    if not validated:
        parts = {name: graph.split.parts[name] for name in ("train", "test")}
        graph = graph.with_split(**parts)
    run = graphheat.fit(graph, s=2.0)
    assert isinstance(run, CombinedRun)
    assert "sampled" in {stage.name for stage in run.stages}
    assert any("trained from rows of the kernel" in note for note in run.notes)
    part = next(each for each in run.parts if each.recipe == "sampled")
    assert np.allclose(part.probabilities_on(graph), part.probabilities, atol=2e-2)
    run.save(tmp_path / "run.safetensors")
    again = graphheat.load_run(tmp_path / "run.safetensors")
    assert np.array_equal(again.probabilities, run.probabilities)
    explainer: Any = part.explainer(graph)
    found = explainer.explain(graph.nodes[3])
    assert found.constant + found.contributions.sum() == pytest.approx(found.logit, abs=1e-3)
    assert explainer.without(graph.nodes[3], graph.nodes[3]).logits.shape == (3,)
    assert again.explainer(graph).explain(graph.nodes[3]).probability == pytest.approx(
        run.probabilities[3].max(), abs=1e-6
    )


def test_labels_without_any_pattern_have_linear_models_and_networks_count_alike():
    random = np.random.default_rng(0)
    graph = graphheat.datasets.block_model(300, 2, seed=0)
    labels = np.full(300, -1)
    labels[random.choice(300, 80, replace=False)] = random.integers(0, 2, 80)
    graph = Graph.from_scipy(graph.adjacency, random.standard_normal((300, 4)), labels)
    run = graphheat.fit(graph, max_epochs=5)
    assert isinstance(run, CombinedRun)
    weight = {stage.name: stage.weight for stage in run.stages}
    assert weight["spreading"] == 0
    assert weight["linear"] == weight["ensemble"] > 0
