"""Recipes side by side on the same seeds and splits, with paired tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import OutputError, ParameterError
from graphheat.graph import Graph
from graphheat.io.archive import as_path
from graphheat.io.atomic import replacing
from graphheat.progress import Progress
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

    def rows(self, metric: str = "accuracy") -> list[dict[str, Any]]:
        """Return what :meth:`to_frame` holds as plain values; None where there is nothing."""
        names = list(self.evaluations)
        first = self.evaluations[names[0]].scores(metric)
        rows = []
        for name in names:
            scores = self.evaluations[name].scores(metric)
            row: dict[str, Any] = {
                "recipe": name,
                "runs": len(scores),
                "mean": float(scores.mean()),
                "std": deviation(scores),
                **dict.fromkeys(("difference", "larger", "p", "p_wilcoxon")),
            }
            if name != names[0]:
                apart = first - scores
                row |= {"difference": float(apart.mean()), "larger": int((apart > 0).sum())}
                row |= _paired_tests(apart)
            rows.append(row)
        return rows

    def to_frame(self, metric: str = "accuracy") -> pandas.DataFrame:
        """Return one row per recipe.

        Columns are recipe, runs, mean and std of the metric; and beside the first recipe: the mean
        ``difference`` of the first, in how many runs it is larger (``larger``), and ``p`` and
        ``p_wilcoxon`` of two paired two-sided tests, Student's t and Wilcoxon's signed ranks.

        Notes
        -----
        Splits of one graph share nodes, so that their scores are not independent and a small ``p``
        is a little too small.
        """
        import pandas

        return pandas.DataFrame(self.rows(metric))

    def to_csv(self, metric: str = "accuracy") -> str:
        """Return the table as CSV, with the columns of :meth:`to_frame`."""
        return str(self.to_frame(metric).to_csv(index=False))

    def write(self, path: str | os.PathLike[str], metric: str = "accuracy") -> None:
        """Write the table to a file, by its suffix: ``.csv``, ``.md`` or ``.tex``."""
        writers = {".csv": self.to_csv, ".md": self.to_markdown, ".tex": self.to_latex}
        text = writers[check_table_path(path)](metric)
        with replacing(path) as aside:
            aside.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")

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
        for row in self.rows(metric):
            compared, tested = row["difference"] is not None, row["p"] is not None
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


def _paired_tests(differences: NDArray[np.float64]) -> dict[str, float]:
    """Return two-sided p values; none of fewer than two runs, or of equal differences."""
    if len(differences) < 2 or not np.ptp(differences) > 0:
        return {}
    from scipy.stats import ttest_1samp, wilcoxon  # half a second, for this alone

    return {
        "p": float(ttest_1samp(differences, 0.0).pvalue),
        "p_wilcoxon": float(wilcoxon(differences).pvalue),
    }


def check_table_path(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file that a table can be written to, or raise."""
    suffix = as_path(path).suffix.lower()
    if suffix not in (".csv", ".md", ".tex"):
        raise OutputError(
            f"A table is written as .csv, .md or .tex; got {suffix or 'no suffix'!r}. "
            "Rename the file."
        )
    return suffix


def compare(
    graph: Graph,
    recipes: Sequence[str] | Mapping[str, Mapping[str, Any]],
    *,
    seeds: Sequence[int] | None = None,
    splits: int | Sequence[Mapping[str, Any]] | None = None,
    per_class: int = 20,
    val_per_class: int = 30,
    jobs: int = 1,
    threads: int | None = None,
    callback: Callable[[Run], None] | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Evaluate several recipes on the same seeds and splits.

    Parameters
    ----------
    recipes
        Names; or names of your own, each with the settings of a recipe, ``"recipe"`` among them:
        ``{"wide GCN": {"recipe": "gcn", "hidden": 64}}``. The first is what others are compared
        with.
    seeds, splits, per_class, val_per_class, jobs, threads, callback, progress
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
            graph, seeds=seeds, splits=splits, jobs=jobs, threads=threads, callback=callback,
            progress=progress, **changes,
        )  # fmt: skip
    return Comparison(found)
