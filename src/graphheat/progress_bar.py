"""``progress=True``: a bar, by rich in a terminal, as HTML in a notebook."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphheat.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress


class TerminalBar:
    """A bar that vanishes when done, and lines that stay.

    Parameters
    ----------
    bars
        Rich's, started.
    say
        Prints a line above the bar.
    """

    def __init__(self, bars: RichProgress, say: Callable[[str], None]) -> None:
        self._bars, self._say = bars, say
        self._task = bars.add_task("", total=None, visible=False)
        self._last = (0, 0)

    def __call__(self, done: int, total: int, text: str, /) -> None:
        """Move the bar."""
        if total != self._last[1] or done < self._last[0]:  # another computation begins
            self._bars.reset(self._task)
        self._last = done, total
        self._bars.update(self._task, completed=done, total=total, description=text, visible=True)

    def tell(self, text: str) -> None:
        """Print a line above the bar."""
        self._say(text)


class NotebookBar:
    """A bar in the output of a notebook's cell; lines stay above it.

    ``show`` is what IPython's ``display`` returns with a ``display_id``: it is updated in place.
    """

    def __init__(self, show: Any, markup: Callable[[str], Any]) -> None:
        self._show, self._markup, self._lines = show, markup, list[str]()

    def __call__(self, done: int, total: int, text: str, /) -> None:
        """Move the bar."""
        bar = f'<progress value="{int(done)}" max="{max(int(total), 1)}"></progress>'
        self._update(f"{bar} {html.escape(text)} {done:,} / {total:,}")

    def tell(self, text: str) -> None:
        """Add a line that stays."""
        self._lines.append(html.escape(text))
        self._update("")

    def end(self) -> None:
        """Leave the lines alone."""
        self._update("")

    def _update(self, last: str) -> None:
        self._show.update(self._markup("<br>".join([*self._lines, last])))


@contextmanager
def terminal_bar(console: Console, say: Callable[[str], None]) -> Iterator[TerminalBar]:
    """Yield a bar on a console; a file, which is no terminal, gets lines alone."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    shown = console.is_terminal  # a file would get a blank line
    with Bars(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not shown
    ) as bars:
        yield TerminalBar(bars, say)


@contextmanager
def showing(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Yield what is to be called along the way: a bar for True, otherwise what was given.

    Examples
    --------
    >>> with showing(None) as progress:
    ...     print(progress)
    None
    """
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    elif in_notebook():
        output: Any = import_module("IPython.display")
        bar = NotebookBar(output.display(output.HTML(""), display_id=True), output.HTML)
        try:
            yield bar
        finally:
            bar.end()
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(stderr=True)
        with terminal_bar(
            console, lambda text: console.print(escape(text), highlight=False)
        ) as shown:
            yield shown


def in_notebook() -> bool:
    """Tell whether the code runs in a notebook's kernel."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
