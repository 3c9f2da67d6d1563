"""Why this label: what the page says of a run is what the run says."""

import numpy as np
import pytest
from helpers.polling import until

import graphheat
from graphheat.explain import NetworkExplainer
from graphheat.explorer import write_page
from graphheat.graph import Graph

ROWS = "#panel-nodes section:not(.suspects) .list tbody"


def least(page):
    return page.evaluate("graphheat.scene.reasons.nodes[0]")


def listed(page):
    return [int(text) for text in page.locator(f"{ROWS} .link").all_inner_texts()]


def test_probabilities_and_the_set_are_those_of_the_run(visit, fitted, run):
    with visit(fitted, "#node=5&tab=why") as page:
        shown = page.evaluate("Array.from(graphheat.scene.probabilities)")
        assert np.abs(np.reshape(shown, (150, 3)) - run.probabilities).max() < 1e-4
        guess = run.classes[run.predicted[5]]
        assert f"Predicted {guess}".replace("_", " ") in " ".join(
            page.locator("#panel-why .story").inner_text().split()
        )
        in_set = page.locator("#panel-why .tag.set").count()
        assert in_set == page.evaluate("graphheat.scene.sets.slice(15, 18).reduce((a, b) => a + b)")
        page.get_by_text("About this run").click()
        assert "a little optimistic" in page.locator("#panel-why .about").inner_text()


def test_listed_contributions_sum_to_the_logit(visit, fitted, run, blocks):
    explainer = NetworkExplainer(run, blocks)
    with visit(fitted, "#tab=why") as page:
        node = least(page)
        page.evaluate(f"graphheat.explorer.select({node})")
        page.locator(".reasons").wait_for()
        codes = np.argsort(-run.probabilities[node], kind="stable")[:2]
        cells = page.locator(".reasons tfoot tr.sum td.number").all_inner_texts()
        for text, code in zip(cells, codes, strict=True):
            assert float(text.replace("−", "-")) == pytest.approx(
                explainer.logits[node, code], abs=1e-3
            )
        first = page.locator(".reasons tbody tr").first.inner_text().split()
        given, _ = explainer.contributions(node, codes.tolist())
        assert int(first[0]) == int(np.abs(given).max(axis=1).argmax())


def test_other_nodes_get_the_heat_from_training_nodes(visit, pages, run, blocks, monkeypatch):
    monkeypatch.setattr("graphheat.explorer.data.EXPLAINED", 10)
    write_page(run, pages / "ten.html", graph=blocks)
    with visit(pages / "ten.html", "#tab=why") as page:
        explained = page.evaluate("Array.from(graphheat.scene.reasons.nodes)")
        assert len(explained) == 10
        other = next(node for node in range(150) if node not in explained)
        page.evaluate(f"graphheat.explorer.select({other})")
        page.get_by_text("This one is not among them").wait_for()
        assert page.locator(".reasons").count() == 0
        assert page.get_by_text("Heat from training nodes, by class").is_visible()


def test_a_cell_of_the_matrix_filters_the_list(visit, fitted, run, blocks):
    wrong = (run.predicted != run.labels) & (run.split.codes() == 3) & (run.labels >= 0)
    truth, guess = run.labels[wrong][0], run.predicted[wrong][0]
    cell = wrong & (run.labels == truth) & (run.predicted == guess)
    with visit(fitted, "#tab=nodes") as page:
        button = page.locator(".matrix tbody tr").nth(int(truth)).locator("button").nth(int(guess))
        assert button.inner_text() == str(cell.sum())
        button.click()
        page.locator(".filter-chip").wait_for()
        rows = page.locator(f"{ROWS} tr")
        assert rows.count() == cell.sum()
        assert set(listed(page)) == set(np.flatnonzero(cell).tolist())
        page.get_by_role("button", name="Remove the filter").click()
        page.get_by_text("Least confident first").wait_for()


def test_candidates_are_the_least_confident_that_did_not_train(visit, fitted, run):
    with visit(fitted, "#tab=nodes") as page:
        texts = page.locator(
            "#panel-nodes section:not(.suspects) .list tbody td.number"
        ).all_inner_texts()
        assert texts == sorted(texts, key=float)
        assert not set(listed(page)) & set(run.split.train.tolist())


@pytest.mark.parametrize("mode", ["predicted", "label", "confidence", "right", "split", "heat"])
def test_every_colouring_can_be_chosen(visit, fitted, mode):
    with visit(fitted) as page:
        page.locator("#colour").select_option(mode)
        until(page, f"graphheat.explorer.state.mode === '{mode}'")
        assert page.locator(".legend").inner_text()


def test_features_that_mattered_suspects_and_titles(visit, pages, blocks):
    labels = blocks.labels.copy()
    flipped = blocks.split.train[:3]
    labels[flipped] = (labels[flipped] + 1) % 3
    graph = Graph.from_scipy(
        blocks.adjacency, blocks.features, labels, classes=("ash", "oak", "elm"),
        split=blocks.split, titles=[f"Tree no. {k}" for k in range(blocks.n)],
        feature_names=[f"leaf {k}" for k in range(blocks.features.shape[1])],
    )  # fmt: skip
    linear = graphheat.fit(graph, "linear")
    write_page(linear, pages / "named.html", graph=graph)
    explainer = linear.explainer(graph)
    with visit(pages / "named.html", "#tab=why") as page:
        node = least(page)
        page.evaluate(f"graphheat.explorer.select({node})")
        assert f"Node Tree no. {node}" in page.locator("#panel-why #node-heading").inner_text()
        first = page.locator(".features tbody tr").first.inner_text().split()
        codes = np.argsort(-linear.probabilities[node], kind="stable")[:2].tolist()
        given = explainer.by_feature(node, codes)
        best = int(np.abs(given).max(axis=1).argmax())
        assert first[:2] == ["leaf", str(best)]
        assert float(first[2].replace("−", "-")) == pytest.approx(given[best, 0], abs=1e-3)
    found = graphheat.suspects(graph)
    with visit(pages / "named.html", "#tab=nodes") as page:
        names = page.locator("#panel-nodes .suspects tbody .link").all_text_contents()
        assert names == list(found.titles[: min(10, found.contradicted)])
