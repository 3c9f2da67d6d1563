"""What an interrupted fit on disk goes on from: models when trained, labels when finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.errors import CheckpointError
from graphheat.io.archive import reason_of
from graphheat.linear.disk_model import DiskModel, model_from, model_parts
from graphheat.linear.disk_run import stored_rows
from graphheat.linear.labelling import Labels
from graphheat.runs import checkpoint as files
from graphheat.runs.checkpoint import Arrays, Header, with_prefix

TEMPORARY = ("heat.npy", "panels.json")


class StageFiles:
    """The file of a run under way, and the probabilities of its stages beside it.

    Parameters
    ----------
    path
        The run's file; None: nothing is kept.
    identity
        What a fit must have in common with the one that left the file.
    graph
        The graph that is labelled.
    """

    def __init__(self, path: Path | None, identity: Header, graph: DiskGraph) -> None:
        self.path, self.identity, self.graph = path, identity, graph
        self.folder = None if path is None else path.parent
        self._stages: dict[str, Header] = {}
        self._arrays: Arrays = {}

    @staticmethod
    def name_of(stage: str) -> str:
        """Return the file of a stage's probabilities."""
        return f"{stage}.npy"

    def read(self, graph: str) -> tuple[Header, Arrays] | None:
        """Take what the file holds; return it where the run is finished."""
        assert self.path is not None
        header, arrays = files.read(self.path)
        files.check_same(self.path, header, self.identity, graph)
        if header.get("state") == "finished":
            return header, arrays
        if "stages" not in header:
            raise CheckpointError(
                f"{self.path} was left by an earlier version, in another form. Remove it, and fit "
                "again."
            )
        self._stages, self._arrays = header["stages"], dict(arrays)
        self._check()
        return None

    def _check(self) -> None:
        """Raise where the file holds no models, or something else beside them."""
        try:
            for name, stage in self._stages.items():
                _, kept, notes, train, left_out = self._known(name)
                whole = isinstance(stage["labelled"], bool) and isinstance(kept, float)
                words = all(isinstance(note, str) for note in notes)
                if not whole or not words or train.dtype.kind not in "iu" or left_out.ndim != 2:
                    raise ValueError(f"{name} is no stage")
                if stage["labelled"] and self._arrays[f"{name}/reached"].dtype != np.uint8:
                    raise ValueError(f"{name} has odd marks of what heat reaches")
        except CheckpointError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise CheckpointError(
                f"{self.path} is damaged: {reason_of(error)}. Remove it, and fit again."
            ) from error

    def trained(self, name: str) -> tuple[Any, ...] | None:
        """Return the model of a stage, its share of heat, notes, train and left_out; or None."""
        if name not in self._stages:
            return None
        return self._known(name)

    def labelled(self, name: str) -> tuple[Any, ...] | None:
        """Return labels, share of heat, notes, train and left_out of a finished stage; or None."""
        stage = self._stages.get(name)
        if stage is None or not stage["labelled"] or self.folder is None:
            return None
        file = self.folder / self.name_of(name)
        if not file.is_file():
            return None
        model, *rest = self._known(name)
        probabilities = stored_rows(file, self.graph)
        bits = self._arrays[f"{name}/reached"]
        if len(bits) != -(-self.graph.n // 8):
            raise CheckpointError(f"{self.path} is damaged: {name} is of another graph.")
        reached = np.unpackbits(bits)[: len(probabilities)].astype(np.bool_)
        return Labels(probabilities, reached, model, ""), *rest

    def keep_trained(
        self,
        name: str,
        model: DiskModel,
        kept: float,
        notes: tuple[str, ...],
        train: NDArray[np.int64],
        left_out: NDArray[np.float64],
    ) -> None:
        """Keep a model, in place of what the stage had."""
        if self.path is None:
            return
        header, arrays = model_parts(model)
        self._stages[name] = {
            "model": header, "kept": kept, "notes": list(notes), "labelled": False
        }  # fmt: skip
        self._arrays = {k: v for k, v in self._arrays.items() if not k.startswith(f"{name}/")}
        self._arrays |= {f"{name}/{key}": array for key, array in arrays.items()}
        self._arrays |= {f"{name}/train": train, f"{name}/left_out": left_out}
        self._write()

    def keep_labelled(
        self, name: str, labels: Labels, kept: float, notes: tuple[str, ...], *left_out: Any
    ) -> None:
        """Keep that a stage has labelled all nodes, and by what."""
        if self.path is None:
            return
        self.keep_trained(name, labels.model, kept, notes, *left_out)
        self._stages[name]["labelled"] = True
        self._arrays[f"{name}/reached"] = np.packbits(labels.reached)
        self._write()

    def clear(self, stages: list[str]) -> None:
        """Remove what only a run under way needs."""
        if self.folder is not None:
            for name in (*TEMPORARY, *map(self.name_of, stages)):
                (self.folder / name).unlink(missing_ok=True)

    def _known(self, name: str) -> tuple[Any, ...]:
        stage, arrays = self._stages[name], with_prefix(self._arrays, f"{name}/")
        model = model_from(stage["model"], arrays)
        return model, stage["kept"], tuple(stage["notes"]), arrays["train"], arrays["left_out"]

    def _write(self) -> None:
        assert self.path is not None
        header = {**self.identity, "state": "labelling", "stages": self._stages}
        files.write(self.path, header, self._arrays)
