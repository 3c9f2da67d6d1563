"""What a run on disk was labelled by, one kind of model or several, and the form its file has.

Several answer together as in memory: p ∝ Π_k p_k^{w_k}, with weights from labels that they have not
seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphheat.features import Scaling
from graphheat.linear.narrow_model import LinearModel, NarrowModel, SampledModel
from graphheat.runs.checkpoint import Arrays, Header, with_prefix


@dataclass(frozen=True, eq=False)
class SpreadingModel:
    """Logits are γ·log(heat + ε π), heat being what the labels of a class send.

    Attributes
    ----------
    s, sharpness
        The diffusion time, and γ.
    floor
        ε π, what every class has without any heat, shape (c,).
    """

    s: float
    sharpness: float
    floor: NDArray[np.float64]

    kind: ClassVar[str] = "spreading"

    def logits(self, heat: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logits of rows of heat by class, shape (k, c)."""
        return np.asarray(self.sharpness * np.log(np.maximum(heat, 0.0) + self.floor))


@dataclass(frozen=True, eq=False)
class CombinedModel:
    """Several that answer together.

    Attributes
    ----------
    models, weights
        Each, and what it counts for, shape (k,); their sum is the sharpness of the whole.
    accuracies
        Of each on the labels that weighed them; None where there were none.
    judged_by
        Those labels: ``"validation"``, ``"out-of-fold"`` or ``""``.
    """

    models: tuple[NarrowModel | SpreadingModel, ...]
    weights: NDArray[np.float64]
    accuracies: tuple[float | None, ...] = ()
    judged_by: str = ""

    kind: ClassVar[str] = "combined"

    @property
    def s(self) -> float:
        """The diffusion time of the model that counts for most."""
        return self.models[int(np.argmax(self.weights))].s


DiskModel = NarrowModel | SpreadingModel | CombinedModel


def described(model: DiskModel) -> dict[str, Any]:
    """Return what was chosen, as plain values."""
    if isinstance(model, CombinedModel):
        parts = [
            {"weight": round(float(weight), 4), "accuracy": accuracy, **described(each)}
            for each, weight, accuracy in zip(
                model.models, model.weights, model.accuracies, strict=True
            )
        ]
        return {"s": model.s, "model": model.kind, "judged_by": model.judged_by, "parts": parts}
    if isinstance(model, SpreadingModel):
        return {"s": model.s, "sharpness": model.sharpness, "model": model.kind}
    return {**model.parts()[0], "model": model.kind, "scaling": model.scaling.kind}


def model_parts(model: DiskModel) -> tuple[Header, Arrays]:
    """Return header and arrays of a model, by its kind."""
    if isinstance(model, CombinedModel):
        headers, arrays = [], {"model/weights": model.weights}
        for number, each in enumerate(model.models):
            header, held = model_parts(each)
            headers.append(header)
            arrays |= {f"model/part/{number}/{name}": array for name, array in held.items()}
        whole = {"models": headers, "accuracies": list(model.accuracies)}
        return {"kind": model.kind, **whole, "judged_by": model.judged_by}, arrays
    if isinstance(model, SpreadingModel):
        plain = {"kind": model.kind, "s": model.s, "sharpness": model.sharpness}
        return plain, {"model/floor": model.floor}
    header, arrays = model.parts()
    named = {f"model/{name}": array for name, array in arrays.items()}
    named |= {f"input/{name}": array for name, array in model.scaling.arrays().items()}
    return {"kind": model.kind, "scaling": model.scaling.kind, **header}, named


def model_from(header: Header, arrays: Arrays) -> DiskModel:
    """Undo :func:`model_parts`."""
    own = with_prefix(arrays, "model/")
    if header["kind"] == CombinedModel.kind:
        models: tuple[Any, ...] = tuple(
            model_from(each, with_prefix(own, f"part/{number}/"))
            for number, each in enumerate(header["models"])
        )
        return CombinedModel(
            models, own["weights"], tuple(header["accuracies"]), header["judged_by"]
        )
    if header["kind"] == SpreadingModel.kind:
        return SpreadingModel(header["s"], header["sharpness"], own["floor"])
    scaling = Scaling.from_arrays(header["scaling"], with_prefix(arrays, "input/"))
    if header["kind"] == SampledModel.kind:
        return SampledModel.from_parts(header, own, scaling)
    return LinearModel.from_parts(header, own, scaling)
