"""Features as a model's input: columns of a table by kind, scaled by row or by column; no torch."""

from graphheat.features.feature_schema import Encoded, FeatureSchema, apply_schema
from graphheat.features.recoding import recoded
from graphheat.features.scaling import Scaling, ScalingKind, scaling_kind, suitable_scaling

__all__ = [
    "Encoded",
    "FeatureSchema",
    "Scaling",
    "ScalingKind",
    "apply_schema",
    "recoded",
    "scaling_kind",
    "suitable_scaling",
]
