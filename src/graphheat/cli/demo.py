"""``demo``: the paper's model on Cora, looked at."""

from __future__ import annotations

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
    """Label Cora from 140 known papers with the paper's model, and look at the result."""
    from graphheat import datasets
    from graphheat.cli import display
    from graphheat.cli.heat import print_neighbors
    from graphheat.heat import neighborhood
    from graphheat.recipes import get

    graph = datasets.load("cora")
    changes = {} if epochs is None else {"max_epochs": epochs}
    recipe = get("paper")
    request: Any = recipe.settings(graph, **changes)
    settings = request.settings
    if not as_json:
        display.say(
            f"Cora: {graph.n:,} papers, {graph.adjacency.nnz // 2:,} citations, "
            f"{len(graph.split['train'])} known topics. Training the paper's model …"
        )
    with display.progress() as progress:
        prepared = recipe.prepare(graph, request, threads=threads, progress=progress)
        run = recipe.fit(prepared, progress=progress)
    from sklearn.metrics import confusion_matrix  # here: training starts a second earlier

    near = neighborhood(graph, CASE_STUDY_NODE, settings.s, settings.eps or 0.0)
    test = graph.split["test"]
    counts = confusion_matrix(
        graph.labels[test], run.predicted[test], labels=range(len(graph.classes))
    )
    if as_json:
        display.print_json(
            {
                **run.metrics(),
                "paper_test_accuracy": PAPER_ACCURACY,
                "classes": list(graph.classes),
                "confusion": counts.tolist(),
                "node": CASE_STUDY_NODE,
                "neighbors": len(near.neighbors),
            }
        )
        return

    def described(index: int) -> dict[str, Any]:
        return {
            "node": int(graph.nodes[index]),
            "class": graph.classes[graph.labels[index]],
            "title": None,
        }

    display.out.print(
        f"Test accuracy [bold]{display.percent(run.test_accuracy)}[/bold] on {len(test):,} papers "
        f"(the paper prints {display.percent(PAPER_ACCURACY)}); {run.epochs} epochs, weights of "
        f"epoch {run.best_epoch}, {run.seconds:.1f} seconds.",
        highlight=False,
    )
    short = [name.replace("_", " ") for name in graph.classes]
    display.table(
        ["true \\ predicted", *(f"{code}" for code in range(len(short)))],
        [
            [f"{code} {name}", *(int(c) for c in row)]
            for code, (name, row) in enumerate(zip(short, counts, strict=True))
        ],
        title="Which topics are taken for which",
    )
    nearest = [
        {**described(int(i)), "weight": float(w), "hops": int(h)}
        for i, w, h in list(zip(near.neighbors, near.weights, near.hops, strict=True))[:8]
    ]
    print_neighbors(described(CASE_STUDY_NODE), near, nearest)
    node = run.probabilities[CASE_STUDY_NODE]
    near_first = near.hops == 1
    lightest = int(near.neighbors[near_first][-1])
    heaviest = int(near.neighbors[near.hops == 2][0])
    display.out.print(
        f"Node {heaviest}, two hops away, gets more heat than node {lightest}, one hop away. "
        f"The network labels node {CASE_STUDY_NODE} {short[int(node.argmax())]} with confidence "
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
