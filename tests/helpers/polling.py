"""Waiting for a page: its policy forbids the evaluation that Playwright's own waiting needs."""

import time

SECONDS = 60


def until(page, condition):
    """Return when a JavaScript condition holds."""
    end = time.monotonic() + SECONDS
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(20)
