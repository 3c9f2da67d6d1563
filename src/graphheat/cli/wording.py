"""Messages of the library in the words of the shell: ``--columns``, not ``columns=``."""

from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

# Keywords of Python whose option has another name; others are the same with hyphens.
FLAGS = {
    "id": "--id-column",
    "label": "--label-column",
    "split": "--split-column",
    "title": "--title-column",
    "kinds": "--kind",
    "s": "-s",
    "max_epochs": "--epochs",
    "start": "--from",
}
KEYWORDS = (
    *("nodes", "features", "source_column", "target_column", "weight_column", "id", "label"),
    *("split", "title", "columns", "categorical", "kinds", "missing", "decimal", "header"),
    *("duplicates", "symmetrize", "self_loops", "label_separator", "graph", "edges", "recipe"),
    *("s", "eps", "seed", "threads", "budget", "resume", "around", "tol", "max_epochs", "hidden"),
    "start",
)

_WORDS = "|".join(KEYWORDS)
_VALUE = r"(…|\[[^\]]*\]|\{[^{}]*\}|'[^']*'|\"[^\"]*\"|True|False|None|[0-9][0-9.e+-]*[0-9]|[0-9])"
_GIVEN = re.compile(rf"(?<![\w.(-])({_WORDS})={_VALUE}")
_SUBJECT = re.compile(rf"(?<![\w-])({_WORDS}) (names a column|does not go with|was settled)")
_PARAMETER = re.compile(rf"The '({_WORDS})' parameter of [\w.]+ ")


def flag_of(keyword: str) -> str:
    """Return the option of a keyword.

    Examples
    --------
    >>> flag_of("label"), flag_of("self_loops")
    ('--label-column', '--self-loops')
    """
    return FLAGS.get(keyword, f"--{keyword.replace('_', '-')}")


def in_shell_words(message: str) -> str:
    """Return a message of the library with options in place of keywords.

    Examples
    --------
    >>> in_shell_words("Pass symmetrize='max', or kinds={'zip': 'category'}.")
    'Pass --symmetrize max, or --kind zip=category.'
    >>> in_shell_words("label names a column that t.csv lacks: 'x'.")
    "--label-column names a column that t.csv lacks: 'x'."
    """
    message = _PARAMETER.sub(lambda found: f"{flag_of(found[1])} ", message)
    message = _SUBJECT.sub(lambda found: f"{flag_of(found[1])} {found[2]}", message)
    return _GIVEN.sub(lambda found: _option(found[1], found[2]), message)


def _option(keyword: str, text: str) -> str:
    flag = flag_of(keyword)
    if text == "…" or text.startswith("[…"):
        return flag
    try:
        value: Any = literal_eval(text)
    except (SyntaxError, ValueError):
        return flag
    if isinstance(value, bool):
        return flag if value else f"--no-{flag[2:]}"
    if isinstance(value, dict):
        return " ".join(f"{flag} {name}={kind}" for name, kind in value.items())
    if isinstance(value, list):
        return f"{flag} {','.join(map(str, value))}"
    return f"{flag} {'none' if value is None else value}"
