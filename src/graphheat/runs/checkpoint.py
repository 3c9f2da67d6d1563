"""Checkpoints: one safetensors file, replaced as a whole, never a pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from graphheat.errors import CheckpointError, MissingPathError
from graphheat.io.atomic import replacing
from graphheat.runs.former import current_header

SCHEMA = 2
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
        save_file(whole, aside, {"graphheat": text})


def read(path: str | os.PathLike[str]) -> tuple[Header, Arrays]:
    """Return header and arrays of a checkpoint, or raise with what is wrong with it.

    A header of an earlier schema is brought to the present one.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingPathError(f"There is no checkpoint at {path}.")
    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {}).get("graphheat", "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, OSError) as error:
        raise CheckpointError(f"{path} is damaged and cannot be read ({error}).") from error
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
        except (AttributeError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} lacks {error}; it is damaged.") from error
    return header, arrays


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
    found = {**header, **header.get("settings", {})}
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
