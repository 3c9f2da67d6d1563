"""What the folder of a disk graph must hold: checked before compiled loops walk it.

A folder may come from anywhere. When it is opened, the header is compared with the declarations
below, as are the type and the shape of every array, and what grows with nodes is read once: row
ends rise, ids and places are in range. What grows with edges or with sparse features is read once
per process, when it is first asked for (:func:`check_entries`, :func:`check_rows`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError
from graphheat.graph.split import CODES

MOST_NODES = 2**31 - 2  # places are int32
STRIP = 1 << 22  # entries that are looked at at once


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be.

    Attributes
    ----------
    dtypes
        The types it may have, exactly.
    shape
        A name of the sizes below per dimension; a name that is none of them is free.
    low, high
        Range of its entries, ``high`` a name or a number; None: any, or checked when it is used.
    """

    dtypes: tuple[str, ...]
    shape: tuple[str, ...]
    low: int = 0
    high: str | int | None = None


# Sizes: nodes, ends (nodes + 1), entries, classes, features.
ARRAYS: Mapping[str, ArrayRule] = {
    "indptr": ArrayRule(("int64",), ("ends",)),
    "indices": ArrayRule(("int32",), ("entries",)),
    "weights": ArrayRule(("float64",), ("entries",)),
    "labels": ArrayRule(("int32",), ("nodes",), -1, "classes"),
    "split": ArrayRule(("int8",), ("nodes",), 0, len(CODES)),
    "components": ArrayRule(("int32",), ("nodes",), 0, "components"),
    "rank": ArrayRule(("int32",), ("nodes",), 0, "nodes"),
    "order": ArrayRule(("int32",), ("nodes",), 0, "nodes"),
    "features": ArrayRule(("float32", "float16"), ("nodes", "features")),
    "feature_ends": ArrayRule(("int64",), ("ends",)),
    "feature_columns": ArrayRule(("int32",), ("stored",)),
    "feature_values": ArrayRule(("float32",), ("stored",)),
    "id_order": ArrayRule(("int32",), ("nodes",), 0, "nodes"),
    "id_numbers": ArrayRule(("int64",), ("nodes",)),
    "id_offsets": ArrayRule(("int64",), ("ends",)),
    "id_text": ArrayRule(("uint8",), ("text",)),
}
NEEDED = ("indptr", "indices", "labels", "split", "components", "id_order")
ENDS = {"indptr": "indices", "feature_ends": "feature_columns", "id_offsets": "id_text"}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_names(value: Any) -> bool:
    plain = isinstance(value, list) and all(isinstance(e, (str, int, float, bool)) for e in value)
    return plain and len(set(value)) == len(value)


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_count(each) for each in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


HEADER: Mapping[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "notes": _is_texts,
    "classes": _is_names,
    "label_counts": _is_counts,
    "feature_names": _is_texts,
    **dict.fromkeys(
        (
            "nodes",
            "entries",
            "edges",
            "self_loops",
            "components",
            "largest_component",
            "isolated",
            "longest_row",
            "features",
        ),
        _is_count,
    ),
}


def check_header(header: Mapping[str, Any], where: object) -> None:
    """Raise with the first entry of a header that is otherwise than declared."""
    for name, fits in HEADER.items():
        if name not in header or not fits(header[name]):
            raise damaged(where, f"its {name!r} is missing or of another kind")
    if header["nodes"] > MOST_NODES:
        raise damaged(where, f"it has {header['nodes']:,} nodes")
    if len(header["label_counts"]) != len(header["classes"]):
        raise damaged(where, "its classes and their counts differ in number")
    for name, facts in header["arrays"].items():
        known = isinstance(facts, dict) and all(_is_count(facts.get(k)) for k in ("bytes", "crc32"))
        if name not in ARRAYS or not known:
            raise damaged(where, f"it lists an array {name[:40]!r} that it cannot have")
    listed = header["arrays"].keys()
    lacking = [name for name in NEEDED if name not in listed]
    if not listed & {"id_numbers", "id_offsets"}:
        lacking.append("id_numbers")
    elif "id_offsets" in listed and "id_text" not in listed:
        lacking.append("id_text")
    if ("rank" in listed) != ("order" in listed):
        lacking.append("rank" if "order" in listed else "order")
    if header["features"] and "features" not in listed:
        sparse = ("feature_ends", "feature_columns", "feature_values")
        lacking += [name for name in sparse if name not in listed]
    if lacking:
        raise damaged(where, f"it lacks {lacking[0]!r}")


def check_arrays(
    header: Mapping[str, Any], array: Callable[[str], NDArray[Any]], where: object
) -> None:
    """Raise with the first array that is otherwise than declared; what grows with edges stays."""
    sizes = {
        "nodes": header["nodes"],
        "ends": header["nodes"] + 1,
        "entries": header["entries"],
        "classes": len(header["classes"]),
        "features": header["features"],
        "components": header["components"],
    }
    arrays = {name: array(name) for name in header["arrays"]}
    for name, found in arrays.items():
        rule = ARRAYS[name]
        if (
            found.dtype not in [np.dtype(each) for each in rule.dtypes]
            or not found.flags.c_contiguous
        ):
            raise damaged(where, f"{name} cannot be of {found.dtype}")
        if found.ndim != len(rule.shape):
            raise damaged(where, f"{name} has the shape {found.shape}")
        for letter, size in zip(rule.shape, found.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise damaged(where, f"{name} has {size:,} where {sizes[letter]:,} are expected")
        if rule.high is not None:
            high = sizes[rule.high] if isinstance(rule.high, str) else rule.high
            _check_range(name, found, rule.low, high, where)
    for name, ended in ENDS.items():
        if name in arrays:
            _check_ends(name, arrays[name], len(arrays[ended]), where)
    longest = max((int(np.diff(part).max()) for part in _ends(arrays["indptr"])), default=0)
    if longest != header["longest_row"]:
        raise damaged(where, f"its longest row has {longest:,} entries, not those it says")
    if "rank" in arrays:
        for first, rank in _parts(arrays["rank"]):
            if (arrays["order"][rank] != np.arange(first, first + len(rank))).any():
                raise damaged(where, "rank and order do not belong together")


_checked: set[tuple[Any, ...]] = set()  # files that this process has read and found right


def check_rows(
    file: Path, columns: NDArray[Any], ends: NDArray[np.int64], high: int, where: object
) -> None:
    """Raise where columns are not in [0, high), rising in each row; once per process."""
    if (mark := _mark(file)) in _checked:
        return
    starts = np.zeros(0, dtype=np.int64)
    for first, part in _parts(columns, 1):
        if part.min() < 0 or part.max() >= high:
            raise damaged(where, f"{file.stem} holds a number outside [0, {high:,})")
        rising = part[1:] > part[:-1]
        a, b = np.searchsorted(ends, [first + 1, first + len(part)])
        starts = np.asarray(ends[a:b]) - first - 1
        rising[starts[starts < len(rising)]] = True
        if not rising.all():
            raise damaged(where, f"{file.stem} does not rise in every row")
    _checked.add(mark)


def check_entries(file: Path, values: NDArray[Any], *, positive: bool, where: object) -> None:
    """Raise where values are not finite, or not above 0 if ``positive``; once per process."""
    if (mark := _mark(file)) in _checked:
        return
    for _, part in _parts(values):
        if not np.isfinite(part).all() or (positive and part.min() <= 0):
            raise damaged(where, f"{file.stem} must be finite{' and positive' * positive}")
    _checked.add(mark)


def _mark(file: Path) -> tuple[Any, ...]:
    facts = file.stat()
    return str(file.resolve()), facts.st_ino, facts.st_size, facts.st_mtime_ns


def _parts(array: NDArray[Any], overlap: int = 0) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield (first, part) of ranges that follow each other, or share ``overlap`` entries."""
    for first in range(0, max(len(array) - overlap, min(len(array), 1)), STRIP):
        yield first, np.asarray(array[first : first + STRIP + overlap])


def _ends(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    return (part for _, part in _parts(array, 1) if len(part) > 1)


def _check_range(name: str, array: NDArray[Any], low: int, high: int, where: object) -> None:
    for _, part in _parts(array):
        if len(part) and (part.min() < low or part.max() >= high):
            raise damaged(where, f"{name} holds a number outside [{low}, {high:,})")


def _check_ends(name: str, ends: NDArray[Any], total: int, where: object) -> None:
    if ends[0] != 0 or ends[-1] != total or any((np.diff(p) < 0).any() for p in _ends(ends)):
        raise damaged(where, f"{name} does not rise from 0 to {total:,}")


def damaged(where: object, what: str) -> FileFormatError:
    """Return the error about a folder that is not as it was written."""
    text = re.sub(r"\s+", " ", what)
    return FileFormatError(f"{where} is damaged: {text}. Copy it again, or ingest the graph again.")
