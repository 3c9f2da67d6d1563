"""What every reader keeps, whatever its format. A format is one line in helpers/reader_cases."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.graph_strategies import graphs
from helpers.reader_cases import CASES, NEEDS
from helpers.sentences import checked, refusal
from hypothesis import HealthCheck, given, settings

from graphheat.errors import FileFormatError, GraphHeatError, MissingPathError, ParameterError
from graphheat.graph import Graph
from graphheat.io import FORMATS, read_graph
from graphheat.io.table_options import GraphOptions, option_names
from graphheat.io.table_sources import TABLES

ONCE = [HealthCheck.function_scoped_fixture]


@pytest.fixture(params=CASES)
def suffix(request):
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    return request.param


@pytest.fixture
def case(suffix):
    return CASES[suffix]


@pytest.fixture
def keep(case, suffix, tmp_path):
    """Write a graph and read it back."""

    def keep(graph, **more):
        path = tmp_path / f"kept{suffix}"
        return read_graph(path, **case.write(graph, path), **more)

    return keep


@pytest.fixture
def written(case, suffix, tmp_path):
    """A file of a small graph, and the options that read it."""
    path = tmp_path / f"g{suffix}"
    return path, case.write(FRIENDS, path)


FRIENDS = Graph.from_edges(
    ["ann", "bob", "cat"],
    ["bob", "cat", "cat"],
    [0.1, 2.0, 1 / 3],
    nodes=["cat", "ann", "bob", "dän"],
    features=np.array([[1.5, 0], [0, 1], [-2, 0], [0, 0]]),
    labels=["x", None, "y y", "x"],
    titles=["C", "", "B, b", "Ж"],
    split={"train": [0, 2], "test": [1]},
)
NUMBERS = Graph.from_edges(
    [40, 7, 7], [7, -3, 7], nodes=[40, 7, -3, 100], labels=[2, None, 10, None]
)
BARE = Graph.from_edges([0, 1], [1, 2], nodes=range(4))
ISOLATED = Graph.from_edges([2], [5], nodes=[9, 5, 1, 2])


def test_every_format_has_a_case():
    assert set(CASES) <= set(FORMATS)
    openers = {TABLES.get(suffix, suffix) for suffix in FORMATS}
    assert {TABLES.get(suffix, suffix) for suffix in CASES} == openers


# ---------------------------------------------------------------------- what is kept


@pytest.mark.parametrize("graph", [FRIENDS, NUMBERS, BARE, ISOLATED])
def test_everything_comes_back(keep, graph):
    back = keep(graph)
    assert back.fingerprint == graph.fingerprint
    assert back.titles == graph.titles
    assert [type(name) for name in back.classes] == [type(name) for name in graph.classes]
    assert back.nodes.dtype == graph.nodes.dtype
    assert back.describe() == graph.describe()


@settings(max_examples=25, deadline=None, suppress_health_check=ONCE)
@given(graph=graphs(table=True))
def test_random_graphs_come_back(case, keep, graph):
    if "no_words" in case.holds:
        return
    back = keep(graph)
    assert back.fingerprint == graph.fingerprint
    assert back.titles == graph.titles


def test_sparse_features(case, keep):
    graph = Graph.from_scipy([[0, 1], [1, 0]], sp.csr_array(np.eye(2)))
    back = keep(graph)
    found = back.features
    dense = found.toarray() if isinstance(found, sp.csr_array) else found
    assert dense.tolist() == [[1, 0], [0, 1]]
    assert sp.issparse(back.features) == ("sparse" in case.holds)


def test_any_split_where_there_is_room_for_it(case, keep):
    graph = BARE.with_split(anything=[1])
    if "split" in case.holds:
        assert keep(graph).split["anything"].tolist() == [1]
    else:
        assert not refusal(keep, graph).startswith("split")


def test_the_name_is_that_of_the_file(case, keep):
    graph = Graph.from_scipy([[0, 1], [1, 0]], name="own")
    assert keep(graph).name == ("own" if "name" in case.holds else "kept")
    assert keep(graph, name="given").name == "given"


def test_one_node_with_a_self_loop(keep):
    graph = Graph.from_scipy([[2.5]], labels=["only"])
    assert keep(graph).fingerprint == graph.fingerprint
    assert keep(graph, self_loops="drop").describe().self_loops == 0


# ---------------------------------------------------------------- how it may be called


def test_reading_again_gives_the_same_and_writes_nothing(written, tmp_path):
    path, options = written

    def state():
        return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in tmp_path.rglob("*")}

    before = state()
    first, second = read_graph(path, **options), read_graph(path, **options)
    assert first.fingerprint == second.fingerprint
    assert state() == before


def test_paths_are_strings_or_paths_and_suffixes_in_any_case(written, suffix):
    path, options = written
    loud = path.rename(path.with_suffix(suffix.upper()))
    assert read_graph(str(loud), **options).fingerprint == FRIENDS.fingerprint


def test_none_is_the_default_of_every_option(written):
    path, options = written
    for option in option_names(GraphOptions):
        read_graph(path, **{option: None, **options})


def test_options_that_the_format_does_not_take(written, suffix):
    path, _ = written
    for option in set(option_names(GraphOptions)) - FORMATS[suffix].options:
        message = refusal(read_graph, path, **{option: "x"})
        assert message == f"{option} does not go with {path.name}: {FORMATS[suffix].reason}."


def test_options_that_do_not_exist(written):
    path, _ = written
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'lable'; did you mean 'label'"
    ):
        read_graph(path, **{"lable": "x"})


@pytest.mark.parametrize("option", ["duplicates", "symmetrize", "self_loops"])
def test_choices_that_do_not_exist(written, suffix, option):
    path, options = written
    if option in FORMATS[suffix].options and (option, suffix) != ("duplicates", ".npz"):
        with pytest.raises(ParameterError, match=f"'{option}' parameter"):
            read_graph(path, **{**options, option: "mean"})


# ------------------------------------------------------------------------------ damage


def test_missing_files_and_folders(suffix, tmp_path):
    with pytest.raises(MissingPathError, match="does not exist; name a file to read"):
        read_graph(tmp_path / f"none{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(MissingPathError, match="is a folder; name a file to read"):
        read_graph(tmp_path / f"folder{suffix}")


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\0" * 100, bytes(range(256)), b"\x80\x04K\x01.", b"PK\x03\x04", b"%%Matrix"],
)
def test_empty_files_and_garbage(suffix, tmp_path, content):
    path = tmp_path / f"g{suffix}"
    path.write_bytes(content)
    with pytest.raises(FileFormatError) as caught:
        read_graph(path)
    assert str(path) in checked(caught.value)


def test_random_bytes(suffix, tmp_path):
    rng = np.random.default_rng(0)
    for length in (3, 50, 4000):
        path = tmp_path / f"g{suffix}"
        path.write_bytes(rng.bytes(length))
        refusal(read_graph, path)


def test_truncated_files_are_refused_or_are_shorter_graphs(written):
    path, options = written
    whole = path.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:length])
        try:
            graph = read_graph(path, **options)
        except GraphHeatError as error:
            checked(error)
        else:  # a text without its last rows is a text
            assert graph.n == FRIENDS.n


def test_changed_bytes_are_refused_or_are_graphs(written):
    path, options = written
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for position in rng.choice(len(whole), size=min(60, len(whole)), replace=False):
        damaged = bytearray(whole)
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            assert isinstance(read_graph(path, **options), Graph)
        except GraphHeatError as error:
            checked(error)


def test_files_of_another_format(written, suffix):
    path, _ = written
    for other in CASES:
        readable = {other, suffix} <= {".csv", ".tsv", ".txt", ".edges"}
        if other != suffix and not readable:
            renamed = path.with_suffix(other)
            renamed.write_bytes(path.read_bytes())
            assert str(renamed) in refusal(read_graph, renamed)


def test_unknown_suffixes(written):
    path, options = written
    message = refusal(read_graph, path.rename(path.with_suffix(".docx")), **options)
    assert message.endswith(f"must end in one of {', '.join(FORMATS)}; got '.docx'.")


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_no_pickle_is_loaded(case, suffix, tmp_path):
    path, trace = tmp_path / f"g{suffix}", tmp_path / "trace"
    case.pickled(Bomb(trace), path)
    refusal(read_graph, path)
    assert not trace.exists()
