"""Arrays and words as one compressed text, and back: the data of a page."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError
from graphheat.explorer.schema import ARRAYS, MAGIC

ALIGN = 8


def pack(header: Mapping[str, Any], blocks: Mapping[str, NDArray[Any]]) -> str:
    """Return header and arrays as base64 of gzip, the same for the same input.

    Inside: ``GHX1``, the header's length (uint32, little endian), the header as JSON, and the
    arrays, each at a multiple of 8 bytes from the end of the header; ``header["blocks"]`` says
    where. gzip's own checksum tells a damaged page.

    Examples
    --------
    >>> text = pack({"name": "pair"}, {"x": np.array([1, 2], dtype=np.uint8)})
    >>> header, blocks = unpack(text)
    >>> header["name"], blocks["x"]
    ('pair', array([1, 2], dtype=uint8))
    """
    body, places = bytearray(), {}
    for name, array in blocks.items():
        body += bytes(-len(body) % ALIGN)
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        if data.dtype.name not in ARRAYS:
            raise TypeError(f"block {name!r} has the type {data.dtype}, which pages do not know.")
        places[name] = {"type": data.dtype.name, "offset": len(body), "length": int(data.size)}
        body += data.tobytes()
    # ASCII: a lone surrogate in a name could not be encoded otherwise.
    words = json.dumps({**header, "blocks": places}, allow_nan=False).encode("ascii")
    words += b" " * (-(len(words) + 8) % ALIGN)
    whole = MAGIC + struct.pack("<I", len(words)) + words + bytes(body)
    return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode("ascii")


def unpack(text: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Undo :func:`pack`; arrays come back flat."""
    try:
        whole = gzip.decompress(base64.b64decode(text, validate=True))
    except (binascii.Error, zlib.error, OSError, EOFError, ValueError) as error:
        raise FileFormatError(f"The page's data are damaged: {error}.") from error
    if whole[:4] != MAGIC:
        raise FileFormatError("The page's data do not start as they should.")
    (length,) = struct.unpack("<I", whole[4:8])
    header = json.loads(whole[8 : 8 + length])
    start = 8 + length
    blocks = {
        name: np.frombuffer(
            whole, dtype=np.dtype(place["type"]).newbyteorder("<"),
            count=place["length"], offset=start + place["offset"],
        )
        for name, place in header["blocks"].items()
    }  # fmt: skip
    return header, blocks
