"""Baseline: settings, and a method from a graph and a few labels to probabilities."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph, Split
from graphheat.graph.feature_matrix import Features
from graphheat.progress import Progress


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a baseline returns.

    Attributes
    ----------
    probabilities
        Shape (n, c); rows are non-negative and sum to 1, also where nothing is known of a node.
    history
        Numbers by step, where the baseline learns in steps: ``train_loss``, ``val_loss``,
        ``val_accuracy``. Test labels play no part in it.
    best_epoch
        The step whose weights were kept, counted from 1; 0 where there are no steps.
    notes
        Sentences the user should read.
    """

    probabilities: NDArray[np.float64]
    history: dict[str, list[float]] = field(default_factory=dict)
    best_epoch: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Baseline:
    """Base of the baselines: frozen dataclasses whose fields are the settings.

    Attributes
    ----------
    name, title
        The key of the registry and of ``--recipe``; and the name in a table.
    reference
        Authors, title and year of the paper that the method is from.
    stochastic
        Whether the seed changes anything.
    needs_features
        Whether a graph without features is an error.
    presets
        By graph name, the settings of the original authors that differ from the defaults.
    brief
        Settings under which a run takes a moment: to see that everything works, not how well.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    stochastic: ClassVar[bool] = True
    needs_features: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    brief: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    def preset(cls, graph_name: str, **changes: Any) -> Self:
        """Return the baseline with its authors' settings for a graph, but for ``changes``."""
        known = {each.name for each in fields(cls)}
        for given in changes:
            if given not in known:
                raise ParameterError(
                    f"{cls.title} has no setting {given!r}; it has {', '.join(sorted(known))}."
                )
        return cls(**{**cls.presets.get(graph_name, {}), **changes})

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        # Through JSON, so that what a store gives back compares equal: a tuple becomes a list.
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values

    def check(self, graph: Graph) -> None:
        """Raise when the graph lacks what the baseline learns from."""
        if self.needs_features and graph.features is None:
            raise GraphError(
                f"{graph.name} has no features, which {self.title} learns from. "
                "Use lp or deepwalk, which need edges and labels alone."
            )

    def features_of(self, graph: Graph) -> Features:
        """Return the features of a graph that :meth:`check` finds fit, or raise as it does."""
        self.check(graph)
        assert graph.features is not None  # what needs_features has seen to
        return graph.features

    def fit(
        self, graph: Graph, split: Split, seed: int = 0, *, progress: Progress | None = None
    ) -> Outcome:
        """Learn from the labels of ``split.train`` (and stop by those of ``split.val``).

        Labels of any other node must not be looked at. Deterministic for a seed and a number of
        threads; the caller's random state is left alone.
        """
        raise NotImplementedError
