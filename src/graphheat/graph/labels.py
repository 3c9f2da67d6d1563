"""Labels as people write them, turned into codes and class names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.errors import GraphError

_EXACT = 2**53  # whole numbers up to here are themselves as floats
INSTEAD = "Sort the values into classes, or predict numbers with graphheat.HeatRegressor."
MOST_SPARSE_CLASSES = 20  # whole numbers that leave gaps and hardly repeat, beyond which: prices


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
    array = _as_given(values)
    if array.dtype.kind not in "biufUO":
        raise GraphError(f"labels must be strings, integers or missing; got {array.dtype}.")
    if array.ndim != 1:
        raise GraphError(f"labels must be one per node; got an array of shape {array.shape}.")
    if classes is not None:
        return _check_codes(array, _plain(classes))
    missing = _missing(array)
    known = array[~missing]
    if array.dtype.kind == "O" and _all_numbers(known):
        known = _exact_numbers(known.tolist())
    if known.dtype.kind == "f":
        _check_whole(known)
    if known.dtype.kind in "iuf" and (gaps := measured(known)):
        raise GraphError(f"labels must be classes, not continuous values; got {gaps} {INSTEAD}")
    if (known.dtype.kind in "if" or _all_numbers(known)) and len(np.unique(known[known != -1])) > 1:
        missing[~missing] = known == -1
        known = known[known != -1]
    try:
        names, codes = np.unique(known, return_inverse=True)
    except (TypeError, ValueError, ArithmeticError):
        kinds = sorted({type(value).__name__ for value in known})
        raise GraphError(
            f"labels must be of one type; got {' and '.join(kinds)} together."
        ) from None
    result = np.full(len(array), -1, dtype=np.int64)
    result[~missing] = codes
    return Labels(result, _plain(names.tolist()))


def _as_given(values: ArrayLike | Sequence[object]) -> NDArray[Any]:
    """Return labels as an array that says all that the caller's list did."""
    try:
        array = np.asarray(values)
        listed = not isinstance(values, np.ndarray)
        # [1, "a"] would silently become strings, and [2**63, -5] floats that merge with others.
        if listed and (array.dtype.kind == "U" or isinstance(values, (list, tuple))):
            array = np.asarray(values, dtype=object) if array.dtype.kind in "Uf" else array
    except (ValueError, TypeError) as error:
        raise GraphError(f"labels must be one per node: {error}.") from None
    return array


def _exact_numbers(known: list[Any]) -> NDArray[Any]:
    """Return whole numbers as an array in which no two that differ are alike."""
    if all(isinstance(value, (float, np.floating)) or abs(value) <= _EXACT for value in known):
        return np.array(known)
    for value in known:
        if isinstance(value, (float, np.floating)):
            _check_whole(np.array([value]))
    whole = np.empty(len(known), dtype=object)
    whole[:] = [int(value) for value in known]
    small = all(-(2**63) <= value < 2**63 for value in whole)
    return whole.astype(np.int64) if small else whole


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
    except Exception as error:  # whatever its class may raise
        raise GraphError(
            f"labels must be strings, integers or missing; got a {type(value).__name__} that "
            f"cannot be compared ({error})."
        ) from None


def _all_numbers(known: NDArray[Any]) -> bool:
    return len(known) > 0 and all(
        isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        for value in known
    )


def _plain(names: Iterable[Any]) -> tuple[Any, ...]:
    """Return the names as Python's own types: np.str_("a") is "a", and prints as such."""
    return tuple(name.item() if isinstance(name, np.generic) else name for name in names)


def measured(known: NDArray[Any]) -> str:
    """Say how whole numbers are values rather than codes of classes; "" where they are codes.

    Those are more than 20 different ones, of which most occur once, and which leave out most
    numbers between the least and the largest: prices, not codes.

    Examples
    --------
    >>> measured(np.arange(30)), measured(np.arange(30) ** 2)
    ('', '30 different whole numbers for 30 labelled nodes, from 0 to 841.')
    """
    codes = np.unique(known)
    if len(codes) <= MOST_SPARSE_CLASSES or 2 * len(codes) <= len(known):
        return ""
    if int(codes[-1]) - int(codes[0]) < 2 * len(codes):
        return ""
    return (
        f"{len(codes):,} different whole numbers for {len(known):,} labelled nodes, from "
        f"{int(codes[0])} to {int(codes[-1])}."
    )


def _check_whole(known: NDArray[Any]) -> None:
    bad = ~np.isfinite(known) | (known != np.round(known))
    if bad.any():
        raise GraphError(
            "labels must be classes, not continuous values; "
            f"got the continuous value {known[np.argmax(bad)]}. Unknown label type: continuous. "
            + INSTEAD
        )


def _check_codes(array: NDArray[Any], classes: tuple[Any, ...]) -> Labels:
    if array.dtype.kind not in "iu":
        raise GraphError(f"labels must be integer codes when classes are given; got {array.dtype}.")
    try:
        distinct = len(set(classes)) == len(classes)
    except TypeError:
        raise GraphError("classes must be names: strings, numbers or booleans.") from None
    if not distinct:
        raise GraphError("classes must be distinct names.")
    codes = array
    if codes.size and (codes.min() < -1 or codes.max() >= len(classes)):
        worst = codes.max() if codes.max() >= len(classes) else codes.min()
        raise GraphError(
            f"label codes must be −1 or in [0, {len(classes)}), the number of classes; got {worst}."
        )
    return Labels(codes.astype(np.int64), classes)
