"""From files to a graph on disk: what comes out is what went in, whatever the form."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from graphheat.disk import DiskGraph, ingest
from graphheat.disk.edge_buckets import EdgeBuckets
from graphheat.disk.stages import Stages
from graphheat.errors import (
    BusyError,
    FileFormatError,
    GraphError,
    GraphHeatError,
    MissingPathError,
    NodeNotFoundError,
    OutputError,
    ParameterError,
)
from graphheat.io.file_lock import locked
from graphheat.linear import labelling


def same(disk, memory):
    back = disk.to_memory()
    assert (back.adjacency != memory.adjacency).nnz == 0
    return back


def test_a_disk_graph_is_the_graph_in_memory(disk_graph, memory_graph, tables):
    back = same(disk_graph, memory_graph)
    assert np.array_equal(back.features, memory_graph.features)
    assert list(back.nodes) == tables.ids.tolist()
    assert back.classes == tuple(str(name) for name in memory_graph.classes)
    for part in ("train", "val", "test"):
        assert np.array_equal(back.split[part], memory_graph.split[part])
    counted, expected = disk_graph.describe(), memory_graph.describe()
    for name in ("nodes", "edges", "components", "largest_component", "isolated", "self_loops"):
        assert getattr(counted, name) == getattr(expected, name), name
    disk_graph.verify()


def test_ids_are_found_and_near_misses_are_told(disk_graph, tables):
    for row in (0, 17, 2999):
        assert disk_graph.index_of(tables.ids[row]) == row
        assert disk_graph.nodes[row] == tables.ids[row]
    with pytest.raises(NodeNotFoundError, match="no node 'nobody'; its 3,000 ids run from"):
        disk_graph.index_of("nobody")


def test_weights_isolated_nodes_and_self_loops_stay(weighted):
    memory, disk = weighted
    same(disk, memory)
    assert np.allclose(
        disk.degrees[disk.places_of(np.arange(disk.n))], memory.adjacency.sum(axis=1)
    )
    assert disk.index_of("1003") == disk.index_of(1003) == 3  # ids are numbers here


@pytest.mark.parametrize("order", ["near", "given"])
@pytest.mark.parametrize("form", ["csv", "tsv.gz", "parts"])
def test_every_form_of_file_gives_the_same_graph(form, order, tables, memory_graph, tmp_path):
    table = pyarrow.parquet.read_table(tables.edges).to_pandas()
    swapped = table.rename(columns={"source": "target", "target": "source"})
    table = pandas.concat([table, swapped])
    if form == "csv":
        edges = tmp_path / "edges.csv"
        table.to_csv(edges, index=False)
    elif form == "tsv.gz":
        edges = tmp_path / "edges.tsv.gz"
        edges.write_bytes(gzip.compress(table.to_csv(index=False, sep="\t").encode()))
    else:
        edges = str(tmp_path / "edges-*.parquet")
        for k in range(3):
            table.iloc[k::3].to_parquet(tmp_path / f"edges-{k}.parquet")
    graph = ingest(edges, tmp_path / "g.graph", nodes=tables.nodes, order=order, memory="500MB")
    same(graph, memory_graph)
    assert (graph.rank is None) == (order == "given")


def test_without_a_node_table_nodes_are_those_of_the_edges(tmp_path):
    (tmp_path / "e.txt").write_text("b c\na b\na a\n")
    graph = ingest(tmp_path / "e.txt", tmp_path / "e.graph", header=False, delimiter=" ")
    assert list(graph.nodes) == ["a", "b", "c"]
    assert graph.describe().self_loops == 1
    dropped = ingest(
        tmp_path / "e.txt", tmp_path / "f.graph", header=False, delimiter=" ", self_loops="drop"
    )
    assert dropped.describe().self_loops == 0
    assert dropped.describe().edges == 2


def test_lists_of_numbers_and_missing_values_become_features(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    table = {
        "id": ["a", "b"],
        "vector": [[1.0, 2.0], [3.0, 4.0]],
        "age": [7.0, None],
        "x": ["p", "q"],
    }
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "n.parquet")
    graph = ingest(
        tmp_path / "e.csv", tmp_path / "e.graph", nodes=tmp_path / "n.parquet", dtype="float16"
    )
    assert graph.feature_names == ("vector_0", "vector_1", "age")
    assert graph.features[[1, 0]].tolist() == [[3, 4, 7], [1, 2, 7]]
    assert graph.notes == (
        "1 missing values were replaced by the mean of their columns.",
        "Left out, as they are text: x.",
    )


def test_sparse_features_are_read_by_rows(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "f.csv").write_text("node,feature,value\nc,tea,2\na,milk,1\nc,milk,3\n")
    graph = ingest(tmp_path / "e.csv", tmp_path / "e.graph", features=tmp_path / "f.csv")
    assert graph.feature_names == ("milk", "tea")
    assert graph.features[[2, 1, 0]].toarray().tolist() == [[3, 2], [0, 0], [1, 0]]
    assert graph.features[0:3].toarray().tolist() == [[1, 0], [0, 0], [3, 2]]


def test_a_bucket_too_large_is_dealt_again(tmp_path):
    random = np.random.default_rng(0)
    rows, columns = random.integers(0, 50, 4000), random.integers(0, 50, 4000)
    rows[:2000], columns[:2000] = 7, 3  # one entry two thousand times
    found = []
    buckets = EdgeBuckets(tmp_path / "b", (0, 50), most=64)
    for a in range(0, 4000, 500):
        buckets.add(rows[a : a + 500], columns[a : a + 500])
    for part in buckets.sorted_rows():
        at = np.repeat(np.arange(part.first, part.last), part.counts)
        found += list(zip(at.tolist(), part.columns.tolist(), strict=True))
    assert found == sorted(set(zip(rows.tolist(), columns.tolist(), strict=True)))


@pytest.mark.parametrize(("policy", "weight"), [("sum", 3.0), ("max", 2.0), ("first", 1.0)])
def test_different_weights_of_an_edge_are_settled_as_asked(policy, weight, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,weight\na,b,1\nb,a,2\nb,c,5\nb,c,5\n")
    graph = ingest(tmp_path / "e.csv", tmp_path / "g.graph", duplicates=policy)
    assert graph.subgraph([0, 1, 2]).adjacency.toarray()[:2, 1:].tolist() == [[weight, 0], [0, 5]]
    with pytest.raises(GraphError, match="different weights"):
        ingest(tmp_path / "e.csv", tmp_path / "h.graph")


# ---------------------------------------------------------------- what can go wrong


def bad(tmp_path, edges="source,target\na,b\n", nodes=None, **options):
    (tmp_path / "e.csv").write_text(edges)
    if nodes is not None:
        (tmp_path / "n.csv").write_text(nodes)
        options["nodes"] = tmp_path / "n.csv"
    with pytest.raises(GraphHeatError) as raised:
        ingest(tmp_path / "e.csv", tmp_path / "bad.graph", **options)
    assert not (tmp_path / "bad.graph").exists()
    return str(raised.value)


def test_bad_input_is_answered_by_a_sentence(tmp_path):
    lacking = bad(tmp_path, "source,target\na,b\nx,a\ny,x\n", "id\na\nb\n")
    assert "2 ids of the edges are not in the node table: 'x', 'y'." in lacking
    shutil.rmtree(tmp_path / ".bad.graph.part")
    assert "distinct; 'a' appears twice" in bad(tmp_path, nodes="id\na\na\nb\n")
    shutil.rmtree(tmp_path / ".bad.graph.part")
    assert "must be 0 or in" in bad(tmp_path, "source,target,weight\na,b,-1\n")
    assert "not convert" in bad(tmp_path, "source,target,weight\na,b,x\n", restart=True)
    assert "none is called source" in bad(tmp_path, "p,q,r,t\n1,2,3,4\n", restart=True)
    assert "size of 100MB or more" in bad(tmp_path, memory="3 bananas")
    assert "weights_column" not in bad(tmp_path, weight_column="w", restart=True)
    with pytest.raises(MissingPathError, match="does not exist"):
        ingest(tmp_path / "none.csv", tmp_path / "x.graph")
    with pytest.raises(FileFormatError, match=r"must end in \.parquet"):
        (tmp_path / "e.docx").write_text("")
        ingest(tmp_path / "e.docx", tmp_path / "x.graph")
    with pytest.raises(ParameterError):
        ingest(tmp_path / "e.csv", tmp_path / "x.graph", order="random")


def test_a_table_that_changes_is_noticed(tables, tmp_path, monkeypatch):
    edges = tmp_path / "edges.parquet"
    shutil.copy(tables.edges, edges)
    from graphheat.disk import ingestion

    honest = ingestion._Ingestion._rows

    def touched(self):
        os.utime(edges, (1, 1))
        return honest(self)

    monkeypatch.setattr(ingestion._Ingestion, "_rows", touched)
    with pytest.raises(FileFormatError, match="has changed since the ingestion was begun"):
        ingest(edges, tmp_path / "g.graph", nodes=tables.nodes)
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="Start anew with restart=True"):
        ingest(edges, tmp_path / "g.graph", nodes=tables.nodes)
    ingest(edges, tmp_path / "g.graph", nodes=tables.nodes, restart=True)


def test_a_full_disk_is_told_and_what_was_done_is_kept(tables, tmp_path, monkeypatch, memory_graph):
    from graphheat.disk import ingestion

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ingestion._Ingestion, "_order", full)
    with pytest.raises(OutputError, match="What was finished is kept"):
        ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes)
    assert not (tmp_path / "g.graph").exists()
    monkeypatch.undo()
    monkeypatch.setattr(ingestion._Ingestion, "_nodes", full)  # done already
    same(ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes), memory_graph)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="needs posix_fallocate")
def test_mapped_files_find_a_full_disk_before_they_are_written(tables, tmp_path, monkeypatch):
    def full(descriptor, offset, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OutputError, match="goes on from what was finished"):
        ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes)
    monkeypatch.undo()
    graph = ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes)
    graph.verify()
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OutputError, match="a fit with --resume"):
        labelling.new_probabilities(graph, tmp_path, "p.npy")
    assert not (tmp_path / "p.npy").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_ingestion_goes_on(tables, tmp_path, memory_graph):
    out = tmp_path / "g.graph"
    code = f"""
import os, signal, graphheat.disk.ingestion as i
honest = i._Ingestion._{{}}
def killed(self, *a):
    os.kill(os.getpid(), signal.SIGKILL)
i._Ingestion._{{}} = killed
i.ingest({str(tables.edges)!r}, {str(out)!r}, nodes={str(tables.nodes)!r})
"""
    for stage in ("rows", "index"):
        done = subprocess.run([sys.executable, "-c", code.format(stage, stage)], timeout=120)
        assert done.returncode == -signal.SIGKILL
        assert not out.exists()
    begun = time.monotonic()
    same(ingest(tables.edges, out, nodes=tables.nodes), memory_graph)
    assert time.monotonic() - begun < 60
    assert not list(tmp_path.glob(".*"))


def test_an_ingestion_that_ends_before_its_rows_are_noted_goes_on(
    tables, tmp_path, memory_graph, monkeypatch
):
    honest = Stages._save

    def ended(self):
        if "rows" in self._facts["done"]:
            raise KeyboardInterrupt
        honest(self)

    monkeypatch.setattr(Stages, "_save", ended)
    with pytest.raises(KeyboardInterrupt):
        ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes)
    monkeypatch.undo()
    same(ingest(tables.edges, tmp_path / "g.graph", nodes=tables.nodes), memory_graph)


def test_what_is_left_without_a_list_of_stages_does_not_count(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    (tmp_path / ".g.graph.part").mkdir()
    np.save(tmp_path / ".g.graph.part" / "features.npy", np.ones((2, 3)))
    assert ingest(tmp_path / "e.csv", tmp_path / "g.graph").features is None
    assert not (tmp_path / "g.graph" / "features.npy").exists()


def test_a_second_ingestion_is_told_who_is_at_it(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    who = f"is being written by process {os.getpid()} on "
    with locked(tmp_path / ".g.graph.lock", "g"), pytest.raises(BusyError, match=who):
        ingest(tmp_path / "e.csv", tmp_path / "g.graph")
    ingest(tmp_path / "e.csv", tmp_path / "g.graph")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.csv", "g.graph"]


@pytest.mark.parametrize("harm", ["cut", "lost", "newer", "garbled", "altered"])
def test_a_damaged_folder_is_told(harm, disk_graph, tmp_path):
    copy = tmp_path / "copy.graph"
    shutil.copytree(disk_graph.path, copy)
    header = copy / "graph.json"
    if harm == "cut":
        with (copy / "indices.npy").open("r+b") as stream:
            stream.truncate(500)
        expected = "it was cut short"
    elif harm == "lost":
        (copy / "labels.npy").unlink()
        expected = "moved in part"
    elif harm == "newer":
        header.write_text(json.dumps({**json.loads(header.read_text()), "schema": 99}))
        expected = "Upgrade graphheat"
    elif harm == "garbled":
        header.write_text("{")
        expected = "cannot be read"
    else:
        with (copy / "indices.npy").open("r+b") as stream:
            stream.seek(-4, 2)
            stream.write(b"\1\0\0\0")
        expected = "checksum differs"
    with pytest.raises(GraphHeatError, match=expected):
        DiskGraph.open(copy).verify()
    with pytest.raises(MissingPathError, match="There is no disk graph"):
        DiskGraph.open(tmp_path / "gone.graph")
