"""Waiting; for a page by hand, as its policy forbids the evaluation that Playwright's own needs."""

import time

SECONDS = 60


def until(page, condition):
    """Return when a JavaScript condition holds."""
    end = time.monotonic() + SECONDS
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(20)


def wait_until(condition):
    """Return when a function returns something true."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "never"
        time.sleep(0.02)
