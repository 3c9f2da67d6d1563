"""Random filters on random graphs: the first of the cases that benchmarks/filter_cases.py runs."""

from __future__ import annotations

import pytest
from random_case import ENGINES, outcome


@pytest.mark.parametrize("part", range(5))
def test_no_error_is_above_its_bound(part):
    found = [outcome(number) for number in range(40 * part, 40 * (part + 1))]
    assert {case["engine"] for case in found} == set(ENGINES)
    for case in found:
        assert case["is"] in ("proven", "beyond float64"), case
