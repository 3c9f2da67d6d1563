"""What the linear recipe returns: weights, the grid it chose on, and the file that holds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.checks import check_choice, check_number, check_s
from graphheat.errors import GraphError, ParameterError
from graphheat.features import Scaling, ScalingKind, scaling_kind
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion, beside, scaled_features
from graphheat.linear.grid import Candidate, GridSearch
from graphheat.linear.local_rows import EXACT_ENOUGH, LocalRows, is_local, note
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.other_graph import Answer, training_order

AUTO: Literal["auto"] = "auto"
REACHED = 1e-4  # heat from the training nodes that counts as arrived
COLUMNS = ("s", "l2", "accuracy", "loss")  # of the grid, as a file holds it


@dataclass(frozen=True)
class LinearSettings:
    """What was asked for and, with the labels, decided the run.

    Attributes
    ----------
    s
        Diffusion time; ``"auto"``: chosen among 0 (no graph at all) … 20.
    l2
        λ of Σ ‖y − f‖² + λ·v·‖W‖², v being the mean squared distance of the diffused training rows
        from their mean; ``"auto"``: chosen among 10 … 1e-4.
    scaling
        As for :class:`~graphheat.features.Scaling`; ``"auto"``: for features that are mostly zeros
        ``"l2"`` or ``"tfidf"``, whichever leave-one-out prefers, otherwise ``"standard"``.
    self_weight
        The weight of a node's own features beside the diffused ones; ``"auto"``: 0, 0.2 or 0.5,
        and 0 where s is given.
    class_weight
        ``"balanced"``: labels of rare classes count for more, as in scikit-learn; None: all alike.
    """

    s: float | Literal["auto"] = AUTO
    l2: float | Literal["auto"] = AUTO
    scaling: ScalingKind | Literal["auto"] = AUTO
    self_weight: float | Literal["auto"] = AUTO
    class_weight: Literal["balanced"] | None = None

    @classmethod
    def checked(cls, **given: Any) -> LinearSettings:
        """Return checked settings; None means ``"auto"``."""
        known = ("s", "l2", "scaling", "self_weight")
        class_weight = given.pop("class_weight", None)
        check_choice(class_weight, "class_weight", "fit", ("balanced", None))
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise ParameterError(
                f"The linear recipe has no setting {unknown[0]!r}; it has s, l2, scaling, "
                "self_weight and class_weight."
            )
        s, l2, scaling, weight = (
            AUTO if given.get(name) is None else given[name] for name in known
        )
        scaling = scaling_kind(scaling, (AUTO, *get_args(ScalingKind)))
        if s != AUTO:
            s = check_s(s, "fit")
        if l2 != AUTO:
            l2 = check_number(l2, "l2", "fit", 0.0, float("inf"), left="open")
        if weight == AUTO and s != AUTO:
            weight = 0.0
        if weight != AUTO:
            weight = check_number(weight, "self_weight", "fit", 0.0, 1.0, right="open")
        return cls(s, l2, scaling, weight, class_weight)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearRun(Run, kind="linear"):
    """What the linear recipe returns.

    A node's logits are its diffused features times ``weights`` plus ``bias``.

    Attributes
    ----------
    settings
        What the run was asked for.
    s, l2, self_weight
        What it has; L2 in units of the mean squared distance of the diffused training rows from
        their mean.
    weights, bias
        Shape (f, c) and (c,). A class without training labels has weights of 0 and a bias that
        makes it the last choice everywhere.
    duals
        What each training node, in the order of row numbers, counts for in the weights: they are
        the sum of its diffused features (less their mean) times its row, shape (m, c).
    scaling
        How features are scaled before they are diffused.
    reached
        Whether heat of at least 1e-4 arrives from the training nodes, shape (n,).
    search
        What was tried, and the row that was chosen.
    """

    settings: LinearSettings
    s: float
    l2: float
    self_weight: float
    threads: int | None
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    duals: NDArray[np.float64]
    scaling: Scaling
    search: GridSearch

    explained_by: ClassVar[str | None] = "graphheat.explain.linear_explainer:LinearExplainer"

    @property
    def training_nodes(self) -> NDArray[np.int64]:
        """Row numbers of the training nodes, rising, shape (m,)."""
        return np.sort(self.split.train)

    def settings_dict(self) -> dict[str, Any]:
        """Return s and L2 as they were chosen, and how."""
        return {
            "s": self.s,
            "l2": self.l2,
            "scaling": self.scaling.kind,
            "self_weight": self.self_weight,
            "asked": self.settings.as_dict(),
            "chosen_by": self.search.by,
            "tried": len(self.search),
            "threads": self.threads,
        }

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of another graph, shape (n, c)."""
        self._check_width(graph)
        diffusion = Diffusion(graph, self.scaling, self_weight=self.self_weight, threads=threads)
        projected = np.asarray(diffusion.features @ self.weights)
        probabilities: NDArray[np.float64] = softmax(
            diffusion.spread(projected, self.s) + self.bias, axis=1
        )
        return probabilities

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the model says of a graph; of a few nodes of a large one, by their rows."""
        if wanted is not None and is_local(graph, len(wanted), len(self.classes)):
            found = self._local(graph, wanted)
            if found is not None:
                return found
        probabilities = self.probabilities_on(graph, threads=threads)
        if wanted is not None:
            return Answer(probabilities[wanted])
        if old is None:  # nobody there trained
            return Answer(probabilities, fields={"duals": self.duals[:0]})
        diffusion = Diffusion(graph, self.scaling, self_weight=self.self_weight, threads=threads)
        arrived = diffusion.heat_from(old[self.split.train], self.s) >= REACHED
        duals = self.duals[training_order(self, old)]
        return Answer(probabilities, arrived, fields={"duals": duals})

    def _local(self, graph: Graph, wanted: NDArray[np.int64]) -> Answer | None:
        """Return the same from rows of the kernel; None where they are not accurate enough."""
        self._check_width(graph)
        own = np.asarray(scaled_features(graph, self.scaling) @ self.weights)
        rows = LocalRows.of(graph, wanted, self.s)
        if rows is None:
            return None
        total = np.asarray(rows.heat.sum(axis=1)).ravel()[:, None]
        mean = (rows.heat @ own) / total
        off = (rows.error(own) + np.abs(mean) * rows.error(np.ones(graph.n))[:, None]) / total
        # Where no logit moves by more than e, no probability does by more than tanh(e / 2).
        error = float(np.tanh((1.0 - self.self_weight) * off.max(initial=0.0) / 2))
        if error > EXACT_ENOUGH:
            return None
        logits = beside(own[wanted], mean, self.self_weight) + self.bias
        return Answer(softmax(logits, axis=1), notes=(note(len(wanted), error),))

    def _check_width(self, graph: Graph) -> None:
        wanted, found = len(self.weights), 0 if graph.features is None else graph.features.shape[1]
        if wanted != found:
            raise GraphError(
                f"The run was fitted on {wanted} features per node; {graph.name} has {found}."
            )

    # ------------------------------------------------------------------ file

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return weights, scaling and the grid."""
        header = {
            "linear": {
                "s": self.s,
                "l2": self.l2,
                "self_weight": self.self_weight,
                "threads": self.threads,
                "by": self.search.by,
                "chosen": self.search.chosen,
                "forms": self.search.candidates,
                "scaling": self.scaling.kind,
            }
        }
        arrays: Arrays = {"weights": self.weights, "bias": self.bias, "duals": self.duals}
        arrays |= {f"input/{name}": array for name, array in self.scaling.arrays().items()}
        arrays |= {f"path/{name}": getattr(self.search, name) for name in (*COLUMNS, "numbers")}
        return header, arrays

    @classmethod
    def settings_from(cls, header: Header) -> LinearSettings:
        """Return the settings that a file's header tells."""
        return LinearSettings.checked(**header["settings"])

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> LinearRun:
        """Rebuild a run from what a file holds."""
        own, grid = header["linear"], with_prefix(arrays, "path/")
        forms = tuple(Candidate(*form) for form in own["forms"])
        if "numbers" not in grid:  # files of before: the same pairs of s and L2 for every form
            grid["numbers"] = np.repeat(np.arange(len(forms)), len(grid["s"]) // len(forms))
        chosen = own["chosen"]
        if not isinstance(chosen, int) or not -1 <= chosen < len(grid["s"]):
            raise ValueError(f"its search has no row {chosen}")
        if len(grid["s"]) and grid["numbers"].max(initial=0) >= len(forms):
            raise ValueError("its search names a form that is not there")
        return cls(
            **cls.shared_parts(header, arrays),
            s=own["s"],
            l2=own["l2"],
            self_weight=own["self_weight"],
            threads=own["threads"],
            weights=arrays["weights"],
            bias=arrays["bias"],
            duals=arrays["duals"],
            scaling=Scaling.from_arrays(own["scaling"], with_prefix(arrays, "input/")),
            search=GridSearch(
                **{name: grid[name] for name in (*COLUMNS, "numbers")},
                candidates=forms,
                by=own["by"],
                chosen=own["chosen"],
            ),
        )
