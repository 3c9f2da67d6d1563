"""What a page's data hold, declared once: header, blocks of numbers, splits.

:func:`check` holds what is packed against it; ``scripts/make_schema.py`` writes it as
``frontend/src/schema.ts``, by which the page checks what it unpacks.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

Blocks = dict[str, NDArray[Any]]
Scope = Literal["graph", "run", "calibration"]

MAGIC = b"GHX1"
SPLITS = ("", "train", "validation", "test")  # codes of the block "split"
SOURCES = 12  # of each explained node, the largest
NO_SOURCE = 2**32 - 1  # in place of a source, where there are fewer
FEATURES = 6  # of each explained node, the largest
HOPS = 6  # distances distinguished: 0 … 4, and 5 or more
PROTOCOL = 1  # between a page and its server
UNIT = 65535  # a share or a place of 1, as uint16

# Types that a block may have, and what JavaScript calls an array of them.
ARRAYS = {
    "uint8": "Uint8Array",
    "uint16": "Uint16Array",
    "uint32": "Uint32Array",
    "int8": "Int8Array",
    "int16": "Int16Array",
    "float32": "Float32Array",
    "float64": "Float64Array",
}


@dataclass(frozen=True)
class Block:
    """One array of a page.

    Attributes
    ----------
    shape
        Numbers, and words for numbers that depend on the page: ``nodes``, ``edges`` and ``classes``
        are in the header; any other word is the length of the first block that has it alone.
    of
        What it tells of: every page has a graph; a run's page has ``run``, and also
        ``calibration`` where a temperature is known.
    optional
        Whether it may be missing where there is that to tell of.
    """

    name: str
    type: str
    shape: tuple[str | int, ...]
    about: str
    of: Scope = "graph"
    optional: bool = False


BLOCKS = (
    Block("x", "uint16", ("nodes",), "Place from left to right, 0 … 65535."),
    Block("y", "uint16", ("nodes",), "Place from the bottom to the top, 0 … 65535."),
    Block("edge_counts", "uint32", ("nodes",), "Edges to this node or later ones."),
    Block("edge_targets", "uint32", ("edges",), "Their other ends, node by node."),
    Block("labels", "int16", ("nodes",), "Class codes; -1 = unlabelled."),
    Block("split", "uint8", ("nodes",), "Codes of SPLITS."),
    Block("text", "uint8", ("bytes",), "JSON: ids (null = row numbers), titles, features."),
    Block("weights", "float64", ("edges",), "Edge weights, unless all are 1.", optional=True),
    Block("degrees", "float64", ("nodes",), "In the whole graph, of a part of it.", optional=True),
    Block("probabilities", "uint16", ("nodes", "classes"), "In 65535ths.", "run"),
    Block("calibrated", "uint16", ("nodes", "classes"), "The same, scaled.", "calibration"),
    Block("sets", "uint8", ("nodes", "classes"), "1 = in the prediction set.", "calibration"),
    Block("why_nodes", "uint32", ("explained",), "The least confident nodes.", "run"),
    Block("why_classes", "uint16", ("explained", 2), "Their two most probable classes.", "run"),
    Block("why_sources", "uint32", ("explained", SOURCES), "Largest first, or NO_SOURCE.", "run"),
    Block("why_given", "float32", ("explained", SOURCES, 2), "Contributions to logits.", "run"),
    Block("why_rest", "float32", ("explained", 2), "Of other sources and the constant.", "run"),
    Block("why_hops", "float32", ("explained", 2, HOPS), "Contributions by distance.", "run"),
    Block(
        *("why_features", "uint32", ("explained", FEATURES)),
        "Places in the text's features, largest first, or NO_SOURCE.",
        *("run", True),
    ),
    Block(
        *("why_feature_given", "float32", ("explained", FEATURES, 2)),
        "What those features gave.",
        *("run", True),
    ),
    Block("suspect_nodes", "uint32", ("suspects",), "Most doubtful labels first.", optional=True),
    Block("suspect_classes", "uint16", ("suspects",), "What others suggest.", optional=True),
    Block("suspect_odds", "float32", ("suspects",), "How likely wrong.", optional=True),
)


class RunHeader(TypedDict):
    """What a page says of a fitted run; accuracies, errors and coverage are fractions."""

    recipe: str
    seed: int
    s: float
    eps: float | None
    test_accuracy: float | None
    val_accuracy: float | None
    notes: list[str]
    temperature: float | None
    alpha: NotRequired[float]
    caution: NotRequired[str]
    error_on: NotRequired[str]
    error_before: NotRequired[float]
    error_after: NotRequired[float]
    coverage: NotRequired[float]


class ServerHeader(TypedDict):
    """What a page is given by the server that it came from; ``version`` is the protocol's."""

    version: int


class GraphHeader(TypedDict):
    """What a page says of its graph.

    ``fingerprint`` is that of the graph, by which a browser keeps labels; ``whole`` is the number
    of nodes that a part is of.
    """

    name: str
    fingerprint: str
    nodes: int
    edges: int
    whole: int | None
    classes: list[str]


class Header(GraphHeader):
    """All that a page's header holds.

    ``s`` and ``eps`` are where its sliders start, ``noun`` is what its nodes are, in the plural,
    and ``server`` is there only where one answers.
    """

    title: str
    s: float
    eps: float
    note: str | None
    run: RunHeader | None
    noun: NotRequired[str]
    server: NotRequired[ServerHeader]


def check(header: Header, blocks: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError where header or blocks are not as declared.

    Examples
    --------
    >>> check({"name": "pair"}, {})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: The page's header lacks 'fingerprint', 'nodes', ...
    """
    _check_keys("header", Header, header)
    if "server" in header:
        _check_keys("server", ServerHeader, header["server"])
    run = header["run"]
    scopes: set[Scope] = {"graph"}
    if run is not None:
        _check_keys("run", RunHeader, run)
        scopes |= {"run"} if run["temperature"] is None else {"run", "calibration"}
    unknown = blocks.keys() - {block.name for block in BLOCKS}
    if unknown:
        raise ValueError(f"A page has no block {min(unknown)!r}; declare it in explorer/schema.py.")
    sizes = {"nodes": header["nodes"], "edges": header["edges"], "classes": len(header["classes"])}
    for block in BLOCKS:
        array = blocks.get(block.name)
        if array is None:
            if block.of in scopes and not block.optional:
                raise ValueError(f"The page's data lack the block {block.name!r}.")
            continue
        if block.of not in scopes:
            raise ValueError(f"The block {block.name!r} belongs to a {block.of}; there is none.")
        if len(block.shape) == 1 and isinstance(block.shape[0], str):
            sizes.setdefault(block.shape[0], len(array))
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in block.shape)
        if array.dtype != block.type or array.shape != shape:
            raise ValueError(
                f"The block {block.name!r} must be {block.type} of shape {shape}; it is "
                f"{array.dtype} of shape {array.shape}."
            )


def _check_keys(what: str, declared: type, given: Mapping[str, Any]) -> None:
    hints = key_types(declared)
    missing = [key for key, (_, needed) in hints.items() if needed and key not in given]
    if missing:
        raise ValueError(f"The page's {what} lacks {', '.join(map(repr, missing))}.")
    for key, value in given.items():
        if key not in hints:
            raise ValueError(f"The page's {what} has no {key!r}; declare it in explorer/schema.py.")
        if not _fits(hints[key][0], value):
            raise ValueError(
                f"{key!r} of the page's {what} must be {hints[key][0]}. Got {value!r} instead."
            )


def key_types(declared: type) -> dict[str, tuple[Any, bool]]:
    """Return the type of every key, and whether it must be there."""
    return {
        key: (get_args(hint)[0], False) if get_origin(hint) is NotRequired else (hint, True)
        for key, hint in get_type_hints(declared, include_extras=True).items()
    }


def _fits(hint: Any, value: object) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(each, value) for each in get_args(hint))
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_fits(get_args(hint)[0], each) for each in value)
    if hint is float:
        return isinstance(value, int | float) and bool(np.isfinite(value))
    return isinstance(value, dict if hint in (RunHeader, ServerHeader) else hint)
