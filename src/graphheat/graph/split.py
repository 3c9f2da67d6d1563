"""Split: which labelled nodes train, validate, calibrate and test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import check_number
from graphheat.errors import GraphError

Indices = NDArray[np.int64]

CODES = ("", "train", "val", "test", "calibration")  # files hold indices into this: only append

LEAST_CALIBRATION, LEAST_VALIDATION = 20, 40  # labels that each of the two purposes needs


@dataclass(frozen=True, eq=False, repr=False)
class Split(Mapping[str, Indices]):
    """Node indices by part; a mapping of the parts that were given.

    ``train`` labels are learned from; ``val`` labels decide when to stop and which setting to take;
    ``calibration`` labels, which share no node with them, how far a confidence may be believed; and
    ``test`` labels are looked at once, at the end. Parts of other names are kept, and play no part.

    Attributes
    ----------
    n
        Number of nodes of the graph.
    parts
        The parts that were given, each of distinct row numbers.
    held_out
        Whether ``val`` was drawn from the training labels, for want of validation labels.
    notes
        Sentences on how the split was completed, for the user to read.

    Examples
    --------
    >>> split = Split.checked({"train": [0, 1], "test": [3]}, labels=np.array([0, 1, -1, 0]))
    >>> split["train"], split.val, split.codes()
    (array([0, 1]), array([], dtype=int64), array([1, 1, 0, 3], dtype=int8))
    """

    n: int
    parts: Mapping[str, Indices]
    held_out: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def checked(cls, parts: Mapping[str, ArrayLike], labels: Indices) -> Split:
        """Check parts that a user gave, as indices or masks, against the labels, shape (n,)."""
        n = len(labels)
        if not isinstance(parts, Mapping):
            raise GraphError(
                f"split must be a mapping from part to node indices; got {type(parts).__name__}."
            )
        found = {name: _indices(name, members, n) for name, members in parts.items()}
        names = list(found)
        for position, first in enumerate(names):
            for second in names[position + 1 :]:
                shared = np.intersect1d(found[first], found[second])
                if shared.size:
                    raise GraphError(
                        f"split['{first}'] and split['{second}'] share {shared.size} nodes "
                        f"(first {shared[0]})."
                    )
        for name in ("train", "val", "calibration"):
            unlabelled = labels[found.get(name, np.empty(0, np.int64))] < 0
            if unlabelled.any():
                raise GraphError(
                    f"split['{name}'] holds {int(unlabelled.sum())} nodes without a label."
                )
        return cls(n, MappingProxyType(found))

    @classmethod
    def from_codes(cls, codes: NDArray[np.integer[Any]]) -> Split:
        """Undo :meth:`codes`; a part without a node is left out."""
        found = {name: np.flatnonzero(codes == code) for code, name in enumerate(CODES) if code > 0}
        return cls(len(codes), {name: nodes for name, nodes in found.items() if len(nodes)})

    # ------------------------------------------------------------------ a mapping

    def __getitem__(self, name: str) -> Indices:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={len(nodes)}" for name, nodes in self.parts.items())
        return f"Split({sizes})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parts": dict(self.parts)}  # a mapping proxy cannot be pickled

    # ------------------------------------------------------------------ parts

    @property
    def train(self) -> Indices:
        """Nodes to learn from; empty where none were named."""
        return self._part("train")

    @property
    def val(self) -> Indices:
        """Nodes that decide when to stop and what to choose."""
        return self._part("val")

    @property
    def calibration(self) -> Indices:
        """Nodes that say how far a confidence may be believed."""
        return self._part("calibration")

    @property
    def test(self) -> Indices:
        """Nodes to be scored."""
        return self._part("test")

    def _part(self, name: str) -> Indices:
        return self.parts.get(name, np.empty(0, dtype=np.int64))

    def codes(self) -> NDArray[np.int8]:
        """Return each node's part as an index into ``("", "train", "val", "test", …)``, (n,)."""
        codes = np.zeros(self.n, dtype=np.int8)
        for code, name in enumerate(CODES):
            if name in self.parts:
                codes[self.parts[name]] = code
        return codes

    def names(self) -> list[str]:
        """Return each node's part by name, ``""`` for none."""
        return [CODES[code] for code in self.codes()]

    def training_nodes(self, labels: Indices) -> Indices:
        """Return the train part; without one, every label that no other part has."""
        if "train" in self.parts:
            return self.train
        free = labels >= 0
        for part in (self.val, self.calibration, self.test):
            free[part] = False
        return np.flatnonzero(free)

    # ------------------------------------------------------------------ completed

    def completed(
        self,
        labels: Indices,
        classes: tuple[Any, ...],
        seed: int,
        *,
        calibration: float = 0.0,
        hold_out: bool = True,
    ) -> Split:
        """Return all four parts, as a recipe needs them.

        Without a ``train`` part, every label outside the other parts trains. Without validation
        labels a fifth of the training labels of each class is held out: a class of one or two
        labels gives none, any other at least one.

        Parameters
        ----------
        labels, classes
            Class codes, shape (n,), −1 = unlabelled, and the names that they index.
        seed
            Decides who is drawn.
        calibration
            Without such a part: share of the validation labels, in [0, 1), that calibrate and take
            no part in stopping, drawn class by class. None are, and ``notes`` say so, where fewer
            than 20 would calibrate or fewer than 40 be left.
        hold_out
            False: no validation label is drawn from the training labels.

        Examples
        --------
        >>> import graphheat
        >>> cora = graphheat.datasets.load("cora")
        >>> split = cora.split.completed(cora.labels, cora.classes, 0, calibration=0.3)
        >>> len(split.val), len(split.calibration)
        (350, 150)
        """
        share = check_number(calibration, "calibration", "fit", 0.0, 1.0, right="open")
        train = self.training_nodes(labels)
        _check_trainable(train, labels, classes)
        known = labels >= 0
        found = {"train": train, "val": self.val, "test": self.test[known[self.test]]}
        found["calibration"] = self.calibration[known[self.calibration]]
        whole = replace(self, parts=MappingProxyType(found), held_out=False, notes=())
        if hold_out and not len(self.val):
            whole = whole._hold_out(labels, seed)
        if share and "calibration" not in self.parts:
            whole = whole._with_calibration(labels, seed, share)
        return whole

    def merged(self) -> Split:
        """Return the split with validation nodes that were held out back among the training."""
        if not self.held_out:
            return self
        merged = {
            **self.parts,
            "train": np.union1d(self.train, self.val),
            "val": np.empty(0, dtype=np.int64),
        }
        return replace(self, parts=MappingProxyType(merged), held_out=False)

    def _hold_out(self, labels: Indices, seed: int) -> Split:
        random = np.random.default_rng(seed)
        held = []
        for code in np.unique(labels[self.train]):
            members = self.train[labels[self.train] == code]
            if len(members) >= 3:
                held.append(random.permutation(members)[: max(1, round(len(members) / 5))])
        if not held:
            sentence = (
                "No class has three labels, so none is held out and training runs for a fixed "
                "number of epochs."
            )
            return replace(self, notes=(sentence,))
        val = np.sort(np.concatenate(held))
        sentence = (
            f"No validation labels were given: {len(val)} of {len(self.train)} labelled nodes are "
            "held out to decide when to stop."
        )
        parts = {**self.parts, "train": np.setdiff1d(self.train, val), "val": val}
        return replace(self, parts=MappingProxyType(parts), held_out=True, notes=(sentence,))

    def _with_calibration(self, labels: Indices, seed: int, share: float) -> Split:
        """Move a share of the validation nodes of each class, or note why not."""
        # Another stream than the one that draws validation nodes, so that a share changes no other.
        random = np.random.default_rng([seed, 1])
        mixed = random.permutation(self.val)
        # In turns through the classes: the first share of that order holds each in proportion.
        place = np.empty(len(mixed))
        for code in np.unique(labels[mixed]):
            members = labels[mixed] == code
            place[members] = (np.arange(members.sum()) + 0.5) / members.sum()
        chosen = mixed[np.argsort(place, kind="stable")[: round(share * len(mixed))]]
        if len(chosen) >= LEAST_CALIBRATION and len(mixed) - len(chosen) >= LEAST_VALIDATION:
            rest = self.val[~np.isin(self.val, chosen)]
            parts = {**self.parts, "val": rest, "calibration": np.sort(chosen)}
            return replace(self, parts=MappingProxyType(parts))
        sentence = (
            f"{len(mixed)} validation labels are too few to hold {share:.0%} out for calibration "
            f"(which needs {LEAST_CALIBRATION}, and stopping {LEAST_VALIDATION}), so the same "
            "nodes do both."
            if len(mixed)
            else "Without validation labels confidence is not calibrated."
        )
        return replace(self, notes=(*self.notes, sentence))


def _indices(name: str, members: ArrayLike, n: int) -> Indices:
    """Return a part's row numbers, shape (k,), or raise with the rule that it breaks."""
    try:
        indices = np.asarray(members)
    except ValueError:
        raise GraphError(f"split['{name}'] must be a list of row numbers, or a mask.") from None
    if indices.dtype.kind == "b":
        if indices.shape != (n,):
            raise GraphError(
                f"split['{name}'] is a mask of shape {indices.shape}; it needs ({n},)."
            )
        indices = np.flatnonzero(indices)
    if indices.size and indices.dtype.kind not in "iu":
        raise GraphError(f"split['{name}'] must hold node indices; got {indices.dtype}.")
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise GraphError(f"split['{name}'] must hold indices in [0, {n}).")
    indices = indices.astype(np.int64).ravel()
    if len(np.unique(indices)) != len(indices):
        raise GraphError(f"split['{name}'] names a node more than once.")
    return indices


def _check_trainable(train: Indices, labels: Indices, classes: tuple[Any, ...]) -> None:
    if not len(train):
        raise GraphError(
            "There is no labelled node to learn from. Label at least one node of each class."
        )
    if len(np.unique(labels[train])) < 2:
        raise GraphError(
            f"The training labels name one class only ({classes[labels[train[0]]]!r}); at least "
            "two are needed to tell nodes apart."
        )
