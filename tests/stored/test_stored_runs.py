"""Predictions and run files of the first schema: later versions give the same, and read them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from helpers.same_run import assert_same_run
from scipy.special import softmax

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.runs import checkpoint

HERE = Path(__file__).parent
FACTS = json.loads((HERE / "predictions.json").read_text())

# On another processor or torch the last bits differ; there predictions must only agree closely.
SAME_MACHINE = (torch.__version__, torch.backends.cpu.get_cpu_capability()) == (
    FACTS["torch"],
    FACTS["cpu"],
)


def make_graphs():
    small = block_model(120, 3, features=12, labels_per_class=8, seed=5)
    known = np.where(np.arange(120) % 4 == 0, small.labels, -1)
    tags = (np.random.default_rng(0).random((120, 40)) < 0.2) * 1.0
    build = graphheat.Graph.from_scipy
    return {
        "small": small,
        "unsplit": build(small.adjacency, small.features, known, classes=small.classes),
        "few": block_model(150, 3, features=12, labels_per_class=2, seed=6),
        "words": build(
            small.adjacency,
            sp.csr_array(tags),
            small.labels,
            classes=small.classes,
            split=small.split,
        ),
    }


GRAPHS = make_graphs()
OPTIONS = {
    "small/paper/K3": {"seed": 2, "max_epochs": 10, "K": 3, "eps": None},
    "small/consistent/s2": {"seed": 2, "max_epochs": 10, "s": 2.0, "propagation": "powers"},
    "words/linear/rarity": {"seed": 2, "s": 3.0, "l2": 0.01, "scaling": "tfidf"},
}
# The diffusion times that a linear model of then chose: what chooses them has changed since.
TIMES = {
    "small/consistent": 4.0,
    "small/normalized": 8.0,
    "unsplit/consistent": 3.0,
    "unsplit/normalized": 6.0,
    "few/consistent": 5.0,
    "few/normalized": 10.0,
    "words/consistent": 5.0,
    "words/normalized": 10.0,
}


def options_of(case, recipe):
    if case in OPTIONS:
        return OPTIONS[case]
    if recipe in FACTS["brief"]:
        return {"seed": 1, **FACTS["brief"][recipe]}
    if recipe == "linear":
        return {"seed": 1}
    time = {"s": TIMES[case]} if case in TIMES else {}
    return {"seed": 1, "max_epochs": 25, **time}


@pytest.fixture(scope="module")
def stored():
    with np.load(HERE / "predictions.npz") as archive:
        return {name: archive[name] for name in archive.files}


# Linear models were logistic regressions then: their files are read, but not made any more.
@pytest.mark.parametrize("case", [case for case in FACTS["notes"] if "/linear" not in case])
def test_a_seed_gives_the_predictions_that_it_gave_before(case, stored):
    graph, recipe = case.split("/")[:2]
    run = graphheat.fit(GRAPHS[graph], recipe, threads=1, **options_of(case, recipe))
    if SAME_MACHINE:
        assert np.array_equal(run.probabilities, stored[case])
    else:
        assert np.allclose(run.probabilities, stored[case], atol=1e-3)


# ------------------------------------------------------------------ files of schema 1

FILES = {
    "paper": "words/paper",
    "consistent": "words/consistent",
    "normalized": "small/normalized",
    "linear": "words/linear",
    "linear-rarity": "words/linear/rarity",
    "gcn": "small/gcn",
    "lp": "small/lp",
}
INDUCTIVE = ("paper", "consistent", "normalized", "linear", "linear-rarity")


def path_of(file):
    return HERE / f"{file}-schema1.safetensors"


def graph_of(file):
    return GRAPHS[FILES[file].split("/")[0]]


def recipe_of(file):
    return FILES[file].split("/")[1]


def another_graph(file):
    """Return a graph of other nodes with features of the same number and kind."""
    like = graph_of(file).features
    other = block_model(50, 3, features=12, labels_per_class=4, seed=9)
    features = other.features
    if sp.issparse(like):
        features = sp.csr_array((np.random.default_rng(1).random((50, 40)) < 0.2) * 1.0)
    return graphheat.Graph.from_scipy(other.adjacency, features, other.labels, name="another")


def test_every_file_is_compared():
    found = {path.name for path in HERE.glob("*-schema1.safetensors")}
    assert found == {path_of(file).name for file in (*FILES, "interrupted")}


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_schema_1_gives_its_probabilities(file, stored):
    run, graph = graphheat.load_run(path_of(file)), graph_of(file)
    assert np.array_equal(run.probabilities, stored[FILES[file]])
    assert run.recipe == recipe_of(file)
    assert run.fingerprint == graph.fingerprint
    assert run.nodes == tuple(graph.nodes.tolist())
    assert run.classes == graph.classes
    assert np.array_equal(run.labels, graph.labels)
    assert list(run.notes) == FACTS["notes"][FILES[file]]
    for part in ("train", "val", "test"):
        assert np.array_equal(run.split[part], np.sort(graph.split[part]))


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_schema_1_has_the_settings_that_made_it(file):
    run = graphheat.load_run(path_of(file))
    options = dict(options_of(FILES[file], run.recipe))
    assert run.seed == options.pop("seed")
    given = run.settings.as_dict()
    assert {name: given[name] for name in options} == options


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_schema_1_is_resumed_as_the_finished_run_that_it_is(file, tmp_path):
    path = tmp_path / "run.safetensors"
    shutil.copy(path_of(file), path)
    run = graphheat.fit(
        graph_of(file),
        recipe_of(file),
        threads=1,
        checkpoint=path,
        resume=True,
        **options_of(FILES[file], recipe_of(file)),
    )
    assert_same_run(run, graphheat.load_run(path_of(file)))
    assert path.read_bytes() == path_of(file).read_bytes()


@pytest.mark.parametrize("file", INDUCTIVE)
def test_a_run_of_schema_1_computes_its_probabilities_again_and_those_of_another_graph(file):
    run = graphheat.load_run(path_of(file))
    again = run.probabilities_on(graph_of(file))
    np.testing.assert_allclose(again, run.probabilities, atol=1e-5)
    other = another_graph(file)
    predictions = run.predict(other)
    assert predictions.probabilities.shape == (50, 3)
    np.testing.assert_allclose(predictions.probabilities.sum(axis=1), 1, atol=1e-6)
    assert predictions.frame()["node"].tolist() == other.nodes.tolist()


@pytest.mark.parametrize("file", sorted(set(FILES) - set(INDUCTIVE)))
def test_a_run_of_schema_1_of_a_baseline_says_that_it_knows_its_own_graph_alone(file):
    run = graphheat.load_run(path_of(file))
    with pytest.raises(GraphError, match="labels the graph that it was fitted on, and another is"):
        run.predict(another_graph(file))
    with pytest.raises(GraphError, match=f"this is one of {run.recipe}"):
        run.explainer(graph_of(file))
    assert np.array_equal(run.predict(graph_of(file)).probabilities, run.probabilities)


@pytest.mark.parametrize("file", INDUCTIVE)
def test_a_run_of_schema_1_is_explained(file):
    run, graph = graphheat.load_run(path_of(file)), graph_of(file)
    explainer = run.explainer(graph)
    codes = list(range(len(run.classes)))
    for index in (0, 57, 119):
        contributions, constants = explainer.contributions(index, codes)
        assert contributions.shape == (graph.n, len(codes))
        logits = constants + contributions.sum(axis=0)
        np.testing.assert_allclose(softmax(logits), run.probabilities[index], atol=1e-4)
        found = explainer.explain(graph.nodes[index])
        assert abs(found.constant + found.contributions.sum() - found.logit) < 1e-4


@pytest.mark.parametrize("file", FILES)
def test_a_run_of_schema_1_is_saved_in_the_present_schema_and_is_the_same(file, tmp_path):
    run = graphheat.load_run(path_of(file))
    run.save(tmp_path / checkpoint.FILENAME)
    header, _ = checkpoint.read(tmp_path / checkpoint.FILENAME)
    assert header["schema"] == checkpoint.SCHEMA == 2
    assert header["kind"] == run.kind
    assert "system" not in header
    assert_same_run(graphheat.load_run(tmp_path), run)


def test_an_interrupted_run_of_schema_1_goes_on_to_the_end_that_it_would_have_had(tmp_path):
    path = tmp_path / "run.safetensors"
    shutil.copy(path_of("interrupted"), path)
    options = {"seed": 4, "max_epochs": 25, "threads": 1}
    run = graphheat.fit(GRAPHS["words"], "paper", checkpoint=path, resume=True, **options)
    with np.load(HERE / "interrupted-whole.npz") as archive:
        (whole,) = (archive[name] for name in archive.files)
    if SAME_MACHINE:
        assert np.array_equal(run.probabilities, whole)
        undisturbed = graphheat.fit(GRAPHS["words"], "paper", **options)
        assert run.history == undisturbed.history
    else:
        assert np.allclose(run.probabilities, whole, atol=1e-3)
    assert run.epochs == 25
    assert_same_run(graphheat.load_run(path), run)
