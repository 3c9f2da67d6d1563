"""How soon a label's effect is drawn on a page, and how far the page's suggestions get.

python benchmarks/labelling.py [--cora docs/cora.html] [--labels 30]

In a real Chromium (`make chromium`). Milliseconds by performance.now(), from the answer until the
frame with the new colours, legend and panel has been handed over; labels are the suggested nodes
with their actual classes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report
from playwright.sync_api import sync_playwright

from graphheat import datasets
from graphheat.explorer import write_page

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from helpers.chromium import launch  # noqa: E402

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
            for key, words in (("compute", "spreading"), ("whole", "drawn")):
                times = found[key]
                rows.append(
                    {
                        "what": f"{what}: {words}, median",
                        "value": statistics.median(times),
                        "unit": "ms",
                    }
                )
                rows.append(
                    {
                        "what": f"{what}: {words}, 95 %",
                        "value": float(np.quantile(times, 0.95)),
                        "unit": "ms",
                    }
                )
            share = f"{name}: others right after {given.labels} suggested labels"
            rows.append({"what": share, "value": 100 * found["right"], "unit": "%"})
        browser.close()
    report("labelling", rows)


if __name__ == "__main__":
    main()
