"""How far a probability may be believed: temperature, calibration error, prediction sets."""

from graphheat.calibration.reliability import (
    Reliability,
    expected_by_chance,
    expected_calibration_error,
    reliability,
)
from graphheat.calibration.sets import diffused_scores, plain_scores, prediction_sets
from graphheat.calibration.tempering import calibrated, temperature

__all__ = [
    "Reliability",
    "calibrated",
    "diffused_scores",
    "expected_by_chance",
    "expected_calibration_error",
    "plain_scores",
    "prediction_sets",
    "reliability",
    "temperature",
]
