"""Scores over seeds and splits: mean, deviation, and every run behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.calibration import expected_calibration_error
from graphheat.checks import check_count
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.html_table import html_table
from graphheat.progress import Progress
from graphheat.progress_bar import showing
from graphheat.recipes import registry
from graphheat.recipes.parallel_runs import make_runs, planned_fits
from graphheat.recipes.recipe import DEFAULT
from graphheat.runs import Run

if TYPE_CHECKING:
    import pandas

METRICS = ("accuracy", "balanced_accuracy", "calibration_error", "seconds")
Parts = Mapping[str, ArrayLike]
MOST_ROWS = 20  # of a table in a notebook


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores on the test nodes of several runs that differ in the seed, or in seed and split.

    ``str`` gives "0.8305 ± 0.0041 (20 runs)".

    Attributes
    ----------
    runs
        In the order of the seeds.
    recipe
        What made them.
    """

    runs: tuple[Run, ...]
    recipe: str = ""

    def __repr__(self) -> str:
        return f"Evaluation({self.recipe!r}, {self})"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        return html_table(
            f"{self.recipe}: {self}",
            frame.drop(columns="recipe").head(MOST_ROWS).to_numpy(dtype=object).tolist(),
            columns=list(frame.columns[1:]),
            notes=[f"… and {len(frame) - MOST_ROWS:,} more runs"] if len(frame) > MOST_ROWS else [],
        )

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """Test accuracies, shape (runs,)."""
        return self.scores("accuracy")

    @property
    def mean(self) -> float:
        """Mean test accuracy."""
        return float(self.accuracies.mean())

    @property
    def std(self) -> float:
        """Sample standard deviation (n − 1) of the test accuracy; 0 for one run."""
        return deviation(self.accuracies)

    def scores(self, metric: str) -> NDArray[np.float64]:
        """Return one number per run, shape (runs,).

        Parameters
        ----------
        metric
            ``"accuracy"``; ``"balanced_accuracy"``, the mean of the classes' recalls;
            ``"calibration_error"`` of the confidences that a user is shown, 15 bins;
            ``"seconds"``.
        """
        if metric not in METRICS:
            words = ", ".join(METRICS)
            raise ParameterError(
                f"The 'metric' parameter of scores must be one of {words}. Got {metric!r} instead."
            )
        return np.array([_score(run, metric) for run in self.runs], dtype=np.float64)

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per run: recipe, seed, and every metric."""
        import pandas

        return pandas.DataFrame(
            {
                "recipe": self.recipe,
                "seed": [run.seed for run in self.runs],
                **{metric: self.scores(metric) for metric in METRICS},
            }
        )

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.std:.4f} ({len(self.runs)} runs)"


def _score(run: Run, metric: str) -> float:
    if metric == "seconds":
        return run.seconds
    test = run.members("test")
    truth, predicted = run.labels[test], run.predicted[test]
    if metric == "accuracy":
        return float((truth == predicted).mean())
    if metric == "balanced_accuracy":
        recalls = [(predicted[truth == code] == code).mean() for code in np.unique(truth)]
        return float(np.mean(recalls))
    shown = run.probabilities if run.calibrated is None else run.calibrated
    return expected_calibration_error(shown, run.labels, test)


def deviation(values: Any) -> float:
    """Return the sample standard deviation, 0 for fewer than two values."""
    values = np.asarray(values, dtype=np.float64)
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0


def random_splits(
    graph: Graph, count: int, *, per_class: int = 20, val_per_class: int = 30
) -> list[dict[str, NDArray[np.int64]]]:
    """Draw splits class by class: so many to train, so many to validate, the rest to test.

    Parameters
    ----------
    per_class, val_per_class
        Labels of each class, at most a third of it each; ``val_per_class=0``: no validation part.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> first, second = random_splits(graph, 2, per_class=5, val_per_class=0)
    >>> sorted(first), len(first["train"])
    (['test', 'train'], 15)
    """
    count = check_count(count, "splits", "evaluate")
    most = {
        "train": check_count(per_class, "per_class", "evaluate"),
        "val": check_count(val_per_class, "val_per_class", "evaluate", least=0),
    }
    found = []
    for number in range(count):
        random = np.random.default_rng(number)
        drawn: dict[str, list[NDArray[np.int64]]] = {"train": [], "val": [], "test": []}
        for code in np.unique(graph.labels[graph.labels >= 0]):
            members = random.permutation(np.flatnonzero(graph.labels == code))
            taken = 0
            for part, wanted in most.items():
                size = min(wanted, len(members) // 3)
                drawn[part].append(members[taken : taken + size])
                taken += size
            drawn["test"].append(members[taken:])
        parts = {part: np.sort(np.concatenate(nodes)) for part, nodes in drawn.items()}
        found.append({part: nodes for part, nodes in parts.items() if len(nodes)})
    return found


def evaluate(
    graph: Graph,
    recipe: str = DEFAULT,
    *,
    seeds: Iterable[int] | None = None,
    splits: int | Sequence[Parts] | None = None,
    per_class: int = 20,
    val_per_class: int = 30,
    jobs: int = 1,
    threads: int | None = None,
    callback: Callable[[Run], None] | None = None,
    progress: Progress | bool | None = None,
    **changes: Any,
) -> Evaluation:
    """Fit once per seed, or once per split, and report the scores on the test nodes.

    What depends on the graph and the split alone, such as a kernel or the linear stages of
    ``"auto"``, is computed once for all seeds.

    Parameters
    ----------
    graph
        With labels and, unless ``splits`` are given, a split that holds labelled test nodes.
    seeds
        Distinct integers; default 0 … 19, or with ``splits`` the number of each.
    splits
        Parts by name (``train``, ``val``, ``test``), one mapping per split; or how many to draw at
        random, ``per_class`` to train and ``val_per_class`` to validate. Split k has the k-th seed.
    jobs
        Processes to fit in. Runs are the same to the bit as those of one process with the same
        ``threads``; without ``threads`` each process has its share of the processors.
    callback
        Called with each finished run, in the order of the seeds.
    progress
        Called after each run as ``progress(done, total, "runs")``; True: a bar.
    recipe, threads, **changes
        As for :func:`graphheat.fit`.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=1)
    >>> result = evaluate(graph, "linear", splits=3, per_class=10)
    >>> len(result.runs), result.mean > 0.6
    (3, True)
    >>> result.to_frame().columns.tolist()
    ['recipe', 'seed', 'accuracy', 'balanced_accuracy', 'calibration_error', 'seconds']
    """
    chosen = registry.get(recipe)
    if splits is None:
        parted = [graph]
    else:
        if isinstance(splits, int):
            splits = random_splits(graph, splits, per_class=per_class, val_per_class=val_per_class)
        parted = [graph.with_split(**parts) for parts in splits]
        if not parted:
            raise ParameterError("The 'splits' parameter of evaluate must not be empty.")
    numbers = _seeds(seeds, None if splits is None else len(parted))
    for each in parted:
        if not (each.labels[each.split.test] >= 0).any():
            raise GraphError(
                "evaluate needs labelled test nodes; the graph's split has none. "
                "Add some with graph.with_split(train=…, val=…, test=…), or pass splits=20."
            )
    jobs = check_count(jobs, "jobs", "evaluate")
    seeded = (
        [(graph, numbers)]
        if splits is None
        else [(each, [seed]) for each, seed in zip(parted, numbers, strict=True)]
    )
    fits = planned_fits(chosen, seeded, changes, threads)
    runs = []
    with showing(progress) as shown:
        for run in make_runs(fits, min(jobs, len(fits))):
            runs.append(run)
            if callback is not None:
                callback(run)
            if shown is not None:
                shown(len(runs), len(fits), "runs")
    return Evaluation(tuple(runs), recipe)


def _seeds(seeds: Iterable[int] | None, count: int | None) -> list[int]:
    """Return distinct seeds, as many as there are splits."""
    if seeds is None:
        return list(range(20 if count is None else count))
    numbers = list(seeds) if isinstance(seeds, Iterable) else []
    if not numbers or len(set(numbers)) != len(numbers):
        raise ParameterError(
            f"The 'seeds' parameter of evaluate must be distinct integers. Got {seeds!r} instead."
        )
    if count is not None and len(numbers) != count:
        raise ParameterError(
            f"The 'seeds' parameter of evaluate must name one seed per split: {count}. "
            f"Got {len(numbers)} instead."
        )
    return numbers
