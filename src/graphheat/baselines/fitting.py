"""Any system on any graph: fitted, timed, and kept in one file."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from graphheat import baselines
from graphheat.baselines.system import Callback
from graphheat.checks import check_count, check_seed
from graphheat.datasets import paper_name
from graphheat.errors import CheckpointError
from graphheat.graph import Graph
from graphheat.training import checkpoint
from graphheat.training.holdout import assign_roles
from graphheat.training.run import Labelling


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemRun(Labelling):
    """What :func:`fit_system` returns: the labels of the graph that it was fitted on.

    Attributes
    ----------
    system, settings
        The name in :data:`graphheat.baselines.SYSTEMS`, and every setting of the run.
    """

    system: str
    settings: dict[str, Any]

    @property
    def recipe(self) -> str:
        """The system's name."""
        return self.system

    def settings_dict(self) -> dict[str, Any]:
        """Return :attr:`settings`."""
        return self.settings

    def _own_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return {"system": self.system, "settings": self.settings}, {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SystemRun:
        """Read a run that :meth:`save` wrote."""
        header, tensors = checkpoint.read(path)
        try:
            return cls(
                **cls.shared_parts(header, tensors),
                system=header["system"],
                settings=header["settings"],
            )
        except KeyError as error:
            raise CheckpointError(f"The checkpoint lacks {error}; it is damaged.") from error

    @classmethod
    def load_matching(
        cls,
        path: str | os.PathLike[str],
        graph: Graph,
        system: str,
        seed: int,
        changes: dict[str, Any],
    ) -> SystemRun:
        """Read a run that must be the one described, or raise with what differs."""
        run = cls.load(path)
        if run.fingerprint != graph.fingerprint:
            raise CheckpointError(f"{path} belongs to another graph than {graph.name}.")
        settings = baselines.load(system).preset(paper_name(graph), **changes).settings()
        wanted = {"recipe": system, "seed": seed, **settings}
        found = {"recipe": run.system, "seed": run.seed, **run.settings}
        for name, value in wanted.items():
            if found.get(name) != value:
                raise CheckpointError(
                    f"{path} was made with {name}={found.get(name)!r}, not {value!r}. "
                    "Resume with the same settings, or start anew with --force."
                )
        return run


def fit_system(
    graph: Graph,
    system: str,
    *,
    seed: int = 0,
    threads: int | None = 1,
    callback: Callback | None = None,
    source: dict[str, Any] | None = None,
    **changes: Any,
) -> SystemRun:
    """Fit a system of the paper's Table 2 on a graph and label all of its nodes.

    Parameters
    ----------
    graph
        With labels; its split says which ones teach, stop and test.
    system
        A name of :data:`graphheat.baselines.SYSTEMS`, such as ``"gcn"``.
    seed
        Decides what the system draws and, without validation labels, which nodes are held out.
    threads
        Of torch; None: 1.
    callback
        Told of each step, for progress.
    **changes
        Settings that differ from the system's presets for this graph (its defaults, for graphs
        other than the paper's).

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> run = fit_system(graph, "lp")
    >>> run.probabilities.shape, run.test_accuracy > 0.6
    ((300, 3), True)
    """
    chosen = baselines.load(system).preset(paper_name(graph), **changes)
    chosen.check(graph)
    seed = check_seed(seed)
    split = assign_roles(graph, seed)
    threads = 1 if threads is None else check_count(threads, "threads", "fit")
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    began = time.perf_counter()
    try:
        outcome = chosen.fit(graph, split, seed, callback=callback)
    finally:
        torch.set_num_threads(before)
    seconds = time.perf_counter() - began
    return SystemRun(
        **SystemRun.graph_parts(graph, split),
        system=system,
        settings=chosen.settings(),
        seed=seed,
        history=outcome.history,
        probabilities=outcome.probabilities,
        best_epoch=outcome.best_epoch,
        seconds=seconds,
        notes=((split.note,) if split.note is not None else ()) + outcome.notes,
        source=source or {},
    )
