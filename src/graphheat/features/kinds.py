"""Kinds of columns, and the rule by which a column gets its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import GraphError, ParameterError
from graphheat.features.cells import Cells, Columns
from graphheat.features.dates import ISO, formats_of, looks_like_a_date, moment
from graphheat.features.numerals import Decimal, proven, reading, unit

Kind = Literal["number", "boolean", "date", "category", "text", "skip"]

PAIRS = (("false", "true"), ("no", "yes"), ("off", "on"), ("n", "y"), ("f", "t"))
TEXT_WORDS = 3  # more words than this per cell, on average, are free text
LEAST_IDENTIFIERS = 20  # up to so many rows a column of distinct words is a category
_ID = re.compile(r"(?:.*[_ -])?(?:id|uuid|guid)|.*[a-z]ID|.*[a-z]Id")


class Guess(NamedTuple):
    """The kind of a column, and in a few words why."""

    kind: Kind
    reason: str


class Style(NamedTuple):
    """What is known of a table's decimal sign: as given, as its columns prove it, as it was before.

    A column's own proof comes first, unless it contradicts what was given; then that of the others.
    """

    decimal: Decimal | None = None
    elsewhere: frozenset[Decimal] = frozenset()
    before: Decimal | None = None

    @classmethod
    def of(cls, columns: Columns, decimal: Decimal | None = None) -> Style:
        """Look for proof in all columns of words that are numbers throughout."""
        found: set[Decimal] = set()
        for column in columns.values():
            if column.type == "words" and _all_numbers(column):
                found |= proven(column.values)
        return cls(decimal, frozenset(found))


def _all_numbers(cells: Cells) -> bool:
    return all(word is None or reading(word) is not None for word in cells.values)


def check_kinds(kinds: Mapping[str, str], names: Any) -> None:
    """Raise where ``kinds`` names a column that is not there, or a kind that does not exist."""
    for name, kind in kinds.items():
        if name not in names:
            raise GraphError(
                f"kinds names a column that is no feature: {name!r}. The feature columns are "
                f"{', '.join(map(repr, list(names)[:20])) or 'none'}."
            )
        if kind not in get_args(Kind) and not kind.startswith("date:"):
            raise ParameterError(
                f"The kind of column {name!r} must be one of {', '.join(get_args(Kind))}, or date: "
                f"and a format such as date:%d/%m/%Y. Got {kind!r} instead."
            )


def guess(name: str, cells: Cells, where: str, style: Style = Style()) -> Guess:  # noqa: B008
    """Return the kind of a column by its cells.

    In this order: an empty column is left out; what a typed source calls a number, a boolean or a
    date is that; words that are all yes or no (true/false, on/off, y/n, t/f) are booleans; all
    numbers, also with decimal commas, thousands and a currency, numbers; all dates of one format,
    dates; digits with a needless zero somewhere (01234) are a code, thus words; a column with more
    numbers (or dates) than not, but not all, is refused, as is one of which the decimal sign or the
    order of day and month is ambiguous; more than three words per cell on average are free text;
    words that differ in more than half of over 20 rows are an identifier, which is left out; any
    other words are a category. Whole numbers that all differ under a name such as user_id are an
    identifier, too; and those that count over 20 rows, one by one, a row index.

    Parameters
    ----------
    name, cells
        The column.
    where
        The table, for messages.
    style
        What is known of the table's decimal sign.

    Examples
    --------
    >>> from graphheat.features.cells import cells
    >>> guess("price", cells(["1.234,50", "7"]), "t.csv")
    Guess(kind='number', reason='decimal comma')
    """
    known = ~cells.missing
    if not known.any():
        return Guess("skip", "empty")
    if cells.type == "numbers":
        values = cells.values[known]
        whole = bool(np.all(values == np.round(values)))
        distinct = whole and len(values) > 1 and len(np.unique(values)) == len(values)
        if distinct and _ID.fullmatch(name):
            return Guess("skip", "an identifier: differs in every row")
        if len(values) > LEAST_IDENTIFIERS and known.all() and np.all(np.diff(values) == 1):
            return Guess("skip", "it counts the rows")
        return Guess("number", "whole numbers" if whole else "numbers")
    if cells.type != "words":
        return Guess("boolean" if cells.type == "booleans" else "date", "by its type")
    words = [word for word in cells.values if word is not None]
    distinct_words = dict.fromkeys(words)
    pair = pair_of(distinct_words)
    if pair is not None:
        return Guess("boolean", "/".join(pair))
    readings = {word: reading(word) for word in distinct_words}
    numbers = sum(readings[word] is not None for word in words)
    if numbers == len(words):
        sign = decimal_sign(name, cells, where, style)
        return Guess("number", "decimal comma" if sign == "," else "numbers")
    dates = sum(map(looks_like_a_date, words))
    forms = formats_of(list(distinct_words)) if dates == len(words) else []
    if forms:
        _check_one_format(name, cells, where, forms)
        return Guess("date", forms[0])
    codes = all(map(str.isdigit, distinct_words))  # with a needless zero somewhere: 01234
    for count, what in ((0 if codes else numbers, "number"), (dates, "date")):
        if 2 * count > len(words):
            _refuse_mixture(name, cells, where, what)
    if sum(len(word.split()) for word in words) > TEXT_WORDS * len(words):
        return Guess("text", "more than three words per cell")
    if len(words) > LEAST_IDENTIFIERS and 2 * len(distinct_words) > len(words):
        return Guess("skip", f"{len(distinct_words):,} different words in {len(words):,} rows")
    return Guess("category", f"{len(distinct_words):,} values")


def pair_of(words: Any) -> tuple[str, str] | None:
    """Return the pair (no and yes, false and true, …) that the cells are one or both of."""
    lower = {word.lower() for word in words}
    for pair in PAIRS:
        both = len(pair[0]) > 1 or len(lower) == 2  # a lone "t" or "y" may mean anything
        if lower and lower <= set(pair) and both:
            return pair
    return None


def decimal_sign(name: str, cells: Cells, where: str, style: Style) -> Decimal:
    """Return the decimal sign of a column of words that are all numbers, or raise."""
    words, decimal = cells.values, style.decimal
    units = {unit(word) for word in words if word is not None}
    if len(units) > 1:
        raise GraphError(
            f"Column {name!r} of {where} mixes units: "
            f"{', '.join(repr(each) if each else 'none' for each in sorted(units))}. "
            "Write all cells alike, or give the column another kind."
        )
    signs = proven(words)
    if len(signs) == 2 or (decimal is not None and signs - {decimal}):
        rightly = decimal or next(iter(proven(words[[next(_certain(words))]])))
        row = next(_certain(words, except_for=rightly))
        raise GraphError(
            f"Column {name!r} of {where} has {words[row]!r} in row {row + 1}, which does not go "
            f"with the decimal sign {rightly!r} of other cells. Write all numbers alike."
        )
    if decimal is not None:
        return decimal
    if signs:
        return next(iter(signs))
    if len(style.elsewhere) == 1:
        return next(iter(style.elsewhere))
    if style.before is not None:
        return style.before
    for row, word in enumerate(words):
        known = None if word is None else reading(word)
        if known is None or known.point == known.comma:
            continue
        if "," in word or style.elsewhere:
            raise GraphError(
                f"Column {name!r} of {where} has {word!r} in row {row + 1}, which is "
                f"{known.point:g} or {known.comma:g}: pass decimal='.' or decimal=','."
            )
    return "."


def _certain(words: NDArray[Any], except_for: Decimal | None = None) -> Any:
    for row, word in enumerate(words):
        signs = proven([word])
        if signs and except_for not in signs:
            yield row


def _check_one_format(name: str, cells: Cells, where: str, forms: list[str]) -> None:
    if len(forms) < 2:
        return
    for row, word in enumerate(cells.values):
        if word is not None and moment(word, forms[0]) != moment(word, forms[1]):
            raise GraphError(
                f"Column {name!r} of {where} has {word!r} in row {row + 1}, whose day and month "
                f"are ambiguous: give it the kind date:{forms[0]} or date:{forms[1]}."
            )


def _refuse_mixture(name: str, cells: Cells, where: str, what: str) -> None:
    for row, word in enumerate(cells.values):
        odd = word is not None and (
            reading(word) is None if what == "number" else not looks_like_a_date(word)
        )
        if odd:
            raise GraphError(
                f"Column {name!r} of {where} holds {what}s, but {word[:60]!r} in row {row + 1}. "
                "Clear that cell, or give the column the kind category, text or skip."
            )
    if what == "date":
        raise GraphError(
            f"Column {name!r} of {where} holds dates of more than one format, or such as do not "
            f"exist (first {cells.values[int(np.argmin(cells.missing))]!r} in row "
            f"{int(np.argmin(cells.missing)) + 1}). Write them as 2024-01-31."
        )


def numbers_of(
    name: str,
    cells: Cells,
    where: str,
    style: Style = Style(),  # noqa: B008
) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where one is missing, shape (n,); or raise naming a cell."""
    if cells.type == "words":
        known = {word: reading(word) for word in dict.fromkeys(cells.values) if word is not None}
        for row, word in enumerate(cells.values):
            if word is not None and known[word] is None:
                raise GraphError(
                    f"Column {name!r} of {where} must hold numbers; got {word[:60]!r} in row "
                    f"{row + 1}. Clear that cell, or give the column another kind."
                )
        sign = decimal_sign(name, cells, where, style)
        value = {
            word: each.point if sign == "." else each.comma
            for word, each in known.items()
            if each is not None
        }
        numbers = np.array([np.nan if word is None else value[word] for word in cells.values])
    elif cells.type == "dates":
        raise GraphError(f"Column {name!r} of {where} must hold numbers; it holds dates.")
    else:
        numbers = cells.values
    numbers = numbers.astype(np.float64)
    endless = np.isinf(numbers) | (np.abs(numbers) > np.finfo(np.float32).max)
    if endless.any():
        row = int(np.argmax(endless))
        raise GraphError(
            f"Column {name!r} of {where} must hold finite numbers; got {numbers[row]:g} in row "
            f"{row + 1}. Clear that cell."
        )
    return numbers


def dates_of(name: str, cells: Cells, where: str, form: str | None = None) -> NDArray[np.float64]:
    """Return a column of dates as days since 1970-01-01, NaN where one is missing, shape (n,)."""
    if cells.type == "words":
        words = [word for word in cells.values if word is not None]
        if form is None:
            forms = formats_of(words)
            if forms:
                _check_one_format(name, cells, where, forms)
            form = forms[0] if forms else ISO
        moments = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
        for row, word in enumerate(cells.values):
            if word is None:
                continue
            found = moment(word, form)
            if found is None:
                like = "2024-01-31" if form == ISO else form
                raise GraphError(
                    f"Column {name!r} of {where} must hold dates such as {like}; got "
                    f"{word[:60]!r} in row {row + 1}. Write it so, or give the column another kind."
                )
            moments[row] = found
    elif cells.type == "dates":
        moments = cells.values
    else:
        raise GraphError(f"Column {name!r} of {where} must hold dates; it holds {cells.type}.")
    days = (moments - np.datetime64("1970-01-01", "us")) / np.timedelta64(1, "D")
    return np.asarray(days, dtype=np.float64)


def booleans_of(
    name: str, cells: Cells, where: str, pair: tuple[str, str] | None = None
) -> NDArray[np.float64]:
    """Return a column as 0 and 1, NaN where a value is missing, shape (n,); or raise."""
    if cells.type == "words":
        known = [word for word in dict.fromkeys(cells.values) if word is not None]
        pair = pair_of(known) or pair or ("false", "true")
        code = {pair[0]: 0.0, pair[1]: 1.0, "0": 0.0, "1": 1.0}
        values = np.array(
            [np.nan if word is None else code.get(word.lower(), -1.0) for word in cells.values]
        )
    elif cells.type == "dates":
        raise GraphError(f"Column {name!r} of {where} must be yes or no; it holds dates.")
    else:
        values = cells.values
    odd = ~np.isnan(values) & (values != 0) & (values != 1)
    if odd.any():
        row = int(np.argmax(odd))
        raise GraphError(
            f"Column {name!r} of {where} must be yes or no; got {cells.words()[row]!r} in row "
            f"{row + 1}. Clear that cell, or give the column another kind."
        )
    return values.astype(np.float64)
