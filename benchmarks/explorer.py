"""How large the explorer's pages are, how soon they answer, and how exact their heat is.

python benchmarks/explorer.py [--cora docs/cora.html] [--pubmed PAGE] [--rounds 5]

In a real Chromium (`make chromium`), with WebGL in software. Without --pubmed the page of the
bundled graph is written first; a page of a fitted run is larger.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report
from playwright.sync_api import Page, sync_playwright

from graphheat import HeatKernel, datasets
from graphheat.explorer import lay_out, write_page

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from helpers.chromium import launch  # noqa: E402

SLIDE = """(steps) => {
  const { explorer } = graphheat;
  const compute = [], whole = [];
  for (let k = 0; k < steps; k++) {
    const began = performance.now();
    explorer.set({ s: 0.1 + 0.1 * (k % 99) });
    explorer.flush();
    whole.push(performance.now() - began);
    compute.push(explorer.computed);
  }
  return { compute, whole };
}"""


def watched(context: Any) -> tuple[Page, list[str], list[str]]:
    page, requests, errors = context.new_page(), [], []

    def hear(message: Any) -> None:
        if message.type == "error":
            errors.append(message.text)

    page.on("request", lambda request: requests.append(request.url))
    page.on("console", hear)
    page.on("pageerror", lambda error: errors.append(str(error)))
    return page, requests, errors


def opening(browser: Any, path: Path, node: int) -> dict[str, Any]:
    """Return seconds from opening to the first picture, and to the answer to a click."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, requests, errors = watched(context)
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    ready = page.evaluate("performance.now()") / 1000
    place = page.evaluate(f"graphheat.where({node})")
    page.mouse.click(place["x"], place["y"])
    page.wait_for_selector("#node-heading", state="attached")
    answered = page.evaluate("performance.now()") / 1000
    context.close()
    left = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    return {"ready": ready, "answered": answered, "requests": len(left), "errors": len(errors)}


def sliding(browser: Any, path: Path, steps: int = 200) -> dict[str, float]:
    """Return milliseconds of the slider's steps from the node of highest degree."""
    page, _, _ = watched(browser.new_context(viewport={"width": 1280, "height": 800}))
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    page.evaluate("""() => {
      const { starts } = graphheat.scene.adjacency;
      let hub = 0;
      for (let i = 0; i < graphheat.scene.n; i++)
        if (starts[i + 1] - starts[i] > starts[hub + 1] - starts[hub]) hub = i;
      graphheat.explorer.select(hub);
      graphheat.explorer.flush();
    }""")
    first = page.evaluate("graphheat.explorer.computed")
    steps_taken = page.evaluate(SLIDE, steps)
    page.context.close()
    return {
        "first": first,
        "compute": statistics.median(steps_taken["compute"]),
        "compute_p95": float(np.quantile(steps_taken["compute"], 0.95)),
        "whole": statistics.median(steps_taken["whole"]),
    }


def exactness(browser: Any, path: Path) -> float:
    """Return the largest gap to HeatKernel(tol=1e-10), 20 nodes x 5 values of s on Cora."""
    graph = datasets.load("cora")
    nodes = np.random.default_rng(0).choice(graph.n, 20, replace=False).tolist()
    page, _, _ = watched(browser.new_context())
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    worst = 0.0
    for s in (0.5, 1.0, 2.0, 3.5, 10.0):
        rows = HeatKernel(graph, s, tol=1e-10).rows(nodes).toarray()
        for node, row in zip(nodes, rows, strict=True):
            heat = page.evaluate("([i, s]) => Array.from(graphheat.heat(i, s))", [node, s])
            worst = max(worst, float(np.abs(np.array(heat) - row).max()))
    page.context.close()
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cora", type=Path, default=ROOT / "docs" / "cora.html")
    parser.add_argument("--pubmed", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def row(what: str, value: float, unit: str) -> None:
        rows.append({"what": what, "value": value, "unit": unit})

    pubmed = datasets.load("pubmed")
    started, worked = time.perf_counter(), time.process_time()
    first = lay_out(pubmed)
    row("Pubmed's layout", time.perf_counter() - started, "s")
    row("Pubmed's layout, of the processor", time.process_time() - worked, "s")
    row(
        "Pubmed's layout again, largest difference",
        float(np.abs(lay_out(pubmed) - first).max()),
        "",
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        large = given.pubmed
        if large is None:
            large = Path(folder) / "pubmed.html"
            write_page(pubmed, large)
        row("Cora's page", given.cora.stat().st_size / 1e6, "MB")
        row("Pubmed's page", large.stat().st_size / 1e6, "MB")
        browser = launch(playwright)
        for name, path, node in (("Cora", given.cora, 1358), ("Pubmed", large, 0)):
            opened = [opening(browser, path, node) for _ in range(given.rounds)]
            for key, words in (("ready", "drawn"), ("answered", "a click answered")):
                row(f"{name}: {words}, best", min(each[key] for each in opened), "s")
                row(f"{name}: {words}, median", statistics.median(e[key] for e in opened), "s")
            row(f"{name}: requests that leave", max(each["requests"] for each in opened), "")
            row(f"{name}: console errors", max(each["errors"] for each in opened), "")
            slid = sliding(browser, path)
            row(f"{name}: first heat of a node", slid["first"], "ms")
            row(f"{name}: slider step, computation, median", slid["compute"], "ms")
            row(f"{name}: slider step, computation, 95 %", slid["compute_p95"], "ms")
            row(f"{name}: slider step with panel and overlay, median", slid["whole"], "ms")
        row("Cora: heat against HeatKernel(tol=1e-10)", exactness(browser, given.cora), "")
        browser.close()
    report("explorer", rows)


if __name__ == "__main__":
    main()
