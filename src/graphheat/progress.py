"""How far a computation is: one form of it for kernels, training, sweeps and pages."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """What is called along the way of anything that may take seconds."""

    def __call__(self, done: int, total: int, text: str, /) -> None:
        """Take note that ``done`` of ``total`` steps are behind; ``text`` says of what, in a word.

        Steps count from 1; ``text`` may be empty.
        """


def tell(progress: Progress | None, text: str) -> None:
    """Show a line that stays, where ``progress`` can: one that has a method ``tell`` of its own."""
    show = getattr(progress, "tell", None)
    if show is not None:
        show(text)
