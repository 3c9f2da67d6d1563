"""FittedGraph: the nodes of a graph with what a fit says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphheat import calibration
from graphheat.features import FeatureSchema
from graphheat.graph import Graph, Split
from graphheat.graph.lookup import find_node
from graphheat.html_table import html_table
from graphheat.runs.calibration_report import calibration_report
from graphheat.runs.predictions import Predictions
from graphheat.runs.protocols import Settings
from graphheat.runs.run_file import History

if TYPE_CHECKING:
    import pandas

    from graphheat.runs.run import Run


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedGraph:
    """What every run holds, and what can be asked of it without another graph or a file.

    The fields are those of :class:`graphheat.runs.Run`, which documents them.
    """

    recipe: str
    settings: Settings
    seed: int
    fingerprint: str
    name: str
    classes: tuple[Any, ...]
    nodes: tuple[Any, ...]
    labels: NDArray[np.int64]
    split: Split
    probabilities: NDArray[np.floating[Any]]
    seconds: float
    reached: NDArray[np.bool_] | None = None
    history: History = field(default_factory=dict)
    best_epoch: int = 0
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)
    search: Any = None  # what settings were chosen on (a GridSearch), where some were
    out_of_fold: NDArray[np.floating[Any]] | None = None
    schema: FeatureSchema | None = None
    feature_names: tuple[str, ...] | None = None
    base: Run | None = None
    titles: tuple[str, ...] | None = None
    interrupted: bool = False

    @staticmethod
    def graph_parts(graph: Graph, split: Split) -> dict[str, Any]:
        """Return the fields that say which graph a run was made on, and by which split."""
        return {
            "fingerprint": graph.fingerprint,
            "name": graph.name,
            "classes": graph.classes,
            "nodes": tuple(graph.nodes.tolist()),
            "titles": graph.titles,
            "labels": graph.labels,
            "split": split,
            "schema": graph.schema,
            "feature_names": graph.feature_names,
        }

    def __repr__(self) -> str:
        scored = "" if self.test_accuracy is None else f", test_accuracy={self.test_accuracy:.3f}"
        return (
            f"{type(self).__name__}({self.name}, recipe={self.recipe!r}, seed={self.seed}, "
            f"nodes={len(self.nodes)}, classes={len(self.classes)}{scored})"
        )

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [
            ["recipe", self.recipe],
            ["seed", self.seed],
            ["nodes", len(self.nodes)],
            ["classes", ", ".join(map(str, self.classes))],
            ["s", self.diffusion_time],
            ["test accuracy", self.test_accuracy],
            ["validation accuracy", self.val_accuracy],
            ["seconds", round(self.seconds, 1)],
        ]
        return html_table(f"Run on {self.name}", rows, notes=self.notes)

    # ------------------------------------------------------------------ questions

    @property
    def epochs(self) -> int:
        """How many epochs were run."""
        return len(self.history.get("train_loss", []))

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """Predicted class codes, shape (n,)."""
        codes: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return codes

    def members(self, part: str) -> NDArray[np.int64]:
        """Return the labelled nodes of a part of the split: row numbers, rising."""
        nodes = np.sort(self.split.get(part, np.empty(0, dtype=np.int64)))
        return nodes[self.labels[nodes] >= 0]

    def index_of(self, node: Any) -> int:
        """Return the row number of a node by its id or title, as :meth:`Graph.index_of` does."""
        place = {each: row for row, each in enumerate(self.nodes)}
        return find_node(node, place, self.titles, self.name)

    def accuracy(self, part: str) -> float | None:
        """Return the share of right predictions in a part of the split, or None without nodes."""
        nodes = self.split.get(part, np.empty(0, dtype=np.int64))
        if not len(nodes):
            return None
        return float((self.predicted == self.labels)[nodes].mean())

    @property
    def val_accuracy(self) -> float | None:
        """Accuracy on the validation nodes."""
        return self.accuracy("val")

    @property
    def test_accuracy(self) -> float | None:
        """Accuracy on the test nodes."""
        return self.accuracy("test")

    def settings_dict(self) -> dict[str, Any]:
        """Return every setting that, with the graph and the seed, decided the run."""
        return dict(self.settings.as_dict())

    @property
    def diffusion_time(self) -> float | None:
        """How long heat flows, s; None for recipes without heat."""
        s = self.settings_dict().get("s")
        return float(s) if isinstance(s, (int, float)) else None

    def facts(self) -> dict[str, Any]:
        """Return what else is worth noting of how the run was made, ready for JSON."""
        return {}

    def metrics(self) -> dict[str, Any]:
        """Return one row of numbers about the run, ready for JSON."""
        return {
            "seed": self.seed,
            "test_accuracy": self.test_accuracy,
            "val_accuracy": self.val_accuracy,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 3),
            **({"interrupted": True} if self.interrupted else {}),
        }

    # ------------------------------------------------------------------ confidence

    @property
    def calibration_part(self) -> str | None:
        """The part of the split whose labels say how far the run may be believed.

        ``"calibration"``, or where there is no such node ``"val"``, or None where there is neither.
        """
        return next((part for part in ("calibration", "val") if len(self.members(part))), None)

    @cached_property
    def temperature(self) -> float | None:
        """T of :func:`graphheat.calibration.temperature`, from the nodes of that part."""
        if self.base is not None:
            return self.base.temperature
        if self.calibration_part is None:
            return None
        nodes = self.members(self.calibration_part)
        return calibration.temperature(self.probabilities, self.labels, nodes)

    @cached_property
    def calibrated(self) -> NDArray[np.float64] | None:
        """Probabilities after temperature scaling, shape (n, c); the same labels."""
        if self.temperature is None:
            return None
        return calibration.calibrated(self.probabilities, self.temperature)

    def calibration_report(self) -> dict[str, Any]:
        """Return the temperature, and the calibration error before and after it, ready for JSON.

        The error is that of 15 equal-width bins on the test nodes, None without any;
        ``expected_by_chance`` is what a perfectly calibrated predictor with the scaled confidences
        would show on average.
        """
        return calibration_report(self)

    # ------------------------------------------------------------------ predictions

    def predictions(self) -> Predictions:
        """Return what the run says of the nodes of its graph."""
        return Predictions(
            nodes=self.nodes,
            titles=self.titles,
            classes=self.classes,
            probabilities=self.probabilities,
            labels=self.labels,
            split=self.split.names(),
            reached=self.reached,
            temperature=self.temperature,
        )

    def predictions_frame(self) -> pandas.DataFrame:
        """Return one row per node: id, label, prediction, confidence, reached, split, p_<class>.

        ``confidence`` is the model's own probability. Where calibration or validation labels are
        known, a last column ``calibrated`` holds the confidence after temperature scaling.
        """
        return self.predictions().frame()
