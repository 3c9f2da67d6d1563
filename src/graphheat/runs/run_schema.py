"""What a run's file must hold, declared once, and the one check of it.

A file may come from anywhere. Types, shapes and ranges are compared with the declarations below
before anything is computed from them; what the parts say together (as many rows as nodes, as many
columns as classes) is compared by the letters of the shapes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import CheckpointError
from graphheat.graph.split import CODES
from graphheat.runs.checkpoint import unpack_text

ROW_SUM = 1e-3  # by which a row of float32 probabilities may miss 1


@dataclass(frozen=True)
class ArrayRule:
    """What an array must be.

    Attributes
    ----------
    kinds
        Letters of NumPy's kinds of dtypes.
    shape
        A letter per dimension: n nodes, c classes, m training nodes, f features, others free, but
        the same wherever they stand; a digit is that number.
    low, high
        Range of every entry.
    gaps
        Whether NaN may stand for "none".
    needed
        Whether it must be there.
    """

    kinds: str
    shape: str
    low: float = -math.inf
    high: float = math.inf
    gaps: bool = False
    needed: bool = True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_time(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_names(value: Any) -> bool:
    plain = isinstance(value, list) and all(isinstance(e, (str, int, float, bool)) for e in value)
    return plain and len({(type(each), each) for each in value}) == len(value)


def _is_threads(value: Any) -> bool:
    return value is None or (_is_count(value) and value >= 1)


def _is_graph_mark(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


Rule = tuple[Callable[[Any], bool], str]
TEXT: Rule = _is_text, "a string"
COUNT: Rule = _is_count, "a whole number"
TIME: Rule = _is_time, "a number ≥ 0"
NUMBER: Rule = _is_number, "a number"
TEXTS: Rule = _is_texts, "a list of strings"
MAPPING: Rule = _is_mapping, "a mapping"
FLAG: Rule = _is_flag, "true or false"
NAMES: Rule = _is_names, "a list of distinct names"
THREADS: Rule = _is_threads, "a number of threads"

HEADER: Mapping[str, Rule] = {
    "recipe": TEXT,
    "settings": MAPPING,
    "seed": COUNT,
    "fingerprint": (_is_graph_mark, "a SHA-256"),
    "name": TEXT,
    "classes": NAMES,
    "best_epoch": COUNT,
    "seconds": TIME,
    "notes": TEXTS,
    "source": MAPPING,
}
OPTIONAL: Mapping[str, Rule] = {
    "settings.recipe": TEXT,
    "held_out": FLAG,
    "interrupted": FLAG,
    "feature_names": TEXTS,
    "feature_schema": MAPPING,
}
ARRAYS: Mapping[str, ArrayRule] = {
    "labels": ArrayRule("iu", "n", -1),
    "roles": ArrayRule("iu", "n", 0, len(CODES) - 1),
    "nodes": ArrayRule("u", "b"),
    "titles": ArrayRule("u", "t", needed=False),
    "probabilities": ArrayRule("f", "nc", 0.0, 1.0 + ROW_SUM),
    "reached": ArrayRule("b", "n", needed=False),
    "out_of_fold": ArrayRule("f", "mc", 0.0, 1.0 + ROW_SUM, gaps=True, needed=False),
    **{
        f"history/{name}": ArrayRule("f", "e", gaps=True, needed=False)
        for name in ("train_loss", "val_loss", "val_accuracy")
    },
    "input/mean": ArrayRule("f", "f", needed=False),
    "input/deviation": ArrayRule("f", "f", needed=False),
    "input/idf": ArrayRule("f", "f", needed=False),
}
LINEAR_HEADER: Mapping[str, Rule] = {
    "linear": MAPPING,
    "linear.s": TIME,
    "linear.l2": TIME,
    "linear.self_weight": TIME,
    "linear.threads": THREADS,
    "linear.by": TEXT,
    "linear.scaling": TEXT,
    "linear.forms": (lambda value: isinstance(value, list), "a list"),
}
LINEAR_ARRAYS: Mapping[str, ArrayRule] = {
    "weights": ArrayRule("f", "fc"),
    "bias": ArrayRule("f", "c"),
    "duals": ArrayRule("f", "mc"),
    **{f"path/{name}": ArrayRule("f", "p", gaps=True) for name in ("s", "l2", "accuracy", "loss")},
    "path/numbers": ArrayRule("iu", "p", 0, needed=False),
}
# By kind: what else the header has, also within its own entry, and the arrays.
OWN_HEADER: Mapping[str, Mapping[str, Rule]] = {
    "network": {
        "threads": THREADS,
        "kernel": MAPPING,
        "kernel.method": TEXT,
        "kernel.tol": NUMBER,
    },
    "linear": LINEAR_HEADER,
    "neighbors": LINEAR_HEADER,  # the same, of other features
    "spreading": {"spreading": MAPPING, "spreading.s": TIME, "spreading.sharpness": NUMBER},
    "label_sets": {
        "label_sets": MAPPING,
        "label_sets.s": TIME,
        "label_sets.l2": TIME,
        "label_sets.self_weight": TIME,
        "label_sets.scaling": (lambda value: value is None or _is_text(value), "a string"),
    },
    "sampled": {
        "sampled": MAPPING,
        "sampled.s": TIME,
        "sampled.self_weight": TIME,
        "sampled.scaling": TEXT,
    },
    "disk": {
        "graph": TEXT,
        "stored": TEXT,
        "kept": TIME,
        "model": MAPPING,
        "model.kind": TEXT,
    },
    "combined": {
        "combined": MAPPING,
        "combined.parts": (lambda value: isinstance(value, list) and len(value) > 0, "a list"),
        "combined.stages": (lambda value: isinstance(value, list), "a list"),
        "combined.judged_by": TEXT,
    },
}
OWN_ARRAYS: Mapping[str, Mapping[str, ArrayRule]] = {
    "network": {
        "best/first.weight": ArrayRule("f", "kfh"),
        "best/second.weight": ArrayRule("f", "lhc"),
        "best/first.bias": ArrayRule("f", "h", needed=False),
        "best/second.bias": ArrayRule("f", "c", needed=False),
    },
    "linear": LINEAR_ARRAYS,
    "neighbors": {**LINEAR_ARRAYS, "weights": ArrayRule("f", "nc")},
    "spreading": {"floor": ArrayRule("f", "c", 0.0)},
    "label_sets": {
        "label_sets": ArrayRule("i", "nc", -1, 1),
        "weights": ArrayRule("f", "fc", needed=False),
        "bias": ArrayRule("f", "c", needed=False),
        "floor": ArrayRule("f", "g", 0.0, needed=False),
    },
    "combined": {"weights": ArrayRule("f", "w", 0.0)},
    "baseline": {},
    "sampled": {
        "model/weights": ArrayRule("f", "fk"),
        "model/bias": ArrayRule("f", "k"),
        "model/output": ArrayRule("f", "kc"),
        "model/output_bias": ArrayRule("f", "c"),
    },
    "disk": {
        "train": ArrayRule("iu", "m", 0),
        "reached_bits": ArrayRule("u", "r", needed=False),
    },
}
# Of models of runs on disk, by their kind; "combined" holds several of the others.
_NARROW: Mapping[str, Rule] = {"scaling": TEXT, "s": TIME, "self_weight": TIME}
DISK_HEADERS: Mapping[str, Mapping[str, Rule]] = {
    "linear": {**_NARROW, "l2": TIME},
    "sampled": _NARROW,
    "spreading": {"s": TIME, "sharpness": TIME},
    "combined": {
        "models": (lambda value: isinstance(value, list) and len(value) > 0, "a list"),
        "accuracies": (lambda value: isinstance(value, list), "a list"),
        "judged_by": TEXT,
    },
}
DISK_ARRAYS: Mapping[str, Mapping[str, ArrayRule]] = {
    "linear": {"weights": ArrayRule("f", "fc"), "bias": ArrayRule("f", "c")},
    "sampled": {
        "weights": ArrayRule("f", "fk"),
        "bias": ArrayRule("f", "k"),
        "output": ArrayRule("f", "kc"),
        "output_bias": ArrayRule("f", "c"),
    },
    "spreading": {"floor": ArrayRule("f", "c", 0.0)},
    "combined": {"weights": ArrayRule("f", "w", 0.0)},
}
ON_DISK = ("disk",)  # kinds whose nodes, labels and probabilities are files of their own


def check_run_file(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], where: object
) -> None:
    """Raise with the first thing that a finished run's file has otherwise than declared."""
    kind = header["kind"]
    for rules, needed in ((HEADER, True), (OPTIONAL, False), (OWN_HEADER.get(kind, {}), True)):
        for name, rule in rules.items():
            _check_entry(header, name, rule, where, needed=needed)
    labels, roles = arrays.get("labels"), arrays.get("roles")
    sizes = {"c": len(header["classes"])}
    if labels is not None and labels.ndim == 1:
        sizes["n"] = len(labels)
    if roles is not None:
        sizes["m"] = int(np.count_nonzero(roles == CODES.index("train")))
    shared = {name: rule for name, rule in ARRAYS.items() if kind not in ON_DISK or not rule.needed}
    for name, each in {**shared, **OWN_ARRAYS.get(kind, {})}.items():
        if name in arrays:
            _check_array(name, arrays[name], each, sizes, where)
        elif each.needed:
            raise CheckpointError(f"{where} is damaged: it lacks {name!r}.")
    if kind in ON_DISK:
        _check_disk_model(header["model"], arrays, "model/", sizes["c"], where)
        return
    if len(arrays["labels"]) and arrays["labels"].max() >= sizes["c"]:
        raise CheckpointError(f"{where} is damaged: a label is beyond its {sizes['c']} classes.")
    sums = arrays["probabilities"].sum(axis=1, dtype=np.float64)
    if kind == "label_sets":
        _check_sets(arrays, sizes["c"], where)  # of labels that do not exclude each other
    elif sums.size and np.abs(sums - 1.0).max() > ROW_SUM:
        raise CheckpointError(f"{where} is damaged: probabilities of a node do not sum to 1.")
    if kind == "combined" and len(arrays["weights"]) != len(header["combined"]["parts"]):
        raise CheckpointError(f"{where} is damaged: its parts and weights differ in number.")


def _check_disk_model(
    model: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    prefix: str,
    c: int,
    where: object,
) -> None:
    """Check the model of a run on disk, and those that it combines."""
    kind = str(model.get("kind"))
    if kind not in DISK_HEADERS:
        raise CheckpointError(f"{where} is damaged: there is no model of the kind {kind!r}.")
    for name, rule in DISK_HEADERS[kind].items():
        _check_entry(model, name, rule, where, needed=True)
    sizes = {"c": c}
    for name, each in DISK_ARRAYS[kind].items():
        if prefix + name not in arrays:
            raise CheckpointError(f"{where} is damaged: it lacks {prefix + name!r}.")
        _check_array(prefix + name, arrays[prefix + name], each, sizes, where)
    if kind != "combined":
        return
    if not len(model["models"]) == len(model["accuracies"]) == sizes["w"]:
        raise CheckpointError(f"{where} is damaged: its models and weights differ in number.")
    for number, part in enumerate(model["models"]):
        if not isinstance(part, Mapping) or part.get("kind") == "combined":
            raise CheckpointError(f"{where} is damaged: model {number} is none.")
        _check_disk_model(part, arrays, f"{prefix}part/{number}/model/", c, where)


def _check_sets(arrays: Mapping[str, NDArray[Any]], c: int, where: object) -> None:
    unknown = arrays["label_sets"] < 0
    if (unknown.any(axis=1) != unknown.all(axis=1)).any():
        raise CheckpointError(f"{where} is damaged: a node's labels are known in part.")
    linear = "weights" in arrays and "bias" in arrays
    if linear == ("floor" in arrays) or len(arrays.get("floor", np.zeros(c + 1))) != c + 1:
        raise CheckpointError(f"{where} is damaged: it must hold weights and bias, or a floor.")


def check_nodes(arrays: Mapping[str, NDArray[Any]], n: int) -> tuple[Any, ...]:
    """Return the node ids of a file, ``n`` distinct strings or integers, or raise."""
    nodes = unpack_text(arrays["nodes"])
    plain = isinstance(nodes, list) and len(nodes) == n
    if not plain or not set(map(type, nodes)) <= {str, int}:
        raise CheckpointError(f"The file is damaged: it must hold {n:,} ids, strings or integers.")
    if len(set(nodes)) != n:
        raise CheckpointError("The file is damaged: its node ids are not distinct.")
    return tuple(nodes)


def check_titles(arrays: Mapping[str, NDArray[Any]], n: int) -> tuple[str, ...] | None:
    """Return the titles of the nodes, where a file holds some, or raise."""
    if "titles" not in arrays:
        return None
    titles = unpack_text(arrays["titles"])
    if not _is_texts(titles) or len(titles) != n:
        raise CheckpointError(f"The file is damaged: it must hold {n:,} titles.")
    return tuple(titles)


def _check_entry(
    header: Mapping[str, Any], name: str, rule: Rule, where: object, *, needed: bool
) -> None:
    holder: Any = header
    *outer, last = name.split(".")
    for each in outer:
        holder = holder[each]
    if last not in holder:
        if needed:
            raise CheckpointError(f"{where} is damaged: it lacks {name!r}.")
        return
    fits, what = rule
    if not fits(holder[last]):
        found = repr(holder[last])
        raise CheckpointError(
            f"{where} is damaged: {name} must be {what}; got {found[:60]}"
            f"{'…' if len(found) > 60 else ''}."
        )


def _check_array(
    name: str, array: NDArray[Any], rule: ArrayRule, sizes: dict[str, int], where: object
) -> None:
    def damaged(what: str) -> CheckpointError:
        return CheckpointError(f"{where} is damaged: {name} {what}.")

    if array.dtype.kind not in rule.kinds:
        raise damaged(f"cannot be of {array.dtype}")
    if array.ndim != len(rule.shape):
        raise damaged(f"cannot have the shape {array.shape}")
    for letter, size in zip(rule.shape, array.shape, strict=True):
        if sizes.setdefault(letter, size) != size:
            raise damaged(f"has {size:,} where {sizes[letter]:,} are expected")
    if array.size and array.dtype.kind in "fiu":
        wrong = ~((array >= rule.low) & (array <= rule.high) & np.isfinite(array))
        if rule.gaps:
            wrong &= ~np.isnan(array)
            wrong &= ~(np.isinf(array) & (rule.high == math.inf))
        if wrong.any():
            raise damaged(f"holds {array[wrong].ravel()[0]}, outside its range")
