"""Recipes side by side on the same seeds and splits, with paired tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.recipes.evaluation import Evaluation, deviation, evaluate, random_splits
from graphheat.runs import Run

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Comparison:
    """Evaluations of several recipes on the same seeds and splits.

    Attributes
    ----------
    evaluations
        By name, the first being what the others are compared with.
    """

    evaluations: Mapping[str, Evaluation]

    def to_frame(self, metric: str = "accuracy") -> pandas.DataFrame:
        """Return one row per recipe.

        Columns are recipe, runs, mean and std of the metric; and beside the first recipe: the mean
        ``difference`` of the first, in how many runs it is larger (``larger``), and ``p`` of a
        paired two-sided t-test.
        """
        import pandas

        names = list(self.evaluations)
        first = self.evaluations[names[0]].scores(metric)
        rows = []
        for name in names:
            scores = self.evaluations[name].scores(metric)
            apart = first - scores
            row: dict[str, Any] = {
                "recipe": name,
                "runs": len(scores),
                "mean": float(scores.mean()),
                "std": deviation(scores),
                "difference": None,
                "larger": None,
                "p": None,
            }
            if name != names[0]:
                row |= {"difference": float(apart.mean()), "larger": int((apart > 0).sum())}
                if len(scores) > 1 and np.ptp(apart) > 0:
                    from scipy.stats import ttest_rel  # half a second, for this alone

                    row["p"] = float(ttest_rel(first, scores).pvalue)
            rows.append(row)
        return pandas.DataFrame(rows)

    def to_markdown(self, metric: str = "accuracy") -> str:
        """Return the table as Markdown, shares in percent."""
        lines = ["| recipe | mean ± std | difference | p |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(cells)} |" for cells in self._cells(metric, "±", "–")]
        return "\n".join(lines)

    def to_latex(self, metric: str = "accuracy") -> str:
        r"""Return the table as a LaTeX ``tabular`` with booktabs rules."""
        rows = [
            " & ".join(cell.replace("_", r"\_") for cell in cells) + r" \\"
            for cells in self._cells(metric, r"$\pm$", "--")
        ]
        head = r"Recipe & Mean $\pm$ std & Difference & $p$ \\"
        return "\n".join(
            [r"\begin{tabular}{lrrr}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule",
             r"\end{tabular}"]
        )  # fmt: skip

    def _cells(self, metric: str, sign: str, nothing: str) -> list[list[str]]:
        percent = 1.0 if metric == "seconds" else 100.0
        cells = []
        for row in self.to_frame(metric).to_dict("records"):
            compared = row["difference"] is not None and not np.isnan(row["difference"])
            tested = row["p"] is not None and not np.isnan(row["p"])
            cells.append(
                [
                    str(row["recipe"]),
                    f"{percent * row['mean']:.2f} {sign} {percent * row['std']:.2f}",
                    f"{percent * row['difference']:+.2f}" if compared else nothing,
                    f"{row['p']:.2g}" if tested else nothing,
                ]
            )
        return cells

    def __str__(self) -> str:
        return self.to_markdown()


def compare(
    graph: Graph,
    recipes: Sequence[str] | Mapping[str, Mapping[str, Any]],
    *,
    seeds: Sequence[int] | None = None,
    splits: int | Sequence[Mapping[str, Any]] | None = None,
    per_class: int = 20,
    val_per_class: int = 30,
    threads: int | None = None,
    callback: Callable[[Run], None] | None = None,
) -> Comparison:
    """Evaluate several recipes on the same seeds and splits.

    Parameters
    ----------
    recipes
        Names; or names of your own, each with the settings of a recipe, ``"recipe"`` among them:
        ``{"wide GCN": {"recipe": "gcn", "hidden": 64}}``. The first is what others are compared
        with.
    seeds, splits, per_class, val_per_class, threads, callback
        As for :func:`evaluate`.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=1)
    >>> result = compare(graph, ["linear", "spreading"], splits=4, per_class=10)
    >>> result.to_frame()["recipe"].tolist()
    ['linear', 'spreading']
    """
    named = dict(recipes) if isinstance(recipes, Mapping) else {name: {} for name in recipes}
    if not named:
        raise ParameterError("The 'recipes' parameter of compare must name at least one recipe.")
    if isinstance(splits, int):
        splits = random_splits(graph, splits, per_class=per_class, val_per_class=val_per_class)
    found = {}
    for name, given in named.items():
        changes = {"recipe": name, **given}
        found[name] = evaluate(
            graph, seeds=seeds, splits=splits, threads=threads, callback=callback, **changes
        )
    return Comparison(found)
