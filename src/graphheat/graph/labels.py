"""Labels as people write them, turned into codes and class names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import GraphError


class Labels(NamedTuple):
    """Class codes (−1 = unlabelled), shape (n,), and the class names they index."""

    codes: NDArray[np.int64]
    classes: tuple[Any, ...]


def encode_labels(
    values: ArrayLike | Sequence[object], classes: tuple[Any, ...] | None = None
) -> Labels:
    """Turn labels into codes and class names.

    None and NaN mean "unlabelled"; so does −1 among numbers when at least two other classes exist.
    Class names come out sorted, with the caller's types.

    Parameters
    ----------
    values
        One label per node, shape (n,): strings, integers, booleans, or missing.
    classes
        The names, when ``values`` are already codes into them (−1 = unlabelled).

    Examples
    --------
    >>> encode_labels(["tea", None, "coffee"])
    Labels(codes=array([ 1, -1,  0]), classes=('coffee', 'tea'))
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biufUO":
        raise GraphError(f"labels must be strings, integers or missing; got {array.dtype}.")
    if array.ndim != 1:
        raise GraphError(f"labels must be one per node; got an array of shape {array.shape}.")
    if classes is not None:
        return _check_codes(array, _plain(classes))
    if array.dtype.kind == "U" and not isinstance(values, np.ndarray):
        # np.asarray(["a", None]) keeps None as an object, but [1, "a"] silently becomes strings.
        array = np.asarray(values, dtype=object)
    missing = _missing(array)
    known = array[~missing]
    if array.dtype.kind == "O" and _all_numbers(known):
        known = np.array(known.tolist())
    if known.dtype.kind == "f":
        _check_whole(known)
    if known.dtype.kind in "if" and len(np.unique(known[known != -1])) >= 2:
        missing[~missing] = known == -1
        known = known[known != -1]
    try:
        names, codes = np.unique(known, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in known})
        raise GraphError(
            f"labels must be of one type; got {' and '.join(kinds)} together."
        ) from None
    result = np.full(len(array), -1, dtype=np.int64)
    result[~missing] = codes
    return Labels(result, _plain(names.tolist()))


def _missing(array: NDArray[Any]) -> NDArray[np.bool_]:
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind == "O":
        # pandas.NA and NaT are not equal to themselves either, or refuse to say.
        return np.array([is_missing(value) for value in array], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def is_missing(value: object) -> bool:
    """Tell whether a label says "unlabelled": None, NaN, ``pandas.NA``."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _all_numbers(known: NDArray[Any]) -> bool:
    return len(known) > 0 and all(
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        for value in known
    )


def _plain(names: Iterable[Any]) -> tuple[Any, ...]:
    """Return the names as Python's own types: np.str_("a") is "a", and prints as such."""
    return tuple(name.item() if isinstance(name, np.generic) else name for name in names)


def _check_whole(known: NDArray[Any]) -> None:
    bad = ~np.isfinite(known) | (known != np.round(known))
    if bad.any():
        raise GraphError(
            "labels must be classes, not measurements; "
            f"got the continuous value {known[np.argmax(bad)]}. Unknown label type: continuous. "
            "For numbers use HeatRegressor."
        )


def _check_codes(array: NDArray[Any], classes: tuple[Any, ...]) -> Labels:
    if array.dtype.kind not in "iu":
        raise GraphError(f"labels must be integer codes when classes are given; got {array.dtype}.")
    codes = array.astype(np.int64)
    if len(set(classes)) != len(classes):
        raise GraphError("classes must be distinct names.")
    if codes.size and (codes.min() < -1 or codes.max() >= len(classes)):
        worst = codes.max() if codes.max() >= len(classes) else codes.min()
        raise GraphError(
            f"label codes must be −1 or in [0, {len(classes)}), the number of classes; got {worst}."
        )
    return Labels(codes, classes)
