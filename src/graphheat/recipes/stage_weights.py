"""What each stage of the default counts for: what is expected of it, and what labels say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.linear.averaged import COLD
from graphheat.recipes.stacking import LEAST_SKILL, SCALE, shared_weights, skill, stacked_weights

# What networks are expected to count for beside linear models, where labels cannot tell: all, but
# nothing where the linear models prefer hardly any heat, which is what networks agree by.
ENSEMBLE, ENSEMBLE_COLD = 1.0, 0.0
SAMPLED, SAMPLED_COLD = 0.5, 0.25  # the same of a network that was trained from rows
# Without features: what linear models of neighbours are expected to count for beside label
# spreading, and how far that may be off (see SCALE of stacking).
NEIGHBORS, NEIGHBORS_SCALE = 0.5, 0.5
# Linear models and networks alike, where no stage is surer of labels that it has not seen than the
# classes' shares are: what such labels say of the stages is chance.
ALIKE = 0.5


def stage_weights(
    names: Sequence[str],
    linear_s: float | None,
    shown: Sequence[NDArray[np.floating[Any]]],
    codes: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the weights with which stages answer together, shape (k,).

    Parameters
    ----------
    names
        Of the stages, in the order in which they came: spreading first, networks last.
    linear_s
        The diffusion time that the linear models prefer; None where there are none.
    shown, codes
        What each stage says of nodes that it has not learned from, and their classes; none where
        there are no such nodes.
    """
    expected = _expected(names, linear_s)
    if not len(codes):
        return expected
    if names[-1] in ("ensemble", "sampled") and skill(shown, codes) < LEAST_SKILL:
        alike = [0.0 if name == "spreading" else ALIKE for name in names]
        return shared_weights(shown, codes, np.array(alike))
    scale = NEIGHBORS_SCALE if "neighbors" in names else SCALE
    return stacked_weights(shown, codes, expected, scale=scale)


def _expected(names: Sequence[str], linear_s: float | None) -> NDArray[np.float64]:
    cold = "linear" in names and (linear_s or 0.0) <= COLD
    ensemble = ENSEMBLE_COLD if cold else ENSEMBLE
    sampled = SAMPLED_COLD if cold else SAMPLED
    rest = 1.0 - (sampled if "sampled" in names else ensemble)
    of = {
        "linear": rest, "ensemble": ensemble, "sampled": sampled, "neighbors": NEIGHBORS,
        "spreading": 1.0 - NEIGHBORS if "neighbors" in names else 0.0,
    }  # fmt: skip
    expected = np.array([of[name] for name in names])
    if expected.sum() == 0:
        expected[-1] = 1.0  # a stage that there is no other beside
    return np.asarray(expected / expected.sum())
