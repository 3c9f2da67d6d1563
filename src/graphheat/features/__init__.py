"""Features as a model's input: scaled by row or by column; no torch."""

from graphheat.features.scaling import Scaling, ScalingKind, scaling_kind, suitable_scaling

__all__ = ["Scaling", "ScalingKind", "scaling_kind", "suitable_scaling"]
