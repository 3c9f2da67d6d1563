"""Local copies of PyG's, OGB's and DGL's data sets: read whole, and never a pickle."""

import gzip
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from graphheat.datasets import block_model, fetch_dgl, fetch_ogb, fetch_pyg
from graphheat.errors import FileFormatError, MissingPathError

GRAPH = block_model(40, 3, features=5, labels_per_class=4, seed=0)


def assert_same(found):
    assert (found.adjacency != (GRAPH.adjacency > 0)).nnz == 0
    np.testing.assert_allclose(found.features, GRAPH.features, rtol=1e-6)
    assert found.labels.tolist() == GRAPH.labels.tolist()
    assert {part: nodes.tolist() for part, nodes in found.split.items()} == {
        part: nodes.tolist() for part, nodes in GRAPH.split.items()
    }


def mask(part):
    found = np.zeros(GRAPH.n, dtype=bool)
    found[GRAPH.split[part]] = True
    return found


# ---------------------------------------------------------------------- PyG


@pytest.fixture
def pyg(tmp_path):
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric")

    def save(data):
        (tmp_path / "blocks/processed").mkdir(parents=True, exist_ok=True)
        path = tmp_path / "blocks/processed/data.pt"
        geometric.data.InMemoryDataset.save([data], path)
        return tmp_path / "blocks"

    return torch, save


def test_what_pyg_saved_is_read(pyg):
    _, save = pyg
    folder = save(GRAPH.to_pyg())
    assert_same(fetch_pyg(folder))
    assert fetch_pyg(folder / "processed/data.pt").name == "blocks"


def test_one_of_several_splits(pyg):
    torch, save = pyg
    data = GRAPH.to_pyg()
    data.train_mask = torch.stack([data.test_mask, data.train_mask], dim=1)
    data.test_mask = torch.stack([data.val_mask, data.test_mask], dim=1)
    data.val_mask = torch.stack([data.val_mask, data.val_mask], dim=1)
    folder = save(data)
    assert_same(fetch_pyg(folder, split=1))
    with pytest.raises(FileFormatError, match="has 2 splits"):
        fetch_pyg(folder, split=2)


class Loud:
    """Says when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_objects_in_a_file_of_torchs_are_not_loaded(pyg, tmp_path):
    torch, _ = pyg
    torch.save((Loud(), None), tmp_path / "data.pt")
    with pytest.raises(FileFormatError, match=r"holds more than tensors.*write_npz"):
        fetch_pyg(tmp_path / "data.pt")
    (tmp_path / "data.pt").write_bytes(b"\x80\x04nothing")
    with pytest.raises(FileFormatError, match="holds more than tensors"):
        fetch_pyg(tmp_path / "data.pt")
    torch.save({"x": torch.zeros(2)}, tmp_path / "data.pt")
    with pytest.raises(FileFormatError, match="no data set of PyG's"):
        fetch_pyg(tmp_path / "data.pt")


def test_many_graphs_are_refused(pyg, tmp_path):
    torch, _ = pyg
    edges = torch.tensor([[0, 1], [1, 0]])
    slices = {"edge_index": torch.tensor([0, 1, 2])}
    torch.save(({"edge_index": edges}, slices), tmp_path / "data.pt")
    with pytest.raises(FileFormatError, match="holds 2 graphs"):
        fetch_pyg(tmp_path / "data.pt")


def test_planetoids_pickles_are_named(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/ind.cora.x").write_bytes(pickle.dumps(1))
    with pytest.raises(FileFormatError, match=r"ind\.cora\.x, a pickle, which is never loaded"):
        fetch_pyg(tmp_path)
    with pytest.raises(MissingPathError):
        fetch_pyg(tmp_path / "nowhere")


# ---------------------------------------------------------------------- OGB


def packed(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(",".join(map(str, np.atleast_1d(row))) + "\n" for row in rows)
    with gzip.open(path, "wt") as stream:
        stream.write(lines)


@pytest.fixture
def ogb(tmp_path):
    upper = sp.triu(GRAPH.adjacency).tocoo()  # one direction, as ogbn-arxiv has it
    folder = tmp_path / "ogbn_blocks"
    packed(folder / "raw/edge.csv.gz", np.stack([upper.row, upper.col], axis=1))
    packed(folder / "raw/num-node-list.csv.gz", [GRAPH.n])
    packed(folder / "raw/node-feat.csv.gz", np.asarray(GRAPH.features, dtype=float))
    packed(folder / "raw/node-label.csv.gz", GRAPH.labels)
    for part, name in (("train", "train"), ("val", "valid"), ("test", "test")):
        packed(folder / f"split/time/{name}.csv.gz", GRAPH.split[part])
    return folder


def test_a_node_property_data_set_of_ogb(ogb):
    found = fetch_ogb(ogb)
    assert_same(found)
    assert found.name == "ogbn_blocks"


def test_several_labels_per_node_and_none(ogb):
    sets = np.eye(3)[GRAPH.labels]
    packed(ogb / "raw/node-label.csv.gz", sets.astype(int))
    assert fetch_ogb(ogb).label_sets.tolist() == sets.tolist()
    packed(ogb / "raw/node-label.csv.gz", ["nan", *GRAPH.labels[1:].astype(float)])
    assert fetch_ogb(ogb).labels.tolist() == [-1, *GRAPH.labels[1:]]


def test_damaged_files_of_ogb(ogb):
    packed(ogb / "raw/edge.csv.gz", [["a", "b"]])
    with pytest.raises(FileFormatError, match=r"edge\.csv\.gz is no table of numbers"):
        fetch_ogb(ogb)
    packed(ogb / "raw/edge.csv.gz", [[1, 2, 3]])
    with pytest.raises(FileFormatError, match="two columns; got 3"):
        fetch_ogb(ogb)
    packed(ogb / "raw/node-label.csv.gz", GRAPH.labels + 0.5)
    packed(ogb / "raw/edge.csv.gz", [[1, 2]])
    with pytest.raises(FileFormatError, match="whole numbers"):
        fetch_ogb(ogb)
    (ogb / "raw/node-label.csv.gz").unlink()
    packed(ogb / "raw/edge.csv.gz", [[1, 2]])
    with pytest.raises(MissingPathError, match=r"node-label\.csv\.gz does not exist"):
        fetch_ogb(ogb)


# ---------------------------------------------------------------------- DGL


@pytest.fixture
def csv_dataset(tmp_path):
    pytest.importorskip("yaml")
    meta = "dataset_name: blocks\nnode_data:\n- file_name: nodes.csv\nedge_data:\n"
    (tmp_path / "meta.yaml").write_text(meta + "- file_name: edges.csv\n")
    lines = ["node_id,label,train_mask,val_mask,test_mask,feat"]
    for index in range(GRAPH.n):
        cells = [index, GRAPH.labels[index]]
        cells += [int(mask(part)[index]) for part in ("train", "val", "test")]
        feature = ",".join(str(float(number)) for number in np.asarray(GRAPH.features)[index])
        lines.append(",".join(map(str, cells)) + f',"{feature}"')
    (tmp_path / "nodes.csv").write_text("\n".join(lines) + "\n")
    pairs = GRAPH.adjacency.tocoo()
    rows = [f"{a},{b}" for a, b in zip(pairs.row, pairs.col, strict=True)]
    (tmp_path / "edges.csv").write_text("src_id,dst_id\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_a_csv_dataset_of_dgl(csv_dataset):
    assert_same(fetch_dgl(csv_dataset))


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("edges.csv", "src_id", "from", "lacks the column 'src_id'"),
        ("edges.csv", "\n0,", "\n99,", "names the node '99'"),
        ("meta.yaml", "node_data", "nodes", r"no meta\.yaml of DGL's"),
        ("meta.yaml", "- file_name: nodes.csv", "- a: 1\n- b: 2", "2 kinds of node_data"),
        ("nodes.csv", "label,", "", "must have 5 cells"),  # one more than the header names
        ("nodes.csv", ',"', ',"a', "features must be numbers"),
        ("nodes.csv", ',"', ',"1,', "different numbers of features"),
    ],
)
def test_damaged_csv_datasets(csv_dataset, file, old, new, words):
    path = csv_dataset / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(FileFormatError, match=words):
        fetch_dgl(csv_dataset)


def test_a_meta_file_makes_no_objects(csv_dataset):
    path = csv_dataset / "meta.yaml"
    loud = "a: !!python/object/apply:pytest.fail [loaded]\n"
    path.write_text(loud + path.read_text())
    assert_same(fetch_dgl(csv_dataset))


def test_reddits_archives(tmp_path):
    sp.save_npz(tmp_path / "reddit_graph.npz", sp.coo_matrix(GRAPH.adjacency))
    types = mask("train") * 1 + mask("val") * 2 + mask("test") * 3
    features = np.asarray(GRAPH.features)
    np.savez(tmp_path / "reddit_data.npz", feature=features, label=GRAPH.labels, node_types=types)
    assert_same(fetch_dgl(tmp_path))
    np.savez(tmp_path / "reddit_data.npz", feature=features)
    with pytest.raises(FileFormatError, match="lacks the array 'node_types'"):
        fetch_dgl(tmp_path)


def test_what_only_dgl_reads_is_refused(tmp_path):
    (tmp_path / "graph.bin").write_bytes(b"\x00")
    with pytest.raises(FileFormatError, match=r"graph\.bin, a pickle, which is never loaded"):
        fetch_dgl(tmp_path)
    with pytest.raises(FileFormatError, match="neither is loaded"):
        fetch_dgl(tmp_path / "graph.bin")
    with pytest.raises(MissingPathError, match="is no folder"):
        fetch_dgl(tmp_path / "nowhere")
