"""What the linear and spreading recipes return for several labels per node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from graphheat.errors import GraphError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.graph.label_sets import joined
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.spreading import spreading_kernel
from graphheat.runs import Predictions, Run
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.other_graph import Answer, old_rows

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]

LIKELY = 0.5  # from this probability on a node is given a label


@dataclass(frozen=True, eq=False, repr=False)
class SetPredictions(Predictions):
    """Predictions of label sets: a probability for each label on its own; rows do not sum to 1.

    Attributes
    ----------
    label_sets
        Known labels, shape (n, c); rows of −1 where they are unknown.
    """

    label_sets: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))

    def rows(self, rows: NDArray[np.int64]) -> Self:
        """Return those of some rows alone."""
        return replace(super().rows(rows), label_sets=self.label_sets[rows])

    def frame(self) -> pandas.DataFrame:
        """Return node, label, predicted, confidence, reached, split and p_<label>, a row per node.

        Labels stand as "news|tv"; ``confidence`` is the probability that the whole set is right,
        were the labels independent.
        """
        frame = super().frame()
        chosen = (self.probabilities >= LIKELY).astype(np.int8)
        frame["label"] = [joined(row, self.classes) for row in self.label_sets]
        frame["predicted"] = [joined(row, self.classes) for row in chosen]
        sure = np.maximum(self.probabilities, 1.0 - self.probabilities)
        frame["confidence"] = sure.prod(axis=1)
        return frame


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LabelSetsRun(Run, kind="label_sets"):
    """A probability for each label of each node.

    Attributes
    ----------
    label_sets
        The known labels, shape (n, c); rows of −1 where they are unknown.
    s
        The diffusion time.
    weights, bias, self_weight, scaling
        Of recipe linear: logits are diffused features times the weights plus the bias.
    floor
        Of recipe spreading: what every label has without any heat, shape (c,), and the heat that
        it counts for, last.
    """

    label_sets: NDArray[np.int8]
    s: float
    l2: float = 0.0
    self_weight: float = 0.0
    weights: Array | None = None
    bias: Array | None = None
    scaling: Scaling | None = None
    floor: Array | None = None

    explained_by: ClassVar[str | None] = None

    @property
    def uses_features(self) -> bool:
        """Whether the model is the linear one."""
        return self.weights is not None

    def settings_dict(self) -> dict[str, Any]:
        """Return s, and of the linear model L2 and self weight, as they were chosen."""
        if self.weights is None:
            return {"s": self.s, "asked": self.settings.as_dict()}
        scaling = None if self.scaling is None else self.scaling.kind
        more = {"l2": self.l2, "self_weight": self.self_weight, "scaling": scaling}
        return {"s": self.s, **more, "asked": self.settings.as_dict()}

    @cached_property
    def predicted_sets(self) -> NDArray[np.bool_]:
        """The labels that each node is given, shape (n, c)."""
        return np.asarray(self.probabilities >= LIKELY)

    def members(self, part: str) -> NDArray[np.int64]:
        """Return no node: what is scored by single labels has nothing to score."""
        return np.empty(0, dtype=np.int64)

    def _known(self, part: str) -> NDArray[np.int64]:
        nodes = self.split.get(part, np.empty(0, dtype=np.int64))
        known: NDArray[np.bool_] = self.label_sets[nodes].min(axis=1, initial=0) >= 0
        return np.asarray(nodes[known])

    def accuracy(self, part: str) -> float | None:
        """Return the share of nodes whose whole set is right, or None without nodes."""
        nodes = self._known(part)
        if not len(nodes):
            return None
        right = self.predicted_sets[nodes] == (self.label_sets[nodes] == 1)
        return float(right.all(axis=1).mean())

    def micro_f1(self, part: str = "test") -> float | None:
        """Return F1 over all labels of the part's nodes, 2·tp / (2·tp + fp + fn); None without."""
        nodes = self._known(part)
        truth, found = self.label_sets[nodes] == 1, self.predicted_sets[nodes]
        total = int(truth.sum() + found.sum())
        return 2.0 * float((truth & found).sum()) / total if total else None

    def metrics(self) -> dict[str, Any]:
        """Return the row of any run, with micro-F1."""
        return {**super().metrics(), "test_micro_f1": self.micro_f1("test")}

    def predictions(self) -> Predictions:
        """Return what the run says of the nodes of its graph."""
        held = super().predictions()
        fields = {name: getattr(held, name) for name in held.__dataclass_fields__}
        return SetPredictions(**fields, label_sets=self.label_sets)

    def predict(
        self, graph: Graph, *, nodes: Sequence[Any] | None = None, threads: int | None = None
    ) -> Predictions:
        """Label the nodes of ``graph``, as any run does, always of the whole graph."""
        found = super().predict(graph, threads=threads)
        if nodes is None:
            return found
        return found.rows(np.array([graph.index_of(node) for node in nodes], dtype=np.int64))

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the model says of another graph; label spreading, of its own grown."""
        if self.weights is not None and self.bias is not None and self.scaling is not None:
            diffusion = Diffusion(
                graph, self.scaling, self_weight=self.self_weight, threads=threads
            )
            own = np.asarray(diffusion.features @ self.weights)
            found = expit(diffusion.spread(own, self.s) + self.bias)
        elif old is not None and self.floor is not None:
            train = self.split.train
            columns = np.zeros((graph.n, len(self.classes) + 1))
            columns[old[train], :-1] = self.label_sets[train]
            columns[old[train], -1] = 1.0
            heat = np.asarray(spreading_kernel(graph, self.s, threads).apply(columns))
            found = shares(heat, self.floor)
        else:
            raise GraphError(
                "Label spreading labels the graph that it was fitted on, and that one grown; "
                f"{graph.name} lacks nodes of it. Fit it there."
            )
        sets = np.full((graph.n, len(self.classes)), -1, dtype=np.int8)
        if old is not None:
            sets[old] = self.label_sets
        rows = slice(None) if wanted is None else wanted
        return Answer(found[rows], fields={"label_sets": sets} if wanted is None else {})

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return a probability for each label of every node of another graph, shape (n, c)."""
        return self.answer(graph, old_rows(self, graph), threads=threads).probabilities

    def same_labels(self, graph: Graph, rows: NDArray[np.int64]) -> bool:
        """Tell whether a graph has the training nodes' label sets, at these rows."""
        if graph.label_sets is None or graph.classes != self.classes:
            return False
        train = self.split.train
        return bool((graph.label_sets[rows[train]] == self.label_sets[train]).all())

    def why_unexplained(self) -> str:
        """Return why there is no explanation."""
        return (
            "Explanations and pages are of runs with one label per node, and this one has several."
        )

    # ------------------------------------------------------------------ file

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return the label sets and the model."""
        own: Header = {"s": self.s, "l2": self.l2, "self_weight": self.self_weight}
        own["scaling"] = None if self.scaling is None else self.scaling.kind
        arrays: Arrays = {"label_sets": self.label_sets}
        for name in ("weights", "bias", "floor"):
            if (array := getattr(self, name)) is not None:
                arrays[name] = array
        if self.scaling is not None:
            arrays |= {f"input/{name}": array for name, array in self.scaling.arrays().items()}
        return {"label_sets": own}, arrays

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> LabelSetsRun:
        """Rebuild a run from what a file holds."""
        own = header["label_sets"]
        scaling = None
        if own["scaling"] is not None:
            scaling = Scaling.from_arrays(own["scaling"], with_prefix(arrays, "input/"))
        return cls(
            **cls.shared_parts(header, arrays),
            label_sets=arrays["label_sets"],
            s=own["s"],
            l2=own["l2"],
            self_weight=own["self_weight"],
            weights=arrays.get("weights"),
            bias=arrays.get("bias"),
            floor=arrays.get("floor"),
            scaling=scaling,
        )


def shares(heat: Array, floor: Array) -> Array:
    """Return each label's share of the heat of all known nodes, the last column; shape (n, c)."""
    held = np.maximum(heat, 0.0) + floor
    found: Array = np.minimum(held[:, :-1] / held[:, -1:], 1.0)
    return found
