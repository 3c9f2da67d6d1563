"""The choice of an engine: by counted work, as its table says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from toy_engine import ToyEngine

from graphheat import datasets
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.heat import HeatKernel, engines
from graphheat.heat.engines import auto, roster
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, ChebyshevSeries, heat_series

RING = sp.csr_array(np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0))


@pytest.fixture(scope="module")
def cora():
    return Operand.of_graph(datasets.load("cora").adjacency)


def chosen(operand, kind, columns, chooser=engines.AUTO, *, s=3.0, tol=1e-4, partial=False):
    series = (heat_series(s, tol, operand.longest_row),)
    request = engines.Request(kind, series, columns, partial=partial)
    return chooser.choose(operand, request).engine.name


def youtube_sized():
    """As many entries as com-Youtube's, without its edges: the choice counts them alone."""
    operand = Operand.of_graph(RING)
    operand.n, operand.nnz = 1_134_890, 5_975_248
    return operand


def test_a_row_of_a_large_graph_goes_by_push():
    assert chosen(youtube_sized(), "rows", 1) == "push"


def test_signals_of_the_paper_s_graphs_go_by_compiled_code(cora):
    assert chosen(cora, "signals", 1433) == "numba"
    assert chosen(cora, "signals", 100) == "numba"
    assert chosen(cora, "signals", 7) == "scipy"
    assert chosen(youtube_sized(), "signals", 3) == "sliced"  # too few for a vector
    assert chosen(youtube_sized(), "signals", 3, engines.ONE_OFF) == "scipy"
    assert chosen(cora, "signals", 1) == "scipy"
    assert chosen(cora, "signals", 1433, partial=True) == "scipy"


def test_what_is_computed_once_needs_more_work_for_a_compiler(cora):
    assert chosen(cora, "signals", 1433, engines.ONE_OFF) == "scipy"
    assert chosen(youtube_sized(), "signals", 64, engines.ONE_OFF) == "panel"


def test_rows_and_the_matrix_of_a_small_graph_meet_no_compiler(cora):
    assert chosen(cora, "rows", 1) == "scipy"
    assert chosen(cora, "matrix", cora.n) == "scipy"


def test_a_matrix_of_short_times_goes_by_push_and_of_long_ones_by_columns():
    pubmed = Operand.of_graph(datasets.load("pubmed").adjacency)
    assert chosen(pubmed, "matrix", pubmed.n, s=0.3, tol=1e-4) == "push"
    assert chosen(pubmed, "matrix", pubmed.n, s=3.0, tol=1e-6) == "numba"


def test_without_numba_everything_goes_by_scipy(monkeypatch):
    monkeypatch.setattr(auto, "is_installed", lambda engine: False)
    for kind in ("signals", "rows", "matrix"):
        assert chosen(youtube_sized(), kind, 1000) == "scipy"


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ToyEngine, "requires", ("no_such_module",))
    with pytest.raises(MissingDependencyError, match=r"engine='toy' needs no_such_module: pip"):
        HeatKernel(RING, 1.0, engine=ToyEngine())


def test_push_declines_what_it_cannot_do():
    push = auto.PUSH
    heat, other = heat_series(1.0, 1e-4, 2), ChebyshevSeries(np.ones(2), DOUBLE)
    graph, matrix = Operand.of_graph(RING), Operand(Operand.of_graph(RING).S)
    assert push.declines(graph, engines.Request("rows", (heat,), 1)) is None
    assert "signals" in push.declines(graph, engines.Request("signals", (heat,), 1))
    assert "heat" in push.declines(graph, engines.Request("rows", (other,), 1))
    assert "adjacency" in push.declines(matrix, engines.Request("rows", (heat,), 1))
    with pytest.raises(ParameterError, match="not signals"):
        push.apply(graph, np.ones((12, 1)), [heat])


def test_a_plan_says_why():
    kernel = HeatKernel(RING, 1.0)
    assert kernel.plan(1e-3).engine == "scipy"
    assert "a second of work" in str(kernel.plan(1e-3))
    assert HeatKernel(RING, 1.0, engine="push").plan(1e-3).why == "asked for"


def test_an_engine_of_one_s_own_needs_one_line(monkeypatch):
    monkeypatch.setattr(roster, "_engines", dict(roster._engines))
    engines.register(ToyEngine())
    assert engines.names()[-1] == "toy"
    by_name, itself = (HeatKernel(RING, 1.0, engine=each) for each in ("toy", ToyEngine()))
    assert np.array_equal(by_name.matrix().toarray(), itself.matrix().toarray())
    assert repr(itself).endswith("engine='toy')")


@pytest.mark.parametrize("name", engines.names())
def test_other_functions_go_by_the_same_engines(name):
    operand, series = Operand.of_graph(RING), ChebyshevSeries(np.array([0.5, 0.0, 0.5]), DOUBLE)
    engine = (
        roster.chooser_of(name, "test")
        .choose(operand, engines.Request("signals", (series,), 12))
        .engine
    )
    square = engine.apply(operand, np.eye(12), [series])[0]
    assert np.allclose(square, (operand.S @ operand.S).toarray(), atol=1e-14)


def test_the_earlier_name_of_the_parameter_still_works():
    with pytest.warns(DeprecationWarning, match="engine="):
        kernel = HeatKernel(RING, 1.0, method="reference")
    assert kernel.engine == kernel.plan(1e-3).method == "reference"
