"""Models whose narrow side is diffused: features times weights, and what becomes of them after.

e^{-sL} is linear, so a model that starts with a linear map Θ of the diffused features may as well
diffuse XΘ: as many columns as there are classes (a linear model) or hidden units (a network),
however many features there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from graphheat.features import Scaling
from graphheat.linear.labelling_time import Alignment
from graphheat.linear.linear_fit import ABSENT, Learned
from graphheat.runs.checkpoint import Arrays, Header


class NarrowModel(Protocol):
    """What all nodes are labelled by."""

    @property
    def kind(self) -> str:
        """What a file calls it."""

    @property
    def s(self) -> float:
        """The diffusion time."""

    @property
    def self_weight(self) -> float:
        """The share of a node's own features."""

    @property
    def scaling(self) -> Scaling:
        """How features are scaled."""

    @property
    def columns(self) -> int:
        """How many columns are diffused."""

    def project(self, features: Any) -> NDArray[Any]:
        """Return XΘ of scaled features, shape (k, columns)."""

    def logits(self, diffused: NDArray[Any]) -> NDArray[Any]:
        """Return the logits of diffused rows, shape (k, c)."""

    def retimed(self, s: float, sharpness: float, aligned: Alignment) -> NarrowModel:
        """Return the same at another time, whose columns ``aligned`` brings to those of this one.

        Its logits are ``sharpness`` times as large.
        """

    def parts(self) -> tuple[Header, Arrays]:
        """Return what a file holds."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Logits are the diffused columns plus a bias.

    Attributes
    ----------
    weights, bias
        Θ, shape (f, c), and the bias, shape (c,).
    l2
        The penalty that they were fitted with.
    """

    s: float
    self_weight: float
    scaling: Scaling
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    l2: float = 0.0

    kind: ClassVar[str] = "linear"

    @classmethod
    def of(cls, found: Learned) -> LinearModel:
        """Return what was learned, with classes without labels as the last choice everywhere."""
        bias = found.bias.copy()
        bias[found.absent] = found.left_out.min() - 2 * ABSENT
        diffusion = found.diffusion
        return cls(found.s, diffusion.self_weight, diffusion.scaling, found.weights, bias, found.l2)

    @property
    def columns(self) -> int:
        """As many as there are classes."""
        return int(self.weights.shape[1])

    def project(self, features: Any) -> NDArray[Any]:
        """Return XΘ, shape (k, c)."""
        return np.asarray(features @ self.weights)

    def logits(self, diffused: NDArray[Any]) -> NDArray[Any]:
        """Return the columns plus the bias, shape (k, c)."""
        return np.asarray(diffused + self.bias)

    def retimed(self, s: float, sharpness: float, aligned: Alignment) -> LinearModel:
        """Return the same at another time, its logits ``sharpness`` times as large."""
        weights = self.weights * (sharpness * aligned.ratio)
        return replace(self, s=s, weights=weights, bias=sharpness * (self.bias + aligned.offset))

    def parts(self) -> tuple[Header, Arrays]:
        """Return weights, bias and how features are scaled."""
        header = {"s": self.s, "self_weight": self.self_weight, "l2": self.l2}
        arrays: Arrays = {"weights": self.weights, "bias": self.bias}
        return header, arrays

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays, scaling: Scaling) -> LinearModel:
        """Undo :meth:`parts`."""
        return cls(
            header["s"], header["self_weight"], scaling, arrays["weights"], arrays["bias"],
            header["l2"],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SampledModel:
    """A network with heat after its first linear map: softmax(relu(heat(XΘ) + b) V + c).

    Attributes
    ----------
    weights, bias
        Θ, shape (f, h), and b, shape (h,).
    output, output_bias
        V, shape (h, c), and c, shape (c,).
    """

    s: float
    self_weight: float
    scaling: Scaling
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    output: NDArray[np.float64]
    output_bias: NDArray[np.float64]

    kind: ClassVar[str] = "sampled"

    @property
    def columns(self) -> int:
        """As many as there are hidden units."""
        return int(self.weights.shape[1])

    def project(self, features: Any) -> NDArray[Any]:
        """Return XΘ, shape (k, h)."""
        return np.asarray(features @ self.weights)

    def logits(self, diffused: NDArray[Any]) -> NDArray[Any]:
        """Return what the network says, shape (k, c)."""
        return np.asarray(np.maximum(diffused + self.bias, 0.0) @ self.output + self.output_bias)

    def retimed(self, s: float, sharpness: float, aligned: Alignment) -> SampledModel:
        """Return the same at another time, its logits ``sharpness`` times as large."""
        return replace(
            self, s=s, weights=self.weights * aligned.ratio, bias=self.bias + aligned.offset,
            output=self.output * sharpness, output_bias=self.output_bias * sharpness,
        )  # fmt: skip

    def parts(self) -> tuple[Header, Arrays]:
        """Return all weights."""
        names = ("weights", "bias", "output", "output_bias")
        header = {"s": self.s, "self_weight": self.self_weight, "hidden": self.columns}
        return header, {name: getattr(self, name) for name in names}

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays, scaling: Scaling) -> SampledModel:
        """Undo :meth:`parts`."""
        return cls(header["s"], header["self_weight"], scaling, **arrays)
