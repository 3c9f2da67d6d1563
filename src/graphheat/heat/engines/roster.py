"""The engines by name: a new one is one line here, or a call of :func:`register`."""

from __future__ import annotations

from graphheat.checks import check_choice
from graphheat.heat.engines.auto import AUTO, NUMBA, PANEL, PUSH, SCIPY, SLICED, Asked, Chooser
from graphheat.heat.engines.engine import Engine, check_installed
from graphheat.heat.engines.reference import ReferenceEngine

_engines: dict[str, Engine] = {}


def register(engine: Engine) -> None:
    """Make ``HeatKernel(…, engine=engine.name)`` known; a name that is taken is replaced."""
    _engines[engine.name] = engine


register(SCIPY)
register(NUMBA)
register(PUSH)
register(PANEL)
register(SLICED)
register(ReferenceEngine())


def names() -> tuple[str, ...]:
    """Return the names of all engines, in the order in which they were registered."""
    return tuple(_engines)


def chooser_of(engine: str | Engine | Chooser, owner: str) -> Chooser:
    """Return who chooses: ``"auto"``, an engine or its name, or a chooser as it is."""
    if isinstance(engine, str):
        check_choice(engine, "engine", owner, (AUTO.name, *_engines))
        engine = AUTO if engine == AUTO.name else _engines[engine]
    if isinstance(engine, Chooser):
        return engine
    check_installed(engine)
    return Asked(engine)
