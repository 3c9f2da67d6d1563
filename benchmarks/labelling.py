"""How soon a label's effect is drawn on a page, and the linear model of `graphheat label` follows.

python benchmarks/labelling.py [--cora docs/cora.html] [--labels 30]

In a real Chromium (`make chromium`). Milliseconds by performance.now(), from the answer until the
frame with the new colours, legend and panel has been handed over; labels are the suggested nodes
with their actual classes, and the share of the others that are then right is noted. The server's
times are from the request with the label until there is a linear model that has seen it. The load
of the machine before and after is noted, for other work counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report
from playwright.sync_api import sync_playwright

from graphheat import Graph, datasets
from graphheat.explorer import write_page

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from helpers.chromium import launch  # noqa: E402
from helpers.label_client import serving  # noqa: E402

LABEL = """async (count) => {
  const { explorer, labelling } = graphheat;
  const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  const asked = async () => {
    while (explorer.asked === null) await new Promise((done) => setTimeout(done, 1));
    return explorer.asked;
  };
  const whole = [], compute = [];
  for (let k = 0; k < count; k++) {
    const node = await asked();
    await drawn();
    const began = performance.now();
    labelling.give(node, "label", explorer.own.labels[node]);
    await drawn();
    whole.push(performance.now() - began);
    compute.push(labelling.computed);
  }
  const score = labelling.score();
  return { whole, compute, right: score.right / score.others, view: graphheat.view };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cora", type=Path, default=ROOT / "docs" / "cora.html")
    parser.add_argument("--labels", type=int, default=30)
    given = parser.parse_args()
    load = os.getloadavg()[0]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        large = Path(folder) / "pubmed.html"
        write_page(datasets.load("pubmed"), large)
        browser = launch(playwright)
        for name, path in (("Cora", given.cora), ("Pubmed", large)):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            page = context.new_page()
            page.set_default_timeout(300_000)
            page.goto(f"{path.resolve().as_uri()}#tab=label")
            page.wait_for_selector("html[data-ready]")
            page.wait_for_timeout(1000)
            found = page.evaluate(LABEL, given.labels)
            context.close()
            what = f"{name} ({found['view']})"
            rows += times(f"{what}: spreading", found["compute"])
            rows += times(f"{what}: drawn", found["whole"])
            share = f"{name}: others right after {given.labels} suggested labels"
            rows.append({"what": share, "value": 100 * found["right"], "unit": "%"})
        browser.close()
        for name in ("cora", "pubmed"):
            seconds = followed(datasets.load(name), Path(folder) / f"{name}.sqlite", given.labels)
            rows += times(
                f"{name.title()}, server: the linear model follows", [1000 * s for s in seconds]
            )
    loads = [round(load, 1), round(os.getloadavg()[0], 1)]
    report("labelling", rows, load=loads)


def times(what: str, milliseconds: list[float]) -> list[dict[str, Any]]:
    """Return the median and the 95 % quantile as rows."""
    return [
        {"what": f"{what}, median", "value": statistics.median(milliseconds), "unit": "ms"},
        {"what": f"{what}, 95 %", "value": float(np.quantile(milliseconds, 0.95)), "unit": "ms"},
    ]


def followed(graph: Graph, journal: Path, labels: int) -> list[float]:
    """Return the seconds from each label until a linear model that has seen it is there."""
    blank = Graph.from_scipy(graph.adjacency, graph.features, name=graph.name)
    nodes = np.random.default_rng(0).permutation(graph.n)[: labels + 10]
    seconds = []
    names = [str(each) for each in graph.classes]
    with serving(blank, journal, classes=names) as (client, session):
        for k, node in enumerate(nodes.tolist()):
            began = time.perf_counter()
            revision = client.label(node, int(graph.labels[node]))
            while session.shown is None or session.shown.revision < revision:
                time.sleep(0.002)
            if k >= 10:  # by then there are several classes, and everything is compiled
                assert session.shown.name == "linear"
                seconds.append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    main()
