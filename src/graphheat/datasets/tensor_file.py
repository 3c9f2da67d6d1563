"""Files of tensors that torch has saved, read as arrays; nothing in them is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, MissingDependencyError
from graphheat.memory import check_room

INERT = ("torch_geometric.data.data.Data", "torch_geometric.data.data.BaseData")


class _NamedClass:
    """What a class of PyG's that a file names stands for here: nothing."""


def read_tensors(
    path: Path, names: Sequence[str], advice: str
) -> tuple[dict[str, Any], frozenset[int]]:
    """Return parts of a data set of PyG's as arrays, and into how many graphs each is sliced.

    Parameters
    ----------
    path
        What ``InMemoryDataset.save`` wrote: a mapping of tensors, and one of where graphs begin.
    names
        The tensors that are wanted; ``num_nodes``, a whole number, comes with them.
    advice
        What to do with a file that cannot be read.

    Notes
    -----
    The file is mapped, not unpacked: nothing in it can stand for more bytes than it has. A tensor
    may still repeat one number without end (a stride of 0), so its size is compared with the
    budget before it is copied.
    """
    size = path.stat().st_size
    check_room(size, size, path)
    parts, slices = _loaded(path, advice)
    found: dict[str, Any] = {}
    for name in names:
        if parts.get(name) is not None:
            found[name] = _array(parts[name], size, f"{name} of {path}", advice)
    if "edge_index" not in found:
        raise FileFormatError(f"{path} is no data set of PyG's with an edge_index. {advice}")
    n = parts.get("num_nodes")
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise FileFormatError(f"num_nodes of {path} must be a whole number ≥ 0. {advice}")
        found["num_nodes"] = n
    known = [each for each in slices if each is not None]
    starts = [_array(each, size, f"a slice of {path}", advice) for each in known]
    if any(each.ndim != 1 for each in starts):
        raise FileFormatError(f"{path} is no data set of PyG's: its slices are odd. {advice}")
    return found, frozenset(len(each) - 1 for each in starts)


def _loaded(path: Path, advice: str) -> tuple[Mapping[Any, Any], list[Any]]:
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "fetch_pyg needs torch: pip install 'graphheat[nn]'."
        ) from error
    inert: list[Any] = [(_NamedClass, name) for name in INERT]
    try:
        with torch.serialization.safe_globals(inert):
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # torch raises much, and of many kinds
        raise FileFormatError(
            f"{path} holds more than tensors, or is damaged; it is not loaded. {advice}"
        ) from error
    entries = loaded if isinstance(loaded, tuple) else (loaded,)
    if not entries or not isinstance(entries[0], dict):
        raise FileFormatError(f"{path} is no data set of PyG's with an edge_index. {advice}")
    several = len(entries) > 1 and isinstance(entries[1], dict)
    return entries[0], list(entries[1].values()) if several else []


def _array(value: Any, size: int, what: str, advice: str) -> NDArray[Any]:
    """Return a dense tensor as an array of its own."""
    import torch

    plain = isinstance(value, torch.Tensor) and value.layout == torch.strided
    if not plain or value.device.type != "cpu" or value.is_quantized:
        raise FileFormatError(f"{what} is no dense tensor. {advice}")
    check_room(value.numel() * value.element_size(), size, what)
    if value.dtype == torch.bfloat16:  # which NumPy has not
        value = value.float()
    try:
        return np.array(value.detach().resolve_conj().resolve_neg().numpy())
    except (TypeError, RuntimeError) as error:
        raise FileFormatError(f"{what} is no dense tensor of numbers. {advice}") from error
