"""Tables of every source give the same graph: files, packed or typed, and frames in memory."""

import gzip
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.reader_cases import database, json_lines
from helpers.sentences import refusal

from graphheat.errors import MissingDependencyError
from graphheat.graph import Graph
from graphheat.io import read_csv, read_graph, table_sources

N = 40
RNG = np.random.default_rng(3)
EDGES = pd.DataFrame({"source": RNG.integers(N, size=90), "target": RNG.integers(N, size=90)})
EDGES = EDGES[EDGES.source < EDGES.target].drop_duplicates().reset_index(drop=True)
NODES = pd.DataFrame(
    {
        "id": np.arange(N),
        "page_type": [["tv", "news", None, "shop"][i % 4] for i in range(N)],
        "likes": RNG.integers(0, 5000, size=N),
        "rate": np.where(np.arange(N) % 7 == 0, np.nan, RNG.random(N).round(3)),
        "verified": RNG.random(N) < 0.5,
        "country": [["de", "fr", None, "it", "uk"][i % 5] for i in range(N)],
        "since": pd.to_datetime("2001-01-01") + pd.to_timedelta(RNG.integers(5000, size=N), "D"),
        "about": [f"we write about heat and graphs number{i % 3} daily" for i in range(N)],
    }
)
PLAIN = Graph.from_frames(EDGES, NODES, label="page_type")


def same(one, two):
    assert one.fingerprint == two.fingerprint
    assert one.schema.kinds == two.schema.kinds
    assert one.feature_names == two.feature_names
    return True


def test_the_graph_from_pandas():
    assert PLAIN.classes == ("news", "shop", "tv")
    assert PLAIN.schema.kinds == {
        "likes": "number",
        "rate": "number",
        "verified": "boolean",
        "country": "category",
        "since": "date",
        "about": "text",
    }
    assert PLAIN.account == (
        "edges: 'source' and 'target' are the ends of an edge, every weight is 1.",
        "nodes: 'id' is the id, 'page_type' the label, 6 columns are features ('likes' number, "
        "'rate' number, 'verified' boolean, …).",
    )
    assert PLAIN.notes[0].startswith("14 values are missing, of 'rate' (6), 'country' (8): filled")


def test_polars_and_arrow_and_parquet_give_the_same(tmp_path):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frames = {
        "polars": (pl.from_pandas(EDGES), pl.from_pandas(NODES)),
        "lazy": (pl.from_pandas(EDGES).lazy(), pl.from_pandas(NODES).lazy()),
        "arrow": (pa.Table.from_pandas(EDGES), pa.Table.from_pandas(NODES)),
        "nullable": (EDGES.convert_dtypes(), NODES.convert_dtypes()),
    }
    for name, (edges, nodes) in frames.items():
        assert same(Graph.from_frames(edges, nodes, label="page_type"), PLAIN), name
    EDGES.to_parquet(tmp_path / "edges.parquet")
    NODES.to_parquet(tmp_path / "nodes.parquet")
    read = read_graph(
        tmp_path / "edges.parquet", nodes=tmp_path / "nodes.parquet", label="page_type"
    )
    assert same(read, PLAIN)
    pl.from_pandas(NODES).write_parquet(tmp_path / "polars.parquet")
    again = read_csv(tmp_path / "edges.parquet", tmp_path / "polars.parquet", label="page_type")
    assert same(again, PLAIN)


@pytest.mark.parametrize(
    ("suffix", "save", "needs"),
    [
        (".csv", lambda frame, path: frame.to_csv(path), "pandas"),
        (".tsv", lambda frame, path: frame.to_csv(path, sep="\t", encoding="utf-16"), "pandas"),
        (".txt.gz", lambda frame, path: frame.to_csv(path, sep=";"), "pandas"),
        (".tsv.zst", lambda frame, path: frame.to_csv(path, sep="\t", index=False), "zstandard"),
        (".xlsx", lambda frame, path: frame.to_excel(path, index=False), "openpyxl"),
        (".xlsx", lambda frame, path: frame.to_excel(path), "openpyxl"),
        (".jsonl", lambda frame, path: json_lines(plain(frame), path), "pandas"),
        (".sqlite", database, "pandas"),
    ],
)
def test_files_give_the_same(tmp_path, suffix, save, needs):
    pytest.importorskip(needs)
    edges, nodes = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    save(EDGES, edges)
    # A database has neither booleans nor dates: they come as numbers and words.
    save(NODES.assign(verified=NODES.verified.map({True: "yes", False: "no"})), nodes)
    assert same(read_graph(edges, nodes=nodes, label="page_type"), PLAIN)


def plain(frame):
    """Return a frame of what JSON can hold."""
    dates = frame.select_dtypes("datetime").columns
    frame = frame.assign(**{name: frame[name].astype(str) for name in dates})
    return frame.astype(object).where(frame.notna(), None)


def test_two_tables_of_a_database_and_two_sheets_of_a_book(tmp_path):
    pytest.importorskip("openpyxl")
    base, book = tmp_path / "shop.sqlite", tmp_path / "shop.xlsx"
    with closing(sqlite3.connect(base)) as connection:
        EDGES.to_sql("friends", connection, index=False)
        NODES.to_sql("peo\"ple's", connection, index=False)
    with pd.ExcelWriter(book) as writer:
        EDGES.to_excel(writer, sheet_name="friends", index=False)
        NODES.to_excel(writer, sheet_name="people", index=False)
    from_book = read_graph(f"{book}::friends", nodes=f"{book}::people", label="page_type")
    assert same(from_book, PLAIN)
    graph = read_graph(f"{base}::friends", nodes=f"{base}::peo\"ple's", label="page_type")
    assert graph.name == "shop"
    assert graph.adjacency.nnz == PLAIN.adjacency.nnz
    assert graph.account[0].startswith("shop.sqlite::friends: 'source' and 'target'")
    assert "has 2 tables: 'friends', " in refusal(read_graph, base)
    assert "has no table 'foes': 'friends'" in refusal(read_graph, f"{base}::foes")
    assert "has no sheet 'foes'; it has 'friends', 'people'" in refusal(read_graph, f"{book}::foes")
    assert "does not exist" in refusal(read_graph, f"{tmp_path}/none.sqlite::friends")


def test_an_index_of_pandas_is_a_column(tmp_path):
    named = Graph.from_frames(EDGES, NODES.set_index("id"), label="page_type")
    assert same(named, PLAIN)
    words = pd.DataFrame({"x": [1, 2]}, index=["ann", "bob"])
    graph = Graph.from_frames({"source": ["ann"], "target": ["bob"]}, words)
    assert graph.nodes.tolist() == ["ann", "bob"]
    shuffled = Graph.from_frames(EDGES.sample(frac=1, random_state=0), NODES, label="page_type")
    assert shuffled.fingerprint == PLAIN.fingerprint
    pytest.importorskip("pyarrow")
    words.to_parquet(tmp_path / "words.parquet")
    (tmp_path / "e.csv").write_text("source,target\nann,bob\n")
    read = read_csv(tmp_path / "e.csv", tmp_path / "words.parquet")
    assert read.nodes.tolist() == ["ann", "bob"]


def test_frames_that_do_not_fit():
    assert "must be a path or a pandas, polars or Arrow frame; got int" in refusal(
        Graph.from_frames, 7
    )
    assert "must have columns of one length" in refusal(
        Graph.from_frames, {"source": [1, 2], "target": [1]}
    )
    lists = {"id": [1, 2], "x": [[1], [2]]}
    assert "column 'x' has a list in row 1" in refusal(
        Graph.from_frames, {"source": [1], "target": [2]}, lists
    )
    assert "without a source or a target (first in row 2" in refusal(
        Graph.from_frames, {"source": [1, None], "target": [2, 3]}
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"source": 1}\nnonsense\n', "one JSON object per line; line 2: Expecting value"),
        ('{"source": 1}\n[1]\n', "line 2 is none"),
        ('{"a": 1, "a": 2}\n', "line 1: it has a key twice"),
        ('{"source": {"x": 1}, "target": 2}\n', "column 'source' has a dict in row 1"),
        ("\n\n", "is empty"),
        ("[" * 9000, "must hold one JSON object per line"),
    ],
)
def test_lines_that_are_no_objects(tmp_path, text, words):
    (tmp_path / "edges.jsonl").write_text(text)
    assert words in refusal(read_graph, tmp_path / "edges.jsonl")


def test_a_zstd_file_that_ends_early(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "edges.csv.zst"
    whole = zstandard.ZstdCompressor().compress(b"source,target\nann,bob\n" * 3000)
    path.write_bytes(whole[:-9])
    assert "is not a whole zstd file" in refusal(read_graph, path)
    (tmp_path / "edges.csv.gz").write_bytes(gzip.compress(b"source,target\nann,bob\n")[:-9])
    assert "is not a whole gzip file" in refusal(read_graph, tmp_path / "edges.csv.gz")


def test_a_library_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(table_sources.importlib, "import_module", no_module)
    (tmp_path / "edges.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingDependencyError, match=r"edges.parquet needs pyarrow: pip install"):
        read_graph(tmp_path / "edges.parquet")


def no_module(name):
    raise ImportError(name)


def test_features_of_several_sources(tmp_path):
    words = RNG.random((N, 5)).round(2)
    np.savez(tmp_path / "words.npz", x=words)
    for beside in (tmp_path / "words.npz", words):
        graph = Graph.from_frames(EDGES, NODES, label="page_type", features=beside)
        assert graph.features.shape[1] == PLAIN.features.shape[1] + 5
        np.testing.assert_allclose(graph.features[:, -5:], words, rtol=1e-6)
    assert graph.feature_names[-1] == "features[4]"
    named = Graph.from_frames(EDGES, NODES, label="page_type", features=tmp_path / "words.npz")
    assert named.feature_names[-1] == "words.npz[4]"
    assert named.account[1].endswith("'verified' boolean, …); words.npz: 5 features.")
    more = pd.DataFrame({"id": np.arange(N)[::-1], "height": np.arange(N) / 7})
    joined = Graph.from_frames(EDGES, NODES, label="page_type", features=more)
    assert joined.schema.kinds["height"] == "number"


def test_new_rows_by_the_schema_of_old_ones():
    old, new = NODES.iloc[:30], NODES.iloc[30:].assign(country="no", extra=1)
    edges = EDGES[(EDGES.source < 30) & (EDGES.target < 30)]
    graph = Graph.from_frames(edges, old, label="page_type")
    shuffled = new[list(reversed(new.columns))]
    ends = {"source": new.id.iloc[:-1].tolist(), "target": new.id.iloc[1:].tolist()}
    grown = Graph.from_frames(ends, shuffled, label="page_type", schema=graph.schema)
    assert grown.feature_names == graph.feature_names
    assert any("has 1 values that were not seen" in note for note in grown.notes)
    assert any("left out: 'extra'" in note for note in grown.notes)
    place = graph.feature_names.index("likes")
    column: Any = graph.schema.columns[0]
    expected = (new.likes - column.mean) / column.deviation
    np.testing.assert_allclose(grown.features[:, place], expected, rtol=1e-5)
    assert "lacks 1 of the 6 columns" in refusal(
        Graph.from_frames, ends, new.drop(columns="likes"), label="page_type", schema=graph.schema
    )
