"""Tables, progress bars and messages: results on standard output, the rest on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from graphheat import progress as graphheat_progress
from graphheat.checks import shown
from graphheat.progress_bar import terminal_bar

MOST_TEXT = 500  # of a cell

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    r"""Return the text with what would command a terminal, or turn it round, written out.

    Examples
    --------
    >>> without_controls("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _CONTROLS.sub(lambda sign: ascii(sign[0])[1:-1], text)


class _Console(Console):
    """A console that shows what files say, and does not obey it."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(without_controls(text), **how)


out = _Console()
messages = _Console(stderr=True)


def print_json(value: object) -> None:
    """Print one JSON object on standard output."""
    click.echo(json.dumps(value, allow_nan=False))


def say(text: str) -> None:
    """Print a message on standard error."""
    messages.print(escape(text), highlight=False, soft_wrap=True)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None
) -> None:
    """Print a table; numbers are set to the right."""
    if title is not None:
        out.print(f"[bold]{escape(title)}[/bold]", highlight=False)
    result = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for position, name in enumerate(columns):
        cells = [row[position] for row in rows]
        numeric = all(isinstance(cell, (int, float)) or cell is None for cell in cells)
        result.add_column(escape(name), justify="right" if numeric and cells else "left")
    for row in rows:
        result.add_row(*(escape(cell_text(cell)) for cell in row))
    out.print(result)


def cell_text(value: object) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value).replace("\n", "\\n")
    return shown(text, MOST_TEXT)


def percent(value: float | None) -> str:
    """Return a fraction as a percentage with one decimal."""
    return "–" if value is None else f"{100 * value:.1f} %"


@contextmanager
def progress() -> Iterator[graphheat_progress.Progress]:
    """Yield what shows progress on standard error; it vanishes when done."""
    with terminal_bar(messages, say) as shown_bar:
        yield shown_bar
