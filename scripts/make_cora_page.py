"""Write docs/cora.html: recipe paper on Cora, seed 0, one thread; after every `make frontend`.

python scripts/make_cora_page.py
"""

from __future__ import annotations

from pathlib import Path

import graphheat
from graphheat import datasets
from graphheat.explorer import write_page

PAGE = Path(__file__).parents[1] / "docs" / "cora.html"

if __name__ == "__main__":
    graph = datasets.load("cora")
    run = graphheat.fit(graph, "paper", seed=0, threads=1)
    write_page(run, PAGE, graph=graph, noun="papers")
