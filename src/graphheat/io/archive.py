"""Files of others, opened with care: archives of arrays, and paths that must be files."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, MissingPathError


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return ``path`` when it is a file that can be read.

    Examples
    --------
    >>> existing_file("nowhere.csv")
    Traceback (most recent call last):
        ...
    graphheat.errors.MissingPathError: nowhere.csv does not exist; name a file to read.
    """
    path = Path(path)
    if path.is_dir():
        raise MissingPathError(f"{path} is a folder; name a file to read.")
    if not path.exists():
        raise MissingPathError(f"{path} does not exist; name a file to read.")
    if not os.access(path, os.R_OK):
        raise MissingPathError(f"{path} cannot be read: permission denied.")
    return path


def read_archive(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Return every array of an ``.npz`` file by name; nothing is ever unpickled."""
    path = existing_file(path)
    if not zipfile.is_zipfile(path):
        what = "is empty" if path.stat().st_size == 0 else "is not a whole npz archive"
        raise FileFormatError(f"{path} {what}; it may be damaged or of another format.")
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise _damaged(path, error) from error
        raise FileFormatError(
            f"{path} holds pickled Python objects, which are never loaded; "
            "save plain numeric arrays."
        ) from None
    except (
        EOFError,
        KeyError,
        MemoryError,  # a damaged header may claim any shape
        NotImplementedError,
        OSError,
        RuntimeError,  # encrypted
        SyntaxError,
        TokenError,  # an array's header is Python
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise _damaged(path, error) from error


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
        return f"it lacks {error.args[0]!r}"
    line = (str(error).splitlines() or [""])[0].rstrip(".") or type(error).__name__
    return line if len(line) <= most else line[:most] + "…"


def _damaged(path: Path, error: BaseException) -> FileFormatError:
    return FileFormatError(f"{path} is not a whole npz archive: {reason_of(error)}.")
