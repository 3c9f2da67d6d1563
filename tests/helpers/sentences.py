"""Errors as users meet them: one of ours, in one sentence or two, on one line."""

import pytest

from graphheat.errors import GraphHeatError


def refusal(call, *args, **options):
    """Return the message of the error that the call must raise."""
    with pytest.raises(GraphHeatError) as caught:
        call(*args, **options)
    return checked(caught.value)


def checked(error):
    """Return the message of one of our errors; it must be a line that ends as a sentence does."""
    assert isinstance(error, GraphHeatError)
    message = str(error)
    assert "\n" not in message
    assert message.endswith(".")
    assert len(message) < 600
    return message
