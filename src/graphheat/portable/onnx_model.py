"""What each kind of run is as an ONNX graph: features of the run's nodes in, probabilities out.

The nodes are those of the fitted graph, in its order, and their edges are part of the file: the
diffusion is a Chebyshev series of sparse products (gather, multiply, scatter-add), or products with
the thresholded kernel matrix where the run has one. What features play no part in, as label
spreading, is folded in as numbers.
"""

from __future__ import annotations

import json
import os
from functools import singledispatch
from typing import Any

import numpy as np
import onnx
import scipy.sparse as sp
from numpy.polynomial.chebyshev import poly2cheb

from graphheat.errors import UnsupportedError
from graphheat.features import Scaling
from graphheat.features.scaling import LENGTH
from graphheat.graph import Graph
from graphheat.graph.adjacency import without_diagonal
from graphheat.heat import HeatKernel, normalized_adjacency
from graphheat.heat.series import SINGLE, ChebyshevSeries, heat_series
from graphheat.io.atomic import replacing
from graphheat.linear import diffusion, spreading
from graphheat.linear.linear_run import LinearRun
from graphheat.linear.neighbor_run import NeighborRun
from graphheat.portable.onnx_builder import OnnxBuilder
from graphheat.runs import Run
from graphheat.runs.combined_run import LEAST, CombinedRun
from graphheat.training.network_run import NetworkRun

FEATURES = "features"


def write_onnx(run: Run, graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a run on its graph as an ONNX model; see :meth:`graphheat.Run.to_onnx`."""
    builder = OnnxBuilder()
    if run.uses_features:
        assert graph.features is not None  # which the run was fitted on
        builder.input(FEATURES, graph.features.shape)
    probabilities = export(run, graph, builder)
    facts = {
        "recipe": run.recipe,
        "graph": run.name,
        "classes": json.dumps(list(run.classes), ensure_ascii=False),
        "nodes": json.dumps(list(run.nodes), ensure_ascii=False),
    }
    shape = (graph.n, len(run.classes))
    model = builder.model(probabilities, shape, facts)
    with replacing(path) as aside:
        onnx.save_model(model, aside)


@singledispatch
def export(run: Run, graph: Graph, builder: OnnxBuilder) -> str:
    """Add a run to the graph that is built, and return the name of its probabilities, (n, c)."""
    raise UnsupportedError(
        f"A run of {run.recipe} has no ONNX form; those of heat networks, of linear and spreading, "
        "and of the default have one."
    )


@export.register
def _(run: spreading.SpreadingRun, graph: Graph, builder: OnnxBuilder) -> str:
    return builder.constant(run.probabilities)


@export.register
def _(run: NeighborRun, graph: Graph, builder: OnnxBuilder) -> str:
    return builder.constant(run.probabilities)  # of edges, which are part of the model


@export.register
def _(run: CombinedRun, graph: Graph, builder: OnnxBuilder) -> str:
    total = ""
    for part, weight in zip(run.parts, run.weights.tolist(), strict=True):
        floored = builder("Max", export(part, graph, builder), builder.constant(LEAST))
        logits = builder.scaled(weight, builder("Log", floored))
        total = logits if not total else builder("Add", total, logits)
    return builder.softmax(total)


@export.register
def _(run: LinearRun, graph: Graph, builder: OnnxBuilder) -> str:
    classes = len(run.classes)
    own = builder("MatMul", scaled(run.scaling, builder), builder.constant(run.weights))
    key = ("S", diffusion.SELF_LOOPS)
    S = normalized_adjacency(graph.adjacency, self_loops=diffusion.SELF_LOOPS)
    longest = int(np.diff(S.indptr).max(initial=0))
    series = heat_series(run.s, diffusion.TOL, longest)
    heat = builder.series(key, S, series, own, classes)
    # The heat of ones does not depend on features: it is computed here.
    kernel = HeatKernel(graph, run.s, tol=diffusion.TOL, self_loops=diffusion.SELF_LOOPS)
    total = np.asarray(kernel.apply(np.ones(graph.n)))[:, None]
    mean = builder("Div", heat, builder.constant(total))
    if run.self_weight:
        kept = builder.scaled(run.self_weight, own)
        mean = builder("Add", kept, builder.scaled(1.0 - run.self_weight, mean))
    return builder.softmax(builder("Add", mean, builder.constant(run.bias)))


@export.register
def _(run: NetworkRun, graph: Graph, builder: OnnxBuilder) -> str:
    products = _Products(run, graph, builder)
    hidden = products.layer(scaled(run.scaling, builder), "first")
    return builder.softmax(products.layer(builder("Relu", hidden), "second"))


class _Products:
    """The products of a network's layers, by series or by kernel matrices, as it was trained."""

    def __init__(self, run: NetworkRun, graph: Graph, builder: OnnxBuilder) -> None:
        self.run, self.settings, self.builder = run, run.settings, builder
        settings, loops = run.settings, run.settings.self_loops
        self.S = normalized_adjacency(graph.adjacency, self_loops=loops)
        self.series: ChebyshevSeries | None = None
        self.matrices: list[sp.csr_array] = []
        if settings.propagation == "powers":
            order = int(getattr(settings, "order"))  # noqa: B009 - of settings that have it
            mean = poly2cheb(np.full(order + 1, 1 / (order + 1)))
            self.series = ChebyshevSeries(mean, SINGLE)
        elif settings.eps is None:
            self.series = heat_series(settings.s, settings.tol, 1)
        else:
            for k in range(1, settings.K):
                kernel = HeatKernel(graph, k * settings.s, tol=settings.tol, self_loops=loops)
                matrix = kernel.matrix(settings.eps)
                self.matrices.append(without_diagonal(matrix) if settings.zero_diagonal else matrix)

    def layer(self, x: str, name: str) -> str:
        """Return Σ_k H_k x Θ_k + bias, shape (n, columns)."""
        build, weight = self.builder, self.run.weights[f"{name}.weight"]
        columns = weight.shape[2]
        terms = [build("MatMul", x, build.constant(theta)) for theta in weight]
        if self.series is not None:
            key: tuple[Any, ...] = ("S", self.settings.self_loops)
            total = terms[-1]
            for term in reversed(terms[:-1]):
                total = build("Add", term, build.series(key, self.S, self.series, total, columns))
        else:
            total = terms[0]
            for k, (term, matrix) in enumerate(zip(terms[1:], self.matrices, strict=True), 1):
                s = self.settings
                key = ("H", k * s.s, s.eps, s.tol, s.self_loops, s.zero_diagonal)
                total = build("Add", total, build.product(key, matrix, term, columns))
        bias = self.run.weights.get(f"{name}.bias")
        return total if bias is None else build("Add", total, build.constant(bias))


def scaled(scaling: Scaling, build: OnnxBuilder) -> str:
    """Return the scaled features, rounded to float32 as :meth:`Scaling.apply` rounds them."""
    x = FEATURES
    if scaling.kind == "standard":
        x = build("Sub", x, build.constant(scaling.mean))
        x = build("Div", x, build.constant(scaling.deviation))
    elif scaling.kind == "l1":
        x = _divided(build, x, build("ReduceL1", x, _columns(build), keepdims=1))
    elif scaling.kind == "l2":
        length = build("ReduceL2", x, _columns(build), keepdims=1)
        x = _divided(build, x, build.scaled(1 / LENGTH, length))
    elif scaling.kind == "tfidf":
        x = build("Mul", x, build.constant(scaling.idf))
        x = _divided(build, x, build("ReduceL2", x, _columns(build), keepdims=1))
    rounded = build("Cast", x, to=onnx.TensorProto.FLOAT)
    return build("Cast", rounded, to=onnx.TensorProto.DOUBLE)


def _columns(build: OnnxBuilder) -> str:
    return build.constant([1], np.int64)


def _divided(build: OnnxBuilder, x: str, totals: str) -> str:
    """Return rows divided by their totals; rows without any stay 0."""
    nothing = build("Equal", totals, build.constant(0.0))
    some: Any = build("Where", nothing, build.constant(1.0), totals)
    return build("Div", x, some)
