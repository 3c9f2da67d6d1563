"""The page as a reader meets it: clicks, keys, address, exports, themes, and bad input."""

import csv
import io
import re

import numpy as np
import pytest
from helpers.polling import until

from graphheat.explorer import write_page
from graphheat.graph import Graph

NASTY = [
    "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "\"'><svg/onload=window.ran=1>",
    "</script><script>window.ran = 1</script>",
    "שלום \u202e\u202dעולם",
    "🔥👩‍👩‍👧‍👦",
    "javascript:window.ran=1",
    "${window.ran=1}{{window.ran=1}}",
]


def chosen(page):
    return page.evaluate("graphheat.explorer.state.node")


# ------------------------------------------------------------------ click and keys


@pytest.mark.parametrize("webgl", [True, False], ids=["webgl", "canvas"])
def test_a_click_makes_a_node_the_source(visit, star, webgl):
    with visit(star, "#tab=heat", webgl=webgl) as page:
        assert page.evaluate("graphheat.view") == ("webgl" if webgl else "canvas")
        assert page.locator(".no-webgl").is_visible() is not webgl
        place = page.evaluate("graphheat.where(3)")
        page.mouse.click(place["x"], place["y"])
        until(page, "graphheat.explorer.state.node === 3")
        assert page.get_by_role("heading", name="Node 3").is_visible()
        assert page.evaluate("graphheat.explorer.state.mode") == "heat"


def test_search_by_id_and_title_with_the_keyboard(visit, pages):
    ring = np.roll(np.eye(12), 1, axis=0)
    titles = [f"Paper about {word}" for word in "abcdefghijkl"]
    write_page(
        Graph.from_scipy(ring + ring.T, nodes=[f"n{k}" for k in range(12)], titles=titles),
        pages / "titles.html",
    )
    with visit(pages / "titles.html", "#tab=heat") as page:
        page.keyboard.press("/")
        page.keyboard.type("ABOUT C")
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        until(page, "graphheat.explorer.state.node === 2")
        search = page.get_by_role("combobox", name="Search")
        search.fill("n1")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        until(page, "graphheat.explorer.state.node === 10")  # n1, then n10
        search.fill("zebra")
        assert page.get_by_text(
            "No node has this id or title, and no class this name."
        ).is_visible()


def test_keys_work_without_a_mouse(visit, fitted):
    with visit(fitted, "#node=5&s=3") as page:
        page.keyboard.press("]")
        until(page, "graphheat.explorer.state.s === 3.5")
        page.keyboard.press("[")
        until(page, "graphheat.explorer.state.s === 3")
        page.get_by_role("tab", name="Heat").focus()
        page.keyboard.press("ArrowRight")
        until(page, "graphheat.explorer.state.tab === 'why'")
        why = "document.getElementById('tab-why').ariaSelected"
        until(page, f"{why} === 'true'")
        page.keyboard.press("?")
        assert page.get_by_role("dialog").is_visible()
        page.keyboard.press("Escape")
        assert not page.get_by_role("dialog").is_visible()
        page.keyboard.press("Escape")
        until(page, "graphheat.explorer.state.node === null")


@pytest.mark.parametrize("webgl", [True, False], ids=["webgl", "canvas"])
def test_the_graph_moves_and_zooms_by_keys(visit, star, webgl):
    with visit(star, webgl=webgl) as page:
        before = page.evaluate("graphheat.where(1)")
        page.locator(".stage").focus()
        page.keyboard.press("ArrowRight")
        until(page, f"Math.abs(graphheat.where(1).x - {before['x']} + 60) < 2")
        page.keyboard.press("0")
        until(page, f"Math.abs(graphheat.where(1).x - {before['x']}) < 2")
        apart = "(([a, b]) => Math.hypot(a.x - b.x, a.y - b.y))([0, 1].map(graphheat.where))"
        width = page.evaluate(apart)
        page.keyboard.press("+")
        until(page, f"{apart} > {1.2 * width}")


def test_everything_has_a_name_and_tables_have_heads(visit, fitted):
    with visit(fitted, "#node=5&tab=nodes") as page:
        for tab in ("heat", "why", "nodes"):
            page.evaluate(f"graphheat.explorer.set({{tab: '{tab}'}})")
            until(page, f"graphheat.explorer.state.tab === '{tab}'")
            page.locator(f"#panel-{tab}").wait_for(state="visible")
            for control in page.locator("button:visible, input:visible, select:visible").all():
                named = control.evaluate(
                    "e => e.ariaLabel || e.textContent.trim() || e.title || e.labels?.length"
                )
                assert named, control.evaluate("e => e.outerHTML")
            for table in page.locator(f"#panel-{tab} table").all():
                assert table.locator("th[scope=row]").count() > 0
                assert table.locator("caption").count() or table.get_attribute("aria-labelledby")


# ------------------------------------------------------------------ state and exports


def test_the_address_holds_the_state(visit, fitted):
    with visit(fitted, "#node=7&s=1.5&eps=1e-3&colour=confidence&tab=why&ball=2") as page:
        page.keyboard.press("]")
        until(page, "location.hash.includes('s=2')")
        address = page.url
        page.goto("about:blank")
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        state = page.evaluate("graphheat.explorer.state")
        assert (state["node"], state["s"], state["eps"]) == (7, 2, 0.001)
        assert (state["mode"], state["tab"], state["ball"]) == ("confidence", "why", 2)


@pytest.mark.parametrize(
    "hash_",
    ["#node=nobody&s=-3&eps=9", "#s=NaN&colour=pink&tab=zzz&filter=99-1", "#%E0%A4%A", "#&&=="],
)
def test_a_wrong_address_is_no_reason_to_fail(visit, fitted, hash_):
    with visit(fitted, hash_) as page:
        assert chosen(page) is None
        assert page.evaluate("graphheat.explorer.state.s") == 3


def test_the_picture_is_a_png_of_the_view(visit, fitted):
    with visit(fitted, "#node=5") as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="PNG").click()
        assert download.value.suggested_filename.endswith(".png")
        from PIL import Image

        picture = np.asarray(Image.open(download.value.path()).convert("RGB"))
        colours = np.unique(picture.reshape(-1, 3), axis=0)
        assert len(colours) > 50  # nodes, edges and words, not one empty sheet


def test_the_table_is_a_csv_of_the_neighbourhood(visit, fitted):
    with visit(fitted, "#node=5&s=2&eps=1e-3") as page:
        with page.expect_download() as download:
            page.get_by_role("button", name="Save CSV").click()
        rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8"))))
        shown = page.evaluate("Array.from(graphheat.explorer.near.neighbours)")
        assert [int(row["node"]) for row in rows] == [5, *shown]
        heat = page.evaluate("Array.from(graphheat.explorer.near.heat)")
        for row in rows:
            assert float(row["weight"]) == pytest.approx(heat[int(row["node"])])


def test_cells_that_a_spreadsheet_would_run_are_text(visit, pages):
    nodes = ["=1+1", 'a,"b', "-1", "-x", "-2.5e3"]
    write_page(Graph.from_scipy(np.ones((5, 5)) - np.eye(5), nodes=nodes), pages / "cells.html")
    with visit(pages / "cells.html") as page:
        page.evaluate("graphheat.explorer.select(0)")
        until(page, "graphheat.explorer.near !== null")
        lines = list(csv.reader(io.StringIO(page.evaluate("graphheat.csv()"))))
        # Numbers are no formulas, whatever they begin with.
        assert {line[0] for line in lines[1:]} == {"'=1+1", 'a,"b', "-1", "'-x", "-2.5e3"}


# ------------------------------------------------------------------ light, dark, small


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_in_light_and_dark(visit, fitted, scheme):
    with visit(fitted, "#node=5", color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        pairs = page.evaluate(
            """() => {
              const mark = document.createElement("i");
              document.body.append(mark);
              const colour = (value) => {
                mark.style.color = value;
                return getComputedStyle(mark).color;
              };
              const out = [];
              for (const ink of ["ink", "quiet", "accent", "warm"])
                for (const paper of ["paper", "panel", "card"])
                  out.push([ink, colour(`var(--${ink})`), colour(`var(--${paper})`)]);
              return out; }"""
        )
        for name, ink, paper in pairs:
            light, dark = sorted([luminance(ink), luminance(paper)], reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, name
        other = "Light colours" if scheme == "dark" else "Dark colours"
        page.get_by_role("button", name=other).click()
        until(page, f"document.documentElement.dataset.theme !== '{scheme}'")


@pytest.mark.parametrize("tab", ["heat", "why", "nodes"])
def test_nothing_runs_over_the_edge_of_a_phone_or_of_the_panel(visit, fitted, tab):
    with visit(fitted, f"#node=5&tab={tab}") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        until(page, "innerWidth === 390")
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        for node in page.evaluate("Array.from(graphheat.scene.reasons.nodes.slice(0, 5))"):
            page.evaluate(f"graphheat.explorer.set({{node: {node}}})")
            until(page, f"graphheat.explorer.near.index === {node}")
            assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1280, "height": 800})
        until(page, "innerWidth === 1280")
        box = f"document.getElementById('panel-{tab}')"
        assert page.evaluate(f"{box}.scrollWidth - {box}.clientWidth") <= 0
        assert page.locator(".stage").bounding_box()["height"] >= 300


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize("webgl", [True, False], ids=["webgl", "canvas"])
def test_names_are_shown_and_never_run(visit, pages, webgl):
    n = len(NASTY)
    graph = Graph.from_scipy(
        np.ones((n, n)) - np.eye(n),
        nodes=NASTY,
        titles=NASTY[::-1],
        labels=NASTY,
        split={"train": [0, 1, 2], "val": [3], "test": [4, 5]},
        name=NASTY[0],
    )
    path = pages / f"nasty-{webgl}.html"
    write_page(graph, path, title=NASTY[3])
    with visit(path, webgl=webgl) as page:
        assert page.get_by_role("heading", level=1).inner_text() == NASTY[3]
        for tab in ("nodes", "heat"):
            for node in range(n):
                page.evaluate(
                    f"graphheat.explorer.set({{node: {node}, tab: '{tab}', mode: 'label'}})"
                )
                until(page, f"graphheat.explorer.near?.index === {node}")
        card = page.locator("#panel-heat .card").inner_text()
        assert NASTY[-1] in card and NASTY[0] in card  # id and title
        place = page.evaluate("graphheat.where(1)")
        page.mouse.move(place["x"], place["y"])
        page.get_by_role("combobox", name="Search").fill("<img")
        page.get_by_role("option").first.wait_for()
        assert NASTY[1] in page.get_by_role("option").first.inner_text()
        page.evaluate("graphheat.explorer.set({node: null, filter: {kind: 'class', code: 0}})")
        page.locator(".filter-chip").wait_for()
        assert page.evaluate("window.ran") is None
        assert page.locator("main img, main script, main iframe").count() == 0


@pytest.mark.parametrize("hurt", ["letter", "short", "nothing", "words"])
def test_damaged_data_give_a_message_and_no_blank_page(visit, star, pages, hurt):
    whole = star.read_text(encoding="utf-8")
    found = re.search(r'id="data">([^<]*)<', whole)
    data = found[1]
    broken = {
        "letter": data[:300] + ("B" if data[300] == "A" else "A") + data[301:],
        "short": data[: len(data) // 2],
        "nothing": "",
        "words": "these are not data!",
    }[hurt]
    path = pages / f"damaged-{hurt}.html"
    path.write_text(whole.replace(data, broken), encoding="utf-8")
    with visit(path, ready=False) as page:
        page.get_by_role("alert").wait_for()
        assert "The page's data are damaged" in page.get_by_role("alert").inner_text()


@pytest.mark.parametrize("what", ["bare", "labels", "alone"])
def test_graphs_that_lack_something_can_be_looked_at(visit, pages, what):
    matrix = np.zeros((1, 1)) if what == "alone" else np.ones((5, 5)) - np.eye(5)
    labels = ["a", "b", None, None, None] if what == "labels" else None
    write_page(Graph.from_scipy(matrix, labels=labels), pages / f"{what}.html")
    with visit(pages / f"{what}.html") as page:
        page.evaluate("graphheat.explorer.select(0)")
        until(page, "graphheat.explorer.near !== null")
        assert page.get_by_role("tab", name="Why this label").count() == 0
        modes = page.locator("#colour option").all_inner_texts()
        assert modes == (["actual class", "heat"] if what == "labels" else ["one colour", "heat"])
        page.get_by_role("tab", name="Nodes").click()
        page.get_by_text("Highest degree first").wait_for()


def test_the_policy_holds_against_a_script_that_got_in(visit, star):
    with visit(star, quiet=False) as page:  # the browser tells of each refusal
        blocked = page.evaluate(
            """async () => {
              const out = [];
              const note = (event) => out.push(event.effectiveDirective);
              document.addEventListener("securitypolicyviolation", note);
              try { await fetch("https://example.invalid/"); out.push("fetched"); } catch {}
              try { document.body.innerHTML += "<p>"; out.push("markup"); } catch {}
              await new Promise((done) => setTimeout(done, 50));
              return out; }"""
        )
        assert "fetched" not in blocked
        assert "markup" not in blocked
        assert "connect-src" in blocked
