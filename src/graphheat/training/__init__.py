"""Training of heat networks: settings, objectives, one loop, and the run they make.

Names are imported when first used: settings and runs need no torch, the loop does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphheat.training.loop import Epoch
    from graphheat.training.network_run import NetworkRun
    from graphheat.training.prepared import PreparedNetwork, prepare_network
    from graphheat.training.settings import ConsistencySettings, NetworkSettings
    from graphheat.training.train import train_network

_HOME = {
    "ConsistencySettings": "settings",
    "Epoch": "loop",
    "NetworkRun": "network_run",
    "NetworkSettings": "settings",
    "PreparedNetwork": "prepared",
    "prepare_network": "prepared",
    "train_network": "train",
}

__all__ = [
    "ConsistencySettings",
    "Epoch",
    "NetworkRun",
    "NetworkSettings",
    "PreparedNetwork",
    "prepare_network",
    "train_network",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"graphheat.training.{_HOME[name]}"), name)
    raise AttributeError(f"module 'graphheat.training' has no attribute {name!r}")
