"""A run on a graph that grew from its own: labels, reasons, sets, pages; and on any other."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import graphheat
from graphheat.datasets import block_model
from graphheat.errors import GraphError
from graphheat.explorer import write_page
from graphheat.graph import Graph
from graphheat.linear import local_rows
from graphheat.runs.combined_run import CombinedRun
from graphheat.runs.other_graph import old_rows

WHOLE = block_model(130, 3, features=6, labels_per_class=6, seed=0)
OTHER = block_model(130, 3, features=6, labels_per_class=6, seed=7)
NEW = np.setdiff1d(np.arange(130), [*WHOLE.split.train, *WHOLE.split.val])[-10:]


@cache
def grown():
    """Return a graph without ten nodes, and the same grown by them."""
    keep = np.setdiff1d(np.arange(130), NEW)
    place = np.full(130, -1)
    place[keep] = np.arange(len(keep))
    split = {name: place[part][place[part] >= 0] for name, part in WHOLE.split.items()}
    old = Graph.from_scipy(
        WHOLE.adjacency[keep][:, keep], WHOLE.features[keep], WHOLE.labels[keep],
        classes=WHOLE.classes, nodes=WHOLE.nodes[keep] + 1000, split=split,
    )  # fmt: skip
    upper = sp.triu(WHOLE.adjacency).tocoo()
    later = np.isin(upper.row, NEW) | np.isin(upper.col, NEW)
    edges = list(zip(upper.row[later] + 1000, upper.col[later] + 1000, strict=True))
    return old, old.extended((NEW + 1000).tolist(), edges, features=WHOLE.features[NEW])


@cache
def fitted(recipe):
    changes = {"paper": {"max_epochs": 60}, "auto": {"max_epochs": 4}}.get(recipe, {})
    return graphheat.fit(grown()[0], recipe, threads=1, **changes)


RECIPES = ["linear", "spreading", "paper", "auto"]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_is_one_of_the_grown_graph(recipe):
    old, new = grown()
    run = fitted(recipe)
    there = run.on(new)
    assert there.fingerprint == new.fingerprint and len(there.nodes) == 130
    assert np.array_equal(there.split.train, run.split.train)
    assert there.temperature == run.temperature and there.base is run
    assert there.reached.shape == (130,)
    frame = there.predictions_frame()
    assert frame["split"].tolist()[old.n :] == [""] * 10
    assert (there.predicted[old.n :] == WHOLE.labels[NEW]).mean() >= 0.7
    assert run.on(old) is run


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_new_node_is_explained_and_the_reasons_sum_to_the_logit(recipe):
    old, new = grown()
    run = fitted(recipe)
    node = new.nodes[old.n]
    found = run.explainer(new).explain(node)
    assert found.node == node
    assert abs(found.constant + found.contributions.sum() - found.logit) < 1e-4
    assert found.label == run.classes[run.on(new).predicted[old.n]]
    assert set(found.sources[found.training]) <= set(run.split.train.tolist())


def test_labels_of_training_nodes_explain_a_new_one_in_any_order_of_rows():
    old, new = grown()
    order = np.random.default_rng(0).permutation(new.n)
    mixed = Graph.from_scipy(
        new.adjacency[order][:, order], new.features[order], new.labels[order],
        classes=new.classes, nodes=new.nodes[order],
    )  # fmt: skip
    run = fitted("linear")
    node = new.nodes[old.n]
    one, two = (run.explainer(graph).explain(node, view="labels") for graph in (new, mixed))
    assert one.logit == pytest.approx(two.logit, abs=1e-6)
    assert one.table()["node"].tolist()[:5] == two.table()["node"].tolist()[:5]
    assert abs(two.constant + two.contributions.sum() - two.logit) < 1e-4


def test_spreading_goes_on_from_the_labels_that_the_run_learned():
    old, new = grown()
    run = fitted("spreading")
    again = graphheat.fit(new, "spreading", s=run.s)
    there = run.on(new)
    assert (there.predicted == again.predicted).mean() > 0.97
    shown = new.with_labels({new.nodes[old.n]: new.classes[0]})
    np.testing.assert_allclose(run.on(shown).probabilities, there.probabilities)


@pytest.mark.parametrize("recipe", ["linear", "spreading", "auto"])
def test_new_nodes_alone_are_labelled_as_with_all_others(recipe):
    old, new = grown()
    run = fitted(recipe)
    found = run.predict(new, nodes=new.nodes[old.n :].tolist())
    whole = run.predict(new)
    assert found.nodes == whole.nodes[old.n :]
    np.testing.assert_allclose(found.probabilities, whole.probabilities[old.n :], atol=1e-9)
    assert run.predict(old, nodes=[1000]).probabilities.shape == (1, 3)


@pytest.mark.parametrize("recipe", ["linear", "spreading"])
def test_locally_the_error_is_within_what_the_note_says(recipe, monkeypatch):
    old, new = grown()
    monkeypatch.setattr(local_rows, "WHOLE", 0.0)
    run = fitted(recipe)
    found = run.predict(new, nodes=new.nodes[old.n :].tolist())
    assert "Labelled locally" in found.notes[-1]
    bound = float(found.notes[-1].split("within ")[1].split(" ")[0])
    off = np.abs(found.probabilities - run.predict(new).probabilities[old.n :]).max()
    assert off <= 1.5 * bound + 1e-6  # it is printed with one figure


def test_where_rows_lack_too_much_the_whole_graph_answers(monkeypatch):
    old, new = grown()
    monkeypatch.setattr(local_rows, "WHOLE", 0.0)
    monkeypatch.setattr(local_rows, "TOL", 1e-3)
    run = fitted("linear")
    found = run.predict(new, nodes=new.nodes[old.n :].tolist())
    assert not any("locally" in note for note in found.notes)
    np.testing.assert_allclose(
        found.probabilities, run.predict(new).probabilities[old.n :], atol=1e-9
    )


def test_what_a_row_lacks_bounds_its_error():
    from graphheat.heat import HeatKernel

    rows = np.array([3, 77])
    found = local_rows.LocalRows.of(WHOLE, rows, 4.0)
    assert found is not None
    exact = HeatKernel(WHOLE, 4.0, tol=1e-12, self_loops=1.0).rows(rows).toarray()
    values = np.random.default_rng(0).normal(size=(130, 2))
    off = np.abs(exact @ values - found.heat @ values)
    assert (off <= found.error(values) + 1e-12).all()


def test_a_combination_on_another_graph_says_who_has_no_say():
    run = CombinedRun.of([fitted("spreading"), fitted("linear")], [0.3, 0.7], recipe="auto")
    found = run.predict(OTHER)
    (note,) = [note for note in found.notes if "has no say" in note]
    assert "spreading" in note and "%" in note
    assert not any("has no say" in note for note in run.predict(grown()[1]).notes)


def test_another_graph_of_the_same_ids_has_not_grown():
    same = Graph.from_scipy(
        OTHER.adjacency, OTHER.features, OTHER.labels, classes=OTHER.classes,
        nodes=grown()[1].nodes,
    )  # fmt: skip
    unlabelled = Graph.from_scipy(OTHER.adjacency, OTHER.features, nodes=grown()[1].nodes)
    for graph in (same, unlabelled):
        assert old_rows(fitted("linear"), graph) is None
        with pytest.raises(GraphError, match="nor that one grown"):
            fitted("linear").explainer(graph)
        with pytest.raises(GraphError, match="that one grown"):
            fitted("spreading").predict(graph)


def test_sets_frames_and_explanations_of_a_classifier():
    old, new = grown()
    model = graphheat.GraphHeatClassifier(recipe="linear", random_state=0).fit(old)
    sets = model.predict_set(0.2, graph=new)
    assert sets.shape == (130, 3) and sets[old.n :].any(axis=1).all()
    assert len(model.predictions_frame(new)) == 130
    assert model.explain(new.nodes[-1], graph=new).node == new.nodes[-1]
    with pytest.raises(GraphError, match="nor that one grown"):
        model.predict_set(graph=OTHER)


def test_a_page_of_a_grown_graph(tmp_path):
    page = write_page(fitted("spreading"), tmp_path / "page.html", graph=grown()[1])
    assert page.nodes == 130 and page.explained == 130


def test_a_run_on_a_grown_graph_is_kept_as_any(tmp_path):
    there = fitted("linear").on(grown()[1])
    there.save(tmp_path / "run.safetensors")
    back = graphheat.load_run(tmp_path / "run.safetensors")
    assert back.fingerprint == grown()[1].fingerprint
    np.testing.assert_allclose(back.probabilities, there.probabilities)
    fitted("linear").on(OTHER).save(tmp_path / "other.safetensors")
    assert graphheat.load_run(tmp_path / "other.safetensors").name == OTHER.name
