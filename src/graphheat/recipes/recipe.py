"""Recipe: how a graph and a handful of labels become a run."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphheat.checks import check_count, check_seed
from graphheat.errors import GraphHeatError, KernelMemoryError, OutputError
from graphheat.graph import Graph
from graphheat.progress import Progress
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header, check_same, read, with_prefix, write
from graphheat.runs.protocols import Settings
from graphheat.runs.run_file import run_from

STATE = "resume/"  # before the names of arrays that a run ended early goes on from


@dataclass(eq=False)
class Prepared:
    """What the seeds of one recipe on one graph share.

    Attributes
    ----------
    graph, settings, threads
        As they were given.
    notes
        Sentences on the graph that the user should read, whatever the seed.
    """

    graph: Graph
    settings: Any
    threads: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class WarmStart:
    """What a fit takes from a run that it starts from.

    Attributes
    ----------
    changes, options
        Settings, and what training is given beside.
    note
        A sentence on what was taken.
    """

    changes: Mapping[str, Any]
    note: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """Where a run under way is kept.

    Attributes
    ----------
    save
        Takes header and arrays of a run that is not finished; None where nothing is kept.
    saved
        What an interrupted run left, to go on from.
    source
        Where the graph came from, for the run to remember.
    stage
        Given what each stage of a recipe that has several says on its own, as soon as it is there.
    """

    save: Callable[[Header, Arrays], None] | None = None
    saved: tuple[Header, Arrays] | None = None
    source: Mapping[str, Any] | None = None
    stage: Callable[[Run], None] | None = None


DEFAULT = "auto"


class Recipe(ABC):
    """One way to label a graph: settings → prepare → fit → run.

    A recipe is one small class; it names itself, turns changes into complete settings, prepares
    what seeds share, and trains. Checkpoints, resuming and saving are done here, once.

    Attributes
    ----------
    name, title
        The key of the registry and of ``--recipe``, and the name in a table.
    reference
        Whose idea it is: authors, title, year.
    stochastic
        Whether the seed changes anything.
    brief
        Settings under which a run takes a moment: to see that everything works, not how well.
    """

    name: str
    title: str
    reference: str = ""
    stochastic: bool = True
    brief: Mapping[str, Any] = {}

    @abstractmethod
    def settings(self, graph: Graph, **changes: Any) -> Settings:
        """Return complete, checked settings for a graph, or raise with what is wrong.

        Every recipe is also asked with ``s`` and ``eps`` where a user gave them; one that has
        neither says so.
        """

    def prepare(
        self,
        graph: Graph,
        settings: Any,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Prepared:
        """Compute what all seeds share, or raise where the graph lacks what is needed."""
        check_fit_memory(graph, self.name, settings)
        return Prepared(graph, settings, checked_threads(threads))

    @abstractmethod
    def train(
        self, prepared: Any, seed: int, *, state: State, progress: Progress | None, **options: Any
    ) -> Run:
        """Label every node; what is random is decided by the seed."""

    def warm_start(self, run: Run, changes: dict[str, Any]) -> WarmStart:
        """Return what a fit takes from a run of this recipe; by default nothing but features."""
        return WarmStart(
            changes, f"Recipe {self.name!r} does not go on from weights: it is fitted anew."
        )

    def identity(
        self, prepared: Any, seed: int, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Return what makes a seed's run the run that it is; a checkpoint is compared with it.

        Whatever could still be wrong with the run is found here, before an old one is replaced.
        """
        return {
            "recipe": self.name,
            "fingerprint": prepared.graph.fingerprint,
            "seed": seed,
            "settings": prepared.settings.as_dict(),
        }

    def fit(
        self,
        prepared: Any,
        seed: int = 0,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: Progress | None = None,
        source: Mapping[str, Any] | None = None,
        stage: Callable[[Run], None] | None = None,
        **options: Any,
    ) -> Run:
        """Make a seed's run, or read it where it is finished, or go on with it.

        Parameters
        ----------
        checkpoint
            File to keep the run in: its state about once a second where the recipe has one, and
            the finished run, once.
        resume
            Go on from ``checkpoint`` where it exists; a finished run is returned as it is.
        progress
            Called along the way.
        source
            Kept in the run as it is.
        stage
            Called with what each stage says, where a recipe has several.
        """
        seed = check_seed(seed)
        if checkpoint is None:
            state = State(source=source, stage=stage)
            return self._trained(prepared, seed, state=state, progress=progress, **options)
        path = Path(checkpoint)
        identity, saved = self.identity(prepared, seed, progress), None
        if path.exists():
            if not resume:
                raise OutputError(f"{path} already holds a run. Pass resume=True, or remove it.")
            header, arrays = read(path)
            check_same(path, header, identity, prepared.graph.name)
            if header.get("state") == "finished" and not header.get("interrupted"):
                return run_from(header, arrays, path=path)
            saved = state_of(header, arrays)

        latest: list[tuple[Header, Arrays]] = [] if saved is None else [saved]

        def save(header: Header, arrays: Arrays) -> None:
            graph = prepared.graph
            facts = {"name": graph.name, "classes": list(graph.classes), "source": source or {}}
            whole = {"state": "running", **identity, **facts, **header}
            write(path, whole, arrays)
            # Copies: training goes on in the same memory.
            latest[:] = [(whole, {name: array.copy() for name, array in arrays.items()})]

        state = State(save=save, saved=saved, source=source, stage=stage)
        run = self._trained(prepared, seed, state=state, progress=progress, **options)
        if run.interrupted and latest:
            write(path, *with_state(run, *latest[0]))
        else:
            run.save(path)
        return run

    def _trained(self, prepared: Any, seed: int, **options: Any) -> Run:
        """Train; where memory ends although the plan had room, say so in a sentence."""
        try:
            return self.train(prepared, seed, **options)
        except GraphHeatError:
            raise
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
                raise
            raise KernelMemoryError(
                f"Recipe {self.name!r} ran out of memory on {prepared.graph.n:,} nodes. Free some, "
                "or take recipe 'linear' or 'spreading', which need less."
            ) from error


def with_state(run: Run, header: Header, arrays: Arrays) -> tuple[Header, Arrays]:
    """Return the file of a run that was ended early, with the state to go on from in it."""
    own_header, own_arrays = run.file_parts()
    kept = {f"{STATE}{name}": array for name, array in arrays.items()}
    return {**own_header, "resume": header}, {**own_arrays, **kept}


def state_of(header: Header, arrays: Arrays) -> tuple[Header, Arrays] | None:
    """Return the state that a file of a run under way, or ended early, holds; None without any."""
    if header.get("state") != "finished":
        return header, arrays
    state = header.get("resume")
    return (state, with_prefix(arrays, STATE)) if isinstance(state, dict) else None


def with_seed(run: Run, seed: int) -> Run:
    """Return a run that another seed would have made just so."""
    return replace(run, seed=seed)


def checked_threads(threads: int | None) -> int | None:
    """Return the number of threads as an int, or None for the default."""
    return None if threads is None else check_count(threads, "threads", "fit")
