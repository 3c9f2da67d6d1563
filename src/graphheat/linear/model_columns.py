"""ModelColumns: what a model has diffused to label all nodes, here or by workers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from graphheat.disk import DiskGraph
from graphheat.graph import Graph
from graphheat.heat.engines.cluster.block_step import graph_at
from graphheat.linear.disk_model import model_from, model_parts
from graphheat.linear.narrow_model import NarrowModel
from graphheat.linear.row_diffusion import ScaledFeatures
from graphheat.runs import checkpoint as files


@dataclass(frozen=True, eq=False)
class ModelColumns:
    """XΘ, then a column of ones, then one that is 1 at training nodes.

    Attributes
    ----------
    graph, model
        Whose features, and by what weights.
    train
        Training nodes, in rising order.
    """

    graph: Graph | DiskGraph
    model: NarrowModel
    train: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Columns of XΘ."""
        return self.model.columns

    @cached_property
    def features(self) -> ScaledFeatures:
        """The features, scaled as the model asks."""
        return ScaledFeatures(self.graph, self.model.scaling)

    def projected(self, rows: Any) -> NDArray[Any]:
        """Return XΘ of some rows; on one thread, so that its bits are the same everywhere."""
        with threadpool_limits(1):
            return self.model.project(self.features[rows])

    def __call__(self, first: int, last: int, part: slice) -> NDArray[np.float32]:
        """Return columns of the rows first … last."""
        block = np.zeros((last - first, self.width + 2), dtype=np.float32)
        block[:, : self.width] = self.projected(slice(first, last))
        block[:, self.width] = 1.0
        a, b = np.searchsorted(self.train, [first, last])
        block[self.train[a:b] - first, self.width + 1] = 1.0
        return block[:, part]

    def shared(self, folder: Path) -> StoredColumns:
        """Write the model where workers find it, and return the columns by its file."""
        assert isinstance(self.graph, DiskGraph)
        header, arrays = model_parts(self.model)
        arrays = {**arrays, "train": np.asarray(self.train)}
        digest = hashlib.sha256(repr(sorted(header.items())).encode())
        for name in sorted(arrays):
            digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        name = f"model-{digest.hexdigest()[:16]}.safetensors"
        folder.mkdir(parents=True, exist_ok=True)
        files.write(folder / name, {"model": header}, arrays)
        path = str(Path(self.graph.path).resolve())
        return StoredColumns(str(folder / name), path, self.graph.fingerprint)


class StoredColumns(NamedTuple):
    """The same by the file of the model and the folder of the graph; small, and sent to workers."""

    file: str
    graph: str
    fingerprint: str

    def opened(self) -> ModelColumns:
        """Return the columns, read once per process."""
        return _opened(self)

    def __call__(self, first: int, last: int, part: slice) -> NDArray[np.float32]:
        """Return columns of the rows first … last."""
        return self.opened()(first, last, part)


@lru_cache(maxsize=4)
def _opened(stored: StoredColumns) -> ModelColumns:
    header, arrays = files.read(stored.file)
    model: Any = model_from(header["model"], arrays)
    return ModelColumns(graph_at(stored.graph, stored.fingerprint), model, arrays["train"])
