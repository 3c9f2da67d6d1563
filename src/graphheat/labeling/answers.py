"""What holds now of classes and nodes: the graph's own labels, then the journal's entries."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import ParameterError
from graphheat.graph import Graph, Split
from graphheat.labeling.journal import Entry

Answer = Literal["label", "unsure", "skip"]

LONGEST = 200  # characters of a class's name
MOST_CLASSES = 1000


class Answers:
    """Classes and answers, as a journal's entries leave them.

    Parameters
    ----------
    graph
        Those of its labels that train are answers to begin with.
    classes
        Names of further classes.

    Attributes
    ----------
    classes
        The graph's, then those that were added.
    of
        Row number → class code (−1 without one) and answer.
    """

    def __init__(self, graph: Graph, classes: Iterable[str] = ()) -> None:
        self.graph = graph
        self.classes: list[Any] = list(graph.classes)
        for name in classes:
            if name not in self.names:
                self.classes.append(self.checked_name(name))
        known = graph.training_nodes
        self.of: dict[int, tuple[int, Answer]] = {
            int(index): (int(graph.labels[index]), "label")
            for index in known[graph.labels[known] >= 0]
        }

    @property
    def names(self) -> list[str]:
        """The classes as words."""
        return [str(name) for name in self.classes]

    @property
    def count(self) -> int:
        """How many nodes have a label."""
        return sum(answer == "label" for _, answer in self.of.values())

    def check(self, entry: Entry) -> Entry:
        """Return an entry as it may be written, or raise where it makes no sense now."""
        if entry.kind == "class":
            return replace(entry, text=self.checked_name(entry.text))
        if entry.kind == "rename":
            self._check_code(entry.code)
            return replace(entry, text=self.checked_name(entry.text, but=entry.code))
        if not isinstance(entry.node, int) or not 0 <= entry.node < self.graph.n:
            raise ParameterError(
                f"node must be a row number from 0 to {self.graph.n - 1}; got {shown(entry.node)}."
            )
        if entry.kind == "label":
            self._check_code(entry.code)
        elif entry.code is not None:
            raise ParameterError(f"class must be null for the answer {entry.kind!r}.")
        return entry

    def take(self, entry: Entry) -> None:
        """Let an entry hold; it was checked before it was written."""
        if entry.kind == "class":
            self.classes.append(entry.text)
        elif entry.kind == "rename":
            assert entry.code is not None
            self.classes[entry.code] = entry.text
        elif entry.node is not None:
            if entry.kind == "remove":
                self.of.pop(entry.node, None)
            else:
                self.of[entry.node] = (-1 if entry.code is None else entry.code, entry.kind)

    def replay(self, entries: Sequence[Entry]) -> None:
        """Let all entries of a journal hold, checked again: it may have been written by others."""
        for entry in entries:
            self.take(self.check(entry))

    def checked_name(self, name: object, but: int | None = None) -> str:
        """Return a class's name without space around it, or raise."""
        if not isinstance(name, str):
            raise ParameterError(f"A class's name must be text; got {shown(name)}.")
        word = unicodedata.normalize("NFC", name.strip())
        if not 1 <= len(word) <= LONGEST:
            raise ParameterError(
                f"A class's name must have 1 to {LONGEST} characters; this one has {len(word):,}."
            )
        if any(unicodedata.category(sign) in ("Cc", "Cs", "Co", "Cn") for sign in word):
            raise ParameterError("A class's name must be of letters and signs that can be shown.")
        if word in (each for code, each in enumerate(self.names) if code != but):
            raise ParameterError(f"There is a class {word!r} already.")
        if but is None and len(self.classes) >= MOST_CLASSES:
            raise ParameterError(f"There can be at most {MOST_CLASSES:,} classes.")
        return word

    def _check_code(self, code: object) -> None:
        if not isinstance(code, int) or not 0 <= code < len(self.classes):
            raise ParameterError(
                f"class must be a code from 0 to {len(self.classes) - 1}; got {shown(code)}."
            )

    def rows(self) -> list[list[Any]]:
        """Return [row number, class code or null, answer] of every node with an answer."""
        return [
            [index, None if code < 0 else code, answer]
            for index, (code, answer) in sorted(self.of.items())
        ]

    def codes(self) -> NDArray[np.int64]:
        """Return the labels, shape (n,), −1 without one."""
        codes = np.full(self.graph.n, -1, dtype=np.int64)
        for index, (code, answer) in self.of.items():
            if answer == "label":
                codes[index] = code
        return codes

    def passed(self) -> NDArray[np.bool_]:
        """Return which nodes have an answer of any kind, shape (n,)."""
        found = np.zeros(self.graph.n, dtype=np.bool_)
        found[list(self.of)] = True
        return found

    def labelled(self) -> Graph:
        """Return the graph with these labels, all of which train."""
        codes = self.codes()
        split = Split.checked({"train": np.flatnonzero(codes >= 0)}, codes)
        return replace(self.graph, labels=codes, classes=tuple(self.classes), split=split)
