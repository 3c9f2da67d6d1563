"""The engines: each that is registered passes every test of this folder, the toy one too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graphheat.heat import engines

sys.path.append(str(Path(__file__).parents[1] / "heat"))

from toy_engine import ToyEngine

engines.register(ToyEngine())


@pytest.fixture(params=engines.names(), scope="session")
def engine(request):
    return request.param
