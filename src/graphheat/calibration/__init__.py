"""How far a probability may be believed: temperature, calibration error, prediction sets."""

from graphheat.calibration.conformal import (
    coverage_interval,
    diffused_scores,
    plain_scores,
    prediction_sets,
)
from graphheat.calibration.reliability import (
    Reliability,
    expected_by_chance,
    expected_calibration_error,
    reliability,
)
from graphheat.calibration.temperature import calibrated, temperature

__all__ = [
    "Reliability",
    "calibrated",
    "coverage_interval",
    "diffused_scores",
    "expected_by_chance",
    "expected_calibration_error",
    "plain_scores",
    "prediction_sets",
    "reliability",
    "temperature",
]
