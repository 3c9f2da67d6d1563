"""Checkpoints: one safetensors file, replaced as a whole, never a pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from graphheat.errors import CheckpointError, MissingPathError
from graphheat.io.atomic import replacing

SCHEMA = 1
FILENAME = "checkpoint.safetensors"


def write(
    path: str | os.PathLike[str], header: Mapping[str, Any], tensors: Mapping[str, Tensor]
) -> None:
    """Write tensors and a JSON header to ``path``, aside first, then by renaming."""
    text = json.dumps({"schema": SCHEMA, **header}, sort_keys=True)
    with replacing(path) as aside:
        save_file({k: t.contiguous() for k, t in tensors.items()}, aside, {"graphheat": text})


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return header and tensors of a checkpoint, or raise with what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise MissingPathError(f"There is no checkpoint at {path}.")
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {}).get("graphheat", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, OSError) as error:
        raise CheckpointError(f"{path} is damaged and cannot be read ({error}).") from error
    if not isinstance(header, dict) or not isinstance(header.get("schema"), int):
        raise CheckpointError(f"{path} is a safetensors file, but not one of graphheat's.")
    if header["schema"] > SCHEMA:
        raise CheckpointError(
            f"{path} has schema {header['schema']}; this version reads up to {SCHEMA}. "
            "Upgrade graphheat."
        )
    return header, tensors


def pack_text(value: Any) -> Tensor:
    """Return JSON-able data as a byte tensor, for lists too long for a header."""
    return torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)


def unpack_text(tensor: Tensor) -> Any:
    """Undo :func:`pack_text`."""
    return json.loads(tensor.numpy().tobytes().decode())
