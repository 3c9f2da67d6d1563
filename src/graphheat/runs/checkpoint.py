"""Checkpoints: one safetensors file, replaced as a whole, never a pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from graphheat.checks import shown
from graphheat.errors import CheckpointError, MissingPathError, WriteError
from graphheat.io.archive import as_path, existing_file, exists, read_bytes, reason_of
from graphheat.io.atomic import replacing
from graphheat.runs.former import current_header

SCHEMA = 2
MOST_HEADER = 100_000_000  # bytes, as safetensors has it
FILENAME = "checkpoint.safetensors"

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def write(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays and a JSON header to ``path``, aside first, then by renaming."""
    text = json.dumps({"schema": SCHEMA, **header}, sort_keys=True)
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with replacing(path) as aside:
        # Not save_file: that writes to a file of its own first, which a kill leaves behind.
        try:
            data = save(whole, {"graphheat": text})
        except SafetensorError as error:
            raise WriteError(f"{path} cannot be written: {reason_of(error)}.") from error
        aside.write_bytes(data)


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """Return header and arrays of a checkpoint, or raise with what is wrong with it.

    A header of an earlier schema is brought to the present one.
    """
    path = as_path(path)
    if not exists(path):
        raise MissingPathError(f"There is no checkpoint at {shown(path, 200)}.")
    data = read_bytes(existing_file(path, noted=False))
    try:
        header = json.loads(_metadata(data).get("graphheat", "null"))
        arrays = load(data)
    except (
        *(SafetensorError, ValueError, OSError, KeyError, TypeError, AttributeError),
        *(RecursionError, OverflowError, MemoryError),
    ) as error:
        raise CheckpointError(
            f"{path} is damaged and cannot be read ({reason_of(error)})."
        ) from error
    if not isinstance(header, dict) or not isinstance(header.get("schema"), int):
        raise CheckpointError(f"{path} is a safetensors file, but not one of graphheat's.")
    if header["schema"] > SCHEMA:
        raise CheckpointError(
            f"{path} has schema {header['schema']}; this version reads up to {SCHEMA}. "
            "Upgrade graphheat."
        )
    if header["schema"] < SCHEMA:
        try:
            header = current_header(header)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is damaged: {reason_of(error)}.") from error
    return header, arrays


def _metadata(data: bytes) -> dict[str, str]:
    """Return the words in the header of a safetensors file, which begins with its length."""
    length = int.from_bytes(data[:8], "little")
    if length > min(len(data) - 8, MOST_HEADER):
        raise ValueError("its header is longer than the file")
    words = json.loads(data[8 : 8 + length])
    found = words.get("__metadata__", {})
    return {name: text for name, text in found.items() if isinstance(text, str)}


def check_same(
    path: str | os.PathLike[str], header: Mapping[str, Any], wanted: Mapping[str, Any], graph: str
) -> None:
    """Raise where a checkpoint is of another run than the one that is wanted.

    Parameters
    ----------
    header
        Of the checkpoint: ``recipe``, ``fingerprint``, ``seed``, ``settings``, and what else
        decides a run.
    wanted
        The same of the run that is to be resumed.
    graph
        Its graph's name, for the message.
    """
    if header.get("recipe") != wanted["recipe"]:
        raise CheckpointError(
            f"{path} holds a run of another recipe than {wanted['recipe']!r} "
            f"({header.get('recipe')!r}). Start anew with --force."
        )
    if header.get("fingerprint") != wanted["fingerprint"]:
        raise CheckpointError(f"{path} belongs to another graph than {graph}.")
    # Settings first: what else differs, such as how a kernel was computed, follows from them.
    settings = header.get("settings", {})
    if not isinstance(settings, dict):
        raise CheckpointError(f"{path} is damaged: settings must be a mapping.")
    found = {**header, **settings}
    asked = json.loads(json.dumps({**wanted["settings"], **wanted}))  # as a file gives it back
    for name, value in asked.items():
        if name != "settings" and found.get(name) != value:
            raise CheckpointError(
                f"{path} was started with {name}={found.get(name)!r}, not {value!r}. "
                "Resume with the same settings, or start anew with --force."
            )


def pack_text(value: object) -> NDArray[np.uint8]:
    """Return JSON-able data as bytes, for lists too long for a header."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def unpack_text(array: NDArray[np.uint8]) -> Any:
    """Undo :func:`pack_text`."""
    return json.loads(array.tobytes().decode())


def with_prefix(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the entries whose names start with ``prefix``, without it."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
