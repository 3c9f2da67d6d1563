"""Heat in the page is the library's heat."""

import numpy as np
from helpers.polling import until

from graphheat import datasets
from graphheat.explorer import write_page
from graphheat.graph import Graph
from graphheat.heat import HeatKernel, neighborhood

TIMES = [0.0, 0.5, 1.0, 3.5, 10.0]


def heat(page, index, s):
    return np.array(page.evaluate("([i, s]) => Array.from(graphheat.heat(i, s))", [index, s]))


def near(page):
    return page.evaluate(
        "({...graphheat.explorer.near, heat: null, hops: null,"
        " neighbours: Array.from(graphheat.explorer.near.neighbours)})"
    )


def test_heat_equals_the_kernel_on_cora(visit, cora):
    graph = datasets.load("cora")
    nodes = np.random.default_rng(0).choice(graph.n, 20, replace=False).tolist()
    with visit(cora) as page:
        for s in TIMES:
            rows = HeatKernel(graph, s, tol=1e-10).rows(nodes).toarray()
            for node, row in zip(nodes, rows, strict=True):
                assert np.abs(heat(page, node, s) - row).max() < 1e-6


def test_heat_of_weights_loops_and_isolated_nodes(visit, pages):
    random = np.random.default_rng(1)
    matrix = np.triu(random.random((30, 30)) * (random.random((30, 30)) < 0.15))
    matrix[7] = matrix[:, 7] = 0
    graph = Graph.from_scipy(np.maximum(matrix, matrix.T) * 1e3)
    write_page(graph, pages / "weights.html")
    with visit(pages / "weights.html") as page:
        for s in [*TIMES, 50.0]:
            rows = HeatKernel(graph, s, tol=1e-10).rows([0, 7, 12]).toarray()
            for node, row in zip([0, 7, 12], rows, strict=True):
                assert np.abs(heat(page, node, s) - row).max() < 1e-6


def test_heat_of_a_part_uses_the_degrees_of_the_whole(visit, pages):
    graph = datasets.load("cora")
    write_page(graph, pages / "part.html", around=[2027], max_nodes=800, s=2.0)
    row = HeatKernel(graph, 2.0, tol=1e-10).row(2027).toarray().ravel()
    with visit(pages / "part.html") as page:
        assert "800 of 2,708 nodes" in page.locator(".note").inner_text()
        ids = page.evaluate("graphheat.scene.ids.map(Number)")
        found = heat(page, ids.index(2027), 2.0)
        top = np.argsort(-row[ids])[:20]
        assert np.abs(found - row[ids])[top].max() < 1e-3


def test_ranges_are_those_of_the_paper_s_table_3(visit, cora):
    nodes = {12: (1, 1), 75: (2, 2), 26: (3, 3), 1284: (4, 13), 1351: (5, 13), 1385: (6, 11)}
    with visit(cora, "#node=12&s=3.5&eps=1e-4") as page:
        for node, (reach, most) in {**nodes, 1666: (7, 11)}.items():
            page.evaluate(f"graphheat.explorer.select({node})")
            until(page, f"graphheat.explorer.near.index === {node}")
            shown = page.locator(".stats").inner_text()
            assert f"{reach} hop" in shown
            assert (near(page)["range"], near(page)["maxRange"]) == (reach, most)


def test_the_list_is_that_of_the_library(visit, cora):
    wanted = neighborhood(datasets.load("cora"), 2027, 3.5, 1e-4)
    with visit(cora, "#node=2027&s=3.5&eps=1e-4") as page:
        assert near(page)["neighbours"] == wanted.neighbors.tolist()
        first = page.locator("table.list tbody tr").first.inner_text()
        assert first.split()[0] == str(wanted.neighbors[0])
        assert f"{wanted.weights[0]:.4f}" in first


def test_the_paper_s_case_at_a_glance(visit, cora):
    with visit(cora, "#node=2027&s=3.5&eps=1e-4") as page:
        story = page.locator(".story").inner_text()
        assert "second-order neighbour 2611 weighs 0.0568" in story
        assert "first-order neighbour 2025 with 0.0408" in story


def test_sliders_compute_anew_and_the_filter_moves(visit, cora):
    with visit(cora, "#node=2027&s=3.5&eps=1e-4") as page:
        curve = page.locator(".curve-heat").get_attribute("d")
        before = len(near(page)["neighbours"])
        page.locator("#s-range").fill("1")
        until(page, "graphheat.explorer.near.s === 1")
        graph = datasets.load("cora")
        assert len(near(page)["neighbours"]) == len(neighborhood(graph, 2027, 1.0).neighbors)
        assert page.locator(".curve-heat").get_attribute("d") != curve
        page.locator("#eps-range").fill("-2")
        until(page, "graphheat.explorer.near.eps === 0.01")
        assert len(near(page)["neighbours"]) < before
        page.get_by_label("Threshold eps, as a number").fill("1e-3")
        page.get_by_label("Threshold eps, as a number").press("Enter")
        until(page, "graphheat.explorer.near.eps === 0.001")


def test_play_lets_s_run_to_the_end_and_stops(visit, star):
    with visit(star, "#node=0&s=9.5") as page:
        page.get_by_role("button", name="Let s run").click()
        until(page, "graphheat.explorer.state.s === 10")
        page.get_by_role("button", name="Let s run").wait_for()


def test_hop_rings_are_counted(visit, cora):
    with visit(cora, "#node=2027&s=3.5&eps=1e-4") as page:
        page.get_by_role("button", name="2 hops", exact=True).click()
        page.get_by_text("22 nodes within 2 hops; heat leaves out 0 of them").wait_for()
        rows = page.locator(".rings-table tbody tr")
        assert rows.nth(1).inner_text().split()[:3] == ["1", "4", "4"]
