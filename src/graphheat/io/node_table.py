"""Node tables: ids, labels, split, titles and numeric columns of a delimited file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.io.table import (
    MISSING,
    Table,
    as_integers,
    is_number,
    is_unnamed,
    named,
    open_table,
    row_indices,
)
from graphheat.io.table_options import ColumnOptions, NodeOptions, PathLike, chosen, option_names

ID_NAMES = ("id", "node", "node_id", "name")
LABEL_NAMES = ("label", "class", "y", "target")
SPLIT_NAMES = {
    "train": "train", "val": "val", "valid": "val", "validation": "val",
    "calibration": "calibration", "test": "test",
}  # fmt: skip
NO_SPLIT = MISSING | {"none", "unlabelled", "unlabeled"}
DENSE_CATEGORIES = 64  # more one-hot columns than this are kept sparse
MOST_BROKEN_CLASSES = 10  # more distinct labels such as 12.5 than this are measurements

# A number with a decimal point or comma, thousands apart or not; and one that is not whole.
_MEASUREMENT = re.compile(
    r"[+-]?([0-9]*[.,]?[0-9]+|[0-9]{1,3}(,[0-9]{3})+\.?[0-9]*)([eE][+-]?[0-9]+)?"
)
_BROKEN = re.compile(r"[.,][0-9]*[1-9]|[eE]-")


@dataclass(frozen=True)
class NodeTable:
    """What a node table says, one row per node; ids are still as written.

    ``id_column`` is the name that stands over the ids, ``account`` a sentence on which column was
    taken for what.
    """

    id_column: str
    ids: list[str]
    labels: NDArray[Any] | None
    split: dict[str, NDArray[np.int64]]
    titles: list[str] | None
    features: Any
    account: str


def read_nodes(nodes: PathLike | None, options: Mapping[str, Any]) -> NodeTable | None:
    """Read the node table of a graph; None without one.

    With a file of ``features`` among the options the table gives no columns: ``columns`` and
    ``categorical`` are then those of that file.
    """
    given = chosen(NodeOptions, options)
    beside = options.get("features") is not None
    if nodes is not None:
        nothing: dict[str, Any] = {"columns": [], "categorical": ()} if beside else {}
        return read_node_table(nodes, **{**given, **nothing})
    elsewhere = option_names(ColumnOptions) if beside else ("delimiter",)
    for option, value in given.items():
        if option not in elsewhere and len(value):
            raise ParameterError(f"{option} names a column of the node table; pass nodes=….")
    return None


def accounts(edges: str, table: NodeTable | None, features: PathLike | None) -> tuple[str, ...]:
    """Return what a reader took for what: a sentence on the edges, and one on the nodes."""
    if features is None:
        return (edges,) if table is None else (edges, table.account)
    source = f"features are from {Path(features).name}."
    if table is None:
        return edges, source[0].upper() + source[1:]
    return edges, f"{table.account.removesuffix('.')}; {source}"


def read_node_table(
    path: PathLike, *, words: bool = True, **options: Unpack[NodeOptions]
) -> NodeTable:
    r"""Read a table with a header row and one row per node.

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
        Columns to turn into one 0/1 column per value; a missing value is 0 in all of them.
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
    id, label, split = options.get("id"), options.get("label"), options.get("split")
    title, columns = options.get("title"), options.get("columns")
    categorical = options.get("categorical") or ()
    table = open_table(path, options.get("delimiter"))
    _check_names(table)
    indices, blank = _set_aside(table)
    id = _column(table, "id", id)
    if id is None:
        said = (label, split, title)
        features = (*blank, *(columns or ()), *categorical)
        id = _default(table, ID_NAMES, *said) or _id_column(table, said, features, indices)
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
        columns = [name for name in table.first if name not in (*taken, *indices, *blank)]
    else:
        columns = [*columns, *(name for name in categorical if name not in columns)]
    return NodeTable(
        id_column=id,
        ids=ids,
        labels=None if label is None else _labels(frame[label], table, label),
        split=members or {},
        titles=None if title is None else frame[title].tolist(),
        features=_features(frame, columns, categorical, ids, table),
        account=_account(table, (id, label, split if members else None, title), columns, indices),
    )


def _set_aside(table: Table) -> tuple[list[str], list[str]]:
    """Return the unnamed columns that are a row index, and those that hold nothing."""
    unnamed = [name for name in table.first if is_unnamed(name)]
    if not unnamed:
        return [], []
    frame = table.columns(unnamed)
    found = row_indices(table.first, lambda place: frame[table.first[place]])
    indices = [table.first[place] for place in found]
    blank = [name for name in unnamed if name == "" and not frame[name].str.strip().any()]
    return indices, blank


def _id_column(
    table: Table,
    said: Sequence[str | None],
    features: Sequence[str],
    indices: Sequence[str],
) -> str:
    """Return the column of the ids where none has a usual name: the first that is not the label.

    Behind a row index it is the next column, if that has a name for every node or is called
    something id; otherwise the row index itself.
    """
    if not indices:
        return next((name for name in table.first if name != said[0]), table.first[0])
    usual = (*LABEL_NAMES, "title", "split")
    taken = (*said, *features, *indices)
    free = [name for name in table.first if name not in taken and name.lower() not in usual]
    if free:
        cells = table.columns(free[:1])[free[0]].str.strip().tolist()
        numbers = any(map(is_number, cells)) and not free[0].lower().endswith("id")
        if len(set(cells)) == len(cells) and not numbers and not MISSING.intersection(cells):
            return free[0]
    return indices[0]


def _account(
    table: Table,
    columns: tuple[str, str | None, str | None, str | None],
    features: Sequence[str],
    indices: Sequence[str],
) -> str:
    id = "the row index" if columns[0] in indices else named([columns[0]])
    parts = [f"{id} is the id"]
    for name, part in zip(columns[1:], ("label", "split", "title"), strict=True):
        if name is not None:
            parts.append(f"{named([name])} the {part}")
    count = "1 column is a feature" if len(features) == 1 else f"{len(features)} are features"
    parts.append(f"{count} ({named(features, 3)})" if features else "no column is a feature")
    used = {*columns, *features, *indices}
    left = [name for name in table.first if name not in used and not is_unnamed(name)]
    without = [named(left, 3)] if left else []
    without += ["the row index"] if set(indices) - {*columns, *features} else []
    omitted = f"; left out: {' and '.join(without)}" if without else ""
    return f"{table.path.name}: {', '.join(parts)}{omitted}."


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
        raise FileFormatError(f"{table.path} has a header but no rows; it needs one row per node.")
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


def _labels(cells: Any, table: Table, column: str) -> NDArray[Any]:
    names = [None if name in MISSING else name for name in cells.str.strip()]
    _check_classes({name for name in names if name is not None}, table, column)
    codes = as_integers([name for name in names if name is not None])
    labels = np.array(names, dtype=object)
    if codes is not None:
        labels[[name is not None for name in names]] = codes.tolist()
    return labels


def _check_classes(names: set[str], table: Table, column: str) -> None:
    """Raise when labels are measurements: all numbers, and many of them not whole."""
    if not all(_MEASUREMENT.fullmatch(name) for name in names):
        return
    broken = sorted(name for name in names if _BROKEN.search(name))
    if len(broken) > MOST_BROKEN_CLASSES:
        raise GraphError(
            f"Column {column!r} of {table.path} was taken for the label, but it holds numbers, "
            f"not classes: {len(broken):,} distinct values are not whole (such as {broken[0]!r}). "
            "Name another column with label=…, or sort the values into classes first."
        )


def _split(
    cells: Any, ids: list[str], table: Table, *, guessed: bool
) -> dict[str, NDArray[np.int64]] | None:
    names = [
        None if name in NO_SPLIT or name.lower() in NO_SPLIT else name
        for name in cells.str.strip().tolist()
    ]
    parts: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        if name is None:
            continue
        part = SPLIT_NAMES.get(name.lower())
        if part is None:
            if guessed:
                return None
            raise GraphError(
                f"The split column of {table.path} must hold train, val, calibration, test or "
                f"nothing; got {name!r} for node {ids[index]!r}."
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
