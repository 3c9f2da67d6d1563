"""FeatureSchema: what the columns of a table are, learned once and applied by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from graphheat.checks import check_choice
from graphheat.errors import GraphError
from graphheat.features.cells import Cells, from_frame
from graphheat.features.feature_columns import (
    FeatureColumn,
    column_from_dict,
    is_mixed,
    learn_column,
    stacked,
)
from graphheat.features.kinds import Style, check_kinds, guess
from graphheat.features.numerals import Decimal

if TYPE_CHECKING:
    import pandas

Missing = Literal["impute", "error"]
SCHEMA = "graphheat.features/1"


class Encoded(NamedTuple):
    """Features of a table, shape (n, f) (None without a column), and what is worth noting."""

    features: Any
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FeatureSchema:
    """Names and kinds of the columns that features are made of, with all that was learned of them.

    Attributes
    ----------
    columns
        In the order of the table they were learned on; those left out are among them.
    array
        Name and width of an array of features that goes beside the columns, or None.

    Examples
    --------
    >>> table = {"age": [31, None, 3], "drink": ["tea", "milk", "tea"]}
    >>> schema = FeatureSchema.learn(table)
    >>> schema.feature_names
    ('age', 'age is missing', 'drink=milk', 'drink=tea')
    >>> again = FeatureSchema.from_dict(schema.to_dict())
    >>> other = again.encode({"drink": ["tea", "rum"], "age": [3, 31]})
    >>> other.features[:, 2:].tolist(), len(other.notes)
    ([[0.0, 1.0], [0.0, 0.0]], 1)
    """

    columns: tuple[FeatureColumn, ...]
    array: tuple[str, int] | None = None

    @classmethod
    def learn(
        cls,
        table: Any,
        *,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "impute",
        decimal: Decimal | None = None,
        array: tuple[str, int] | None = None,
        where: str = "the table",
    ) -> FeatureSchema:
        """Learn the columns of a table.

        Parameters
        ----------
        table
            A pandas, polars or Arrow frame, or a mapping from names to columns, shape (n,) each.
        kinds
            Column → ``"number"``, ``"boolean"``, ``"date"`` (or ``"date:%d/%m/%Y"``),
            ``"category"``, ``"text"`` or ``"skip"``; the others by the rule of
            :func:`graphheat.features.kinds.guess`.
        missing
            ``"impute"`` fills in the median (numbers, dates) or the more frequent value (booleans)
            and adds a feature "… is missing"; ``"error"`` raises.
        decimal
            The decimal sign of numbers that are words; None: by the cells.
        array
            Name and width of an array that goes beside the columns.
        where
            What to call the table in messages.
        """
        check_choice(missing, "missing", "FeatureSchema.learn", ("impute", "error"))
        check_choice(decimal, "decimal", "FeatureSchema.learn", (None, ".", ","))
        cells = from_frame(table, where)
        fixed = kinds or {}
        check_kinds(fixed, cells)
        style = Style.of(
            {name: cells[name] for name in cells if fixed.get(name) != "skip"}, decimal
        )
        chosen: dict[str, tuple[str, str]] = {}
        for name, column in cells.items():
            if name in fixed:
                chosen[name] = fixed[name], "as given"
            else:
                chosen[name] = guess(name, column, where, style)
        if missing == "error":
            _check_complete({n: c for n, c in cells.items() if chosen[n][0] != "skip"}, where)
        mixed = is_mixed([kind for kind, _ in chosen.values()])
        return cls(
            tuple(
                learn_column(
                    name, cells[name], where, kind=kind, reason=reason, style=style, standard=mixed
                )
                for name, (kind, reason) in chosen.items()
            ),
            array,
        )

    def encode(
        self,
        table: Any,
        *,
        array: Any = None,
        missing: Missing = "impute",
        decimal: Decimal | None = None,
        where: str = "the table",
    ) -> Encoded:
        """Return the features of a table by the *names* of its columns, in any order.

        Parameters
        ----------
        table
            As for :meth:`learn`. A column that the schema has and the table lacks is an error; one
            that only the table has is left out, and noted.
        array
            Where the schema has one: shape (n, width), dense or sparse.
        missing, decimal
            As for :meth:`learn`.
        where
            What to call the table in messages.
        """
        cells = from_frame(table, where)
        used = [column for column in self.columns if column.kind != "skip"]
        lacking = [column.name for column in used if column.name not in cells]
        if lacking:
            raise GraphError(
                f"{where} lacks {len(lacking)} of the {len(used)} columns that the features were "
                f"learned from: {listed(lacking)}. Its columns are {listed(list(cells), 20)}."
            )
        if missing == "error":
            _check_complete({column.name: cells[column.name] for column in used}, where)
        style = Style.of({column.name: cells[column.name] for column in used}, decimal)
        notes: list[str] = []
        known = {column.name for column in self.columns}
        extra = [name for name in cells if name not in known]
        if extra:
            notes.append(
                f"{where} has columns that the features were not learned from, left out: "
                f"{listed(extra)}."
            )
        rows = len(next(iter(cells.values()))) if cells else 0
        blocks = []
        for column in used:
            block, more = column.encode(cells[column.name], where, style)
            blocks.append(block)
            notes += more
        blocks += self._array_block(array, rows if cells else None, where)
        return Encoded(stacked(blocks), tuple(notes))

    def _array_block(self, array: Any, rows: int | None, where: str) -> list[Any]:
        if self.array is None:
            if array is not None:
                raise GraphError(
                    f"The features were learned without an array beside {where}; leave it out."
                )
            return []
        name, width = self.array
        if array is None:
            raise GraphError(
                f"The features were learned with {name} beside the columns ({width:,} features); "
                "give such an array, too."
            )
        block: Any = array if sp.issparse(array) else np.asarray(array)
        if block.shape[1] != width or (rows is not None and block.shape[0] != rows):
            raise GraphError(
                f"The array beside {where} must have {width:,} columns and one row per node; got "
                f"shape {block.shape}."
            )
        return [block]

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature: ``age``, ``age is missing``, ``drink=tea``, ``abstract:heat``."""
        names = [name for column in self.columns for name in column.names]
        if self.array is not None:
            names += [f"{self.array[0]}[{place}]" for place in range(self.array[1])]
        return tuple(names)

    @property
    def kinds(self) -> dict[str, str]:
        """Column → kind."""
        return {column.name: column.kind for column in self.columns}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of how the table was taken: values filled in, columns left out.

        In two sentences at most.
        """
        filled = [column for column in self.columns if column.indicator]
        dropped = [column for column in self.columns if column.kind == "skip"]
        notes = []
        if filled:
            lacking = sum(column.lacking for column in filled)
            some = ", ".join(f"{column.name!r} ({column.lacking:,})" for column in filled[:3])
            notes.append(
                f"{lacking:,} values are missing, of {some}{', …' if len(filled) > 3 else ''}: "
                "filled in, and marked by a feature '… is missing'."
            )
        if dropped:
            some = ", ".join(f"{column.name!r} ({column.reason})" for column in dropped[:3])
            notes.append(f"No features: {some}{', …' if len(dropped) > 3 else ''}.")
        return tuple(notes)

    def frame(self) -> pandas.DataFrame:
        """Return one row per column: name, kind, number of features, missing values, remark."""
        import pandas as pd

        rows = [
            (column.name, column.kind, len(column.names), column.lacking, column.describe())
            for column in self.columns
        ]
        if self.array is not None:
            rows.append((self.array[0], "array", self.array[1], 0, "as it is"))
        return pd.DataFrame(rows, columns=["column", "kind", "features", "missing", "remark"])

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "columns": [column.to_dict() for column in self.columns],
            "array": None if self.array is None else list(self.array),
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> FeatureSchema:
        """Undo :meth:`to_dict`."""
        if parts.get("schema") != SCHEMA:
            raise GraphError(
                f"A feature schema must say {SCHEMA!r}; got {parts.get('schema')!r}. It may be of "
                "a newer version."
            )
        array = parts.get("array")
        return cls(
            tuple(column_from_dict(each) for each in parts["columns"]),
            None if array is None else (str(array[0]), int(array[1])),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureSchema):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.feature_names)

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.kind] = counts.get(column.kind, 0) + 1
        if self.array is not None:
            counts["array"] = 1
        kinds = ", ".join(f"{kind}={count}" for kind, count in counts.items())
        return f"FeatureSchema({kinds}; features={len(self.feature_names)})"


def apply_schema(schema: FeatureSchema, table: Any, *, array: Any = None) -> Encoded:
    """Return the features of a table by a schema that was learned on another, by name.

    See :meth:`FeatureSchema.encode`.

    Examples
    --------
    >>> schema = FeatureSchema.learn({"x": [1, 2], "y": [3, 4]})
    >>> apply_schema(schema, {"y": [5], "x": [6]}).features.tolist()
    [[6.0, 5.0]]
    """
    return schema.encode(table, array=array)


def _check_complete(cells: Mapping[str, Cells], where: str) -> None:
    for name, column in cells.items():
        unknown = column.missing
        if unknown.any():
            raise GraphError(
                f"Column {name!r} of {where} must have a value in every row; "
                f"{int(unknown.sum()):,} are missing (first in row {int(np.argmax(unknown)) + 1}). "
                "Fill them in, give the column the kind skip, or pass missing='impute'."
            )


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return the first few names for a message, long ones cut."""
    shown = [name[:60] + "…" if len(name) > 60 else name for name in names[:most]]
    return (", ".join(map(repr, shown)) or "none") + (", …" if len(names) > most else "")
