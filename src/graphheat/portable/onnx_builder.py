"""An ONNX graph that grows node by node, with sparse products and Chebyshev series."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import MissingDependencyError, UnsupportedError
from graphheat.heat.series import ChebyshevSeries

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError as error:
    raise MissingDependencyError("ONNX files need onnx: pip install 'graphheat[onnx]'.") from error

OPSET, IR_VERSION = 18, 10  # ScatterElements adds since opset 16; onnxruntime 1.18 reads both
MOST_BYTES = 2_000_000_000  # of a protobuf message, which a file of ONNX is


class OnnxBuilder:
    """Nodes and constants of a graph whose values are all float64.

    Methods return the names of values; equal constants are stored once.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self._constants: dict[Hashable, str] = {}
        self._stored: list[Any] = []
        self._bytes = 0
        self._matrices: dict[Hashable, tuple[str, str, str, str]] = {}

    def input(self, name: str, shape: tuple[int, int]) -> str:
        """Declare an input of float64."""
        self.inputs.append(helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape))
        return name

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Store an array, or find it."""
        array = np.ascontiguousarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._bytes += array.nbytes
            if self._bytes > MOST_BYTES:
                raise UnsupportedError(
                    "An ONNX file holds at most 2 GB, and this run needs more for its kernel "
                    "matrix. Fit it with eps=None, which needs the edges alone."
                )
            name = f"constant_{len(self._constants)}"
            self._stored.append(numpy_helper.from_array(array, name))
            self._constants[key] = name
        return self._constants[key]

    def __call__(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its one output."""
        output = f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def scaled(self, factor: float, value: str) -> str:
        """Return factor · value."""
        return self("Mul", self.constant(factor), value)

    def product(self, key: Hashable, matrix: sp.csr_array, x: str, columns: int) -> str:
        """Return Mx for a sparse M, shape (n, n), and x, shape (n, columns).

        Rows of x are gathered by M's columns, multiplied, and added up by M's rows. ``key`` names
        the matrix, whose entries are stored once.
        """
        if key not in self._matrices:
            coo = sp.coo_array(matrix)
            self._matrices[key] = (
                self.constant(coo.col, np.int64),
                self.constant(coo.row[:, None], np.int64),
                self.constant(coo.data[:, None]),
                self.constant([coo.nnz], np.int64),
            )
        col, row, data, count = self._matrices[key]
        taken = self("Mul", data, self("Gather", x, col, axis=0))
        shape = self("Concat", count, self.constant([columns], np.int64), axis=0)
        places = self("Expand", row, shape)
        nothing = self.constant(np.zeros((matrix.shape[0], columns)))
        return self("ScatterElements", nothing, places, taken, axis=0, reduction="add")

    def series(
        self, key: Hashable, S: sp.csr_array, series: ChebyshevSeries, x: str, columns: int
    ) -> str:
        """Return Σ_k c_k T_k(S) x, shape (n, columns), by the recurrence."""
        coefficients = series.coefficients.tolist()
        total = self.scaled(coefficients[0], x)
        before, now = x, x
        for k, coefficient in enumerate(coefficients[1:], start=1):
            step = self.product(key, S, now, columns)
            after = step if k == 1 else self("Sub", self.scaled(2.0, step), before)
            before, now = now, after
            total = self("Add", total, self.scaled(coefficient, now))
        return total

    def softmax(self, logits: str) -> str:
        """Return rows that sum to 1."""
        return self("Softmax", logits, axis=1)

    def model(self, output: str, shape: tuple[int, int], facts: dict[str, str]) -> Any:
        """Return the finished model, with one output, ``probabilities``; it is checked."""
        self.nodes.append(helper.make_node("Identity", [output], ["probabilities"]))
        declared = helper.make_tensor_value_info("probabilities", onnx.TensorProto.DOUBLE, shape)
        graph = helper.make_graph(self.nodes, "graphheat", self.inputs, [declared], self._stored)
        model = helper.make_model(
            graph,
            producer_name="graphheat",
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        helper.set_model_props(model, facts)
        onnx.checker.check_model(model)
        return model


def dense(features: Any) -> NDArray[np.float64]:
    """Return features as the input of a model takes them, shape (n, f), float64."""
    rows: Any = features
    return np.asarray(rows.toarray() if sp.issparse(features) else rows, dtype=np.float64)
