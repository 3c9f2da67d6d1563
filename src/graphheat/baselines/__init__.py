"""The systems that GraphHeat is compared with, one file each, behind one interface."""

from __future__ import annotations

import importlib

from graphheat.baselines.system import Outcome, Step, System
from graphheat.errors import MissingDependencyError, ParameterError

__all__ = ["SYSTEMS", "Outcome", "Step", "System", "load"]

# Name → class, in the order of the paper's Table 2 and then of its text. A module is imported when
# its system is asked for: each brings a library of its own.
SYSTEMS = {
    "mlp": "MLP",
    "manireg": "ManiReg",
    "semiemb": "SemiEmb",
    "lp": "LabelPropagation",
    "deepwalk": "DeepWalk",
    "ica": "ICA",
    "planetoid": "Planetoid",
    "chebynet": "ChebyNet",
    "gcn": "GCN",
    "monet": "MoNet",
    "gat": "GAT",
    "spectral_cnn": "SpectralCNN",
    "gwnn": "GWNN",
    "graphsage": "GraphSAGE",
}


def load(name: str) -> type[System]:
    """Return a system's class by its name."""
    if name not in SYSTEMS:
        raise ParameterError(f"There is no system {name!r}; choose from {', '.join(SYSTEMS)}.")
    try:
        module = importlib.import_module(f"graphheat.baselines.{name}")
    except ImportError as error:
        raise MissingDependencyError(
            f"{SYSTEMS[name]} needs {error.name}: pip install graphheat[paper]."
        ) from error
    system: type[System] = getattr(module, SYSTEMS[name])
    return system
