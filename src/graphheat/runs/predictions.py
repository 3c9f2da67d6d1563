"""Predictions: what a run says of the nodes of a graph, as arrays and as a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphheat.calibration import calibrated
from graphheat.html_table import html_table

if TYPE_CHECKING:
    import pandas

    from graphheat.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Class probabilities of every node of a graph.

    Attributes
    ----------
    nodes, classes, titles
        Node ids and class names; titles of the nodes, or None.
    probabilities
        Shape (n, c).
    labels
        Codes of the labels that are known, shape (n,); −1 = unknown.
    split
        The part that each node has in the run's split, by name.
    reached
        Whether heat from the training nodes arrives, shape (n,); None where that is not known.
    temperature
        Of the scaled confidence; None where nothing was calibrated.
    notes
        How the answer for another graph came about, for the user to read.
    unlike
        Those of the notes that tell how features of another graph differ from the run's.
    """

    nodes: tuple[Any, ...]
    classes: tuple[Any, ...]
    probabilities: NDArray[np.floating[Any]]
    labels: NDArray[np.int64]
    split: list[str]
    reached: NDArray[np.bool_] | None = None
    temperature: float | None = None
    notes: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    titles: tuple[str, ...] | None = None

    @classmethod
    def on(
        cls,
        graph: Graph,
        classes: tuple[Any, ...],
        probabilities: NDArray[np.floating[Any]],
        temperature: float | None,
        *,
        notes: tuple[str, ...] = (),
    ) -> Predictions:
        """Return the predictions for a graph that a run was not fitted on.

        Its labels are matched with the run's classes by name; ``reached`` is left open, as the
        training nodes are not in this graph.
        """
        labels = np.full(graph.n, -1, dtype=np.int64)
        for code, name in enumerate(graph.classes):
            if name in classes:
                labels[graph.labels == code] = classes.index(name)
        return cls(
            nodes=tuple(graph.nodes.tolist()),
            titles=graph.titles,
            classes=classes,
            probabilities=probabilities,
            labels=labels,
            split=[""] * graph.n,
            temperature=temperature,
            notes=notes,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(nodes={len(self.nodes)}, classes={len(self.classes)})"

    def _repr_html_(self) -> str:
        frame = self.frame().head(5)
        return html_table(
            f"Predictions of {len(self.nodes):,} nodes",
            frame.to_numpy(dtype=object).tolist(),
            columns=list(frame.columns),
            notes=self.notes,
        )

    def rows(self, rows: NDArray[np.int64]) -> Self:
        """Return those of some rows alone."""
        return replace(
            self,
            nodes=tuple(self.nodes[row] for row in rows),
            titles=None if self.titles is None else tuple(self.titles[row] for row in rows),
            probabilities=self.probabilities[rows],
            labels=self.labels[rows],
            split=[self.split[row] for row in rows],
            reached=None if self.reached is None else self.reached[rows],
        )

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Codes of the most probable classes, shape (n,)."""
        codes: NDArray[np.int64] = self.probabilities.argmax(axis=1)
        return codes

    def frame(self) -> pandas.DataFrame:
        """Return node, label, predicted, confidence, reached, split and p_<class>, a row per node.

        Where nodes have titles, they follow the ids.
        With a temperature a last column, ``calibrated``, holds the confidence after scaling by it.
        """
        import pandas

        names = np.array(self.classes, dtype=object)
        known = self.labels >= 0
        label = np.full(len(self.labels), None, dtype=object)
        label[known] = names[self.labels[known]]
        nothing = np.full(len(self.labels), None, dtype=object)
        table: dict[str, Any] = {
            "node": list(self.nodes),
            **({} if self.titles is None else {"title": list(self.titles)}),
            "label": label,
            "predicted": names[self.predicted],
            "confidence": self.probabilities.max(axis=1),
            "reached": nothing if self.reached is None else self.reached,
            "split": self.split,
        }
        for code, name in enumerate(self.classes):
            table[f"p_{name}"] = self.probabilities[:, code]
        if self.temperature is not None:
            table["calibrated"] = calibrated(self.probabilities, self.temperature).max(axis=1)
        return pandas.DataFrame(table)
