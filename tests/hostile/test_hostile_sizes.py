"""Small files that would take all memory or all time, and what has no end."""

import gzip
import os
import socket
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest
from helpers.sentences import refusal

import graphheat
from graphheat import memory
from graphheat.errors import FileSizeError, KernelMemoryError
from graphheat.graph import Graph
from graphheat.io import read_graph
from graphheat.recipes import memory_plan
from graphheat.recipes.memory_plan import fit_memory
from graphheat.runs.combined_run import CombinedRun


def zeros(path, name, size):
    """Write an archive with one member of so many zero bytes, packed."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as stream,
    ):
        block = b"\0" * 2**20
        for _ in range(size // len(block)):
            stream.write(block)


@pytest.fixture(autouse=True)
def little_room(monkeypatch):
    """Any file may take 16 MiB in place of 512: bombs can then be small, too."""
    monkeypatch.setattr(memory, "LEAST_ROOM", 2**24)


def test_an_archive_of_zeros(tmp_path):
    zeros(tmp_path / "bomb.npz", "edge_index.npy", 2**26)
    assert "would take 0.1 GB to read" in refusal(read_graph, tmp_path / "bomb.npz")
    zeros(tmp_path / "unused.npz", "photo.npy", 2**26)
    assert "it holds 'photo'" in refusal(read_graph, tmp_path / "unused.npz")
    zeros(tmp_path / "text.npz", "readme.txt", 2**26)
    assert "it holds 'readme.txt'" in refusal(read_graph, tmp_path / "text.npz")


def test_the_budget_can_be_raised(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n9000000 9000000 1\n2 1\n")
    assert "(with 9,000,000 nodes) would take 0.6 GB" in refusal(read_graph, path)
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n300 300 1\n2 1\n")
    with graphheat.memory_budget(1000), pytest.raises(FileSizeError):
        read_graph(path)
    with graphheat.memory_budget("1GB"):
        assert read_graph(path).n == 300


@pytest.mark.parametrize("nodes", [10**8, 2**31 - 1])
def test_a_matrix_of_68_bytes(nodes, tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n{nodes} {nodes} 0\n")
    assert "to read" in refusal(read_graph, path)


def test_comments_take_time_in_proportion(tmp_path):
    path = tmp_path / "g.mtx"
    comments = "% heat\n" * 10**6
    path.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n{comments}2 2 1\n2 1\n")
    assert read_graph(path).n == 2


def test_one_line_of_many_cells(tmp_path):
    (tmp_path / "e.csv").write_text("a," * 10**6 + "b\n")
    assert "a row of 1,000,001 cells" in refusal(read_graph, tmp_path / "e.csv")
    (tmp_path / "e.csv").write_text("source,target\n" + "a" * 10**7 + ",b\n")
    assert len(read_graph(tmp_path / "e.csv").nodes[0]) in (1, 10**7)


def test_packed_text(tmp_path):
    with gzip.open(tmp_path / "e.csv.gz", "wb", compresslevel=1) as stream:
        for _ in range(64):
            stream.write(b"\n" * 2**20)
    assert "to read" in refusal(read_graph, tmp_path / "e.csv.gz")
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(b"\n" * 2**26)
    (tmp_path / "e.csv.zst").write_bytes(packed)
    assert "to read" in refusal(read_graph, tmp_path / "e.csv.zst")


def test_a_view_without_an_end(tmp_path):
    with closing(sqlite3.connect(tmp_path / "e.sqlite")) as base:
        base.execute(
            "CREATE VIEW edges AS WITH RECURSIVE t(source, target) AS "
            "(SELECT 1, 2 UNION ALL SELECT source + 1, target + 1 FROM t) SELECT * FROM t"
        )
    refusal(read_graph, tmp_path / "e.sqlite")


def test_lines_that_each_name_another_column(tmp_path):
    lines = [f'{{"source": {i}, "target": {i + 1}, "x{i}": 1}}' for i in range(1500)]
    (tmp_path / "e.jsonl").write_text("\n".join(lines))
    assert "to read" in refusal(read_graph, tmp_path / "e.jsonl")


def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(tmp_path / "socket.csv"))
        for name in ("pipe.csv", "zero.csv", "socket.csv"):
            assert "pipe, socket or device" in refusal(read_graph, tmp_path / name)
    (tmp_path / "mem.csv").symlink_to("/proc/self/mem")
    refusal(read_graph, tmp_path / "mem.csv")


@pytest.mark.parametrize(
    "change", [{"hidden": 10**9}, {"hidden": 10**30}, {"views": 10**9}, {"K": 10**6}]
)
def test_settings_that_no_machine_has_room_for(change):
    pytest.importorskip("torch")
    graph = graphheat.datasets.block_model(60, 3, features=8, seed=0)
    refusal(graphheat.fit, graph, "paper" if "K" in change else "consistent", **change)


@pytest.mark.parametrize("recipe", ["auto", "spreading", "linear", "consistent", "gcn"])
def test_a_fit_is_refused_before_it_starts(recipe, monkeypatch):
    pytest.importorskip("torch")
    graph = graphheat.datasets.block_model(60, 3, features=8, seed=0)
    monkeypatch.setattr(memory_plan, "available_memory", lambda: 10**6)
    with pytest.raises(KernelMemoryError, match=r"would take about 0\.2 GB, and 0\.0 GB are free"):
        graphheat.fit(graph, recipe)


def test_the_default_leaves_out_networks_that_there_is_no_room_for(monkeypatch):
    pytest.importorskip("torch")
    graph = graphheat.datasets.block_model(600, 3, features=8, seed=0)
    settings = graphheat.recipes.get("auto").settings(graph, networks=False)
    room = fit_memory(graph, "auto", settings)
    monkeypatch.setattr(memory_plan, "available_memory", lambda: room)
    run = graphheat.fit(graph, threads=1)
    assert isinstance(run, CombinedRun)
    assert [stage.name for stage in run.stages] == ["spreading", "linear"]
    assert any("Networks were left out: with them" in note for note in run.notes)
    with pytest.raises(KernelMemoryError, match="would take about"):
        graphheat.fit(graph, networks=True)


def test_a_plan_grows_with_the_graph():
    small, large = (
        Graph.from_scipy(np.eye(n), features=np.ones((n, 4)), labels=["a", "b"] * (n // 2))
        for n in (100, 2000)
    )
    for recipe in ("spreading", "linear", "consistent", "gcn"):
        assert fit_memory(small, recipe, None) < fit_memory(large, recipe, None)
