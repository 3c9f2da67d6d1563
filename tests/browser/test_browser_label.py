"""Labelling in the page: spreading is the library's, answers are kept, exported and never run."""

import csv
import io

import numpy as np
import pytest
from helpers.polling import until

import graphheat
from graphheat import datasets
from graphheat.explorer import write_page
from graphheat.graph import Graph, Split
from graphheat.linear.spreading import SpreadingSettings, fit_spreading

CONTROLS = {"button", "textbox", "searchbox", "combobox", "slider", "tab", "region", "img"}
MARKUP = "<img src=x onerror='window.ran = 1'>"


def spread_by_python(graph, nodes, codes, classes):
    labels = np.full(graph.n, -1)
    labels[nodes] = codes
    bare = Graph.from_scipy(graph.adjacency, labels=labels, classes=classes)
    split = Split(graph.n, {"train": np.sort(nodes)})
    return fit_spreading(bare, split, SpreadingSettings())


def spread_by_page(page, nodes, codes):
    page.evaluate(
        "([nodes, codes]) => { graphheat.labelling.reset(false);"
        " nodes.forEach((node, k) => graphheat.labelling.give(node, 'label', codes[k])); }",
        [list(map(int, nodes)), list(map(int, codes))],
    )
    return page.evaluate(
        "({...graphheat.labelling.spread, reached: null,"
        " probabilities: Array.from(graphheat.labelling.spread.probabilities)})"
    )


@pytest.fixture(scope="session")
def bare(pages):
    """Return the page of a graph without a single label, from a CSV file."""
    random = np.random.default_rng(0)
    lines = ["source,target"]
    for a in range(40):
        lines.append(f"p{a},p{(a + 1) % 40}")
        lines.append(f"p{a},p{(a // 20) * 20 + random.integers(20)}")
    lines = [line for line in lines if len(set(line.split(","))) == 2]
    path = pages / "edges.csv"
    path.write_text("\n".join(dict.fromkeys(lines)) + "\n")
    graph = graphheat.read_graph(path, duplicates="first")
    write_page(graph, pages / "bare.html", noun="people")
    return pages / "bare.html"


# ------------------------------------------------------------------ spreading


def test_spreading_equals_the_library_on_cora(visit, cora):
    graph = datasets.load("cora")
    random = np.random.default_rng(0)
    with visit(cora, "#tab=label") as page:
        for _ in range(20):
            nodes = random.permutation(graph.n)[: random.integers(1, 25)]
            run = spread_by_python(graph, nodes, graph.labels[nodes], graph.classes)
            found = spread_by_page(page, nodes, graph.labels[nodes])
            assert (found["s"], found["sharpness"]) == (run.s, pytest.approx(run.sharpness))
            gap = np.abs(np.reshape(found["probabilities"], run.probabilities.shape))
            assert np.abs(gap - run.probabilities).max() < 1e-6


def test_spreading_of_weights_loops_and_isolated_nodes_after_changes(visit, pages):
    random = np.random.default_rng(2)
    matrix = np.triu(random.random((30, 30)) * (random.random((30, 30)) < 0.15))
    matrix[7] = matrix[:, 7] = 0
    graph = Graph.from_scipy(np.maximum(matrix, matrix.T) * 5)
    write_page(graph, pages / "weighted.html")
    nodes, codes = np.array([1, 4, 7, 9, 12, 20]), np.array([0, 1, 2, 0, 1, 0])
    run = spread_by_python(graph, nodes, codes, ("a", "b", "c"))
    with visit(pages / "weighted.html") as page:
        page.evaluate("graphheat.labelling.addClasses('a, b, c')")
        page.evaluate("graphheat.labelling.give(2, 'label', 1)")  # taken back below
        page.evaluate("graphheat.labelling.give(1, 'label', 2)")  # and this one changed
        for node, code in zip(nodes.tolist(), codes.tolist(), strict=True):
            page.evaluate(f"graphheat.labelling.give({node}, 'label', {code})")
        page.evaluate("graphheat.labelling.give(2, 'remove')")
        found = page.evaluate("Array.from(graphheat.labelling.spread.probabilities)")
        assert np.abs(np.reshape(found, (30, 3)) - run.probabilities).max() < 1e-6


# ------------------------------------------------------------------ the whole way


def test_from_a_bare_csv_graph_to_labels_that_fit_takes(visit, bare, pages):
    with visit(bare, accept_downloads=True) as page:
        assert page.get_by_role("tab", name="Label").get_attribute("aria-selected") == "true"
        page.get_by_label("Name a class").fill("tea, coffee")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="tea").first.wait_for()
        asked = []
        for key in "1212":  # the focus went to the answers: keys alone from here on
            until(page, "graphheat.labelling.suggestion !== null")
            asked.append(page.evaluate("graphheat.explorer.asked"))
            page.keyboard.press(key)
        assert len(set(asked)) == 4
        until(page, "graphheat.scene.predicted !== null")
        assert "4 known, 36 predicted, on average" in page.locator(".progress").inner_text()
        legend = page.locator(".legend").inner_text().split()
        assert int(legend[1]) + int(legend[3]) == 40
        with page.expect_download() as download:
            page.get_by_role("button", name="Save labels").click()
        text = download.value.path().read_text("utf-8")
    rows = {row["id"]: row["label"] for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) == 40
    assert [rows[f"p{node}"] for node in map(_number(bare), asked)] == ["tea", "coffee"] * 2
    (pages / "labels.csv").write_text(text)
    graph = graphheat.read_graph(
        pages / "edges.csv", nodes=pages / "labels.csv", duplicates="first"
    )
    assert graph.classes == ("coffee", "tea")
    run = graphheat.fit(graph, "spreading")
    with visit(bare) as page:  # a new context: nothing is kept there
        assert page.evaluate("graphheat.labelling.answers.labelled") == 0
    assert run.probabilities.shape == (40, 2)


def _number(bare):
    graph = graphheat.read_graph(bare.with_name("edges.csv"), duplicates="first")
    return lambda index: int(str(graph.nodes[index])[1:])


def test_undo_redo_unsure_skip_and_relabel(visit, bare):
    answer = "graphheat.labelling.answers.of({})?.{}"
    with visit(bare) as page:
        page.evaluate("graphheat.labelling.addClasses('a, b')")
        until(page, "graphheat.explorer.asked !== null")
        first = page.evaluate("graphheat.explorer.asked")
        page.locator("body").press("1")
        until(page, f"{answer.format(first, 'code')} === 0")
        before = page.evaluate("Array.from(graphheat.labelling.spread.probabilities)")
        page.locator("body").press("z")
        until(page, "graphheat.labelling.spread === null")
        page.locator("body").press("y")
        after = page.evaluate("Array.from(graphheat.labelling.spread.probabilities)")
        assert np.allclose(before, after, atol=1e-12)
        for key, kind in (("u", "unsure"), ("s", "skip")):
            until(page, "graphheat.labelling.suggestion !== null")
            node = page.evaluate("graphheat.explorer.asked")
            page.locator("body").press(key)
            until(page, f"{answer.format(node, 'kind')} === '{kind}'")
        assert page.evaluate("graphheat.labelling.answers.labelled") == 1
        page.evaluate(f"graphheat.explorer.select({first})")
        page.get_by_text("You labelled it. Another class replaces it.").wait_for()
        page.locator("body").press("2")
        until(page, f"{answer.format(first, 'code')} === 1")
        page.locator("body").press("Control+z")
        until(page, f"{answer.format(first, 'code')} === 0")


def test_labels_survive_a_reload_and_reach_another_tab(visit, bare):
    with visit(bare) as page:
        page.evaluate("graphheat.labelling.addClasses('a, b')")
        page.evaluate("graphheat.labelling.give(3, 'label', 1)")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        until(page, "graphheat.labelling.answers.of(3)?.code === 1")
        assert page.evaluate("graphheat.scene.predicted[3]") == 1
        other = page.context.new_page()
        other.goto(bare.as_uri())
        other.wait_for_selector("html[data-ready]")
        other.evaluate("graphheat.labelling.give(5, 'label', 0)")
        until(page, "graphheat.labelling.answers.of(5)?.code === 0")


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "null",
        "[]",
        '{"version":1}',
        '{"version":1,"classes":["a"],"answers":[["p1","label",7]]}',
    ],
)
def test_what_is_kept_but_broken_is_as_if_nothing_were(visit, bare, kept):
    with visit(bare) as page:
        page.evaluate(
            "(kept) => localStorage.setItem("
            "`graphheat:labels:${graphheat.scene.header.fingerprint}`, kept)",
            kept,
        )
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.evaluate("graphheat.labelling.answers.labelled") == 0


def test_a_labelled_graph_invites_and_scores(visit, fitted, blocks):
    with visit(fitted) as page:
        page.get_by_role("button", name="Label ten nodes. How far do you get?").click()
        assert page.evaluate("graphheat.scene.labels.every((code) => code < 0)")
        for k in range(3):
            until(page, "graphheat.labelling.suggestion !== null")
            page.locator("body").press("l")
            until(page, f"graphheat.labelling.answers.labelled === {k + 1}")
        score = page.evaluate("graphheat.labelling.score()")
        p = page.evaluate("Array.from(graphheat.labelling.spread.probabilities)")
        guess = np.reshape(p, (blocks.n, 3)).argmax(axis=1)
        held = page.evaluate("[...graphheat.labelling.answers.entries()].map(([node]) => node)")
        others = np.setdiff1d(np.arange(blocks.n), held)
        right = (guess == blocks.labels)[others].sum()
        assert score == {"labels": 3, "right": right, "others": len(others)}
        assert f"{100 * right / len(others):.1f}" in page.locator(".score").inner_text()
        page.get_by_role("tab", name="Why this label").click()
        page.evaluate(f"graphheat.explorer.select({int(others[0])})")
        assert "Actual" not in page.locator("#panel-why").inner_text()
        page.get_by_role("button", name="Show the run's predictions").click()
        page.get_by_text("Actual: ").first.wait_for()


def test_known_labels_are_where_one_starts(visit, pages):
    ring = np.roll(np.eye(12), 1, axis=0)
    labels = ["a_b", "c", *[None] * 10]
    write_page(Graph.from_scipy(ring + ring.T, labels=labels), pages / "some.html")
    with visit(pages / "some.html", "#tab=label") as page:
        until(page, "graphheat.labelling.spread !== null")
        assert "2 known, 10 predicted" in page.locator(".progress").inner_text()
        rows = list(csv.DictReader(io.StringIO(page.evaluate("graphheat.labelling.csv()"))))
        assert [row["label"] for row in rows[:3]] == ["a_b", "c", ""]
        page.get_by_text("Start over").click()
        page.get_by_role("button", name="From no labels").click()
        assert page.evaluate("graphheat.labelling.answers.labelled") == 0


# ------------------------------------------------------------------ names, screens, readers


def test_names_of_classes_are_text_and_cells_no_formulas(visit, pages):
    nodes = ["=1+1", "@x", "plain", "-1"]
    write_page(
        Graph.from_scipy(np.ones((4, 4)) - np.eye(4), nodes=nodes, titles=[MARKUP, "+a", "b", "c"]),
        pages / "formulas.html",
    )
    with visit(pages / "formulas.html") as page:
        page.get_by_label("Name a class").fill(f"{MARKUP}, =cmd()")
        page.get_by_role("button", name="Add").click()
        until(page, "graphheat.labelling.classes.length === 2")
        page.evaluate("graphheat.labelling.give(0, 'label', 0)")
        page.evaluate("graphheat.labelling.give(1, 'label', 1)")
        for tab in ("heat", "why", "nodes", "label"):
            page.evaluate(f"graphheat.explorer.set({{tab: '{tab}', node: 2}})")
        assert MARKUP in page.locator(".class-list").inner_text()
        lines = list(csv.reader(io.StringIO(page.evaluate("graphheat.labelling.csv()"))))
        assert lines[1] == ["'=1+1", MARKUP, MARKUP]
        assert lines[2] == ["'@x", "'+a", "'=cmd()"]
        assert lines[4][0] == "-1"
        page.get_by_label("Name a class").fill("x" * 201)
        page.get_by_role("button", name="Add").click()
        page.get_by_text("at most 200 characters").wait_for()
        page.get_by_label("Name a class").fill("=cmd()")
        page.get_by_role("button", name="Add").click()
        page.get_by_text("There is a class of this name already.").wait_for()
        assert page.evaluate("window.ran") is None
        assert page.locator("main img, main script, main iframe").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_over_the_edge_while_labelling(visit, fitted, width):
    with visit(fitted, "#tab=label") as page:
        page.set_viewport_size({"width": width, "height": 844})
        until(page, f"innerWidth === {width}")
        page.evaluate("graphheat.labelling.addClasses('A class whose name is rather long, b')")
        page.evaluate("graphheat.labelling.give(0, 'label', 0)")
        until(page, "graphheat.labelling.suggestion !== null")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        # The legend is there as a whole.
        legend = "document.querySelector('.legend')"
        assert page.evaluate(f"{legend}.scrollHeight - {legend}.clientHeight") <= 0
        assert page.evaluate(f"{legend}.scrollWidth - {legend}.clientWidth") <= 0


def test_keys_alone_lead_from_naming_classes_to_the_saved_table(visit, bare):
    focused = "document.activeElement.textContent || document.activeElement.ariaLabel"

    def tab_to(page, wanted, most=40):
        for _ in range(most):
            page.keyboard.press("Tab")
            if wanted(page):
                return
        raise AssertionError("Tab does not lead there")

    with visit(bare, accept_downloads=True) as page:
        tab_to(page, lambda page: page.evaluate("document.activeElement.id") == "new-class")
        page.keyboard.type("tea, coffee")
        page.keyboard.press("Enter")
        until(page, "document.activeElement.matches('.answer')")  # one can answer at once
        page.keyboard.press("Enter")  # the first class
        until(page, "graphheat.labelling.answers.labelled === 1")
        until(page, "graphheat.labelling.suggestion !== null")
        until(page, "document.activeElement.matches('.answer')")  # the next card's
        tab_to(page, lambda page: "coffee" in page.evaluate(focused))
        page.keyboard.press("Space")
        until(page, "graphheat.labelling.answers.labelled === 2")
        until(page, "graphheat.labelling.suggestion !== null")
        third = page.evaluate("graphheat.explorer.asked")
        page.keyboard.press("u")
        until(page, f"graphheat.labelling.answers.of({third})?.kind === 'unsure'")
        tab_to(page, lambda page: page.evaluate(focused) == "Undo")
        page.keyboard.press("Enter")
        until(page, f"graphheat.labelling.answers.of({third}) === null")
        tables = {
            "Save predictions": "node,title,label,predicted,confidence",
            "Save labels": "id,label",
        }
        for name, head in tables.items():
            tab_to(page, lambda page, name=name: page.evaluate(focused) == name)
            with page.expect_download() as download:
                page.keyboard.press("Enter")
            text = download.value.path().read_text("utf-8")
            assert text.splitlines()[0] == head
            assert len(text.splitlines()) == 41
            until(page, f"document.activeElement.textContent === '{name}'")  # and stays there
        assert "graphheat fit EDGES --nodes labels.csv" in page.locator(".labelling").inner_text()


def test_every_control_has_a_name_in_the_accessibility_tree(visit, bare, fitted):
    for path in (bare, fitted):
        with visit(path, "#tab=label") as page:
            if path == bare:
                page.evaluate("graphheat.labelling.addClasses('tea, coffee')")
            page.evaluate("graphheat.labelling.give(3, 'label', 1)")
            until(page, "graphheat.labelling.suggestion !== null")
            session = page.context.new_cdp_session(page)
            for tab in ("label", "nodes", "heat", "why"):
                page.evaluate(f"graphheat.explorer.set({{tab: '{tab}', node: 2}})")
                nodes = session.send("Accessibility.getFullAXTree")["nodes"]
                found = [
                    (node["role"]["value"], node.get("name", {}).get("value", "").strip())
                    for node in nodes
                    if not node.get("ignored") and "role" in node
                ]
                roles = {role for role, _ in found}
                assert {"main", "complementary", "tablist", "tabpanel"} <= roles
                assert [each for each in found if each[0] in CONTROLS and not each[1]] == []
                assert [role for role, _ in found].count("tabpanel") == 1


def test_a_screen_reader_is_told_what_is_asked_and_what_came_of_it(visit, bare):
    with visit(bare) as page:
        page.evaluate("graphheat.labelling.addClasses('tea, coffee')")
        until(page, "graphheat.labelling.suggestion !== null")
        tree = page.locator("#panel-label").aria_snapshot()
        name = page.evaluate("graphheat.explorer.nodeName(graphheat.explorer.asked)")
        for part in (
            f'- heading "{name}" [level=2]',
            '- group "Its class":',
            '- button "tea"',
            '- button "Unsure"',
            '- button "Undo" [disabled]',
            '- textbox "Name a class',
        ):
            assert part in tree
        page.locator("body").press("1")
        until(page, "document.querySelector('p[aria-live]').textContent.includes('1 known')")
        page.evaluate("graphheat.explorer.set({tab: 'nodes'})")
        page.get_by_role("combobox", name="Search").fill("tea")
        page.get_by_role("option", name="tea class").click()
        page.locator(".filter-chip").wait_for()
