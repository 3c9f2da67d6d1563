"""The node table of an ingestion: ids, labels, split and features, in one pass over its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk.array_folder import new_array
from graphheat.disk.duck_tables import INTEGERS, NUMBERS, DuckTables, identifier
from graphheat.errors import FileFormatError, GraphError
from graphheat.graph.split import CODES
from graphheat.progress import Progress

ID = ("id", "node", "node_id", "name")
LABEL = ("label", "class", "y", "target")
SPLIT = ("split", "part", "role")
PARTS = {**{name: code for code, name in enumerate(CODES)}, "validation": CODES.index("val")}
ROWS = 1 << 16


@dataclass(frozen=True)
class NodeColumns:
    """Which columns of a node table are what.

    Attributes
    ----------
    id, label, split
        Names; label and split may be absent.
    features
        Names of columns of numbers, in order.
    lists
        Those among them that hold a list of numbers per node, and how many.
    skipped
        Columns that are neither.
    """

    id: str
    label: str | None
    split: str | None
    features: tuple[str, ...]
    lists: dict[str, int]
    skipped: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The features' names, one per number."""
        return [
            name if name not in self.lists else f"{name}_{k}"
            for name in self.features
            for k in range(self.lists.get(name, 1))
        ]


def find_columns(
    tables: DuckTables,
    scan: str,
    *,
    id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    columns: Sequence[str] | None = None,
) -> NodeColumns:
    """Return which columns are what: as named, by their usual names, all other numbers features."""
    types = tables.columns(scan)
    asked = {"id": id, "label": label, "split": split}
    for option, name in [*asked.items(), *(("columns", each) for each in columns or ())]:
        if name is not None and name not in types:
            raise GraphError(
                f"{option} names a column that the node table lacks: {name!r}. Its columns are "
                f"{', '.join(types)}."
            )
    lower = {name.lower(): name for name in reversed(list(types))}
    found = {
        option: name or next((lower[word] for word in words if word in lower), None)
        for (option, name), words in zip(asked.items(), (ID, LABEL, SPLIT), strict=True)
    }
    if found["id"] is None:
        raise FileFormatError(
            f"None of the node table's columns is called id: {', '.join(types)}. Pass id= "
            "(--id-column)."
        )
    rest = [name for name in types if name not in found.values()]
    wanted = list(columns) if columns is not None else rest
    lists = {name: _list_length(tables, scan, name) for name in wanted if _is_list(types[name])}
    good = [name for name in wanted if name in lists or _is_number(tables, scan, name, types[name])]
    skipped = tuple(name for name in wanted if name not in good)
    if columns is not None and skipped:
        raise GraphError(
            f"Column {skipped[0]!r} of the node table is text; features of a disk graph must be "
            "numbers. Encode it first, or leave it out of columns."
        )
    return NodeColumns(found["id"], found["label"], found["split"], tuple(good), lists, skipped)


def _is_list(kind: str) -> bool:
    return kind.endswith("]") and kind.split("[")[0] in NUMBERS


def _list_length(tables: DuckTables, scan: str, name: str) -> int:
    column = identifier(name)
    ((least, most, missing),) = tables.execute(
        f"SELECT min(len({column})), max(len({column})), count(*) - count({column}) FROM {scan}"
    )
    if least != most or missing:
        raise FileFormatError(
            f"Column {name!r} of the node table must hold equally long lists of numbers; they have "
            f"from {least} to {most}, and {missing:,} are missing."
        )
    return int(most or 0)


def _is_number(tables: DuckTables, scan: str, name: str, kind: str) -> bool:
    if kind != "VARCHAR":
        return kind in NUMBERS or kind.startswith("DECIMAL")
    column = identifier(name)
    query = f"SELECT count({column}), count(try_cast({column} AS DOUBLE)) FROM {scan}"
    ((cells, numbers),) = tables.execute(query)
    return bool(cells == numbers and cells > 0)


def read_nodes(
    tables: DuckTables,
    scan: str,
    columns: NodeColumns,
    folder: Path,
    *,
    dtype: str,
    progress: Progress | None,
) -> dict[str, Any]:
    """Write ``ids.parquet``, labels, split and features; return counts, classes and notes."""
    import pyarrow
    import pyarrow.parquet

    kind = tables.columns(scan)[columns.id]
    number = kind in INTEGERS
    ((n, missing),) = tables.execute(
        f"SELECT count(*), count(*) - count({identifier(columns.id)}) FROM {scan}"
    )
    if n == 0:
        raise FileFormatError("The node table has no row.")
    if missing:
        raise FileFormatError(f"{missing:,} rows of the node table have no {columns.id}.")
    classes = _classes(tables, scan, columns.label)
    codes = {name: code for code, name in enumerate(classes)}
    means, notes = _means(tables, scan, columns)
    width = len(columns.names)
    features = new_array(folder / "features.npy", (n, width), dtype) if width else None
    labels = new_array(folder / "labels.npy", (n,), np.int32)
    parts = new_array(folder / "split.npy", (n,), np.int8)
    id_type = pyarrow.int64() if number else pyarrow.string()
    schema = pyarrow.schema([("id", id_type), ("i", pyarrow.int64())])
    done = 0
    with pyarrow.parquet.ParquetWriter(folder / "ids.parquet", schema) as writer:
        for batch in tables.stream(_query(scan, columns, number, means), ordered=True, rows=ROWS):
            rows = slice(done, done + batch.num_rows)
            places = np.arange(rows.start, rows.stop)
            ids = batch.column("id").cast(id_type)
            writer.write_batch(pyarrow.record_batch([ids, pyarrow.array(places)], schema=schema))
            labels[rows] = _codes(batch, "label", codes)
            parts[rows] = _parts(batch)
            if features is not None:
                features[rows] = _block(batch, columns, done)
            done = rows.stop
            if progress is not None:
                progress(done, n, "nodes")
    if done != n:
        raise FileFormatError("The node table changed while it was read. Start anew.")
    for array in (labels, parts, *([] if features is None else [features])):
        array.flush()
    if columns.skipped:
        notes.append(f"Left out, as they are text: {', '.join(columns.skipped[:5])}.")
    return {
        "n": n,
        "classes": classes,
        "feature_names": columns.names,
        "numbers": number,
        "notes": notes,
    }


def _query(scan: str, columns: NodeColumns, number: bool, means: dict[str, float]) -> str:
    id_ = identifier(columns.id)
    fields = [f"{id_ if number else f'CAST({id_} AS VARCHAR)'} AS id"]
    for name, column in (("label", columns.label), ("split", columns.split)):
        fields.append(
            f"CAST({identifier(column)} AS VARCHAR) AS {name}" if column else f"NULL AS {name}"
        )
    for k, name in enumerate(columns.features):
        column = identifier(name)
        if name in columns.lists:
            fields.append(f"{column} AS f{k}")
        else:
            fields.append(f"coalesce(CAST({column} AS DOUBLE), {means[name]!r}) AS f{k}")
    return f"SELECT {', '.join(fields)} FROM {scan}"


def _classes(tables: DuckTables, scan: str, label: str | None) -> list[Any]:
    """Return the distinct labels, rising; integers where all of them are."""
    if label is None:
        return []
    text = f"CAST({identifier(label)} AS VARCHAR)"
    rows = tables.execute(
        f"SELECT DISTINCT {text} AS c FROM {scan} WHERE {text} IS NOT NULL AND {text} <> '' "
        "ORDER BY c"
    )
    return [row[0] for row in rows]


def _means(
    tables: DuckTables, scan: str, columns: NodeColumns
) -> tuple[dict[str, float], list[str]]:
    """Return each column's mean, which stands in for what is missing, and a note on it."""
    single = [name for name in columns.features if name not in columns.lists]
    if not single:
        return {}, []
    asked = ", ".join(
        f"avg(CAST({identifier(name)} AS DOUBLE)), count(*) - count({identifier(name)})"
        for name in single
    )
    (row,) = tables.execute(f"SELECT {asked} FROM {scan}")
    means = {name: float(row[2 * k] or 0.0) for k, name in enumerate(single)}
    for name, mean in means.items():
        if not np.isfinite(mean):
            raise FileFormatError(f"Column {name!r} of the node table holds NaN or infinity.")
    empty = sum(row[1::2])
    noun = f"{empty:,} missing values were replaced by the mean of their columns."
    return means, [noun] if empty else []


def _codes(batch: Any, name: str, codes: dict[str, int]) -> NDArray[np.int32]:
    column = batch.column(name)
    if not codes or column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int32)
    encoded = column.dictionary_encode()
    table = np.array([codes.get(each, -1) for each in encoded.dictionary.to_pylist()] + [-1])
    places = encoded.indices.fill_null(len(table) - 1).to_numpy(zero_copy_only=False)
    return np.asarray(table[places], dtype=np.int32)


def _parts(batch: Any) -> NDArray[np.int32]:
    column = batch.column("split")
    if column.null_count < len(column):
        for word in column.unique().to_pylist():
            if word is not None and word.strip().lower() not in PARTS:
                raise FileFormatError(
                    f"The split column says {word!r}; it must say train, val, calibration, test "
                    "or nothing."
                )
    known = {
        word: PARTS[word.strip().lower()]
        for word in (column.unique().to_pylist() if column.null_count < len(column) else [])
        if word is not None
    }
    codes = _codes(batch, "split", known)
    codes[codes < 0] = 0
    return codes


def _block(batch: Any, columns: NodeColumns, done: int) -> NDArray[Any]:
    """Return the features of a batch, shape (rows, f)."""
    parts: list[NDArray[Any]] = []
    for k, name in enumerate(columns.features):
        column = batch.column(f"f{k}")
        if name in columns.lists:
            flat = column.flatten().to_numpy(zero_copy_only=False)
            parts.append(flat.reshape(len(column), columns.lists[name]))
        else:
            parts.append(column.to_numpy(zero_copy_only=False)[:, None])
    block = np.concatenate(parts, axis=1, dtype=np.float64)
    bad = ~np.isfinite(block)
    if bad.any():
        row, place = (int(each[0]) for each in np.nonzero(bad))
        raise FileFormatError(
            f"Features must be finite; {columns.names[place]!r} is {block[row, place]} in row "
            f"{done + row + 1:,} of the node table."
        )
    return block
