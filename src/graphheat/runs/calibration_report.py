"""How far a run's confidence may be believed, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphheat import calibration

if TYPE_CHECKING:
    from graphheat.runs.fitted_graph import FittedGraph

SHARED_NODES = (
    "The temperature was learned on the validation nodes, which also chose or stopped the model: a "
    "little optimistic."
)


def calibration_report(run: FittedGraph) -> dict[str, Any]:
    """Return the temperature, and the calibration error before and after it, ready for JSON."""
    part, after, scored = run.calibration_part, run.calibrated, run.members("test")
    error, chance = calibration.expected_calibration_error, calibration.expected_by_chance
    report: dict[str, Any] = {
        "temperature": run.temperature,
        "learned_on": part,
        "nodes": 0 if part is None else len(run.members(part)),
        "error_before": None,
        "error_after": None,
        "expected_by_chance": None,
        "note": SHARED_NODES if part == "val" else None,
    }
    if len(scored):
        report["error_before"] = error(run.probabilities, run.labels, scored)
        if after is not None:
            report["error_after"] = error(after, run.labels, scored)
            report["expected_by_chance"] = chance(after, scored)
    return report
