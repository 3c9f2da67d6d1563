"""Node tables and feature files beside an edge list, and the way back."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.text_files import text_writer

from graphheat.errors import FileFormatError, GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.io import read_csv, write_csv


@pytest.fixture
def write(tmp_path):
    return text_writer(tmp_path, "nodes.csv")


@pytest.fixture
def edges(write):
    return write("source,target\nann,bob\nbob,cat\n", "edges.csv")


TABLE = "id,label,age,height\ncat,tea,3,1.0\nbob,,28,1.5\nann,milk,31,1.75\n"


def test_a_table_gives_order_labels_and_features(edges, write):
    graph = read_csv(edges, write(TABLE))
    assert graph.nodes.tolist() == ["cat", "bob", "ann"]
    assert graph.classes == ("milk", "tea")
    assert graph.labels.tolist() == [1, -1, 0]
    assert graph.features.tolist() == [[3, 1], [28, 1.5], [31, 1.75]]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "None", "null", "N/A", " "])
def test_missing_labels(edges, write, missing):
    graph = read_csv(edges, write(f"id,label\nann,x\nbob,{missing}\ncat,y\n"))
    assert graph.labels.tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("cells", "classes", "codes"),
    [
        (("3", "", "12"), (3, 12), [0, -1, 1]),
        (("3", "", "x"), ("3", "x"), [0, -1, 1]),
        (("03", "", "4"), ("03", "4"), [0, -1, 1]),
        (("0", "-1", "1"), (0, 1), [0, -1, 1]),
        (("True", "", "False"), ("False", "True"), [1, -1, 0]),
        (("", "", ""), (), [-1, -1, -1]),
    ],
)
def test_class_names_are_integers_when_all_are(edges, write, cells, classes, codes):
    rows = "".join(
        f"{node},{cell}\n" for node, cell in zip(("ann", "bob", "cat"), cells, strict=True)
    )
    graph = read_csv(edges, write("id,label\n" + rows))
    assert graph.classes == classes
    assert graph.labels.tolist() == codes


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("id,label", {}),
        ("Node_ID,Class", {}),
        ("name,y", {}),
        ("who,target", {}),
        ("who,drink", {"label": "drink"}),
        ("label,who", {"id": "label", "label": "who"}),
    ],
)
def test_where_ids_and_labels_stand(edges, write, header, options):
    graph = read_csv(edges, write(f"{header}\nann,x\nbob,y\ncat,x\n"), **options)
    assert graph.nodes.tolist() == ["ann", "bob", "cat"]
    assert graph.classes == ("x", "y")
    assert graph.features is None


def test_the_id_column_may_stand_anywhere(edges, write):
    graph = read_csv(edges, write("age,label,id\n1,x,ann\n2,y,bob\n3,x,cat\n"))
    assert graph.nodes.tolist() == ["ann", "bob", "cat"]
    assert graph.features.tolist() == [[1], [2], [3]]


def test_integer_ids_join_edges_and_table(write):
    edges = write("1 2\n2 3\n", "edges.txt")
    graph = read_csv(edges, write("id\tx\n3\t0\n2\t0\n1\t0\n7\t0\n"))
    assert graph.nodes.tolist() == [3, 2, 1, 7]
    assert graph.describe().isolated == 1
    mixed = read_csv(edges, write("id,x\n3,0\n2,0\n1,0\nseven,0\n"))
    assert mixed.nodes.tolist() == ["3", "2", "1", "seven"]


def test_split_and_titles(edges, write):
    text = "id,label,split,title\nann,x,train,A\nbob,y,Validation,B b\ncat,,,\n"
    graph = read_csv(edges, write(text))
    assert {name: part.tolist() for name, part in graph.split.items()} == {"train": [0], "val": [1]}
    assert graph.titles == ("A", "B b", "")
    named = read_csv(
        edges,
        write("id,label,role,words\nann,x,test,A\nbob,y,train,B\ncat,,unlabelled,C\n"),
        split="role",
        title="words",
    )
    assert named.split["test"].tolist() == [0]
    assert named.titles == ("A", "B", "C")


def test_a_split_of_other_words(edges, write):
    table = write("id,role\nann,x\nbob,\ncat,test\n")
    with pytest.raises(
        GraphError, match="must hold train, val, calibration, test or nothing; got 'x'"
    ):
        read_csv(edges, table, split="role")
    folds = read_csv(edges, write("id,split\nann,1\nbob,2\ncat,3\n"))
    assert not folds.split  # a column that only happens to be called split
    assert folds.features.tolist() == [[1], [2], [3]]


def test_columns_and_categories(edges, write):
    table = write("id,colour,age,note\nann,red,1,hm\nbob,blue,2,so\ncat,,3,oh\n")
    whole = read_csv(edges, table)
    assert whole.schema.kinds == {"colour": "category", "age": "number", "note": "category"}
    assert whole.feature_names == (
        *("colour=blue", "colour=red", "colour is missing", "age"),
        *("note=hm", "note=oh", "note=so"),
    )
    assert read_csv(edges, table, columns=["age"]).features.tolist() == [[1], [2], [3]]
    assert read_csv(edges, table, columns=[]).features is None
    hot = read_csv(edges, table, columns=["age"], categorical=["colour"])
    assert hot.features[:, 1:].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    # Beside features of another scale numbers are standardised.
    np.testing.assert_allclose(hot.features[:, 0], np.array([-1, 0, 1]) * np.sqrt(1.5), rtol=1e-6)
    both = read_csv(edges, table, categorical=["colour", "age"], columns=["colour", "age"])
    assert both.features.shape == (3, 2 + 1 + 3)
    assert both.feature_names[-3:] == ("age=1", "age=2", "age=3")


def test_many_categories_stay_sparse(write):
    names = [f"n{i}" for i in range(100)]
    edges = write("\n".join(f"{a},{b}" for a, b in pairwise(names)), "e.csv")
    table = write("id,word,x\n" + "".join(f"{node},w{node},1\n" for node in names))
    graph = read_csv(edges, table, categorical=["word"])
    assert sp.issparse(graph.features)
    assert graph.features.shape == (100, 101)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("id\nann\n", {}, "2 ids of the edges are not in .*: 'bob', 'cat'. Add a row"),
        (TABLE + "ann,x,1,1\n", {}, "must name each node once; 'ann' appears again in row 4"),
        (TABLE + ",x,1,1\n", {}, "has no id in row 4"),
        (
            TABLE,
            {"label": "klass"},
            "lacks: 'klass'. Its columns are 'id', 'label', 'age', 'height'",
        ),
        (TABLE, {"id": "nr"}, "id names a column that"),
        (TABLE, {"columns": ["nr"]}, "columns names a column that"),
        (TABLE, {"categorical": ["nr"]}, "categorical names a column that"),
        (
            "id,age\nann,1\nbob,\ncat,2\n",
            {"missing": "error"},
            "Column 'age' .* a value in every row; 1 are missing .first in row 2",
        ),
        ("id,age\nann,1\nbob,inf\ncat,2\n", {}, "'age' .* finite numbers; got inf in row 2"),
        ("id,a\nann,1\nbob,x\ncat,2\n", {}, "'a' of .* holds numbers, but 'x' in row 2"),
        ("id,a\nann,1\nbob,2\ncat,2\n", {"kinds": {"b": "text"}}, "is no feature: 'b'"),
        ("id,split\nann,train\nbob,\ncat,\n", {}, "split..train.. holds 1 nodes without a label"),
    ],
)
def test_tables_that_break_a_rule(edges, write, text, options, words):
    with pytest.raises(GraphError, match=words) as caught:
        read_csv(edges, write(text), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ann,1\nbob,2\ncat,3\n", "must have a header row; its first cell 'ann' is a node"),
        ("id,x,x\nann,1,1\n", "distinct column names in its first row; 'x' appears 2 times"),
        ("id,x\n", "has a header but no rows"),
        ("id,x\nann,1,2\nbob,1,2\ncat,1,2\n", "2 cells in every row, .* row 2, .* has 3 .'ann'"),
        ("id,x\nann,1\nbob,1,2\ncat,1\n", "2 cells in every row, .* row 3, .* has 3 .'bob'"),
        ("id,x\nann,1\nbob\ncat,1\n", "2 cells in every row, .* row 3, .* has 1 .'bob'"),
        ("1,0.5\n2,0.7\n", "must have a header row; its first row holds numbers alone"),
    ],
)
def test_files_that_are_not_node_tables(edges, write, text, words):
    with pytest.raises(FileFormatError, match=words):
        read_csv(edges, write(text))


@pytest.mark.parametrize("option", ["id", "label", "split", "title", "columns", "categorical"])
def test_columns_need_a_table(edges, option):
    value = ["x"] if option in ("columns", "categorical") else "x"
    with pytest.raises(ParameterError, match=f"{option} names a column of the node table"):
        read_csv(edges, **{option: value})


# ----------------------------------------------------------------------- feature files


def test_features_matched_by_id(edges, write):
    features = write("x1,node,x2\n1,bob,2\n3,cat,4\n5,ann,6\n", "features.csv")
    assert read_csv(edges, features=features).features.tolist() == [[5, 6], [1, 2], [3, 4]]
    graph = read_csv(edges, write(TABLE), features=features)
    assert graph.features[:, 2:].tolist() == [[3, 4], [1, 2], [5, 6]]
    assert graph.feature_names == ("age", "height", "x1", "x2")  # beside age and height
    assert graph.classes == ("milk", "tea")
    some = read_csv(edges, write(TABLE), features=features, columns=["age", "x2"])
    assert some.features.tolist() == [[3, 4], [28, 2], [31, 6]]
    with pytest.raises(GraphError, match=r"Column 'age' stands in .*nodes.csv and in .*more.csv"):
        read_csv(edges, write(TABLE), features=write("id,age\ncat,1\nbob,1\nann,2\n", "more.csv"))
    one = read_csv(edges, features=features, columns=["x2"])
    assert one.features.tolist() == [[6], [2], [4]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,x\nann,1\n", "features of every node; 2 of 3 are missing: 'bob', 'cat'"),
        ("id,x\nann,1\nbob,1\ncat,1\ndan,1\n", "features of 1 ids that the graph lacks: 'dan'"),
        ("id\nann\nbob\ncat\n", "has no feature columns"),
        ("id,x\nann,1\nbob,b\ncat,3\n", "holds numbers, but 'b' in row 2"),
    ],
)
def test_feature_tables_that_do_not_fit(edges, write, text, words):
    with pytest.raises((GraphError, FileFormatError), match=words):
        read_csv(edges, features=write(text, "features.csv"))


def test_features_in_an_array(edges, write, tmp_path):
    X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "b.npz", x=X, other=[1])
    np.savez(tmp_path / "c.npz", anything=X)
    sp.save_npz(tmp_path / "d.npz", sp.csr_array(X))
    S = sp.csr_array(X)
    np.savez(
        tmp_path / "e.npz", x_data=S.data, x_indices=S.indices, x_indptr=S.indptr, x_shape=S.shape
    )
    for name in ("a.npy", "b.npz", "c.npz", "d.npz", "e.npz"):
        graph = read_csv(edges, write(TABLE), features=tmp_path / name, columns=[])
        dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
        assert dense.tolist() == X.tolist()
        joined = read_csv(edges, write(TABLE), features=tmp_path / name)
        assert joined.feature_names == ("age", "height", f"{name}[0]", f"{name}[1]")
        assert joined.features.shape == (3, 4)
        with pytest.raises(GraphError, match="rows without ids; pass nodes="):
            read_csv(edges, features=tmp_path / name)
    with pytest.raises(GraphError, match="columns names a column that"):
        read_csv(edges, write(TABLE), features=tmp_path / "a.npy", columns=["x"])


def test_array_rows_are_nodes_when_edges_name_rows(write, tmp_path):
    edges = write("0,3\n3,1\n", "rows.csv")
    np.save(tmp_path / "five.npy", np.eye(5))
    graph = read_csv(edges, features=tmp_path / "five.npy")
    assert graph.nodes.tolist() == [0, 1, 2, 3, 4]
    np.save(tmp_path / "three.npy", np.eye(3))
    with pytest.raises(GraphError, match="got 3 rows, but the edges name node 3"):
        read_csv(edges, features=tmp_path / "three.npy")


def test_array_files_that_do_not_fit(edges, write, tmp_path):
    table = write(TABLE)
    np.save(tmp_path / "two.npy", np.eye(2))
    with pytest.raises(GraphError, match="one row per node; got 2 rows for 3 nodes"):
        read_csv(edges, table, features=tmp_path / "two.npy")
    np.save(tmp_path / "flat.npy", np.ones(3))
    with pytest.raises(GraphError, match=r"must hold a matrix.*got shape \(3,\)"):
        read_csv(edges, table, features=tmp_path / "flat.npy")
    whole = (tmp_path / "two.npy").read_bytes()
    for content in (b"", b"garbage", whole[:20], whole[:-3]):
        (tmp_path / "bad.npy").write_bytes(content)
        with pytest.raises(FileFormatError, match="is not a whole npy array"):
            read_csv(edges, table, features=tmp_path / "bad.npy")
    np.save(tmp_path / "pickle.npy", np.array([{}], dtype=object))
    with pytest.raises(FileFormatError, match="holds pickled Python objects"):
        read_csv(edges, table, features=tmp_path / "pickle.npy")
    np.savez(tmp_path / "many.npz", a=np.eye(3), b=np.eye(3))
    with pytest.raises(FileFormatError, match="it holds 'a', 'b'"):
        read_csv(edges, table, features=tmp_path / "many.npz")
    np.savez(tmp_path / "half.npz", format="csr", shape=(3, 3))
    with pytest.raises(FileFormatError, match="is not a whole sparse matrix"):
        read_csv(edges, table, features=tmp_path / "half.npz")


# -------------------------------------------------------------------------- write_csv


@pytest.mark.parametrize("strings", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_round_trip(tmp_path, strings, weighted):
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((6, 6)) < 0.4) * (rng.random((6, 6)) if weighted else 1.0)
    graph = Graph.from_scipy(
        upper + np.triu(upper, 1).T,
        rng.normal(size=(6, 3)).astype(np.float32),
        ["a b", None, "c,d", 'e"f', "a b", "c,d"] if strings else [1, None, 2, 3, 1, 2],
        nodes=["x", "y y", "é", "#z", "w,w", "NA"] if strings else [5, 4, 3, 2, 1, 99],
        titles=["t;", "", "u", "v", "w", "x"],
        split={"train": [0, 2], "val": [3], "test": [5]},
    )
    write_csv(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    back = read_csv(tmp_path / "e.csv", tmp_path / "n.csv")
    assert back.fingerprint == graph.fingerprint
    assert back.titles == graph.titles


def test_sparse_features_are_written_out(tmp_path):
    graph = Graph.from_scipy([[0, 1], [1, 0]], sp.csr_array(np.eye(2)))
    write_csv(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    assert read_csv(tmp_path / "e.csv", tmp_path / "n.csv").features.tolist() == [[1, 0], [0, 1]]


def test_class_names_that_read_as_missing_are_refused(tmp_path):
    graph = Graph.from_scipy([[0.0]], labels=["NA"])
    with pytest.raises(GraphError, match="'NA' would be read back as a missing label"):
        write_csv(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    assert not list(tmp_path.iterdir())


def test_ids_that_were_marked_for_spreadsheets_are_those_of_the_edges(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n=a,-b\n-b,'+c\n")
    (tmp_path / "labels.csv").write_text("id,label\n'=a,x\n'-b,\n'+c,y\n")
    graph = read_csv(tmp_path / "edges.csv", tmp_path / "labels.csv")
    assert graph.nodes.tolist() == ["=a", "-b", "'+c"]
    assert graph.labels.tolist() == [0, -1, 1]
