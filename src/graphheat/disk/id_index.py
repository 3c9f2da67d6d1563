"""The ids of a graph on disk as arrays: as they come, and in rising order, to be found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphheat.disk.array_folder import new_array
from graphheat.disk.duck_tables import DuckTables


def write_ids(tables: DuckTables, folder: Path, n: int, *, numbers: bool) -> None:
    """Write the ids of ``ids.parquet``, ``numbers`` or text, and the order that sorts them."""
    ids = f"read_parquet('{folder / 'ids.parquet'}')"
    order = new_array(folder / "id_order.npy", (n,), np.int32)
    done = 0
    for batch in tables.stream(f"SELECT i FROM {ids} ORDER BY id", ordered=True):
        order[done : done + len(batch)] = batch.column("i").to_numpy()
        done += len(batch)
    order.flush()
    stream = tables.stream(f"SELECT id FROM {ids} ORDER BY i", ordered=True)
    done = 0
    if numbers:
        values = new_array(folder / "id_numbers.npy", (n,), np.int64)
        for batch in stream:
            values[done : done + len(batch)] = batch.column("id").to_numpy()
            done += len(batch)
        values.flush()
        return
    offsets = np.zeros(n + 1, dtype=np.int64)
    with (folder / "id_text.raw").open("wb") as text:
        for batch in stream:
            column = batch.column("id").cast("large_string")
            ends = np.frombuffer(column.buffers()[1], np.int64)[column.offset :]
            ends = ends[: len(column) + 1]
            text.write(memoryview(column.buffers()[2])[int(ends[0]) : int(ends[-1])])
            offsets[done + 1 : done + len(column) + 1] = offsets[done] + ends[1:] - ends[0]
            done += len(column)
    np.save(folder / "id_offsets.npy", offsets)
    raw = np.memmap(folder / "id_text.raw", np.uint8, "r") if offsets[-1] else None
    text_array = new_array(folder / "id_text.npy", (int(offsets[-1]),), np.uint8)
    if raw is not None:
        text_array[:] = raw
    text_array.flush()
