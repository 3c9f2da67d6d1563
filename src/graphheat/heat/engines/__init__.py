"""The engines: several implementations of f(S), one contract (``tests/contract``), one choice."""

from graphheat.heat.engines.auto import AUTO, ONE_OFF, Auto, Chooser
from graphheat.heat.engines.columns import ColumnEngine
from graphheat.heat.engines.engine import Cost, Engine, Request
from graphheat.heat.engines.roster import chooser_of, names, register

__all__ = [
    "AUTO",
    "ONE_OFF",
    "Auto",
    "Chooser",
    "ColumnEngine",
    "Cost",
    "Engine",
    "Request",
    "chooser_of",
    "names",
    "register",
]
