"""The baselines that GraphHeat is compared with: one file each, each a recipe."""

from __future__ import annotations

from typing import Any

from graphheat.baselines.baseline import Baseline, Outcome
from graphheat.recipes import registry

__all__ = ["NAMES", "Baseline", "Outcome", "load"]

# In the order of the paper's Table 2 and then of its text.
NAMES = (
    "mlp", "manireg", "semiemb", "lp", "deepwalk", "ica", "planetoid", "chebynet", "gcn", "monet",
    "gat", "spectral_cnn", "gwnn", "graphsage",
)  # fmt: skip


def load(name: str) -> type[Baseline]:
    """Return a baseline's class by its name: its fields are the settings, its docstring the method.

    Examples
    --------
    >>> load("gcn").title
    'GCN'
    """
    recipe: Any = registry.get(name)
    baseline: type[Baseline] = recipe.baseline
    return baseline
