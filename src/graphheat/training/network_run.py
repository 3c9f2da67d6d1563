"""What training a heat network returns: weights, history, predictions; read without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import CheckpointError, GraphError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.other_graph import Answer
from graphheat.training.settings import NetworkSettings


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NetworkRun(Run, kind="network"):
    """A trained :class:`~graphheat.nn.GraphHeat`.

    Attributes
    ----------
    settings, threads, kernel
        What, with the seed, decided the run; ``kernel`` says by which engine and to which accuracy
        it was computed.
    weights, scaling
        The network's parameters at the epoch that was kept, and how its input is scaled.
    reached
        Whether heat of at least eps arrives from the training nodes, shape (n,).
    """

    settings: NetworkSettings
    threads: int
    kernel: dict[str, Any]
    weights: dict[str, NDArray[np.float32]]
    scaling: Scaling

    explained_by: ClassVar[str | None] = "graphheat.explain.network_explainer:NetworkExplainer"

    def settings_dict(self) -> dict[str, Any]:
        """Return the settings, and on how many threads the run was made."""
        return {**self.settings.as_dict(), "threads": self.threads}

    def facts(self) -> dict[str, Any]:
        """Return how the kernel was computed."""
        return {"kernel": self.kernel["method"]}

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of another graph, shape (n, c)."""
        wanted = self.weights["first.weight"].shape[1]
        found = 0 if graph.features is None else graph.features.shape[1]
        if wanted != found:
            raise GraphError(
                f"The network was fitted on {wanted} features per node; {graph.name} has {found}."
            )
        from graphheat.training.train import network_probabilities

        return network_probabilities(self, graph, threads=threads)

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the network says of a graph, and where the training nodes' heat arrives."""
        found = super().answer(graph, old, wanted=wanted, threads=threads)
        if old is None:
            return found
        from graphheat.training.prepared import reached

        arrived = reached(graph, old[self.split.train], self.settings)
        return replace(found, reached=arrived if wanted is None else arrived[wanted])

    # ------------------------------------------------------------------ file

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return weights and scaling."""
        arrays: Arrays = {f"best/{name}": array for name, array in self.weights.items()}
        arrays |= {f"input/{name}": array for name, array in self.scaling.arrays().items()}
        return {"threads": self.threads, "kernel": self.kernel}, arrays

    @classmethod
    def settings_from(cls, header: Header) -> NetworkSettings:
        """Return the settings that a file's header tells."""
        return NetworkSettings.from_dict(header["settings"]).checked()

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> NetworkRun:
        """Rebuild a run from what a file holds."""
        shared = cls.shared_parts(header, arrays)
        scaling = shared["settings"].scaling
        weights = with_prefix(arrays, "best/")
        _check_weights(weights, shared["settings"])
        return cls(
            **shared,
            threads=header["threads"],
            kernel=header["kernel"],
            weights=weights,
            scaling=Scaling.from_arrays(scaling, with_prefix(arrays, "input/")),
        )


def _check_weights(weights: Arrays, settings: NetworkSettings) -> None:
    """Raise where weights are not those of a network with these settings."""
    named = {f"{layer}.weight" for layer in ("first", "second")}
    if settings.bias:
        named |= {f"{layer}.bias" for layer in ("first", "second")}
    if weights.keys() != named:
        odd = min(weights.keys() ^ named)
        raise CheckpointError(f"The file is damaged: its weights and settings differ in {odd!r}.")
    wanted = settings.K, settings.hidden
    found = weights["first.weight"].shape[::2]
    if found != wanted or len(weights["second.weight"]) != settings.K:
        raise CheckpointError(
            f"The file is damaged: K and hidden are {wanted[0]:,} and {wanted[1]:,} in its "
            f"settings, and {found[0]:,} and {found[1]:,} in its weights."
        )
