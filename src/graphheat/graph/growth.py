"""A graph grown by nodes, edges and labels that became known later; old rows stay in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError
from graphheat.graph.adjacency import Duplicates, from_pairs
from graphheat.graph.labels import Labels, encode_labels, is_missing
from graphheat.graph.nodes import as_ids

if TYPE_CHECKING:
    from graphheat.graph.graph import Graph


class NewEdges(NamedTuple):
    """Undirected edges between ids, shape (e,) each.

    ``where`` they stand, for messages; ``account`` says what was taken for what.
    """

    source: Sequence[Any]
    target: Sequence[Any]
    weight: NDArray[np.float64] | None = None
    where: str = "the new edges"
    account: str = ""


@dataclass(frozen=True)
class NewNodes:
    """What is known of k new nodes.

    Attributes
    ----------
    ids
        Distinct, and none of them in the graph yet.
    features
        Dense or sparse, shape (k, f), as the graph's; None where that has none.
    labels
        Class names, None where unknown; or None where all are.
    titles
        One per node, or None.
    notes
        Sentences on how the features were made.
    where, account
        Where they stand, for messages, and what was taken for what there.
    """

    ids: Sequence[Any] = ()
    features: Any = None
    labels: Sequence[Any] | None = None
    titles: Sequence[str] | None = None
    notes: tuple[str, ...] = ()
    where: str = "the new nodes"
    account: str = ""


def grown_parts(
    graph: Graph,
    nodes: NewNodes,
    edges: NewEdges,
    *,
    duplicates: Duplicates = "error",
    new_classes: bool = False,
) -> dict[str, Any]:
    """Return keywords of :meth:`Graph.from_scipy` for ``graph`` with more nodes and edges.

    Parameters
    ----------
    nodes
        They come after those of the graph, in the order given, and are in no part of the split.
    edges
        Between any of the nodes, old and new. One that the graph has already counts once where it
        has the same weight; ``duplicates`` settles it where not.
    new_classes
        Whether labels of the new nodes may be of classes that the graph does not have.
    """
    fresh = new_ids(graph, nodes.ids, nodes.where)
    ids = np.concatenate([graph.nodes, fresh]) if len(fresh) else graph.nodes
    old: Any = sp.coo_array(sp.triu(graph.adjacency, format="csr"))
    source, target = (_rows(graph, ids, ends, edges.where) for ends in edges[:2])
    weight = np.ones(len(source)) if edges.weight is None else edges.weight
    adjacency = from_pairs(
        np.concatenate([old.row, source]),
        np.concatenate([old.col, target]),
        np.concatenate([old.data, weight]),
        len(ids),
        duplicates=duplicates,
        ids=ids,
    )
    codes, classes = graph.labels, graph.classes
    if nodes.labels is not None and graph.label_sets is None:
        new = _codes(nodes.labels, classes, graph.name, new_classes=new_classes)
        codes, classes = np.concatenate([codes, new.codes]), new.classes
    else:
        codes = np.concatenate([codes, np.full(len(fresh), -1, dtype=np.int64)])
    sets = graph.label_sets
    if sets is not None:  # what new nodes are labelled with is not known
        sets = np.vstack([sets, np.full((len(fresh), sets.shape[1]), -1, dtype=np.int8)])
    return {
        "adjacency": adjacency,
        "features": _stacked(graph, nodes, len(fresh)),
        "labels": codes if sets is None else None,
        "label_sets": sets,
        "classes": classes,
        "nodes": ids,
        "titles": _titles(graph, nodes, fresh),
        "split": dict(graph.split),
        "name": graph.name,
        "account": tuple(filter(None, (edges.account, nodes.account))) or graph.account,
        "feature_names": graph.feature_names,
        "schema": graph.schema,
        "notes": (*graph.notes, *(note for note in nodes.notes if note not in graph.notes)),
    }


def with_more_labels(graph: Graph, labels: Mapping[Any, Any], *, new_classes: bool) -> Labels:
    """Return the labels of ``graph`` with those of some nodes set; None takes a label off."""
    rows = [graph.index_of(node) for node in labels]
    known = _codes(list(labels.values()), graph.classes, graph.name, new_classes=new_classes)
    codes = graph.labels.copy()
    codes[rows] = known.codes
    return Labels(codes, known.classes)


def new_ids(graph: Graph, ids: Sequence[Any], where: str = "the new nodes") -> NDArray[Any]:
    """Return ids of the graph's type, or raise where one is no such id, repeated, or there."""
    found = [_of_type(graph, node) for node in ids]
    whole = graph.nodes.dtype.kind == "i"
    odd = [node for node in found if whole and not isinstance(node, int)]
    if odd:
        raise GraphError(
            f"The ids of {graph.name} are integers, and those of {where} must be; got {odd[0]!r}."
        )
    seen: set[Any] = set()
    for node in found:
        if node in seen:
            raise GraphError(f"New ids must be distinct; {where} have {node!r} more than once.")
        seen.add(node)
    there = set(graph.nodes.tolist())
    held = [node for node in found if node in there]
    if held:
        raise GraphError(
            f"{len(held):,} ids of {where} are nodes of {graph.name} already: {_named(held)}. "
            "Leave them out; with_labels gives an old node a label."
        )
    return as_ids(found) if whole else np.array(found, dtype=object)


def _of_type(graph: Graph, node: Any) -> Any:
    """Return an id as the graph's are: "12" is 12 among integers, and 12 is "12" among strings."""
    node = node.item() if isinstance(node, np.generic) else node
    if graph.nodes.dtype.kind != "i":
        return str(node)
    if isinstance(node, str) and node.lstrip("-").isdecimal() and str(int(node)) == node:
        return int(node)
    return node


def _rows(graph: Graph, ids: NDArray[Any], ends: Sequence[Any], where: str) -> NDArray[np.int64]:
    place = {node: row for row, node in enumerate(ids.tolist())}
    given = [_of_type(graph, node) for node in ends]
    rows = np.array([place.get(node, -1) for node in given], dtype=np.int64)
    if (rows < 0).any():
        lost = list(dict.fromkeys(node for node, row in zip(given, rows, strict=True) if row < 0))
        raise GraphError(
            f"{len(lost):,} ids of {where} are neither nodes of {graph.name} nor among the new "
            f"ones: {_named(lost)}. Add a row for each, or remove their edges."
        )
    return rows


def _codes(
    labels: Sequence[Any], classes: tuple[Any, ...], name: str, *, new_classes: bool
) -> Labels:
    """Return codes into ``classes``, and these with new ones behind them where that is allowed."""
    if not classes:
        return encode_labels(np.array([*labels, None], dtype=object)[:-1])
    code = {each: place for place, each in enumerate(classes)}
    by_word = {str(each): place for place, each in enumerate(classes)}
    codes = np.full(len(labels), -1, dtype=np.int64)
    for row, given in enumerate(labels):
        label = given.item() if isinstance(given, np.generic) else given
        if is_missing(label):
            continue
        if label not in code and str(label) not in by_word:
            if not new_classes:
                near = get_close_matches(str(label), by_word, 1)
                raise GraphError(
                    f"{label!r} is not among the {len(classes):,} classes of {name}"
                    f"{f'; did you mean {near[0]!r}?' if near else '.'} "
                    "Pass new_classes=True where it is a new one."
                )
            if code and type(label) is not type(next(iter(code))):
                raise GraphError(
                    f"labels must be of one type; got {label!r} beside the class "
                    f"{next(iter(code))!r}."
                )
            code[label] = by_word[str(label)] = len(code)
        codes[row] = code[label] if label in code else by_word[str(label)]
    return Labels(codes, tuple(code))


def _stacked(graph: Graph, nodes: NewNodes, count: int) -> Any:
    """Return the features of the old nodes with those of the new ones below."""
    held = graph.features
    given: Any = nodes.features
    if held is None or not count:
        return held
    if given is None:
        raise GraphError(
            f"The nodes of {graph.name} have {held.shape[1]:,} features, and {nodes.where} have "
            "none; give a table with the same columns, or features (--features) by row."
        )
    sparse = bool(sp.issparse(given))
    matrix = given if sparse else np.asarray(given)
    if matrix.shape != (count, held.shape[1]):
        raise GraphError(
            f"Features of {nodes.where} must have one row per node and {held.shape[1]:,} columns, "
            f"as those of {graph.name}; got shape {matrix.shape} for {count:,} nodes."
        )
    if isinstance(held, np.ndarray):
        return np.vstack([held, given.toarray() if sparse else matrix])
    return sp.vstack([held, sp.csr_array(matrix)], format="csr")


def _titles(graph: Graph, nodes: NewNodes, fresh: NDArray[Any]) -> list[str] | None:
    """Return titles where old or new nodes have some; those without are called by their ids."""
    if graph.titles is None and nodes.titles is None:
        return None
    old = graph.titles or tuple(map(str, graph.nodes.tolist()))
    ids = list(map(str, fresh.tolist()))
    new = [title or node for title, node in zip(nodes.titles or ids, ids, strict=True)]
    return [*old, *new]


def _named(ids: Sequence[Any]) -> str:
    return ", ".join(map(repr, ids[:5])) + (", …" if len(ids) > 5 else "")
