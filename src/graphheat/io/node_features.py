"""Features of nodes from several sources: columns of the table, and a file or frame beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from graphheat.errors import GraphError, ParameterError
from graphheat.features import FeatureSchema
from graphheat.features.cells import Cells
from graphheat.io.written import named


class Beside(NamedTuple):
    """Features that stand outside the node table, in the order of the nodes.

    ``columns`` of a table that was matched by id, or an ``array``, shape (n, f); one of them.
    """

    name: str
    columns: Mapping[str, Cells]
    array: Any


class NodeFeatures(NamedTuple):
    """Features, shape (n, f), with what made them, what to note, and a phrase for the account."""

    features: Any
    schema: FeatureSchema | None
    notes: tuple[str, ...]
    account: str

    def as_parts(self) -> dict[str, Any]:
        """Return keywords of :meth:`Graph.from_scipy`."""
        return {"features": self.features, "schema": self.schema, "notes": self.notes}


def encode_nodes(
    columns: Mapping[str, Cells], where: str, beside: Beside | None, options: Mapping[str, Any]
) -> NodeFeatures:
    """Return the features of a graph's nodes.

    Parameters
    ----------
    columns
        Of the node table, as far as they are features; ``where`` it is, for messages.
    beside
        What goes beside them.
    options
        ``kinds``, ``categorical``, ``missing``, ``decimal`` and ``schema``, as for
        :func:`graphheat.read_csv`.
    """
    joined = dict(columns)
    source = beside.name if beside is not None and not columns else where
    array = None
    if beside is not None:
        twice = [name for name in beside.columns if name in joined]
        if twice:
            raise GraphError(
                f"Column {named(twice[:1])} stands in {where} and in {beside.name}; choose with "
                "columns=[…], or rename one of them."
            )
        joined |= beside.columns
        array = beside.array
    schema = options.get("schema")
    how: dict[str, Any] = {"decimal": options.get("decimal"), "where": source}
    how["missing"] = options.get("missing") or "impute"
    notes: tuple[str, ...] = ()
    if schema is None:
        width = None if array is None else (_short(beside), int(array.shape[1]))
        schema = FeatureSchema.learn(joined, kinds=_kinds(options), array=width, **how)
        notes = schema.notes
    elif _kinds(options):
        raise ParameterError("kinds and categorical are part of a schema; leave one of them out.")
    encoded = schema.encode(joined, array=array, **how)
    phrase = _phrase([name for name in joined if name in columns], schema)
    if beside is not None:
        more = (
            f"{beside.array.shape[1]:,} features"
            if array is not None
            else _phrase(list(beside.columns), schema)
        )
        phrase = f"{phrase}; {_short(beside)}: {more}" if columns else f"{_short(beside)}: {more}"
    if encoded.features is None:
        return NodeFeatures(None, schema if schema.columns else None, notes, phrase)
    return NodeFeatures(encoded.features, schema, (*notes, *encoded.notes), phrase)


def _short(beside: Beside | None) -> str:
    return "" if beside is None else beside.name.rpartition("/")[2]


def _kinds(options: Mapping[str, Any]) -> dict[str, str]:
    categorical = dict.fromkeys(options.get("categorical") or (), "category")
    return {**categorical, **(options.get("kinds") or {})}


def _phrase(names: Sequence[str], schema: FeatureSchema) -> str:
    """Return how many columns are features, and of which kind the first are."""
    kinds = {name: kind for name, kind in schema.kinds.items() if kind != "skip"}
    used = [name for name in names if name in kinds]
    if not used:
        return "no column is a feature"
    count = "1 column is a feature" if len(used) == 1 else f"{len(used):,} columns are features"
    shown = ", ".join(f"{named([name])} {kinds[name]}" for name in used[:3])
    return f"{count} ({shown}{', …' if len(used) > 3 else ''})"
