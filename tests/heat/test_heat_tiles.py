"""Tiles change the order in which memory is read, and no bit of a result."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.heat.engines.panel import tiles as tiling
from graphheat.heat.engines.panel.links import links_of
from graphheat.heat.engines.panel.panel import Panel, PanelEngine
from graphheat.heat.engines.scipy import ScipyEngine
from graphheat.heat.operand import Operand
from graphheat.heat.series import DOUBLE, SINGLE, heat_series


def _operand(n: int, weighted: bool, self_loops: float) -> Operand:
    random = np.random.default_rng(0)
    ends = random.integers(0, n - 3, (2, 5 * n))  # the last three nodes stay alone
    values = random.random(5 * n) + 0.1 if weighted else np.ones(5 * n)
    half = sp.coo_array((values, ends), shape=(n, n)).tocsr()
    whole = sp.csr_array(half + half.T)
    whole.setdiag(0)
    whole.eliminate_zeros()
    if not weighted:
        whole.data[:] = 1
    return Operand.of_graph(whole, self_loops=self_loops)


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "LEAST_NODES", 1)
    monkeypatch.setattr(tiling, "tile_shape", lambda n: (128, 64))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
@pytest.mark.parametrize("columns", [3, 8, 21])
def test_the_bits_are_those_of_row_by_row(small_tiles, weighted, self_loops, dtype, columns):
    operand = _operand(1000, weighted, self_loops)
    series = [heat_series(s, 1e-3, operand.longest_row) for s in (3.0, 1.0)]
    X = np.random.default_rng(1).standard_normal((operand.n, columns)).astype(dtype)
    links = links_of(operand, dtype)
    found = []
    for tiles, threads in ((None, 1), (tiling.tiles_of(links, 2), 2)):
        panel = Panel(links, columns, dtype, 2, tiles)
        panel.fill(0, operand.n, X)
        panel.run(series, threads=threads)
        found.append([panel.rows(slice(0, operand.n), e) for e in range(2)])
    assert found[1][0].shape == (operand.n, columns)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_small_graphs_have_no_tiles():
    assert tiling.tiles_of(links_of(_operand(1000, False, 0.0), SINGLE)) is None


def test_without_room_rows_are_taken_one_by_one(small_tiles):
    links = links_of(_operand(1000, False, 0.0), SINGLE)
    assert tiling.tiles_of(links, room=1000) is None
    assert tiling.tiles_of(links, room=10**9) is not None


def test_a_star_is_one_long_row(small_tiles):
    n = 3000
    rows = np.zeros(n - 1, dtype=int)
    half = sp.coo_array((np.ones(n - 1), (rows, np.arange(1, n))), shape=(n, n))
    operand = Operand.of_graph(sp.csr_array(half + half.T))
    series = heat_series(2.0, 1e-6, operand.longest_row)
    X = np.random.default_rng(0).random((n, 4))
    links = links_of(operand, DOUBLE)
    panel = Panel(links, 4, DOUBLE, 1, tiling.tiles_of(links))
    panel.fill(0, n, X)
    panel.run([series])
    expected = ScipyEngine().apply(operand, X, [series])[0]
    np.testing.assert_allclose(panel.rows(slice(0, n)), expected, atol=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_float64_signals_of_any_size_meet_the_bound_in_float32(monkeypatch, size):
    from graphheat.heat.engines.panel import panel as module

    monkeypatch.setattr(module, "LEAST_NODES", 1)
    operand = _operand(500, False, 1.0)
    series = heat_series(2.0, 1e-3, operand.longest_row)
    assert series.dtype == SINGLE
    X = size * np.random.default_rng(0).standard_normal((500, 5))
    X[:, 4] = 0.0
    found = PanelEngine().apply(operand, X, [series])[0]
    exact = ScipyEngine().apply(operand, X / size, [heat_series(2.0, 1e-10, operand.longest_row)])
    assert found.dtype == np.float64
    off = np.linalg.norm(found / size - exact[0], axis=0)
    assert (off <= series.error_bound * np.linalg.norm(X / size, axis=0)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_sources_far_apart_are_reached_by_fillers(monkeypatch, weighted):
    monkeypatch.setattr(tiling, "LEAST_NODES", 1)
    monkeypatch.setattr(tiling, "tile_shape", lambda n: ((1 << 20) - 1, 32))  # steps up to 4,095
    n = 40_000
    ends = np.array([[0, 0, 3, 8190, 8190, 5], [39_999, 4095, 12_285, 16_380, 8191, 30_000]])
    values = np.array([1.0, 2, 3, 4, 5, 6]) if weighted else np.ones(6)
    half = sp.csr_array(sp.coo_array((values, ends), shape=(n, n)))
    operand = Operand.of_graph(sp.csr_array(half + half.T))
    series = heat_series(2.0, 1e-6, operand.longest_row)
    X = np.random.default_rng(0).random((n, 8), dtype=np.float32)
    links = links_of(operand, SINGLE)
    tiles = tiling.tiles_of(links)
    assert len(tiles.codes[0]) == 12 + 5 + 64  # entries, fillers, and zeros
    found = []
    for each in (None, tiles):
        panel = Panel(links, 8, SINGLE, 1, each)
        panel.fill(0, n, X)
        panel.run([series])
        found.append(panel.rows(slice(0, n)))
    np.testing.assert_array_equal(*found)
