"""Small HTML tables, as notebooks show an object: nothing but text, escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

MOST_LETTERS = 120  # of a cell


def html_table(
    caption: str,
    rows: Sequence[Sequence[object]],
    *,
    columns: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return a table with a caption above it and sentences below.

    Examples
    --------
    >>> html_table("<b>", [["nodes", 1234]])
    '<table><caption>&lt;b&gt;</caption><tbody><tr><th>nodes</th><td>1,234</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
    body = "".join(
        f"<tr><th>{_cell(row[0])}</th>{''.join(f'<td>{_cell(each)}</td>' for each in row[1:])}</tr>"
        for row in rows
    )
    return (
        f"<table><caption>{_cell(caption)}</caption>"
        + (f"<thead><tr>{head}</tr></thead>" if columns else "")
        + f"<tbody>{body}</tbody></table>"
        + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    )


def _cell(value: object) -> str:
    if value is None:
        text = "–"
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, int):
        text = f"{value:,}"
    elif isinstance(value, float):
        text = f"{value:.4g}"
    else:
        text = str(value)
    return html.escape(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…")
