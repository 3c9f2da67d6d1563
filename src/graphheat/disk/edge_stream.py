"""The edge files of an ingestion: from ids to row numbers, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk.duck_tables import INTEGERS, DuckTables, identifier
from graphheat.errors import FileFormatError, GraphError
from graphheat.io.edge_columns import SOURCE, TARGET, WEIGHT

LEAST, MOST = 1e-30, 1e30  # weights that float32 holds, and sums of them


@dataclass(frozen=True)
class EdgeTable:
    """Files of one edge list, and which columns are its ends and weight."""

    files: tuple[Path, ...]
    source: str
    target: str
    weight: str | None
    numbers: bool  # both ends are columns of integers
    header: bool | None = None
    delimiter: str | None = None

    def scan(self, tables: DuckTables, files: Sequence[Path] | None = None) -> str:
        """Return what stands after FROM, for all files or some."""
        return tables.scan(files or self.files, header=self.header, delimiter=self.delimiter)


def find_edges(
    tables: DuckTables,
    files: Sequence[Path],
    *,
    source_column: str | None = None,
    target_column: str | None = None,
    weight_column: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
) -> EdgeTable:
    """Return which columns are ends and weight: as named, by usual names, or the first two."""
    types = tables.columns(tables.scan(files, header=header, delimiter=delimiter))
    names = list(types)
    for option, asked in (
        ("source_column", source_column),
        ("target_column", target_column),
        ("weight_column", weight_column),
    ):
        if asked is not None and asked not in types:
            raise GraphError(
                f"{option} names a column that the edge list lacks: {asked!r}. Its columns are "
                f"{', '.join(names)}."
            )
    if len(names) < 2:
        raise FileFormatError(
            f"An edge list needs two columns; {files[0].name} has {len(names)}: {', '.join(names)}."
        )
    lower = {name.lower(): name for name in reversed(names)}

    def usual(words: Sequence[str]) -> str | None:
        return next((lower[word] for word in words if word in lower), None)

    source, target = source_column or usual(SOURCE), target_column or usual(TARGET)
    weight = weight_column or usual(WEIGHT)
    left = [name for name in names if name not in (source, target, weight)]
    unnamed = source is None and target is None
    if unnamed and len(names) > 3:
        raise FileFormatError(
            f"{files[0].name} has {len(names)} columns, and none is called source or target: "
            f"{', '.join(names[:10])}. Pass source_column= and target_column= (--source-column, "
            "--target-column)."
        )
    source = source or left.pop(0)
    target = target or (left.pop(0) if left else None)
    if unnamed and weight is None and left:
        weight = left[0]
    if target is None:
        raise FileFormatError(f"{files[0].name} has one end of its edges alone: {source!r}.")
    numbers = types[source] in INTEGERS and types[target] in INTEGERS
    return EdgeTable(tuple(files), source, target, weight, numbers, header, delimiter)


def ids_of_edges(tables: DuckTables, edges: EdgeTable, out: Path) -> dict[str, Any]:
    """Write ``ids.parquet``: the distinct ids of all edges, rising; return how many they are."""
    scan = edges.scan(tables)
    ends = [_end(name, edges.numbers) for name in (edges.source, edges.target)]
    both = " UNION ALL ".join(f"SELECT {end} AS id FROM {scan}" for end in ends)
    ((missing,),) = tables.execute(f"SELECT count(*) FROM ({both}) WHERE id IS NULL")
    if missing:
        raise FileFormatError(f"{missing:,} ends of edges are missing.")
    distinct = f"SELECT DISTINCT id FROM ({both})"
    tables.execute(
        f"COPY (SELECT id, row_number() OVER (ORDER BY id) - 1 AS i FROM ({distinct})) "
        f"TO '{_escaped(out)}' (FORMAT parquet)"
    )
    ((n,),) = tables.execute(f"SELECT count(*) FROM read_parquet('{_escaped(out)}')")
    if n == 0:
        raise FileFormatError("The edge list has no edge.")
    return {"n": n, "numbers": edges.numbers}


def pairs(
    tables: DuckTables,
    edges: EdgeTable,
    files: Sequence[Path],
    ids: Path,
    *,
    numbers: bool,
    targets: Path | None = None,
    ordered: bool = False,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]]:
    """Yield both ends of edges as row numbers, and their weights.

    ``targets`` numbers the second column, where it does not hold ids of nodes; ``ordered``: in the
    order of the files, which costs a sort.
    """
    scan = edges.scan(tables, files)
    plain = numbers and edges.numbers
    key = "id" if plain else "CAST(id AS VARCHAR)"
    known, others = (
        f"(SELECT {key} AS id, i FROM read_parquet('{_escaped(path)}'))"
        for path in (ids, targets or ids)
    )
    ends = [_end(name, plain) for name in (edges.source, edges.target)]
    weight = ""
    if edges.weight is not None:
        weight = f", try_cast({identifier(edges.weight)} AS DOUBLE) AS w"
    number = ", row_number() OVER () AS row" if ordered else ""
    query = (
        f"SELECT a.i AS u, b.i AS v{', w' if weight else ''} FROM "
        f"(SELECT {ends[0]} AS s, {ends[1]} AS t{weight}{number} FROM {scan}) e "
        f"LEFT JOIN {known} a ON e.s = a.id LEFT JOIN {others} b ON e.t = b.id"
    )
    if ordered:
        query += " ORDER BY row"
    for batch in tables.stream(query, ordered=ordered):
        u, v = batch.column("u"), batch.column("v")
        if u.null_count or v.null_count:
            raise GraphError(_unknown(tables, scan, ends[:1] if targets else ends, known))
        weights = None
        if weight:
            weights = _weights(batch.column("w"), edges.weight)
        yield u.to_numpy(), v.to_numpy(), weights


def _weights(column: Any, name: str | None) -> NDArray[np.float64]:
    if column.null_count:
        raise FileFormatError(f"A weight in column {name!r} is missing or not a number.")
    weights: NDArray[np.float64] = column.to_numpy(zero_copy_only=False)
    bad = ~((weights == 0) | ((weights >= LEAST) & (weights <= MOST)))
    if bad.any():
        raise GraphError(
            f"Edge weights of a disk graph must be 0 or in [{LEAST:g}, {MOST:g}]; got "
            f"{weights[int(np.argmax(bad))]} in column {name!r}."
        )
    return weights


def _unknown(tables: DuckTables, scan: str, ends: Sequence[str], known: str) -> str:
    """Return the sentence about ids that the node table lacks."""
    both = " UNION ALL ".join(f"SELECT {end} AS s FROM {scan}" for end in ends)
    missing = f"SELECT DISTINCT s FROM ({both}) LEFT JOIN {known} k ON s = k.id WHERE k.i IS NULL"
    ((count,),) = tables.execute(f"SELECT count(*) FROM ({missing})")
    some = [row[0] for row in tables.execute(f"SELECT * FROM ({missing}) ORDER BY 1 LIMIT 5")]
    if some == [None]:
        return "An end of an edge is missing. Take such rows out of the edge list."
    shown = ", ".join(repr(each) for each in some) + (", …" if count > 5 else "")
    return (
        f"{count:,} ids of the edges are not in the node table: {shown}. Add them there, or take "
        "those edges out."
    )


def _end(name: str, plain: bool) -> str:
    return identifier(name) if plain else f"CAST({identifier(name)} AS VARCHAR)"


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")
