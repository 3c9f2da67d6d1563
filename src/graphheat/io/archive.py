"""Files of others, opened with care: archives of arrays, and paths that must be files."""

from __future__ import annotations

import math
import os
import stat
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphheat.checks import shown
from graphheat.errors import FileFormatError, MissingPathError, ParameterError
from graphheat.memory import check_room
from graphheat.protected_inputs import note_input

MOST_MEMBERS = 10_000  # of an archive

# What NumPy and zipfile raise for damaged files; an array's header is a Python literal.
DAMAGE = (
    *(ValueError, EOFError, KeyError, OSError, MemoryError, OverflowError),
    *(SyntaxError, TokenError, RecursionError, TypeError, AttributeError),
    *(NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error),
)


def as_path(path: Any) -> Path:
    """Return ``path`` as one of pathlib's, or raise unless it is a string or a path.

    Examples
    --------
    >>> as_path(None)
    Traceback (most recent call last):
        ...
    graphheat.errors.ParameterError: A path must be a string or a Path; got NoneType.
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterError(f"A path must be a string or a Path; got {type(path).__name__}.")
    return Path(path)


def exists(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is anything at ``path``; a name that no file system has is not there."""
    try:
        return as_path(path).exists()
    except OSError:
        return False


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is a folder at ``path``."""
    try:
        return as_path(path).is_dir()
    except (OSError, ValueError):
        return False


def existing_file(path: str | os.PathLike[str], *, noted: bool = True) -> Path:
    """Return ``path`` when it is a regular file that can be read.

    Pipes, sockets and devices are refused: they may have no end, or wait for ever. Unless ``noted``
    is False, the file is noted as one that a command must not replace.

    Examples
    --------
    >>> existing_file("nowhere.csv")
    Traceback (most recent call last):
        ...
    graphheat.errors.MissingPathError: nowhere.csv does not exist; name a file to read.
    """
    path = as_path(path)
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingPathError(f"{path} does not exist; name a file to read.") from None
    except (OSError, ValueError) as error:  # a name too long, a folder without permission, NUL
        raise MissingPathError(f"{shown(path)} cannot be read: {_reason(error)}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise MissingPathError(f"{path} is a folder; name a file to read.")
    if not stat.S_ISREG(status.st_mode):
        raise MissingPathError(f"{path} is a pipe, socket or device; name a regular file to read.")
    if not os.access(path, os.R_OK):
        raise MissingPathError(f"{path} cannot be read: permission denied.")
    if noted:
        note_input(status)
    return path


def read_bytes(path: Path) -> bytes:
    """Return what is in a file, as much as its size says."""
    size = path.stat().st_size
    check_room(size, size, path)
    try:
        with path.open("rb") as stream:
            return stream.read(size)
    except OSError as error:
        raise MissingPathError(f"{path} cannot be read: {_reason(error)}.") from None


class Members(dict[str, NDArray[Any]]):
    """Arrays of an archive by name; ``others`` are names of members that were not read."""

    others: tuple[str, ...] = ()


def read_archive(
    path: str | os.PathLike[str], wanted: Callable[[str], bool] | None = None
) -> Members:
    """Return the arrays of an ``.npz`` file by name; nothing is ever unpickled.

    Parameters
    ----------
    wanted
        Tells by its name whether an array is read; None: all are.
    """
    path = existing_file(path)
    size = path.stat().st_size
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            return _members(archive, path, size, wanted)
    except FileFormatError:
        raise
    except DAMAGE as error:
        if size == 0:
            raise FileFormatError(
                f"{path} is empty; it may be damaged or of another format."
            ) from None
        if isinstance(error, zipfile.BadZipFile) and "not a zip file" in str(error):
            raise FileFormatError(
                f"{path} is not a whole npz archive; it may be damaged or of another format."
            ) from None
        raise FileFormatError(f"{path} is not a whole npz archive: {reason_of(error)}.") from error


def _members(
    archive: zipfile.ZipFile, path: Path, size: int, wanted: Callable[[str], bool] | None
) -> Members:
    entries: dict[str, zipfile.ZipInfo] = {}
    others = []
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name in entries:
            raise FileFormatError(f"{path} holds {shown(name)!r} twice; it is damaged.")
        if name == entry.filename or (wanted is not None and not wanted(name)):
            others.append(name)
        else:
            entries[name] = entry
    if len(entries) + len(others) > MOST_MEMBERS:
        raise FileFormatError(f"{path} holds more than {MOST_MEMBERS:,} arrays.")
    # No member unpacks to more than its entry says: zipfile stops there.
    check_room(sum(entry.file_size for entry in entries.values()), size, path)
    found = Members()
    for name, entry in entries.items():
        with archive.open(entry) as stream:
            found[name] = read_array(stream, entry.file_size, path)
            if stream.read(1):
                raise FileFormatError(f"{path} is not a whole npz archive: {shown(name)!r} is odd.")
    found.others = tuple(others)
    return found


def read_array(stream: IO[bytes], size: int, path: Path) -> NDArray[Any]:
    """Return the array of an ``.npy`` file of ``size`` bytes, which must be as long as it says."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        header = np.lib.format.read_array_header_1_0(stream)
    elif version in ((2, 0), (3, 0)):
        header = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"arrays of version {version} are not known")
    shape, fortran, dtype = header
    if dtype.hasobject:
        raise FileFormatError(
            f"{path} holds pickled Python objects, which are never loaded; "
            "save plain numeric arrays."
        )
    if dtype.kind not in "biufcSUMm" or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise ValueError(f"an array of {dtype} and shape {shape} is none that a graph has")
    count = math.prod(shape)
    if count * dtype.itemsize > size:
        raise ValueError(f"an array of shape {shape} ends early")
    data = stream.read(count * dtype.itemsize)
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def reason_of(error: BaseException, most: int = 200) -> str:
    r"""Return the first line of what another library says, cut to fit in a sentence.

    Examples
    --------
    >>> reason_of(ValueError("bad magic.\nmore"))
    'bad magic'
    >>> reason_of(KeyError("words"))
    "it lacks 'words'"
    """
    if isinstance(error, KeyError) and error.args:
        return f"it lacks {shown(error.args[0])!r}"
    line = (str(error).splitlines() or [""])[0].rstrip(".") or type(error).__name__
    return line if len(line) <= most else line[:most] + "…"


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return (text or type(error).__name__).lower()
