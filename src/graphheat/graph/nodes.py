"""Node ids: distinct integers or strings, and where each stands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import shown
from graphheat.errors import GraphError


def as_ids(values: ArrayLike) -> NDArray[Any]:
    """Return ids as int64, or as an object array of plain strings.

    Objects stay integers when all of them are; a mixture becomes strings.

    Examples
    --------
    >>> as_ids([3, 1])
    array([3, 1])
    >>> as_ids(np.array([3, "b"], dtype=object))
    array(['3', 'b'], dtype=object)
    """
    ids = np.array(values)
    if ids.size == 0:
        return ids.astype(np.int64)
    if ids.dtype.kind == "O" and all(
        isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in ids.flat
    ):
        ids = np.array(ids.tolist())
    if ids.dtype.kind in "iu" and (ids.dtype != np.uint64 or ids.max() < 2**63):
        return ids.astype(np.int64)
    if ids.dtype.kind not in "OUTiu":
        raise GraphError(f"node ids must be integers or strings; got {ids.dtype}.")
    return np.array([str(node) for node in ids.flat], dtype=object).reshape(ids.shape)


def check_nodes(nodes: ArrayLike | None, n: int) -> NDArray[Any]:
    """Return ``n`` distinct ids (0 … n−1 for None), or raise with the rule they break."""
    if nodes is None:
        return np.arange(n)
    ids = as_ids(nodes)
    if ids.shape != (n,):
        raise GraphError(f"node ids must be one per node; got shape {ids.shape} for {n} nodes.")
    seen: set[Any] = set()
    for node in ids.tolist():
        if node in seen:
            raise GraphError(f"node ids must be distinct; {shown(node)!r} appears more than once.")
        seen.add(node)
    return ids


def positions_of(wanted: NDArray[Any], ids: NDArray[Any], what: str, where: str) -> NDArray[Any]:
    """Return the row number of each wanted id, or name those that ``ids`` lacks."""
    table = {node: index for index, node in enumerate(ids.tolist())}
    found = np.array([table.get(node, -1) for node in wanted.tolist()], dtype=np.int64)
    if (found < 0).any():
        lost = list(dict.fromkeys(wanted[found < 0].tolist()))
        some = ", ".join(repr(shown(node) if isinstance(node, str) else node) for node in lost[:5])
        more = ", …" if len(lost) > 5 else ""
        raise GraphError(f"{len(lost):,} ids of the {what} are not in {where}: {some}{more}.")
    return found
