"""Node tables: ids, labels, split, titles and numeric columns of a delimited file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError
from graphheat.io.table import MISSING, Table, as_integers, named, open_table

ID_NAMES = ("id", "node", "node_id", "name")
LABEL_NAMES = ("label", "class", "y", "target")
SPLIT_NAMES = {
    "train": "train", "val": "val", "valid": "val", "validation": "val",
    "calibration": "calibration", "test": "test",
}  # fmt: skip
NO_SPLIT = MISSING | {"none", "unlabelled", "unlabeled"}
DENSE_CATEGORIES = 64  # more one-hot columns than this are kept sparse


@dataclass(frozen=True)
class NodeTable:
    """What a node table says, one row a node; ids are still as written.

    ``id_column`` is the name that stands over the ids.
    """

    id_column: str
    ids: list[str]
    labels: NDArray[Any] | None
    split: dict[str, NDArray[np.int64]]
    titles: list[str] | None
    features: Any


def read_node_table(
    path: str | os.PathLike[str],
    *,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    title: str | None = None,
    columns: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    delimiter: str | None = None,
    words: bool = True,
) -> NodeTable:
    r"""Read a table with a header row and one row a node.

    Parameters
    ----------
    path
        CSV, TSV, semicolons or spaces; UTF-8.
    id, label, split, title
        Names of columns. By default ``id`` is a column named id, node, node_id or name, else the
        first; ``label`` one named label, class, y or target; ``split`` and ``title`` those of that
        name. A label may be missing (an empty cell, NA, NaN, None, null).
    columns
        The feature columns; by default all others. They must be numeric.
    categorical
        Columns to turn into one 0/1 column a value; a missing value is 0 in all of them.
    words
        False: a file of features alone, where only ids are looked for by default.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,label,age\nann,tea,31\nbob,,28\n")
    >>> table = read_node_table(path)
    >>> table.ids, table.labels.tolist(), table.features.tolist()
    (['ann', 'bob'], ['tea', None], [[31.0], [28.0]])
    """
    table = open_table(path, delimiter)
    _check_names(table)
    id = _column(table, "id", id) or _default(table, ID_NAMES, label, split, title)
    id = id or next((name for name in table.first if name != label), table.first[0])
    label = _column(table, "label", label) or (_default(table, LABEL_NAMES, id) if words else None)
    title = _column(table, "title", title) or (_default(table, ("title",), id) if words else None)
    guess = _default(table, ("split",), id, label) if words and split is None else None
    split = _column(table, "split", split) or guess
    taken = [name for name in (id, label, split, title) if name is not None]
    for name in (*(columns or ()), *categorical):
        _column(table, "columns" if name in (columns or ()) else "categorical", name)
    frame = table.columns([*taken, *categorical])
    ids = _ids(frame[id], table)
    members = None if split is None else _split(frame[split], ids, table, guessed=bool(guess))
    if members is None and split is not None:
        taken.remove(split)  # a column that only happens to be called split
        frame = table.columns([*taken, *categorical])
    if columns is None:
        columns = [name for name in table.first if name not in taken]
    else:
        columns = [*columns, *(name for name in categorical if name not in columns)]
    return NodeTable(
        id_column=id,
        ids=ids,
        labels=None if label is None else _labels(frame[label]),
        split=members or {},
        titles=None if title is None else frame[title].tolist(),
        features=_features(frame, columns, categorical, ids, table),
    )


def _check_names(table: Table) -> None:
    if len(set(table.first)) != len(table.first):
        twice = next(name for name in table.first if table.first.count(name) > 1)
        raise FileFormatError(
            f"{table.path} must have distinct column names in its first row; {twice!r} appears "
            f"{table.first.count(twice)} times. Give it a header row such as id,label,x1,x2."
        )


def _column(table: Table, option: str, name: str | None) -> str | None:
    if name is not None and name not in table.first:
        raise GraphError(
            f"{option} names a column that {table.path} lacks: {name!r}. "
            f"Its columns are {named(table.first, 20)}."
        )
    return name


def _default(table: Table, names: Sequence[str], *taken: str | None) -> str | None:
    own = {name.lower(): name for name in reversed(table.first) if name not in taken}
    return next((own[name] for name in names if name in own), None)


def _ids(cells: Any, table: Table) -> list[str]:
    ids: list[str] = cells.str.strip().tolist()
    if not ids:
        raise FileFormatError(f"{table.path} has a header but no rows; it needs one row a node.")
    seen: set[str] = set()
    for row, node in enumerate(ids):
        if node == "":
            raise GraphError(f"{table.path} has no id in row {row + 1}, the header aside.")
        if node in seen:
            raise GraphError(
                f"{table.path} must name each node once; {node!r} appears again in row {row + 1}, "
                "the header aside."
            )
        seen.add(node)
    return ids


def _labels(cells: Any) -> NDArray[Any]:
    names = [None if name in MISSING else name for name in cells.str.strip()]
    codes = as_integers([name for name in names if name is not None])
    labels = np.array(names, dtype=object)
    if codes is not None:
        labels[[name is not None for name in names]] = codes.tolist()
    return labels


def _split(
    cells: Any, ids: list[str], table: Table, *, guessed: bool
) -> dict[str, NDArray[np.int64]] | None:
    roles = [
        None if role in NO_SPLIT or role.lower() in NO_SPLIT else role
        for role in cells.str.strip().tolist()
    ]
    parts: dict[str, list[int]] = {}
    for index, role in enumerate(roles):
        if role is None:
            continue
        part = SPLIT_NAMES.get(role.lower())
        if part is None:
            if guessed:
                return None
            raise GraphError(
                f"The split column of {table.path} must hold train, val, calibration, test or "
                f"nothing; got {role!r} for node {ids[index]!r}."
            )
        parts.setdefault(part, []).append(index)
    order = [part for part in ("train", "val", "calibration", "test") if part in parts]
    return {part: np.array(parts[part], dtype=np.int64) for part in order}


def _features(
    frame: Any, columns: Sequence[str], categorical: Sequence[str], ids: list[str], table: Table
) -> Any:
    words = [
        name for name in columns if name not in categorical and frame[name].dtype.kind not in "biuf"
    ]
    if words:
        raise GraphError(
            f"Feature columns must be numeric; {len(words)} of {table.path} are not: "
            f"{named(words)}. Pass columns=[…] to choose, or categorical=[…] to one-hot."
        )
    parts: list[Any] = [
        _one_hot(frame[name].str.strip())
        if name in categorical
        else _numbers(frame[name], name, ids, table)
        for name in columns
    ]
    if not parts:
        return None
    if any(sp.issparse(part) for part in parts):
        return sp.hstack(parts, format="csr")
    return np.column_stack(parts)


def _numbers(cells: Any, name: str, ids: list[str], table: Table) -> NDArray[np.float64]:
    values: NDArray[np.float64] = cells.to_numpy(dtype=np.float64)
    bad = ~np.isfinite(values)
    if bad.any():
        raise GraphError(
            f"Column {name!r} of {table.path} must hold a finite number for every node; "
            f"{int(bad.sum()):,} are missing or infinite (first for node "
            f"{ids[int(np.argmax(bad))]!r}). Fill them in, or leave the column out by columns=[…]."
        )
    return values.reshape(-1, 1)


def _one_hot(cells: Any) -> Any:
    values = sorted(set(cells) - MISSING)
    column = {value: index for index, value in enumerate(values)}
    known = np.array([row for row, value in enumerate(cells) if value in column], dtype=np.int64)
    hot = np.array([column[value] for value in cells if value in column], dtype=np.int64)
    matrix = sp.csr_array((np.ones(len(hot)), (known, hot)), shape=(len(cells), len(values)))
    return matrix if len(values) > DENSE_CATEGORIES else matrix.toarray()
