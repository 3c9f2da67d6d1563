"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table; whatever a cell holds, it stays in its column.

    Examples
    --------
    >>> print(table(["claim", "verdict"], [["|x| is even", "holds"]]))
    | claim | verdict |
    |---|---|
    | \|x\| is even | holds |
    """
    lines = [_line(columns), "|" + "---|" * len(columns), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[object]) -> str:
    texts = [str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells]
    return f"| {' | '.join(texts)} |"
