"""``demo``: what a user gets, on Cora."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from graphheat.cli.options import common, threads

PAPER_ACCURACY = 0.837  # Table 2, Cora
CASE_STUDY_NODE = 2027  # Section 4.6: label 3, two neighbours of label 0 and two of label 3


@click.command()
@click.option("--epochs", type=click.IntRange(min=1), help="At most this many epochs.")
@threads
@common
def demo(epochs: int | None, threads: int | None, as_json: bool) -> None:
    """Label Cora from 140 known papers, beside the paper's model, and look at a node's heat."""
    from graphheat import datasets
    from graphheat.cli import display
    from graphheat.recipes import get

    graph = datasets.load("cora")
    changes = {} if epochs is None else {"max_epochs": epochs}
    if not as_json:
        display.say(
            f"Cora: {graph.n:,} papers, {graph.adjacency.nnz // 2:,} citations, "
            f"{len(graph.split['train'])} known topics."
        )
    runs: dict[str, Any] = {}
    for name in ("auto", "paper") if find_spec("torch") else ("auto",):
        recipe = get(name)
        if not as_json:
            display.say(f"Recipe {name}: {recipe.title} …")
        with display.progress() as progress:
            settings = recipe.settings(graph, **changes)
            prepared = recipe.prepare(graph, settings, threads=threads, progress=progress)
            runs[name] = recipe.fit(prepared, progress=None if as_json else progress)
    if as_json:
        display.print_json(_as_json(graph, runs))
    else:
        _show(graph, runs)


def _near(graph: Any) -> Any:
    from graphheat.heat import neighborhood
    from graphheat.recipes.network_recipe import PUBLISHED

    return neighborhood(graph, CASE_STUDY_NODE, *PUBLISHED["cora"])


def _confusion(graph: Any, run: Any) -> Any:
    from sklearn.metrics import confusion_matrix

    test = graph.split["test"]
    return confusion_matrix(
        graph.labels[test], run.predicted[test], labels=range(len(graph.classes))
    )


def _as_json(graph: Any, runs: dict[str, Any]) -> dict[str, Any]:
    return {
        **runs["auto"].metrics(),
        "paper_recipe_test_accuracy": runs["paper"].test_accuracy if "paper" in runs else None,
        "paper_test_accuracy": PAPER_ACCURACY,
        "classes": list(graph.classes),
        "confusion": _confusion(graph, runs["auto"]).tolist(),
        "node": CASE_STUDY_NODE,
        "neighbors": len(_near(graph).neighbors),
    }


def _show(graph: Any, runs: dict[str, Any]) -> None:
    from graphheat.cli import display
    from graphheat.cli.heat import print_neighbors

    auto, paper = runs["auto"], runs.get("paper")
    test = graph.split["test"]
    here = "needs torch, which is not installed"
    if paper is not None:
        here = f"run here, {display.percent(paper.test_accuracy)} in {paper.seconds:.1f} seconds"
    display.out.print(
        f"Test accuracy [bold]{display.percent(auto.test_accuracy)}[/bold] on {len(test):,} papers "
        f"in {auto.seconds:.1f} seconds; the paper's model, {here} (the paper prints "
        f"{display.percent(PAPER_ACCURACY)}).",
        highlight=False,
    )
    short = [name.replace("_", " ") for name in graph.classes]
    display.table(
        ["true \\ predicted", *(f"{code}" for code in range(len(short)))],
        [
            [f"{code} {name}", *(int(c) for c in row)]
            for code, (name, row) in enumerate(zip(short, _confusion(graph, auto), strict=True))
        ],
        title="Confusion matrix of the test papers",
    )

    def described(index: int) -> dict[str, Any]:
        return {
            "node": int(graph.nodes[index]),
            "class": graph.classes[graph.labels[index]],
            "title": None,
        }

    near = _near(graph)
    nearest = [
        {**described(int(i)), "weight": float(w), "hops": int(h)}
        for i, w, h in list(zip(near.neighbors, near.weights, near.hops, strict=True))[:8]
    ]
    print_neighbors(described(CASE_STUDY_NODE), near, nearest)
    node = auto.probabilities[CASE_STUDY_NODE]
    lightest = int(near.neighbors[near.hops == 1][-1])
    heaviest = int(near.neighbors[near.hops == 2][0])
    display.out.print(
        f"Node {heaviest}, two hops away, gets more heat than node {lightest}, one hop away. "
        f"Node {CASE_STUDY_NODE} is labelled {short[int(node.argmax())]} with confidence "
        f"{node.max():.2f}.",
        highlight=False,
    )
    display.out.print(
        "\nNext:\n"
        "  graphheat fit cora --seeds 5 --out runs/cora     five seeds, mean ± std\n"
        "  graphheat neighbors cora 1666 -s 3.5             another node's neighbourhood\n"
        "  graphheat fit edges.csv --nodes nodes.csv --out runs/mine     your own graph",
        highlight=False,
        markup=False,
    )
