"""The ways to compute e^{-sL}: each passes every test of this folder."""

from __future__ import annotations

import pytest

METHODS = ("scipy", "numba", "push", "reference")


@pytest.fixture(params=METHODS, scope="session")
def method(request):
    return request.param
