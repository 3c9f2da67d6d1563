"""Label sets: several labels per node, as people write them, turned into a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


class LabelSets(NamedTuple):
    """Which labels each node has.

    Attributes
    ----------
    indicator
        1 where a node has a label, shape (n, k); rows of unknown nodes are 0.
    known
        Whether the labels of a node are known, be it that it has none, shape (n,).
    classes
        The labels that the columns stand for.
    """

    indicator: NDArray[np.float64]
    known: NDArray[np.bool_]
    classes: tuple[Any, ...]

    @classmethod
    def of_graph(cls, graph: Graph) -> LabelSets:
        """Return those of a graph's training nodes."""
        if graph.label_sets is None:
            raise GraphError(f"{graph.name} has one label per node, not sets of them.")
        known = np.zeros(graph.n, dtype=bool)
        known[graph.sets_split().train] = True
        return cls(np.where(known[:, None], graph.label_sets, 0.0), known, graph.classes)

    def codes(self) -> NDArray[np.int8]:
        """Return the matrix with rows of −1 where labels are unknown, shape (n, k)."""
        return np.where(self.known[:, None], self.indicator, -1).astype(np.int8)


def check_sets(values: Any, classes: tuple[Any, ...], n: int) -> NDArray[np.int8]:
    """Return a graph's matrix of label sets: 1, 0, and rows of −1 where labels are unknown."""
    matrix = np.asarray(values)
    if matrix.shape != (n, len(classes)) or matrix.dtype.kind not in "biu":
        raise GraphError(
            f"label_sets must be whole numbers of shape ({n:,}, {len(classes):,}), one row per "
            f"node and one column per class; got {matrix.dtype} of shape {matrix.shape}."
        )
    unknown = matrix == -1 if matrix.dtype.kind == "i" else np.zeros(matrix.shape, dtype=bool)
    bad = ~np.isin(matrix, (0, 1)) & ~unknown
    if bad.any() or (unknown.any(axis=1) != unknown.all(axis=1)).any():
        raise GraphError("label_sets must hold 0 and 1, and rows of −1 where labels are unknown.")
    if len(set(classes)) != len(classes):
        raise GraphError("classes must be distinct names.")
    return matrix.astype(np.int8)


def joined(row: Any, classes: tuple[Any, ...], separator: str = "|") -> str | None:
    """Return the labels of a row of 0 and 1 as people write them; None where they are unknown.

    Examples
    --------
    >>> joined([1, 0, 1], ("news", "sport", "tv")), joined([-1, -1, -1], ("a", "b", "c"))
    ('news|tv', None)
    """
    if any(mark < 0 for mark in row):
        return None
    return separator.join(str(name) for name, mark in zip(classes, row, strict=True) if mark)


def label_sets(y: Any) -> LabelSets | None:
    """Return the label sets that ``y`` holds, or None where it holds one label per node.

    Parameters
    ----------
    y
        A matrix of 0 and 1, dense, sparse or a frame (its columns name the labels), shape (n, k)
        with k ≥ 2; a row with NaN is unknown. Or one collection of labels per node: a set, a list
        or a tuple; None is unknown, an empty one means that the node has no label.

    Examples
    --------
    >>> sets = label_sets([{"tv", "news"}, None, {"tv"}, set()])
    >>> sets.classes, sets.indicator.tolist(), sets.known.tolist()
    (('news', 'tv'), [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [True, False, True, True])
    >>> label_sets(["tv", None, "news"]) is None
    True
    """
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        if len(y.columns) < 2:
            return None
        return _from_matrix(y.to_numpy(), tuple(y.columns))
    is_sparse: bool = sp.issparse(y)
    if is_sparse:
        return _from_matrix(y.toarray(), None) if y.shape[1] > 1 else None
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return _from_matrix(y, None) if y.shape[1] > 1 else None
    if not isinstance(y, (list, tuple, np.ndarray)) and not hasattr(y, "tolist"):
        return None
    given = y.tolist() if hasattr(y, "tolist") else list(y)
    kinds = (set, frozenset, list, tuple, np.ndarray)
    if not any(isinstance(each, kinds) for each in given):
        return None
    if _is_matrix(given):
        return _from_matrix(np.array(given, dtype=object), None)
    return _from_collections(given, kinds)


def _is_matrix(given: list[Any]) -> bool:
    """Say whether lists are rows of 0, 1 and NaN, all of one length of at least two."""
    if any(isinstance(each, (set, frozenset)) or not hasattr(each, "__len__") for each in given):
        return False
    lengths = {len(each) for each in given}
    return (
        len(lengths) == 1
        and lengths.pop() > 1
        and all(_is_mark(value) for each in given for value in each)
    )


def _is_mark(value: object) -> bool:
    return value is None or (
        isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating))
        and (value != value or value in (0, 1))
    )


def _from_matrix(matrix: NDArray[Any], classes: tuple[Any, ...] | None) -> LabelSets:
    try:
        values = np.array(matrix, dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        values = np.full(matrix.shape, 2.0)
    unknown = np.isnan(values)
    bad = ~unknown & (values != 0) & (values != 1)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise GraphError(
            "A matrix of labels holds 0, 1 and NaN (unknown); "
            f"got {matrix[row, column]!s} in row {row}, column {column}."
        )
    known: NDArray[np.bool_] = np.logical_not(unknown.any(axis=1))
    values[~known] = 0.0
    names = tuple(range(values.shape[1])) if classes is None else classes
    return LabelSets(values, known, names)


def _from_collections(given: list[Any], kinds: tuple[type, ...]) -> LabelSets:
    known = np.array([isinstance(each, kinds) for each in given])
    for position in np.flatnonzero(~known):
        value = given[position]
        if value is not None and value == value:
            raise GraphError(
                f"Labels are given as sets, and that of row {position} is {value!r}. Write "
                f"[{value!r}], or None where it is unknown."
            )
    found: list[Iterable[Any]] = [
        each if seen else () for each, seen in zip(given, known, strict=True)
    ]
    names = {label for each in found for label in each}
    try:
        classes = tuple(sorted(names))
    except TypeError:
        types = sorted({type(name).__name__ for name in names})
        raise GraphError(
            f"labels must be of one type; got {' and '.join(types)} together."
        ) from None
    place = {name: column for column, name in enumerate(classes)}
    indicator = np.zeros((len(given), len(classes)))
    for row, each in enumerate(found):
        for label in each:
            indicator[row, place[label]] = 1.0
    return LabelSets(indicator, known, classes)
