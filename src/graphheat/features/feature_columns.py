"""Columns as learned from one table and applied to any other: one class per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.features.cells import Cells
from graphheat.features.kinds import (
    Kind,
    Style,
    booleans_of,
    dates_of,
    decimal_sign,
    numbers_of,
    pair_of,
)
from graphheat.features.numerals import Decimal

DENSE_COLUMNS = 64  # more columns of one source column than this are kept sparse
MOST_TERMS = 5000  # of a column of free text, the most frequent first
INDICATOR = "{} is missing"


class Block(NamedTuple):
    """The features of one column, dense or sparse, shape (n, width), and what is worth noting."""

    matrix: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FeatureColumn:
    """What all kinds share.

    Attributes
    ----------
    name
        Of the source column.
    reason
        Why it is of this kind, in a few words.
    indicator
        Whether a 0/1 feature "… is missing" goes with it: values were missing when it was learned.
    lacking
        How many were.
    """

    name: str
    reason: str = ""
    indicator: bool = False
    lacking: int = 0

    kind: ClassVar[str] = ""

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of its features, the indicator aside."""
        return (self.name,)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its features."""
        return (*self.own_names, *([INDICATOR.format(self.name)] if self.indicator else []))

    def encode(self, cells: Cells, where: str, style: Style) -> Block:
        """Return the column's features, in the order of ``names``."""
        missing = cells.missing
        matrix, notes = self._encoded(cells, where, style)
        if self.indicator:
            mark = missing.astype(np.float64).reshape(-1, 1)
            matrix = stacked([matrix, mark])
        elif missing.any() and self.kind != "skip":
            count, row = int(missing.sum()), int(np.argmax(missing)) + 1
            notes = (
                *notes,
                f"Column {self.name!r} of {where} lacks {count:,} values (first in row {row}), and "
                "none when it was learned: they count as usual ones.",
            )
        return Block(matrix, notes)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        raise NotImplementedError

    def describe(self) -> str:
        """Return in a few words what was learned."""
        return self.reason

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain values, ready for JSON."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class NumberColumn(FeatureColumn):
    """A number, filled with the median where it is missing.

    Beside columns of other kinds it is standardised (mean 0, deviation 1), so that one scale serves
    all; a table of numbers alone stays as it is, for a recipe to scale.
    """

    median: float
    mean: float = 0.0
    deviation: float = 1.0
    decimal: Decimal | None = None

    kind: ClassVar[str] = "number"

    @classmethod
    def learn(
        cls, name: str, cells: Cells, where: str, style: Style, *, standard: bool, **more: Any
    ) -> Self:
        """Measure a column."""
        values = numbers_of(name, cells, where, style)
        if cells.type == "words":
            more["decimal"] = decimal_sign(name, cells, where, style)
        return cls._measured(name, values, standard, **more)

    @classmethod
    def _measured(cls, name: str, values: NDArray[np.float64], standard: bool, **more: Any) -> Self:
        known = values[~np.isnan(values)]
        median = float(np.median(known)) if len(known) else 0.0
        mean, deviation = 0.0, 1.0
        if standard:
            filled = np.where(np.isnan(values), median, values)
            mean = float(filled.mean())
            deviation = float(filled.std()) if np.ptp(filled) > 0 else 1.0
        return cls(name=name, median=median, mean=mean, deviation=deviation or 1.0, **more)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        style = style._replace(before=self.decimal)
        return Block(self._scaled(numbers_of(self.name, cells, where, style)))

    def _scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        filled = np.where(np.isnan(values), self.median, values)
        return ((filled - self.mean) / self.deviation).reshape(-1, 1)

    def describe(self) -> str:
        """Return in a few words what was learned."""
        return f"{self.reason}, median {self.median:g}" if self.lacking else self.reason


@dataclass(frozen=True, kw_only=True)
class DateColumn(NumberColumn):
    """A date, as days since 1970-01-01, standardised; ``form`` is how it was written."""

    form: str | None = None

    kind: ClassVar[str] = "date"

    @classmethod
    def learn(
        cls, name: str, cells: Cells, where: str, style: Style, *, standard: bool, **more: Any
    ) -> Self:
        """Measure a column."""
        return cls._measured(name, dates_of(name, cells, where, more.get("form")), True, **more)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        return Block(self._scaled(dates_of(self.name, cells, where, self.form)))


@dataclass(frozen=True, kw_only=True)
class BooleanColumn(FeatureColumn):
    """0 or 1, filled with the more frequent of them where it is missing."""

    usual: float
    pair: tuple[str, str] | None = None

    kind: ClassVar[str] = "boolean"

    @classmethod
    def learn(cls, name: str, cells: Cells, where: str, style: Style, **more: Any) -> Self:
        """Count a column."""
        values = booleans_of(name, cells, where)
        known = values[~np.isnan(values)]
        usual = float(len(known) > 0 and known.mean() > 0.5)
        words = [word for word in cells.values if word is not None] if cells.type == "words" else []
        more.pop("standard", None)
        return cls(name=name, usual=usual, pair=pair_of(words), **more)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        values = booleans_of(self.name, cells, where, self.pair)
        return Block(np.where(np.isnan(values), self.usual, values).reshape(-1, 1))


@dataclass(frozen=True, kw_only=True)
class CategoryColumn(FeatureColumn):
    """One 0/1 feature per value (scikit-learn's OneHotEncoder); a value not seen is 0 in all."""

    values: tuple[str, ...]

    kind: ClassVar[str] = "category"

    @classmethod
    def learn(cls, name: str, cells: Cells, where: str, style: Style, **more: Any) -> Self:
        """Collect the values of a column."""
        more.pop("standard", None)
        values = sorted({word for word in cells.words() if word is not None})
        return cls(name=name, values=tuple(values), **more)

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of its features: ``colour=red``."""
        return tuple(f"{self.name}={value}" for value in self.values)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        words = cells.words()
        if not self.values:
            return Block(np.empty((len(words), 0)))
        from sklearn.preprocessing import OneHotEncoder

        encoder = OneHotEncoder(
            categories=[np.array(self.values, dtype=object)], handle_unknown="ignore"
        )
        encoder.fit(np.array(self.values[:1], dtype=object).reshape(-1, 1))
        matrix = encoder.transform(words.reshape(-1, 1))
        seen = {None, *self.values}
        unseen = dict.fromkeys(word for word in words if word not in seen)
        notes: tuple[str, ...] = ()
        if unseen:
            rows = sum(word in unseen for word in words)
            shown = ", ".join(repr(word[:60]) for word in list(unseen)[:5])
            notes = (
                f"Column {self.name!r} of {where} has {len(unseen):,} values that were not seen "
                f"when it was learned ({shown}{', …' if len(unseen) > 5 else ''}), in {rows:,} "
                "rows: none of its features is 1 there.",
            )
        return Block(_dense_where_narrow(matrix), notes)

    def describe(self) -> str:
        """Return in a few words what was learned."""
        shown = ", ".join(value[:20] for value in self.values[:3])
        return f"{len(self.values):,} values: {shown}{', …' if len(self.values) > 3 else ''}"


@dataclass(frozen=True, kw_only=True)
class TextColumn(FeatureColumn):
    """Free text by TF-IDF (scikit-learn's TfidfVectorizer), each row of length 1.

    Words of one letter and, in tables of more than 20 rows, words of a single row are left out.
    """

    terms: tuple[str, ...]
    idf: tuple[float, ...] = field(repr=False)

    kind: ClassVar[str] = "text"

    @classmethod
    def learn(cls, name: str, cells: Cells, where: str, style: Style, **more: Any) -> Self:
        """Count the words of a column."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        more.pop("standard", None)
        counted = TfidfVectorizer(min_df=2 if len(cells) > 20 else 1, max_features=MOST_TERMS)
        try:
            counted.fit(_texts(cells))
        except ValueError:  # no word, or none twice
            return cls(name=name, terms=(), idf=(), **more)
        terms = tuple(str(term) for term in counted.get_feature_names_out())
        return cls(name=name, terms=terms, idf=tuple(counted.idf_.tolist()), **more)

    @property
    def own_names(self) -> tuple[str, ...]:
        """Names of its features: ``abstract:heat``."""
        return tuple(f"{self.name}:{term}" for term in self.terms)

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        if not self.terms:
            return Block(np.empty((len(cells), 0)))
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=list(self.terms))
        vectorizer.idf_ = np.array(self.idf)
        return Block(_dense_where_narrow(vectorizer.transform(_texts(cells))))

    def describe(self) -> str:
        """Return in a few words what was learned."""
        return f"TF-IDF of {len(self.terms):,} words"


@dataclass(frozen=True, kw_only=True)
class SkippedColumn(FeatureColumn):
    """A column that gives no feature; ``reason`` says why."""

    kind: ClassVar[str] = "skip"

    @classmethod
    def learn(cls, name: str, cells: Cells, where: str, style: Style, **more: Any) -> Self:
        """Take note of a column."""
        return cls(name=name, reason=more["reason"])

    @property
    def own_names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def _encoded(self, cells: Cells, where: str, style: Style) -> Block:
        return Block(np.empty((len(cells), 0)))


KINDS: Mapping[str, type[Any]] = {
    each.kind: each
    for each in (
        NumberColumn, BooleanColumn, DateColumn, CategoryColumn, TextColumn, SkippedColumn,
    )
}  # fmt: skip


def learn_column(
    name: str,
    cells: Cells,
    where: str,
    *,
    kind: str,
    reason: str,
    style: Style,
    standard: bool,
) -> FeatureColumn:
    """Learn one column as ``kind``; ``standard`` says whether numbers are standardised."""
    more: dict[str, Any] = {"reason": reason, "lacking": int(cells.missing.sum())}
    more["indicator"] = more["lacking"] > 0
    base, _, form = kind.partition(":")
    if base == "date":
        more["form"] = form or None
    column: FeatureColumn = KINDS[base].learn(name, cells, where, style, standard=standard, **more)
    return column


def column_from_dict(parts: Mapping[str, Any]) -> FeatureColumn:
    """Undo :meth:`FeatureColumn.to_dict`, or raise a :class:`GraphError`."""
    given = dict(parts)
    kind = given.pop("kind", None)
    if kind not in KINDS:
        raise GraphError(f"A feature schema has no kind {kind!r}; it is of a newer version.")
    try:
        column: FeatureColumn = KINDS[kind](
            **{name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
        )
    except TypeError as error:
        raise GraphError(f"A feature schema is not whole: {error}.") from None
    return column


def stacked(blocks: Sequence[Any]) -> Any:
    """Return blocks side by side: sparse where one of them is; None without a column."""
    blocks = [block for block in blocks if block.shape[1]]
    if not blocks:
        return None
    if any(sp.issparse(block) for block in blocks):
        return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")
    return np.hstack(blocks)


def is_mixed(kinds: Sequence[Kind | str]) -> bool:
    """Tell whether numbers stand beside something of another scale."""
    return any(kind.partition(":")[0] in ("date", "category", "text") for kind in kinds)


def _dense_where_narrow(matrix: Any) -> Any:
    return sp.csr_array(matrix) if matrix.shape[1] > DENSE_COLUMNS else matrix.toarray()


def _texts(cells: Cells) -> list[str]:
    return ["" if word is None else word for word in cells.words()]
