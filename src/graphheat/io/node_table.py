"""Node tables: ids, labels, split, titles, and the columns that features are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Unpack

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.features.cells import MISSING, Cells
from graphheat.graph.label_sets import LabelSets
from graphheat.graph.labels import INSTEAD, measured
from graphheat.io.feature_array import is_array
from graphheat.io.label_columns import read_label_sets
from graphheat.io.node_features import Beside, NodeFeatures
from graphheat.io.table_options import ColumnOptions, NodeOptions, Source, chosen, option_names
from graphheat.io.table_sources import Table, open_table
from graphheat.io.written import (
    as_integers,
    is_number,
    is_unnamed,
    named,
    row_indices,
)

ID_NAMES = ("id", "node", "node_id", "name")
LABEL_NAMES = ("label", "class", "y", "target")
SPLIT_NAMES = {
    "train": "train", "val": "val", "valid": "val", "validation": "val",
    "calibration": "calibration", "test": "test",
}  # fmt: skip
NO_SPLIT = MISSING | {"none", "unlabelled", "unlabeled"}
MOST_BROKEN_CLASSES = 10  # more distinct labels such as 12.5 than this are continuous

# A number with a decimal point or comma, thousands apart or not; and one that is not whole.
_MEASUREMENT = re.compile(
    r"[+-]?([0-9]*[.,]?[0-9]+|[0-9]{1,3}(,[0-9]{3})+\.?[0-9]*)([eE][+-]?[0-9]+)?"
)
_BROKEN = re.compile(r"[.,][0-9]*[1-9]|[eE]-")
_WHOLE = re.compile(r"(0|-?[1-9][0-9]*)(\.0*)?")


@dataclass(frozen=True)
class NodeTable:
    """What a node table says, one row per node; ids are still as written.

    ``id_column`` is the name that stands over the ids, ``columns`` those that features are made of,
    ``account`` says which of the others was taken for what, ``left_out`` what was not taken.
    """

    where: str
    id_column: str
    ids: list[str]
    labels: NDArray[Any] | None
    label_sets: LabelSets | None
    split: dict[str, NDArray[np.int64]]
    titles: list[str] | None
    columns: dict[str, Cells]
    account: str
    left_out: str

    @property
    def label_parts(self) -> dict[str, Any]:
        """What a graph is made with: labels, or label sets with their classes."""
        if self.label_sets is None:
            return {"labels": self.labels}
        return {"label_sets": self.label_sets.codes(), "classes": self.label_sets.classes}


def read_nodes(nodes: Source | None, options: Mapping[str, Any]) -> NodeTable | None:
    """Read the node table of a graph; None without one.

    With another table of ``features`` among the options, ``columns`` may name columns of either.
    """
    given = chosen(NodeOptions, options)
    beside = options.get("features") is not None
    if nodes is not None:
        if beside and not is_array(options["features"]) and given.get("columns") is not None:
            own = open_table(nodes, given.get("delimiter"), "nodes").first
            given["columns"] = [name for name in given["columns"] if name in own]
        return read_node_table(nodes, **given)
    elsewhere = option_names(ColumnOptions) if beside else ("delimiter", "decimal")
    for option, value in given.items():
        if option not in elsewhere and value not in ((), [], {}):
            raise ParameterError(f"{option} names a column of the node table; pass nodes=….")
    return None


def accounts(
    edges: str, table: NodeTable | None, features: NodeFeatures, beside: Beside | None
) -> tuple[str, ...]:
    """Return what a reader took for what: a sentence on the edges, and one on the nodes."""
    if table is None:
        return (edges,) if beside is None else (edges, f"{features.account}.")
    return edges, f"{table.account}, {features.account}{table.left_out}."


def read_node_table(
    source: Source, *, words: bool = True, **options: Unpack[NodeOptions]
) -> NodeTable:
    r"""Read a table with a header row and one row per node.

    Parameters
    ----------
    source
        A file or a frame, as for :func:`graphheat.io.table_sources.open_table`.
    id, label, split, title
        Names of columns. By default ``id`` is a column named id, node, node_id or name, else the
        first; ``label`` one named label, class, y or target; ``split`` and ``title`` those of that
        name. A label may be missing (an empty cell, NA, NaN, None, null). Several names for
        ``label`` are columns of marks (0/1, yes/no), one per label that a node may have.
    label_separator
        What parts several labels in a cell: ``"|"`` for "tv|news". A missing cell is unknown.
    columns
        The columns that features are made of; by default all others.
    categorical, kinds
        Columns that are features, too, when ``columns`` does not name them.
    words
        False: a file of features alone, where only ids are looked for by default.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,label,age\nann,tea,31\nbob,,28\n")
    >>> table = read_node_table(path)
    >>> table.ids, table.labels.tolist(), table.columns["age"].values.tolist()
    (['ann', 'bob'], ['tea', None], [31.0, 28.0])
    """
    id, split = options.get("id"), options.get("split")
    given, separator = options.get("label"), options.get("label_separator")
    label = given if isinstance(given, str) or given is None else None
    marks = [] if given is None or isinstance(given, str) else list(given)
    if marks and separator is not None:
        raise ParameterError(
            "label_separator parts the labels of one column; here label names several columns."
        )
    title, columns = options.get("title"), options.get("columns")
    categorical = options.get("categorical") or ()
    schema = options.get("schema")
    table = open_table(source, options.get("delimiter"), "nodes" if words else "features")
    _check_names(table)
    indices, blank = _set_aside(table)
    if schema is not None and columns is None:
        # What the schema knows is a feature, also where its name would mean something else.
        known = [column.name for column in schema.columns]
        columns_of_schema = [name for name in table.first if name in known]
    else:
        columns_of_schema = []
    for name in marks:
        _column(table, "label", name)
    id = _column(table, "id", id)
    if id is None:
        asked = (label, split, title, *marks)
        features = (*blank, *(columns or ()), *categorical, *columns_of_schema)
        id = _default(table, ID_NAMES, *asked, *columns_of_schema)
        id = id or _id_column(table, asked, features, indices)
    taken_by_schema = [name for name in columns_of_schema if name != id]
    default = _default if words else _none
    label = _column(table, "label", label)
    if label is None and not marks:
        label = default(table, LABEL_NAMES, id, *taken_by_schema)
    title = _column(table, "title", title) or default(table, ("title",), id, *taken_by_schema)
    guess = None
    if split is None:
        guess = default(table, ("split",), id, label, *taken_by_schema)
    split = _column(table, "split", split) or guess
    for name in (*(columns or ()), *categorical):
        _column(table, "columns" if name in (columns or ()) else "categorical", name)
    _check_unnamed(table, (*indices, *blank, id, *(columns or ())))
    ids = _ids(table.words(id), table)
    members = None
    if split is not None:
        members = _split(table.words(split), ids, table, guessed=bool(guess))
        split = None if members is None else split  # it only happens to be called split
    taken = [name for name in (id, label, split, title, *marks) if name is not None]
    if columns is None:
        columns = [name for name in table.first if name not in (*taken, *indices, *blank)]
        columns += [name for name in categorical if name not in columns]
    else:
        columns = [*columns, *(name for name in categorical if name not in columns)]
    for name in columns:
        if name in taken and name not in (options.get("columns") or ()) and name != title:
            raise ParameterError(
                f"Column {name!r} of {table.path} cannot be a feature and the "
                f"{'id' if name == id else 'label' if name == label else 'split'}."
            )
    return NodeTable(
        where=str(table.path),
        id_column=id,
        ids=ids,
        labels=None
        if label is None or separator is not None
        else _labels(table.words(label), table, label),
        label_sets=read_label_sets(table, label, separator, marks),
        split=members or {},
        titles=None if title is None else table.words(title),
        columns=table.cells(columns),
        account=_account(table, (id, label or ", ".join(marks) or None, split, title), indices),
        left_out=_left_out(table, (id, label, split, title, *marks), columns, indices),
    )


def _none(*_: Any) -> None:
    return None


def _set_aside(table: Table) -> tuple[list[str], list[str]]:
    """Return the unnamed columns that are a row index, and those that hold nothing."""
    unnamed = [name for name in table.first if is_unnamed(name)]
    if not unnamed:
        return [], []
    found = row_indices(table.first, lambda place: table.words(table.first[place]))
    indices = [table.first[place] for place in found]
    blank = [name for name in unnamed if name == "" and not any(table.words(name))]
    return indices, blank


def _id_column(
    table: Table,
    asked: Sequence[str | None],
    features: Sequence[str],
    indices: Sequence[str],
) -> str:
    """Return the column of the ids where none has a usual name: the first that is not the label.

    Behind a row index it is the next column, if that has a name for every node or is called
    something id; otherwise the row index itself.
    """
    if not indices:
        return next((name for name in table.first if name != asked[0]), table.first[0])
    usual = (*LABEL_NAMES, "title", "split")
    taken = (*asked, *features, *indices)
    free = [name for name in table.first if name not in taken and name.lower() not in usual]
    if free:
        cells = table.words(free[0])
        numbers = any(map(is_number, cells)) and not free[0].lower().endswith("id")
        if len(set(cells)) == len(cells) and not numbers and not MISSING.intersection(cells):
            return free[0]
    return indices[0]


def _account(
    table: Table,
    columns: tuple[str, str | None, str | None, str | None],
    indices: Sequence[str],
) -> str:
    id = "the row index" if columns[0] in indices else named([columns[0]])
    parts = [f"{id} is the id"]
    for name, part in zip(columns[1:], ("label", "split", "title"), strict=True):
        if name is not None:
            parts.append(f"{named([name])} the {part}")
    return f"{table.name}: {', '.join(parts)}"


def _left_out(
    table: Table,
    columns: tuple[str | None, ...],
    features: Sequence[str],
    indices: Sequence[str],
) -> str:
    used = {*columns, *features, *indices}
    left = [name for name in table.first if name not in used and not is_unnamed(name)]
    without = [named(left, 3)] if left else []
    without += ["the row index"] if set(indices) - {*columns, *features} else []
    return f"; left out: {' and '.join(without)}" if without else ""


def _check_names(table: Table) -> None:
    if len(set(table.first)) != len(table.first):
        if table.first.count("") > 1:
            _refuse_unnamed(table, len(table.first) - 1 - table.first[::-1].index(""))
        twice = next(name for name in table.first if table.first.count(name) > 1)
        raise FileFormatError(
            f"{table.path} must have distinct column names in its first row; {twice!r} appears "
            f"{table.first.count(twice)} times. Give it a header row such as id,label,x1,x2."
        )
    if not table.headed and all(map(is_number, table.first)):
        raise FileFormatError(
            f"{table.path} must have a header row; its first row holds numbers alone "
            f"({named(table.first, 3)}). Put one on top, such as id,label,x1,x2."
        )


def _check_unnamed(table: Table, known: Sequence[str]) -> None:
    """Raise when a column without a name holds something: a row may have a cell too many."""
    if "" in table.first and "" not in known:
        _refuse_unnamed(table, table.first.index(""))


def _refuse_unnamed(table: Table, place: int) -> NoReturn:
    cells = table.strings()[place].iloc[1:].tolist()
    row = next((row for row, cell in enumerate(cells) if cell.strip()), 0)
    raise FileFormatError(
        f"{table.path} has no name over its column {place + 1}, which holds "
        f"{named(cells[row : row + 1]) or 'nothing'} in row {row + 1}, the header aside. Name it, "
        "or clear it."
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


def _ids(ids: list[str], table: Table) -> list[str]:
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


def _labels(cells: list[str], table: Table, column: str) -> NDArray[Any]:
    names = [None if name in MISSING else name for name in cells]
    known = [name for name in names if name is not None]
    if known and all(map(_WHOLE.fullmatch, known)):
        # pandas writes 1.0 where a column of integers has gaps.
        names = [None if name is None else name.partition(".")[0] for name in names]
        known = [name for name in names if name is not None]
    _check_classes(known, table, column)
    codes = as_integers(known)
    labels = np.array(names, dtype=object)
    if codes is not None:
        labels[[name is not None for name in names]] = codes.tolist()
    return labels


def _check_classes(names: list[str], table: Table, column: str) -> None:
    """Raise when labels are continuous: all numbers, and too many different ones for classes.

    Those are more than 10 that are not whole; or more than 20 whole numbers, of which most occur
    once, and which leave out most numbers between the least and the largest: prices, not codes.
    """
    different = set(names)
    if not all(_MEASUREMENT.fullmatch(name) for name in different):
        return
    broken = sorted(name for name in different if _BROKEN.search(name))
    codes = as_integers(names)
    if len(broken) > MOST_BROKEN_CLASSES:
        what = f"{len(broken):,} distinct values are not whole (such as {broken[0]!r})."
    elif codes is None or not (what := measured(codes)):
        return
    raise GraphError(
        f"Column {column!r} of {table.path} was taken for the label, but it holds numbers, not "
        f"classes: {what} Name another column with label=…. {INSTEAD}"
    )


def _split(
    cells: list[str], ids: list[str], table: Table, *, guessed: bool
) -> dict[str, NDArray[np.int64]] | None:
    names = [None if name in NO_SPLIT or name.lower() in NO_SPLIT else name for name in cells]
    parts: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        if name is None:
            continue
        part = SPLIT_NAMES.get(name.lower())
        if part is None:
            if guessed and is_number(name):
                return None
            raise GraphError(
                f"The split column of {table.path} must hold train, val, calibration, test or "
                f"nothing; got {name!r} for node {ids[index]!r}."
            )
        parts.setdefault(part, []).append(index)
    order = [part for part in ("train", "val", "calibration", "test") if part in parts]
    return {part: np.array(parts[part], dtype=np.int64) for part in order}
