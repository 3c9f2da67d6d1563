"""Folds of the training labels, and what a linear model says of every node without each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.graph import Graph, Split
from graphheat.linear.linear_fit import fit_linear
from graphheat.linear.linear_run import LinearSettings
from graphheat.runs import Run
from graphheat.runs.combined_run import CombinedRun

KINDS = 2  # of networks: consistent and supervised
# Of each kind: those that answer, and such that judge where nothing else does.
MEMBERS, FOLDS = 2, 4


def deal_folds(codes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64] | None:
    """Deal training nodes to folds, class by class, so that each fold leaves every class a label.

    A class's only label always trains, fold −1. None where fewer nodes than folds can be dealt.
    """
    random = np.random.default_rng(seed)
    folds = np.full(len(codes), -1, dtype=np.int64)
    dealt = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        if len(members) > 1:
            folds[members] = (dealt + np.arange(len(members))) % count
            dealt += len(members)
    return folds if dealt >= count else None


@dataclass(frozen=True, eq=False)
class Teaching:
    """Soft targets for networks from a linear model, none from labels that judge them later.

    Attributes
    ----------
    folds
        The fold of each training node in rising order, shape (m,), −1 for those that always train;
        None where validation labels judge.
    probabilities
        Of every node's classes by linear models, shape (1 + count, n, c): by that of all training
        labels, then without fold 0, 1, …; without folds the first alone. Of its own training nodes
        a model tells what it would say had they not been there.
    """

    folds: NDArray[np.int64] | None
    probabilities: NDArray[np.float64]

    @classmethod
    def by(
        cls,
        linear: CombinedRun,
        graph: Graph,
        split: Split,
        count: int,
        seed: int,
        threads: int | None,
    ) -> Teaching:
        """Fit the best of the linear models once more without each fold, where there are folds."""
        train = np.sort(split.train)
        folds = None if len(split.val) else deal_folds(graph.labels[train], count, seed)
        soft = [_unseen(linear)]
        if folds is None:
            return cls(None, np.stack(soft))
        best: Any = linear.parts[0]
        fixed = LinearSettings(
            s=best.s,
            l2=best.l2,
            scaling=best.scaling.kind,
            self_weight=best.self_weight,
            class_weight=best.settings.class_weight,
        )
        for fold in range(count):
            rest = replace(split, parts={**split.parts, "train": train[folds != fold]})
            soft.append(_unseen(fit_linear(graph, rest, fixed, threads=threads)))
        return cls(folds, np.stack(soft))

    def out_of_fold(self, train: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the prediction for each training node without its fold, shape (m, c), or NaN.

        So linear models are judged as networks are: by labels that were left out together.
        """
        assert self.folds is not None
        found = np.full((len(train), self.probabilities.shape[2]), np.nan)
        dealt = np.flatnonzero(self.folds >= 0)
        found[dealt] = self.probabilities[1 + self.folds[dealt], train[dealt]]
        return found


def _unseen(run: Run) -> NDArray[np.float64]:
    soft = np.array(run.probabilities, dtype=np.float64)
    if run.out_of_fold is not None:
        soft[np.sort(run.split.train)] = run.out_of_fold
    return soft
