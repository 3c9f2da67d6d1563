"""What every recipe promises. A recipe that is registered is tested here, whole."""

from __future__ import annotations

import functools
import json
import random
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from helpers.same_run import assert_same, assert_same_run
from scipy.special import softmax

import graphheat
from graphheat import recipes
from graphheat.datasets import block_model
from graphheat.errors import (
    CheckpointError,
    GraphError,
    MissingDependencyError,
    OutputError,
    ParameterError,
)
from graphheat.graph import Graph
from graphheat.runs import Run, checkpoint

RECIPES = (*recipes.names(), "toy")
KEEP_STATE = ("auto", "consistent", "normalized", "paper", "authors", "ensemble")
STAGED = ("auto", "ensemble")  # a linear model first, then the epochs of networks
SEED = 3

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
OTHER = block_model(40, 3, features=8, labels_per_class=4, seed=5)

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture(params=RECIPES)
def recipe(request, toy):
    """One recipe after the other."""
    try:
        return recipes.get(request.param)
    except MissingDependencyError as error:
        pytest.skip(str(error))


def prepare(recipe, graph=GRAPH, **changes):
    return recipe.prepare(graph, recipe.settings(graph, **{**recipe.brief, **changes}), threads=1)


@functools.cache
def shared(name):
    """Return a recipe's preparation on ``GRAPH`` and the run of ``SEED``, made once."""
    recipe = recipes.get(name)
    prepared = prepare(recipe)
    return SimpleNamespace(prepared=prepared, run=recipe.fit(prepared, SEED))


@pytest.fixture
def prepared(recipe):
    return shared(recipe.name).prepared


@pytest.fixture
def run(recipe):
    return shared(recipe.name).run


@pytest.fixture
def path(run, tmp_path):
    """Return the file of the finished run, in a folder of its own."""
    file = tmp_path / checkpoint.FILENAME
    run.save(file)
    return file


def assert_valid(run, graph):
    p = run.probabilities
    assert p.shape == (graph.n, len(graph.classes))
    assert p.dtype.kind == "f"
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    assert np.allclose(p.sum(axis=1), 1, atol=1e-6)
    assert_sentences(run.notes)


def assert_sentences(texts):
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert isinstance(text, str)
        assert re.match(r"[A-Z0-9]|s = ", text)
        assert text.endswith(".") and "\n" not in text and "  " not in text


def assert_refusal(error, *words):
    """Check that a refusal is one line, ends as a sentence does, and names what it must."""
    text = str(error)
    assert text.endswith(".") and "\n" not in text and len(text) < 250
    assert all(word in text for word in words)


# ------------------------------------------------------------------ what it is


def test_it_names_itself_and_whose_idea_it_is(recipe):
    assert recipe.name in recipes.names()
    assert recipe.title
    assert any(char.isdigit() for char in recipe.reference), "a reference has a year"


def test_the_run_is_complete(recipe, run):
    assert_valid(run, GRAPH)
    assert run.recipe == recipe.name
    assert run.seed == SEED
    assert run.fingerprint == GRAPH.fingerprint
    assert run.nodes == tuple(GRAPH.nodes.tolist())
    assert run.classes == GRAPH.classes
    assert set(run.split) == {"train", "val", "calibration", "test"}
    assert run.seconds > 0
    assert run.reached is None or run.reached.shape == (GRAPH.n,)
    assert 0 <= run.test_accuracy <= 1
    assert run.epochs == len(run.history.get("val_loss", []))
    assert run.best_epoch >= 0
    assert run.best_epoch <= run.epochs or not run.history


def test_the_run_is_short_to_print(recipe, run):
    assert len(repr(run)) < 200
    assert recipe.name in repr(run)


def test_what_json_takes_is_ready_for_it(run):
    for value in (run.settings_dict(), run.metrics(), run.facts(), run.calibration_report()):
        assert json.loads(json.dumps(value, allow_nan=False)).keys() == value.keys()


def test_there_is_a_row_per_node(run):
    frame = run.predictions_frame()
    assert frame["node"].tolist() == GRAPH.nodes.tolist()
    assert frame["predicted"].tolist() == [GRAPH.classes[code] for code in run.predicted]
    assert np.array_equal(frame["confidence"], run.probabilities.max(axis=1))


# ------------------------------------------------------------------ chance


def test_a_seed_decides_the_run_and_the_callers_random_state_is_left_alone(recipe, run):
    torch.manual_seed(8)
    np.random.seed(8)  # noqa: NPY002
    random.seed(8)
    drawn_by_numpy = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    before = torch.get_rng_state(), drawn_by_numpy, random.getstate()
    threads = torch.get_num_threads()
    again = graphheat.fit(GRAPH, recipe.name, seed=SEED, threads=1, **recipe.brief)
    assert np.array_equal(again.probabilities, run.probabilities)
    assert_same(again.history, run.history, "history")
    assert torch.equal(before[0], torch.get_rng_state())
    assert np.array_equal(before[1], np.random.get_state(legacy=False)["state"]["key"])  # noqa: NPY002
    assert before[2] == random.getstate()
    assert torch.get_num_threads() == threads


def test_another_seed_is_another_run_only_where_there_is_chance(recipe, prepared, run):
    other = recipe.fit(prepared, SEED + 1)
    assert other.seed == SEED + 1
    assert_valid(other, GRAPH)
    if not recipe.stochastic:
        assert np.array_equal(other.probabilities, run.probabilities)


def test_runs_of_one_preparation_do_not_depend_on_each_other(recipe, prepared, run):
    recipe.fit(prepared, SEED + 1)
    assert np.array_equal(recipe.fit(prepared, SEED).probabilities, run.probabilities)


# ------------------------------------------------------------------ file


def test_a_run_survives_its_file(run, path):
    for again in (
        Run.load(path),
        type(run).load(path),
        *map(graphheat.load_run, (path, path.parent)),
    ):
        assert_same_run(again, run)
        assert repr(again) == repr(run)
        assert again.predictions_frame().equals(run.predictions_frame())
        assert again.metrics() == run.metrics()
        assert again.settings_dict() == json.loads(json.dumps(run.settings_dict()))
    assert list(path.parent.iterdir()) == [path]


def test_the_file_says_what_made_the_run(recipe, run, path):
    header, _ = checkpoint.read(path)
    assert header["schema"] == checkpoint.SCHEMA
    assert header["state"] == "finished"
    assert header["kind"] == run.kind
    assert header["recipe"] == recipe.name
    assert header["settings"] == json.loads(json.dumps(run.settings.as_dict()))


def test_the_file_is_written_once_notes_included(recipe, prepared, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        checkpoint, "write", lambda path, header, arrays: written.append((header, arrays))
    )
    run = recipe.fit(prepared, SEED, checkpoint=tmp_path / "run", source={"graph": "x"})
    ((header, _),) = [each for each in written if each[0]["state"] == "finished"]
    assert header["notes"] == list(run.notes)
    assert header["source"] == run.source == {"graph": "x"}


def test_a_file_of_another_kind_is_not_taken_for_this_one(run, path):
    class OtherRun(Run):
        pass

    with pytest.raises(CheckpointError, match="which is not a OtherRun") as error:
        OtherRun.load(path)
    assert error.value.args[0].endswith(".")


# ------------------------------------------------------------------ resume


def test_a_finished_run_is_returned_as_it_is(recipe, prepared, run, path):
    written = path.read_bytes()

    def never(*_):
        raise AssertionError("trained again")

    again = recipe.fit(prepared, SEED, checkpoint=path, resume=True, progress=never)
    assert_same_run(again, run)
    assert path.read_bytes() == written


def test_a_finished_run_is_not_replaced_unasked(recipe, prepared, path):
    written = path.read_bytes()
    with pytest.raises(OutputError, match=r"already holds a run\. Pass resume=True"):
        recipe.fit(prepared, SEED, checkpoint=path)
    assert path.read_bytes() == written


def test_another_seed_is_not_resumed(recipe, prepared, path):
    with pytest.raises(CheckpointError, match=f"started with seed={SEED}, not {SEED + 1}"):
        recipe.fit(prepared, SEED + 1, checkpoint=path, resume=True)


def test_other_settings_are_not_resumed(recipe, path):
    name, changed = another_setting(recipe)
    with pytest.raises(CheckpointError, match=f"started with {name}="):
        recipe.fit(changed, SEED, checkpoint=path, resume=True)


def another_setting(recipe):
    """Return the first number among the settings that can be another, and what it prepares."""
    settings = recipe.settings(GRAPH, **recipe.brief).as_dict()
    for name, value in settings.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            for other in (value + 1, value / 2):
                try:
                    return name, prepare(recipe, **{name: other})
                except ParameterError:
                    continue
    for name, value in settings.items():
        if isinstance(value, bool):
            return name, prepare(recipe, **{name: not value})
    raise AssertionError(f"{recipe.name} has no setting that could be another")


def test_another_graph_is_not_resumed(recipe, path):
    with pytest.raises(CheckpointError, match="belongs to another graph than block model"):
        recipe.fit(prepare(recipe, OTHER), SEED, checkpoint=path, resume=True)


def test_another_recipe_is_not_resumed(recipe, path):
    other = recipes.get("lp" if recipe.name == "toy" else "toy")
    with pytest.raises(CheckpointError, match=f"run of another recipe than '{other.name}'"):
        other.fit(prepare(other), SEED, checkpoint=path, resume=True)


class KilledError(Exception):
    """An end that nothing answers, as a kill is."""


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupted_run_goes_on_to_the_same_end(
    recipe, prepared, run, tmp_path, after, monkeypatch
):
    path = tmp_path / checkpoint.FILENAME
    recipe.identity(prepared, SEED)  # what is chosen before the first epoch is chosen now
    # An interrupt of auto is answered by the stages so far, so it is killed an epoch later.
    killed = recipe.name == "auto"
    if killed:
        monkeypatch.setattr("graphheat.training.loop.CHECKPOINT_SECONDS", -1.0)
    calls = []

    def counts(text):
        return recipe.name not in STAGED or "loss" in text

    def stop(done, total, text):
        if counts(text):
            calls.append(done)
        if len(calls) == after + killed:
            raise KilledError if killed else KeyboardInterrupt

    try:
        recipe.fit(prepared, SEED, checkpoint=path, progress=stop)
    except (KeyboardInterrupt, KilledError):
        assert path.exists() == (recipe.name in KEEP_STATE)
    else:
        assert len(calls) < after
    if path.exists() and len(calls) >= after:
        with pytest.raises(CheckpointError, match=f"interrupted after {after} epochs"):
            Run.load(path)
    seen = []

    def see(done, total, text):
        if counts(text):
            seen.append(done)

    resumed = recipe.fit(prepared, SEED, checkpoint=path, resume=True, progress=see)
    if recipe.name in KEEP_STATE:
        assert seen[0] == after + 1
    assert np.array_equal(resumed.probabilities, run.probabilities)
    assert resumed.best_epoch == run.best_epoch
    assert resumed.notes == run.notes
    assert_same_run(graphheat.load_run(path), resumed)


def test_progress_counts_up_to_its_total(recipe, prepared):
    heard = []
    recipe.fit(prepared, SEED, progress=lambda *step: heard.append(step))
    for done, total, text in heard:
        assert 1 <= done <= total
        assert isinstance(text, str)


# ------------------------------------------------------------------ other graphs


def test_its_own_graph_is_predicted_as_it_was_fitted(run):
    assert np.array_equal(run.predict(GRAPH).probabilities, run.probabilities)


def test_another_graph_is_predicted_or_clearly_refused(recipe, run):
    other = Graph.from_scipy(OTHER.adjacency, OTHER.features, OTHER.labels, name="another")
    try:
        predictions = run.predict(other)
    except GraphError as error:
        assert_refusal(error, "another", run.recipe)
        return
    assert predictions.classes == run.classes
    assert predictions.probabilities.shape == (40, 3)
    assert np.allclose(predictions.probabilities.sum(axis=1), 1, atol=1e-6)
    assert predictions.frame()["node"].tolist() == other.nodes.tolist()
    if recipe.name == "auto":  # label spreading has no say on other nodes
        return
    again = run.probabilities_on(GRAPH)
    assert np.allclose(again, run.probabilities, atol=1e-5)


def test_other_features_are_refused(run):
    narrow = Graph.from_scipy(OTHER.adjacency, OTHER.features[:, :3], name="narrow")
    with pytest.raises(GraphError, match="narrow"):
        run.predict(narrow)


def test_a_label_is_explained_or_clearly_refused(run):
    try:
        explainer = run.explainer(GRAPH)
    except GraphError as error:
        assert_refusal(error, f"this is one of {run.recipe}")
        return
    for index in (0, 31):
        contributions, constants = explainer.contributions(index, [0, 1, 2])
        logits = constants + contributions.sum(axis=0)
        assert np.allclose(softmax(logits), run.probabilities[index], atol=1e-4)
        found = explainer.explain(GRAPH.nodes[index])
        assert found.label == run.classes[run.predicted[index]]
        assert abs(found.constant + found.contributions.sum() - found.logit) < 1e-4
    with pytest.raises(GraphError):
        run.explainer(OTHER)


# ------------------------------------------------------------------ odd graphs


def rebuilt(adjacency=GRAPH.adjacency, labels=GRAPH.labels, **more):
    given = {"features": GRAPH.features, "classes": GRAPH.classes, "split": GRAPH.split, **more}
    return Graph.from_scipy(adjacency, labels=labels, **given)


def fit_briefly(recipe, graph):
    run = recipe.fit(prepare(recipe, graph), SEED)
    assert_valid(run, graph)
    return run


def test_isolated_nodes_get_a_label_whether_they_train_or_not(recipe):
    alone = [GRAPH.split["train"][0], GRAPH.split["val"][0], *GRAPH.split["test"][:2]]
    adjacency = GRAPH.adjacency.toarray()
    adjacency[alone], adjacency[:, alone] = 0, 0
    fit_briefly(recipe, rebuilt(adjacency))


def test_a_graph_without_an_edge_gets_labels_or_a_sentence(recipe):
    graph = rebuilt(np.zeros((60, 60)))
    try:
        fit_briefly(recipe, graph)
    except GraphError as error:
        assert_refusal(error)


def test_classes_of_one_label_are_enough(recipe):
    first = [int(np.flatnonzero(GRAPH.labels == code)[0]) for code in range(3)]
    test = np.setdiff1d(GRAPH.split["test"], first)
    run = fit_briefly(recipe, GRAPH.with_split(train=first, test=test))
    assert np.array_equal(run.members("train"), np.sort(first))


def test_one_class_of_one_label_beside_larger_ones(recipe):
    train = np.concatenate([GRAPH.split["train"], GRAPH.split["val"]])
    rare = train[GRAPH.labels[train] == 0][1:]
    graph = GRAPH.with_split(train=np.setdiff1d(train, rare), test=GRAPH.split["test"])
    run = fit_briefly(recipe, graph)
    assert train[GRAPH.labels[train] == 0][0] in run.members("train")


def test_a_class_that_no_training_node_has(recipe):
    train = GRAPH.split["train"]
    fit_briefly(
        recipe,
        GRAPH.with_split(train=train[GRAPH.labels[train] < 2], test=GRAPH.split["test"]),
    )


def test_nodes_without_a_label_get_one(recipe):
    labels = np.full(60, -1)
    labels[::3] = GRAPH.labels[::3]
    run = fit_briefly(recipe, rebuilt(labels=labels, split=None))
    assert run.test_accuracy is None
    assert (run.predictions_frame()["label"].isna() == (labels < 0)).all()


def test_without_features_there_is_a_run_or_a_sentence(recipe):
    graph = rebuilt(features=None, name="another")
    try:
        fit_briefly(recipe, graph)
    except GraphError as error:
        assert_refusal(error, "another has no features")


def test_without_labels_there_is_a_sentence(recipe):
    with pytest.raises(GraphError, match="no labelled node to learn from"):
        fit_briefly(recipe, rebuilt(labels=np.full(60, -1), split=None))


# ------------------------------------------------------------------ parameters


def test_an_unknown_setting_is_named(recipe):
    with pytest.raises(ParameterError, match="'layers_of_cake'"):
        recipe.settings(GRAPH, layers_of_cake=3)


def test_settings_are_plain_values_that_make_the_same_settings_again(recipe):
    settings = recipe.settings(GRAPH, **recipe.brief).as_dict()
    plain = json.loads(json.dumps(settings, allow_nan=False))
    given = {name: value for name, value in plain.items() if name != "recipe"}
    again = recipe.settings(GRAPH, **given).as_dict()
    assert json.loads(json.dumps(again)) == plain


@pytest.mark.parametrize("seed", [-1, 1.5, "0", None, True, 2**63])
def test_a_bad_seed_is_named(recipe, prepared, seed):
    with pytest.raises(ParameterError, match="The 'seed' parameter of fit must be an int in"):
        recipe.fit(prepared, seed)


@pytest.mark.parametrize("threads", [0, 1.5, True])
def test_a_bad_number_of_threads_is_named(recipe, threads):
    with pytest.raises(ParameterError, match="'threads' parameter of fit must be an int >= 1"):
        recipe.prepare(GRAPH, recipe.settings(GRAPH, **recipe.brief), threads=threads)


# ------------------------------------------------------------------ several seeds


def test_seeds_are_evaluated_together_as_they_are_alone(recipe, run):
    heard = []
    result = graphheat.evaluate(
        GRAPH,
        recipe.name,
        seeds=[SEED + 1, SEED],
        threads=1,
        callback=lambda each: heard.append(each.seed),
        **recipe.brief,
    )
    assert heard == [SEED + 1, SEED]
    assert [each.seed for each in result.runs] == heard
    assert np.array_equal(result.runs[1].probabilities, run.probabilities)
    assert ((result.accuracies >= 0) & (result.accuracies <= 1)).all()
    assert str(result).endswith("(2 runs)")
