"""DiskRun: what a recipe makes of a graph on disk; the model in a small file, the rest mapped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from graphheat.disk import DiskGraph
from graphheat.disk.array_folder import new_array
from graphheat.errors import (
    CheckpointError,
    GraphHeatError,
    MissingDependencyError,
    ParameterError,
)
from graphheat.graph.split import CODES, Split
from graphheat.io.archive import DAMAGE, existing_file, reason_of
from graphheat.io.atomic import check_writable, replacing
from graphheat.linear.disk_model import DiskModel, described, model_from, model_parts
from graphheat.progress import Progress
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.protocols import PlainSettings
from graphheat.runs.run_schema import ROW_SUM

STRIP = 1 << 17  # rows that are written at a time
FORMATS = (".parquet", ".csv")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DiskRun(Run, kind="disk"):
    """What a recipe makes of a graph on disk.

    Attributes
    ----------
    model
        What all nodes were labelled by.
    graph
        The graph, opened.
    kept
        The mean share of heat that the training rows account for.
    stored
        The file that ``probabilities`` are mapped from; None: they are in memory.
    """

    model: DiskModel
    graph: DiskGraph
    kept: float = 1.0
    stored: str | None = None

    explained_by: ClassVar[str | None] = "graphheat.explain.disk_explainer:DiskExplainer"

    @staticmethod
    def parts_of(graph: DiskGraph, split: Split) -> dict[str, Any]:
        """Return the fields that say which graph a run was made on."""
        return {
            "fingerprint": graph.fingerprint,
            "name": graph.name,
            "classes": graph.classes,
            "nodes": graph.nodes,
            "labels": graph.labels,
            "split": split,
            "feature_names": graph.feature_names,
            "graph": graph,
        }

    def settings_dict(self) -> dict[str, Any]:
        """Return what was chosen, and what was asked for."""
        return {
            **described(self.model),
            "heat_kept": round(self.kept, 4),
            "asked": self.settings.as_dict(),
        }

    def accuracy(self, part: str) -> float | None:
        """Return the share of right predictions in a part of the split, or None without nodes."""
        nodes = self.members(part)
        if not len(nodes):
            return None
        predicted = np.asarray(self.probabilities[nodes]).argmax(axis=1)
        return float((predicted == self.labels[nodes]).mean())

    def index_of(self, node: Any) -> int:
        """Return the row number of a node by its id."""
        return self.graph.index_of(node)

    # ------------------------------------------------------------------ tables

    def tables(self) -> Iterator[Any]:
        """Yield the predictions as Arrow tables, some rows at a time."""
        try:
            import pyarrow
        except ImportError as error:
            raise MissingDependencyError(
                "Tables of predictions need Arrow: pip install 'graphheat[big]'."
            ) from error
        names = pyarrow.array([str(name) for name in self.classes])
        parts = pyarrow.array(list(CODES))
        codes = self.split.codes()
        for first in range(0, self.graph.n, STRIP):
            last = min(self.graph.n, first + STRIP)
            p = np.asarray(self.probabilities[first:last])
            check_rows(p, self.stored)
            labels = np.asarray(self.labels[first:last])
            columns = {
                "node": self.graph.nodes.between(first, last),
                "label": names.take(pyarrow.array(labels, mask=labels < 0)),
                "predicted": names.take(pyarrow.array(p.argmax(axis=1))),
                "confidence": p.max(axis=1),
                "reached": None if self.reached is None else self.reached[first:last],
                "split": parts.take(pyarrow.array(codes[first:last])),
                **{f"p_{name}": p[:, k] for k, name in enumerate(self.classes)},
            }
            yield pyarrow.table({k: v for k, v in columns.items() if v is not None})

    def write_predictions(
        self, out: str | os.PathLike[str], *, progress: Progress | None = None
    ) -> Path:
        """Stream the predictions of every node to a ``.parquet`` or ``.csv`` file."""
        path = Path(out)
        if path.suffix not in FORMATS:
            raise ParameterError(
                f"Predictions go to a file that ends in {' or '.join(FORMATS)}; got {path.name!r}."
            )
        check_writable(path)
        with replacing(path) as aside:
            writer: Any = None
            done = 0
            for table in self.tables():
                if writer is None:
                    writer = _writer(aside, table.schema)
                writer.write_table(table)
                done += table.num_rows
                if progress is not None:
                    progress(done, self.graph.n, "predictions")
            writer.close()
        return path

    # ------------------------------------------------------------------ file

    def file_parts(self) -> tuple[Header, Arrays]:
        """Return the model, and where the rest is; probabilities are no part of the file."""
        model, arrays = model_parts(self.model)
        header = {
            "state": "finished",
            "kind": self.kind,
            "recipe": self.recipe,
            "settings": self.settings.as_dict(),
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "name": self.name,
            "classes": list(self.classes),
            "best_epoch": 0,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "source": self.source,
            "model": model,
            "kept": self.kept,
            "graph": str(Path(self.graph.path).resolve()),
            "stored": self.stored,
        }
        train = np.asarray(self.split.train)
        if self.reached is not None:
            arrays = {**arrays, "reached_bits": np.packbits(self.reached)}
        return header, {**arrays, "train": train}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to ``path``, and probabilities beside it unless they are mapped."""
        run = self
        if self.stored is None:
            file = Path(path).with_name("probabilities.npy")
            with replacing(file) as aside:
                array = new_array(aside, self.probabilities.shape, np.float32)
                array[:] = self.probabilities
                array.flush()
            run = self.with_store(file)
        super(DiskRun, run).save(path)

    def with_store(self, file: Path) -> DiskRun:
        """Return the run with its probabilities mapped from ``file``."""
        from dataclasses import replace

        mapped = stored_rows(file, self.graph)
        return replace(self, probabilities=mapped, stored=str(file.resolve()))

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> DiskRun:
        """Rebuild a run from its file, its graph and its probabilities."""
        graph = DiskGraph.open(header["graph"])
        if graph.fingerprint != header["fingerprint"]:
            raise CheckpointError(
                f"{graph.path} is not the graph that this run was fitted on; it was ingested anew. "
                "Fit again."
            )
        if list(graph.classes) != header["classes"]:
            raise CheckpointError(f"{graph.path} has other classes than this run. Fit again.")
        stored = Path(header["stored"])
        if not stored.is_file():
            raise CheckpointError(
                f"The run's probabilities are not where they were ({stored}). Put them back, or "
                "fit again with --resume."
            )
        parts = {**graph.split.parts, "train": arrays["train"]}
        known = {k: v for k, v in arrays.items() if k.startswith(("model/", "input/"))}
        reached = arrays.get("reached_bits")
        if reached is not None and (reached.dtype != np.uint8 or len(reached) != -(-graph.n // 8)):
            raise CheckpointError("The run's file is damaged: reached_bits has another length.")
        return cls(
            **cls.parts_of(graph, Split(graph.n, parts)),
            recipe=header["recipe"],
            settings=PlainSettings(header["settings"]),
            seed=header["seed"],
            seconds=header["seconds"],
            notes=tuple(header["notes"]),
            source=header["source"],
            model=model_from(header["model"], known),
            kept=header["kept"],
            stored=header["stored"],
            probabilities=stored_rows(stored, graph),
            reached=None if reached is None else np.unpackbits(reached)[: graph.n].astype(bool),
        )


def stored_rows(file: Path, graph: DiskGraph) -> Any:
    """Map the probabilities of a graph's nodes, which must have their shape; or raise."""
    shape = graph.n, len(graph.classes)
    try:
        mapped = np.load(existing_file(file), mmap_mode="r", allow_pickle=False)
    except (*DAMAGE, SyntaxError) as error:
        if isinstance(error, GraphHeatError):
            raise
        raise CheckpointError(f"{file} is damaged: {reason_of(error)}.") from error
    if mapped.shape != shape or mapped.dtype != np.float32:
        raise CheckpointError(
            f"{file} must hold probabilities (float32) of shape {shape}; got {mapped.dtype} "
            f"{mapped.shape}."
        )
    return mapped


def check_rows(p: Any, file: str | None) -> None:
    """Raise unless rows are probabilities: in range, with the sum 1."""
    sums = p.sum(axis=1, dtype=np.float64)
    if p.size and (p.min() < 0 or not np.all(np.abs(sums - 1.0) <= ROW_SUM)):
        raise CheckpointError(f"{file} is damaged: probabilities of a node do not sum to 1.")


class _CsvFile:
    """A CSV file that takes tables; Arrow's own writer takes no large strings by that name."""

    def __init__(self, path: Path, schema: Any) -> None:
        import pyarrow.csv

        self._writer = pyarrow.csv.CSVWriter(path, schema)

    def write_table(self, table: Any) -> None:
        """Write a table's rows."""
        self._writer.write_table(table)

    def close(self) -> None:
        """End the file."""
        self._writer.close()


def _writer(path: Path, schema: Any) -> Any:
    import pyarrow.parquet

    if path.suffix == ".csv":
        return _CsvFile(path, schema)
    return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd")
