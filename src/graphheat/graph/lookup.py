"""A node by its id or title, and near matches where there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from graphheat.checks import shown
from graphheat.errors import NodeNotFoundError

MOST_COMPARED = 20_000  # names that are compared letter by letter: a tenth of a second
MOST_NEAR = 3
MOST_LETTERS = 200  # of a name that near ones are looked for
# As people write whole numbers; int() also takes "1_0" and the digits of any script.
_WHOLE = re.compile("-?[0-9]{1,19}", re.ASCII)


def find_node(
    node: Any,
    place: Mapping[Any, int],
    titles: Sequence[str] | None,
    whose: str,
) -> int:
    """Return the row number of a node by its id, or else by its title.

    Parameters
    ----------
    node
        An id ("12" finds the id 12), or a title that one node has alone; its case does not matter.
    place
        Row number of each id.
    titles
        One per row, or None.
    whose
        What to call the graph in a message.

    Examples
    --------
    >>> find_node("tea", {7: 0, 8: 1}, ["Tea", "Milk"], "shop")
    0
    >>> find_node("Mlik", {7: 0, 8: 1}, ["Tea", "Milk"], "shop")
    Traceback (most recent call last):
        ...
    graphheat.errors.NodeNotFoundError: shop has no node 'Mlik'; near it are 'Milk' (8).
    """
    if isinstance(node, np.generic):
        node = node.item()
    is_name = isinstance(node, (str, int)) and not isinstance(node, bool)
    index = place.get(node) if is_name else None
    if index is None and isinstance(node, str) and _WHOLE.fullmatch(node):
        index = place.get(int(node))
    if index is not None:
        return index
    if titles is not None and isinstance(node, str):
        named = [row for row, title in enumerate(titles) if title.casefold() == node.casefold()]
        if len(named) == 1:
            return named[0]
        if named:
            ids = list(place)
            some = ", ".join(str(ids[row]) for row in named[:5]) + (", …" if named[5:] else "")
            raise NodeNotFoundError(
                f"{whose} has {len(named):,} nodes with the title {shown(node)!r}; name one by its "
                f"id: {some}."
            )
    raise NodeNotFoundError(_lost(node, place, titles, whose))


def near_names(name: str, names: Sequence[str], most: int = MOST_NEAR) -> list[str]:
    """Return the names that are spelled most alike, the nearest first."""
    if len(names) > MOST_COMPARED:  # too many to compare: those that begin or end alike
        short = name.casefold()
        names = [
            each
            for each in names
            if abs(len(each) - len(name)) <= 3
            and (each[:2].casefold() == short[:2] or each[-3:].casefold() == short[-3:])
        ][:MOST_COMPARED]
    by_case = {each.casefold(): each for each in reversed(names)}
    found = get_close_matches(name.casefold(), by_case, most, 0.6)
    return [by_case[each] for each in found]


def _lost(node: Any, place: Mapping[Any, int], titles: Sequence[str] | None, whose: str) -> str:
    ids = list(place)
    sentence = f"{whose} has no node {shown(node)!r}"
    words = {str(each): repr(shown(str(each))) for each in ids}
    if titles is not None:
        words |= {
            title: f"{shown(title)!r} ({shown(each)})"
            for title, each in zip(titles, ids, strict=True)
        }
    comparable = isinstance(node, str) and len(node) <= MOST_LETTERS
    near = near_names(node, list(words)) if comparable else []
    if near:
        return f"{sentence}; near it are {', '.join(words[each] for each in near)}."
    if not ids:
        return f"{sentence}; it has none at all."
    return f"{sentence}; its {len(ids):,} ids run from {shown(ids[0])} to {shown(ids[-1])}."
