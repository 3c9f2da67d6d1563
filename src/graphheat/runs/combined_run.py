"""CombinedRun: several runs on one graph that answer together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.errors import GraphError
from graphheat.graph import Graph
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.other_graph import Answer, old_rows, placed
from graphheat.runs.run import Run
from graphheat.runs.run_file import run_from

if TYPE_CHECKING:
    import pandas

SHARED = (
    "nodes",
    "titles",
    "labels",
    "roles",
)  # what all parts have of the graph: a file holds it once
FEATURES = ("feature_schema", "feature_names")  # the same, in the header
LEAST = 1e-12  # a float32 softmax gives exact zeros, whose logarithm would drown the others


@dataclass(frozen=True)
class Stage:
    """What a stage of a recipe brought.

    Attributes
    ----------
    name
        The stage's recipe.
    seconds
        From the start of the fit to the end of the stage.
    accuracy, loss
        On labels that the stage did not learn from (the run's ``judged_by`` says which): share of
        right predictions and mean cross-entropy; None where there are none.
    weight
        What the stage counts for in the answer.
    """

    name: str
    seconds: float
    accuracy: float | None
    loss: float | None
    weight: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CombinedRun(Run, kind="combined"):
    """Runs whose log-probabilities are added: p ∝ Π_k p_k^{w_k}.

    Attributes
    ----------
    parts, weights
        The runs, and w, shape (k,). Their sum is the sharpness of the whole.
    stages
        How the answer came about, one row per stage; empty where there are none.
    judged_by
        The labels that weights were chosen on: ``"validation"``, ``"out-of-fold"`` or ``""``.
    """

    parts: tuple[Run, ...]
    weights: NDArray[np.float64]
    stages: tuple[Stage, ...] = ()
    judged_by: str = ""

    explained_by: ClassVar[str | None] = "graphheat.explain.combined_explainer:CombinedExplainer"

    @classmethod
    def of(
        cls,
        parts: Sequence[Run],
        weights: Sequence[float] | NDArray[np.float64],
        **fields: Any,
    ) -> CombinedRun:
        """Return the combination of runs that were made on one graph by one split.

        A part of the weight 0 is left out; ``fields`` are the run's own.
        """
        held = [(part, weight) for part, weight in zip(parts, weights, strict=True) if weight > 0]
        first = held[0][0]
        shared = {
            name: getattr(first, name)
            for name in (
                *("fingerprint", "name", "classes", "nodes", "labels", "split"),
                *("titles", "schema", "feature_names"),
            )
        }
        kept = np.array([weight for _, weight in held])
        runs = tuple(part for part, _ in held)
        given: dict[str, Any] = {
            "settings": first.settings,
            "seed": first.seed,
            "seconds": sum(part.seconds for part in runs),
            "reached": next((each.reached for each in runs if each.reached is not None), None),
            "out_of_fold": combined_out_of_fold(runs, kept),
            **shared,
            **fields,
        }
        probabilities = combined([part.probabilities for part in runs], kept)
        return cls(parts=runs, weights=kept, probabilities=probabilities, **given)

    def settings_dict(self) -> dict[str, Any]:
        """Return what was asked for, and the parts with their weights and settings."""
        return {
            **self.settings.as_dict(),
            "parts": [
                {"recipe": part.recipe, "weight": round(float(weight), 4), **part.settings_dict()}
                for part, weight in zip(self.parts, self.weights, strict=True)
            ],
        }

    @property
    def diffusion_time(self) -> float | None:
        """How long heat flows in the part that counts for most."""
        return self.parts[int(np.argmax(self.weights))].diffusion_time

    def stages_frame(self) -> pandas.DataFrame:
        """Return the stages as a table: name, seconds, accuracy, loss, weight."""
        import pandas

        columns = list(Stage.__dataclass_fields__)
        return pandas.DataFrame([asdict(stage) for stage in self.stages], columns=columns)

    def facts(self) -> dict[str, Any]:
        """Return the stages, and which labels judged them."""
        return {
            "judged_by": self.judged_by,
            "stages": [asdict(stage) for stage in self.stages],
        }

    def metrics(self) -> dict[str, Any]:
        """Return the row of any run, with the stages."""
        return {**super().metrics(), **(self.facts() if self.stages else {})}

    @cached_property
    def temperature(self) -> float | None:
        """1 where weights were fitted to labels not seen, which scaled them; else as any run's."""
        if self.base is None and self.judged_by:
            return 1.0
        return super().temperature

    @property
    def uses_features(self) -> bool:
        """Whether any part does."""
        return any(part.uses_features for part in self.parts)

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the parts say together of another graph.

        Parts that can only label their own graph are left out (label spreading, where the graph has
        not grown from that one): the others count for as much together as all did, and a note says
        so.
        """
        found: list[Answer] = []
        held, left_out, refused = [], [], ""
        for place, part in enumerate(self.parts):
            try:
                found.append(part.answer(graph, old, wanted=wanted, threads=threads))
                held.append(place)
            except GraphError as error:
                left_out.append(place)
                refused = str(error)
        if not found:
            raise GraphError(refused)
        kept = self.weights[held] * (self.weights.sum() / self.weights[held].sum())
        notes = list(dict.fromkeys(note for each in found for note in each.notes))
        if left_out:
            names = ", ".join(dict.fromkeys(self.parts[place].recipe for place in left_out))
            share = self.weights[left_out].sum() / self.weights.sum()
            notes.append(
                f"{graph.name} has not grown from the graph of this run, so that {names} "
                f"({share:.0%} of the weight) has no say; the other parts answer alone."
            )
        reached = next((each.reached for each in found if each.reached is not None), None)
        probabilities = combined([each.probabilities for each in found], kept)
        fields: dict[str, Any] = {}
        if wanted is None:
            fields = {
                "parts": tuple(
                    placed(self.parts[place], graph, old, each)
                    for place, each in zip(held, found, strict=True)
                ),
                "weights": kept,
            }
        return Answer(probabilities, reached, tuple(notes), fields)

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of another graph, shape (n, c)."""
        return self.answer(graph, old_rows(self, graph), threads=threads).probabilities

    # ------------------------------------------------------------------ file

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return the parts, less what the graph gives to all of them."""
        headers, arrays = [], {"weights": self.weights}
        for number, part in enumerate(self.parts):
            header, held = part.file_parts()
            headers.append({key: value for key, value in header.items() if key not in FEATURES})
            arrays |= {
                f"part/{number}/{name}": array for name, array in held.items() if name not in SHARED
            }
        own = {
            "parts": headers,
            "stages": [asdict(stage) for stage in self.stages],
            "judged_by": self.judged_by,
        }
        return {"combined": own}, arrays

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> CombinedRun:
        """Rebuild a run from what a file holds."""
        own = header["combined"]
        shared = {name: arrays[name] for name in SHARED if name in arrays}
        features = {key: header[key] for key in FEATURES if key in header}
        parts = tuple(
            run_from({**features, **each}, {**with_prefix(arrays, f"part/{number}/"), **shared})
            for number, each in enumerate(own["parts"])
        )
        return cls(
            **cls.shared_parts(header, arrays),
            parts=parts,
            weights=arrays["weights"],
            stages=tuple(Stage(**stage) for stage in own["stages"]),
            judged_by=own["judged_by"],
        )


def combined(
    probabilities: Sequence[NDArray[np.floating[Any]]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Π_k p_k^{w_k} with rows that sum to 1, shape (n, c)."""
    result: NDArray[np.float64] = softmax(log_sum(probabilities, weights), axis=1)
    return result


def log_sum(
    probabilities: Sequence[NDArray[np.floating[Any]]], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Σ_k w_k log p_k, shape (n, c)."""
    total: NDArray[np.float64] = sum(
        weight * np.log(np.maximum(np.asarray(p, dtype=np.float64), LEAST))
        for p, weight in zip(probabilities, weights, strict=True)
    )
    return total


def combined_out_of_fold(
    parts: Sequence[Run], weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the parts' out-of-fold probabilities together; None where one of them has none."""
    held = [part.out_of_fold for part in parts if part.out_of_fold is not None]
    return combined(held, weights) if len(held) == len(parts) else None
