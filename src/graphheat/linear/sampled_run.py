"""SampledRun: a network that was trained from rows of the kernel, on a graph in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.errors import GraphError
from graphheat.features import Scaling
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion
from graphheat.linear.narrow_model import SampledModel
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.protocols import PlainSettings


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SampledRun(Run, kind="sampled"):
    """What the default trains where a graph is too large for networks on all of it.

    Attributes
    ----------
    model
        The network, with heat after its first linear map.
    """

    model: SampledModel

    explained_by: ClassVar[str | None] = "graphheat.explain.sampled_explainer:SampledExplainer"

    def settings_dict(self) -> dict[str, Any]:
        """Return the time, the self weight, and the width of the network."""
        return {**self.model.parts()[0], "scaling": self.model.scaling.kind}

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of another graph, shape (n, c)."""
        model = self.model
        found = 0 if graph.features is None else graph.features.shape[1]
        if found != len(model.weights):
            raise GraphError(
                f"The run was fitted on {len(model.weights)} features per node; {graph.name} has "
                f"{found}."
            )
        diffusion = Diffusion(graph, model.scaling, self_weight=model.self_weight, threads=threads)
        diffused = diffusion.spread(model.project(diffusion.features), model.s)
        return np.asarray(softmax(model.logits(diffused), axis=1))

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return the network."""
        header, arrays = self.model.parts()
        own = {f"model/{name}": array for name, array in arrays.items()}
        own |= {f"input/{name}": array for name, array in self.model.scaling.arrays().items()}
        return {"sampled": {**header, "scaling": self.model.scaling.kind}}, own

    @classmethod
    def settings_from(cls, header: Header) -> PlainSettings:
        """Return the settings that a file's header tells."""
        return PlainSettings(header["settings"])

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> SampledRun:
        """Rebuild a run from what a file holds."""
        own = header["sampled"]
        scaling = Scaling.from_arrays(own["scaling"], with_prefix(arrays, "input/"))
        model = SampledModel.from_parts(own, with_prefix(arrays, "model/"), scaling)
        return cls(**cls.shared_parts(header, arrays), model=model)
