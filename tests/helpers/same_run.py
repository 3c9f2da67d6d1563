"""Whether two runs are the same run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from graphheat.graph import Split
from graphheat.runs import Run


def assert_same_run(found: Run, expected: Run) -> None:
    """Compare everything that a file holds, arrays to the bit and with their types."""
    assert type(found) is type(expected)
    for each in fields(expected):
        one, other = getattr(found, each.name), getattr(expected, each.name)
        if each.name == "search" and one is None:
            continue  # the grid that s was chosen on is part of a linear model's file alone
        assert_same(one, other, each.name)


def assert_same(found: Any, expected: Any, name: str) -> None:
    """Compare two values, whatever they hold; ``name`` is for the message."""
    if isinstance(expected, Run):
        assert_same_run(found, expected)
    elif isinstance(expected, Split):
        assert np.array_equal(found.codes(), expected.codes()), name
        assert found.held_out == expected.held_out, name
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, name
        assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f"), name
    elif isinstance(expected, Mapping):
        assert found.keys() == expected.keys(), name
        for key, value in expected.items():
            assert_same(found[key], value, f"{name}[{key!r}]")
    elif isinstance(expected, (tuple, list)):
        assert len(found) == len(expected), name
        for position, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{name}[{position}]")
    elif hasattr(expected, "as_dict"):
        one, other = (json.dumps(each.as_dict(), sort_keys=True) for each in (found, expected))
        assert one == other, name
    elif is_dataclass(expected):
        for each in fields(expected):
            assert_same(
                getattr(found, each.name), getattr(expected, each.name), f"{name}.{each.name}"
            )
    elif isinstance(expected, float) and np.isnan(expected):
        assert np.isnan(found), name
    else:
        assert type(found) is type(expected), name
        assert found == expected, name
