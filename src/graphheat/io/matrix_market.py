"""The Matrix Market text format, parsed without trust.

SciPy's reader is faster, but a damaged file can end the process in it (a last line without a line
break, a size of zero); this one answers every file with a matrix or a sentence.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphHeatError
from graphheat.io.archive import existing_file, read_bytes, reason_of
from graphheat.memory import check_nodes_fit

_BANNER = re.compile(
    r"%%MatrixMarket\s+matrix\s+(coordinate|array)\s+(real|double|integer|pattern|complex)"
    r"\s+(general|symmetric|skew-symmetric|hermitian)\s*",
    re.IGNORECASE,
)
_MIRRORED = {"general": 0.0, "symmetric": 1.0, "hermitian": 1.0, "skew-symmetric": -1.0}


def parse_matrix(path: str | os.PathLike[str]) -> sp.coo_array:
    """Return the real matrix of a Matrix Market file.

    Symmetric files store one triangle; the matrix has both. Entries that are named twice add up.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edge.mtx"
    >>> lines = ["%%MatrixMarket matrix coordinate pattern symmetric", "2 2 1", "2 1"]
    >>> _ = path.write_text(chr(10).join(lines))
    >>> parse_matrix(path).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    path = existing_file(path)
    data = read_bytes(path)
    try:
        return _parse(data.decode("utf-8-sig"), path, len(data))
    except GraphHeatError:
        raise
    except UnicodeDecodeError:
        reason = "it is not text"
    except (ValueError, OverflowError) as error:
        reason = reason_of(error)
    raise FileFormatError(f"{path} is not a whole Matrix Market file: {reason}.")


def _parse(text: str, path: Path, length: int) -> sp.coo_array:
    """Parse the file's text; every ValueError is a reason to refuse it."""
    banner, _, rest = text.partition("\n")
    kind = _BANNER.fullmatch(banner)
    if kind is None:
        raise ValueError(
            "its first line must be a banner such as "
            "'%%MatrixMarket matrix coordinate real symmetric'"
        )
    layout, field, symmetry = (word.lower() for word in kind.groups())
    if field == "complex":
        raise ValueError("a graph needs real numbers, and it holds complex ones")
    size, body = _size(rest)
    if len(size) != (3 if layout == "coordinate" else 2):
        raise ValueError(f"the size line of a {layout} matrix cannot be {size}")
    rows, columns = size[:2]
    if max(rows, columns) >= 2**31:
        raise ValueError(f"a matrix of {rows:,} × {columns:,} is too large")
    check_nodes_fit(max(rows, columns), length, path)
    if symmetry != "general" and rows != columns:
        raise ValueError(f"a {symmetry} matrix cannot be {rows} × {columns}")
    values = _numbers(body)
    if layout == "array":
        i, j, data = _array_entries(values, rows, columns, symmetry)
    else:
        i, j, data = _coordinate_entries(values, size, pattern=field == "pattern")
    if symmetry == "skew-symmetric" and np.any(i == j):
        raise ValueError("a skew-symmetric matrix has no diagonal")
    if symmetry != "general":
        off = i != j
        data = np.r_[data, _MIRRORED[symmetry] * data[off]]
        i, j = np.r_[i, j[off]], np.r_[j, i[off]]
    return sp.coo_array((data, (i, j)), shape=(rows, columns))


def _size(text: str) -> tuple[list[int], str]:
    """Return the numbers of the size line, and what stands below it."""
    start = 0
    for line in io.StringIO(text, newline="\n"):
        start += len(line)
        if line.strip() and not line.lstrip().startswith("%"):
            cells = line.split()
            if not all(re.fullmatch("[0-9]{1,18}", cell) for cell in cells):
                raise ValueError(f"its size line is {line.strip()[:40]!r}")
            return [int(cell) for cell in cells], text[start:]
    raise ValueError("it has no size line")


def _numbers(body: str) -> NDArray[np.float64]:
    if not body.strip():
        return np.empty((0, 0))
    return np.loadtxt(io.StringIO(body), comments="%", ndmin=2)


def _coordinate_entries(
    values: NDArray[np.float64], size: list[int], *, pattern: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    entries, width = size[2], 2 if pattern else 3
    if len(values) != entries:
        raise ValueError(f"it has {len(values):,} entries where its size line says {entries:,}")
    if not entries:
        values = np.empty((0, width))
    if values.shape[1] != width:
        raise ValueError(f"its entries have {values.shape[1]} numbers instead of {width}")
    for place, end in enumerate(size[:2]):
        bad = (values[:, place] != np.round(values[:, place])) | ~(
            (values[:, place] >= 1) & (values[:, place] <= end)
        )
        if bad.any():
            raise ValueError(
                f"indices must be in [1, {end}], and it has {values[np.argmax(bad), place]:g}"
            )
    i, j = (values[:, place].astype(np.int64) - 1 for place in (0, 1))
    return i, j, np.ones(entries) if pattern else values[:, 2]


def _array_entries(
    values: NDArray[np.float64], rows: int, columns: int, symmetry: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    loops = 0 if symmetry == "skew-symmetric" else 1
    count = rows * columns if symmetry == "general" else rows * (rows - 1 + 2 * loops) // 2
    if values.size != count:
        raise ValueError(f"it has {values.size:,} numbers where its size needs {count:,}")
    if symmetry == "general":
        j, i = (place.ravel() for place in np.indices((columns, rows)))
    else:
        j, i = np.triu_indices(rows, 1 - loops)  # column by column, from the diagonal down
    return i, j, values.ravel()
