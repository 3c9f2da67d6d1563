"""Options of the files of a graph: every one has its name and its type here, once.

The readers take these dictionaries as keywords (``**options: Unpack[…]``), the registry of formats
derives from them what a format takes, and the command line what it passes on. None is everywhere
the default.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict

from graphheat.features.feature_schema import FeatureSchema, Missing
from graphheat.features.numerals import Decimal
from graphheat.graph.adjacency import Duplicates, SelfLoops, Symmetrize

PathLike = str | os.PathLike[str]
Source = Any  # a path, or a frame of any library that narwhals knows


class ColumnOptions(TypedDict, total=False):
    """How a table is written, which of its columns are features, and of which kind."""

    columns: Sequence[str] | None
    categorical: Sequence[str] | None
    kinds: Mapping[str, str] | None
    missing: Missing | None
    decimal: Decimal | None
    schema: FeatureSchema | None
    delimiter: str | None


class NodeOptions(ColumnOptions, total=False):
    """Which columns of a node table are what."""

    id: str | None
    label: str | Sequence[str] | None
    label_separator: str | None
    split: str | None
    title: str | None


class TableOptions(NodeOptions, total=False):
    """What is known of the nodes, in files beside the edges; the node table itself aside."""

    features: Source | None


class EdgeColumnOptions(TypedDict, total=False):
    """Which columns of an edge list are what."""

    source_column: str | None
    target_column: str | None
    weight_column: str | None
    header: bool | None
    decimal: Decimal | None
    delimiter: str | None


class EdgeListOptions(TableOptions, EdgeColumnOptions, total=False):
    """Keywords of :func:`graphheat.read_csv`."""

    duplicates: Duplicates | None
    self_loops: SelfLoops | None
    name: str | None


class MatrixOptions(TableOptions, total=False):
    """Keywords of :func:`graphheat.read_mtx`."""

    symmetrize: Symmetrize | None
    self_loops: SelfLoops | None
    name: str | None


class ArchiveOptions(TypedDict, total=False):
    """Options of an archive, which holds all the rest itself."""

    duplicates: Duplicates | None
    symmetrize: Symmetrize | None
    self_loops: SelfLoops | None
    name: str | None


class GraphOptions(EdgeListOptions, total=False):
    """Keywords of :func:`graphheat.io.read_graph`: those of every format."""

    nodes: Source | None
    symmetrize: Symmetrize | None


def option_names(kind: Any) -> tuple[str, ...]:
    """Return the names of the options of one of the dictionaries above.

    Examples
    --------
    >>> option_names(ArchiveOptions)
    ('duplicates', 'symmetrize', 'self_loops', 'name')
    """
    return tuple(kind.__annotations__)


def chosen(kind: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``options`` that ``kind`` has and that are not left to their default."""
    names = option_names(kind)
    return {name: options[name] for name in names if options.get(name) is not None}


def check_names(options: Iterable[str], kind: Any, owner: str) -> None:
    """Raise as Python does when a keyword is not one of ``kind``, with the nearest that is.

    Examples
    --------
    >>> check_names(["lable"], NodeOptions, "read_csv")
    Traceback (most recent call last):
        ...
    TypeError: read_csv() got an unexpected keyword argument 'lable'; did you mean 'label'?
    """
    for name in options:
        if name not in option_names(kind):
            near = get_close_matches(name, option_names(kind), 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise TypeError(f"{owner}() got an unexpected keyword argument {name!r}{hint}")
