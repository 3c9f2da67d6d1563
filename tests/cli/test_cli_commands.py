"""Every command, on its happy path: tables for people, one JSON object for programs."""

import json

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from helpers.command import call

from graphheat import datasets
from graphheat.cli import run_folder
from graphheat.datasets import block_model
from graphheat.heat import HeatKernel, neighborhood
from graphheat.io import write_csv, write_npz

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
RUN_FILES = [
    "checkpoint.safetensors",
    "history.csv",
    "metrics.json",
    "predictions.csv",
    "reliability.png",
    "training.png",
]
NETWORK = ("--recipe", "consistent")


def ask(*args):
    """Run with --json; standard output must be exactly one object."""
    text = call(*args, "--json").stdout
    assert text.count("\n") == 1
    return json.loads(text)


@pytest.fixture
def graph(tmp_path):
    write_npz(GRAPH, tmp_path / "blocks.npz")
    return tmp_path / "blocks.npz"


@pytest.fixture
def tables(tmp_path):
    write_csv(GRAPH, tmp_path / "edges.csv", tmp_path / "nodes.csv")
    return tmp_path


def files(folder):
    return sorted(file.name for file in folder.iterdir())


def test_help_lists_every_command():
    text = call("--help").stdout
    for name in ("demo", "datasets", "info", "kernel", "neighbors", "fit", "predict"):
        assert name in text
        assert "Usage:" in call(name, "--help").stdout
    assert call("-h").stdout == text


def test_version():
    assert "0.1.0" in call("--version").stdout


def test_datasets():
    entries = ask("datasets")["datasets"]
    assert [entry["name"] for entry in entries] == list(datasets.names())
    cora = next(entry for entry in entries if entry["name"] == "cora")
    assert (cora["nodes"], cora["classes"], cora["train_labels"]) == (2708, 7, 140)
    assert "cora" in call("datasets").stdout


def test_info(graph):
    counts = ask("info", graph)
    assert counts["graph"] == "block model"
    assert counts["nodes"] == 60
    assert counts["split"] == {name: len(part) for name, part in GRAPH.split.items()}
    text = call("info", "karate").stdout
    for words in ("nodes", "34", "homophily", "Mr. Hi", "train"):
        assert words in text


def test_info_speaks_of_self_loops_and_isolated_nodes(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\na,a\na,b\n")
    (tmp_path / "n.csv").write_text("id\na\nb\nc\n")
    result = call("info", tmp_path / "e.csv", "--nodes", tmp_path / "n.csv")
    assert "--self-loops drop" in result.stderr
    assert "1 nodes have no edge" in result.stderr
    again = ask("info", tmp_path / "e.csv", "--self-loops", "drop")
    assert again["self_loops"] == 0


# ------------------------------------------------------------------- heat


def test_kernel_writes_what_heatkernel_computes(graph, tmp_path):
    out = tmp_path / "K.npz"
    result = ask("kernel", graph, "-s", "2", "--eps", "0.01", "--out", out)
    matrix = HeatKernel(GRAPH, 2.0).matrix(0.01)
    saved = sp.load_npz(out)
    assert (saved != matrix).nnz == 0
    assert result["entries"] == matrix.nnz == saved.nnz
    assert result["plan"]["order"] > 0
    assert files(tmp_path) == ["K.npz", "blocks.npz"]


def test_kernel_plans_without_writing(graph, tmp_path):
    result = ask("kernel", graph, "--s", "2", "--eps", "0.01", "--plan")
    assert result["plan"] == HeatKernel(GRAPH, 2.0).plan(0.01).as_dict()
    assert "entries" not in result
    assert "memory" in call("kernel", graph, "--s", "2", "--plan").stdout
    assert files(tmp_path) == ["blocks.npz"]


@pytest.mark.parametrize(
    ("node", "reach", "most"),
    [
        (12, 1, 1),
        (75, 2, 2),
        (26, 3, 3),
        (1284, 4, 13),
        (1351, 5, 13),
        (1385, 6, 11),
        (1666, 7, 11),
    ],
)
def test_table_3_of_the_paper(node, reach, most):
    found = ask("neighbors", "cora", node, "--s", "3.5", "--eps", "1e-4")
    assert (found["range"], found["max_range"]) == (reach, most)


def test_neighbors_of_the_case_study():
    found = ask("neighbors", "cora", 2027, "-s", "3.5", "--eps", "1e-4")
    cora = datasets.load("cora")
    assert found["class"] == cora.classes[3]
    near = [entry["class"] for entry in found["neighbors"] if entry["hops"] == 1]
    assert sorted(near) == sorted([cora.classes[0]] * 2 + [cora.classes[3]] * 2)


def test_neighbors_are_those_of_the_library(graph):
    found = ask("neighbors", graph, "7", "--s", "1", "--eps", "0.01")
    near = neighborhood(GRAPH, 7, 1.0, 0.01)
    assert [entry["node"] for entry in found["neighbors"]] == near.neighbors.tolist()
    assert [entry["hops"] for entry in found["neighbors"]] == near.hops.tolist()
    assert [entry["weight"] for entry in found["neighbors"]] == pytest.approx(near.weights)
    assert {"node", "weight", "hops", "class"} <= set(found["neighbors"][0])
    assert found["self_weight"] == pytest.approx(near.self_weight)


def test_neighbors_prints_as_many_as_asked_for(graph):
    text = call("neighbors", graph, "7", "--limit", "2").stdout
    assert "not shown" in text
    assert "hops away" in text
    call("neighbors", graph, "7", "--limit", "0")


# ------------------------------------------------------------------- fit


def test_fit_prints_its_numbers_and_writes_its_files(graph, tmp_path):
    out = tmp_path / "run"
    result = ask("fit", graph, *NETWORK, "--epochs", "5", "--seed", "3", "--out", out)
    assert {"test_accuracy_mean", "test_accuracy_std", "val_accuracy_mean", "runs"} <= set(result)
    (run,) = result["runs"]
    keys = {"seed", "test_accuracy", "val_accuracy", "best_epoch", "epochs", "seconds"}
    assert set(run) == keys
    assert (run["seed"], run["epochs"]) == (3, 5)
    assert result["test_accuracy_mean"] == run["test_accuracy"]
    assert result["test_accuracy_std"] == 0
    assert files(out) == sorted([*RUN_FILES, "path.csv", "path.png"])
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["runs"] == result["runs"]
    assert metrics["calibration"]["temperature"] > 0
    assert 0 < metrics["calibration"]["error_after"] < 1


def test_the_default_tells_what_each_stage_brought(graph, tmp_path):
    pytest.importorskip("torch")
    out = tmp_path / "run"
    result = call("fit", graph, "--epochs", "5", "--out", out)
    assert "recipe auto" in result.stdout and "weight" in result.stdout
    report = [line.split()[2].rstrip(",") for line in result.stderr.splitlines() if " s  " in line]
    assert report == ["spreading", "linear", "ensemble"]
    (run,) = json.loads((out / "metrics.json").read_text())["runs"]
    assert run["judged_by"] == "validation"
    assert [stage["name"] for stage in run["stages"]] == report
    assert files(out) == sorted({*RUN_FILES} - {"history.csv", "training.png"})


def test_a_budget_leaves_stages_out_and_says_so(graph):
    result = call("fit", graph, "--budget", "0")
    assert "Linear models were left out: the budget of 0 s was used up." in result.stderr
    assert "linear" not in result.stdout
    (run,) = ask("fit", graph, "--budget", "0")["runs"]
    assert [stage["name"] for stage in run["stages"]] == ["spreading"]


def test_labels_are_written_as_soon_as_a_stage_has_them(graph, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    rows = []
    write = run_folder.write_labels

    def watched(folder, run, **options):
        write(folder, run, **options)
        rows.append((run.recipe, len(pandas.read_csv(folder / "predictions.csv"))))

    monkeypatch.setattr(run_folder, "write_labels", watched)
    call("fit", graph, "--epochs", "2", "--out", tmp_path / "run")
    assert rows == [("spreading", 60), ("linear", 60), ("ensemble", 60), ("auto", 60)]


def test_a_graph_of_labels_alone_is_fitted(tmp_path):
    result = call("fit", "karate", "--out", tmp_path / "run")
    assert "There are no features: labels are spread by heat, and linear models" in result.stderr
    assert len(pandas.read_csv(tmp_path / "run/predictions.csv")) == 34


def test_fit_writes_a_row_a_node_and_a_row_an_epoch(graph, tmp_path):
    out = tmp_path / "run"
    result = ask("fit", graph, *NETWORK, "--epochs", "5", "--out", out)
    table = pandas.read_csv(out / "predictions.csv")
    head = ["node", "label", "predicted", "confidence", "reached", "split", "p_0", "p_1", "p_2"]
    assert list(table.columns) == [*head, "calibrated"]
    assert table["node"].tolist() == list(range(60))
    tested = table[table["split"] == "test"]
    accuracy = (tested["label"] == tested["predicted"]).mean()
    assert accuracy == pytest.approx(result["test_accuracy_mean"])
    history = pandas.read_csv(out / "history.csv")
    assert list(history.columns) == ["epoch", "train_loss", "val_loss", "val_accuracy"]
    assert history["epoch"].tolist() == [1, 2, 3, 4, 5]
    assert (out / "training.png").read_bytes().startswith(b"\x89PNG")


def test_fit_over_seeds_reports_mean_and_sample_deviation(graph, tmp_path):
    out = tmp_path / "run"
    result = ask("fit", graph, *NETWORK, "--epochs", "5", "--seeds", "3", "--out", out)
    accuracies = [run["test_accuracy"] for run in result["runs"]]
    assert [run["seed"] for run in result["runs"]] == [0, 1, 2]
    assert result["test_accuracy_mean"] == pytest.approx(np.mean(accuracies))
    assert result["test_accuracy_std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert files(out) == ["metrics.json", "seed-0", "seed-1", "seed-2"]
    for seed in range(3):
        assert files(out / f"seed-{seed}") == sorted([*RUN_FILES, "path.csv", "path.png"])
    text = call("fit", graph, "--epochs", "2", "--seeds", "2").stdout
    assert "over 2 seeds" in text
    assert "±" in text


def test_fit_without_out_says_that_nothing_was_kept(graph, tmp_path):
    result = call("fit", graph, "--epochs", "2")
    assert "Nothing was kept" in result.stderr
    assert "seconds" in result.stdout
    assert files(tmp_path) == ["blocks.npz"]


def test_the_same_seed_twice_gives_the_same_predictions(graph, tmp_path):
    pytest.importorskip("torch")
    for name in ("a", "b"):
        call("fit", graph, "--epochs", "10", "--seed", "1", "--out", tmp_path / name)
    call("fit", graph, "--epochs", "10", "--seed", "2", "--out", tmp_path / "c")
    a, b, c = ((tmp_path / name / "predictions.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--recipe", "authors"], {"recipe": "authors", "s": 3.0, "eps": 1e-4}),
        (["-s", "1.5"], {"recipe": "auto", "s": 1.5, "eps": None}),
        (["--recipe", "paper", "--eps", "0.01"], {"recipe": "paper", "s": 3.0, "eps": 0.01}),
        (["--recipe", "paper", "--eps", "none"], {"eps": None}),
        ([*NETWORK, "--threads", "2"], {"threads": 2}),
    ],
)
def test_the_options_of_fit_reach_the_run(graph, options, settings):
    result = ask("fit", graph, "--epochs", "2", *options)
    assert {name: result[name] for name in settings} == settings


def test_fit_reads_tables_of_strings(tmp_path):
    ids = [f"p{index}" for index in range(60)]
    upper = sp.coo_array(sp.triu(GRAPH.adjacency))
    lines = [f"{ids[a]},{ids[b]}" for a, b in zip(upper.row, upper.col, strict=True)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(lines))
    names = np.array(["ash", "beech", "cedar"])[GRAPH.labels]
    table = pandas.DataFrame({"person": ids, "tree": names, "age": np.arange(60), "x": 0.5})
    table.loc[40:, "tree"] = None
    table.to_csv(tmp_path / "nodes.csv", index=False)
    result = call(
        "fit", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv", "--id-column", "person",
        "--label-column", "tree", "--epochs", "3", "--out", tmp_path / "run", *NETWORK,
    )  # fmt: skip
    assert "No validation labels were given" in result.stderr
    assert "of 40 labelled nodes are held out" in result.stderr
    predictions = pandas.read_csv(tmp_path / "run/predictions.csv")
    assert predictions["node"].tolist() == ids
    assert predictions["label"].isna().sum() == 20
    assert [c for c in predictions if c.startswith("p_")] == ["p_ash", "p_beech", "p_cedar"]


def test_fit_reads_a_separate_feature_file(tables):
    np.save(tables / "x.npy", GRAPH.features)
    result = ask(
        "fit", tables / "edges.csv", "--nodes", tables / "nodes.csv", "--features",
        tables / "x.npy", "--epochs", "2", *NETWORK,
    )  # fmt: skip
    assert result["runs"][0]["epochs"] == 2


# ------------------------------------------------------------------- predict


def test_predict_writes_the_labels_of_the_run(graph, tmp_path):
    call("fit", graph, "--epochs", "5", "--out", tmp_path / "run")
    written = (tmp_path / "run/predictions.csv").read_bytes()
    for source in (tmp_path / "run", tmp_path / "run/checkpoint.safetensors"):
        result = ask("predict", source, "--out", tmp_path / "labels.csv")
        assert (tmp_path / "labels.csv").read_bytes() == written
    assert result["nodes"] == sum(result["predicted"].values()) == 60
    call("predict", tmp_path / "run", "--graph", graph, "--out", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_bytes() == written


def test_predict_labels_another_graph(graph, tmp_path):
    call("fit", graph, "--epochs", "5", "--out", tmp_path / "run")
    write_npz(block_model(30, 3, features=8, labels_per_class=4, seed=9), tmp_path / "other.npz")
    out = tmp_path / "labels.csv"
    result = call("predict", tmp_path / "run", "--graph", tmp_path / "other.npz", "--out", out)
    assert "is not the graph of this run" in result.stderr
    table = pandas.read_csv(out)
    assert len(table) == 30
    assert table["reached"].isna().all()
    assert table["predicted"].notna().all()


# ------------------------------------------------------------------- demo


def test_demo_shows_accuracy_confusion_and_a_neighbourhood():
    text = call("demo", "--epochs", "3").stdout
    for words in ("83.7 %", "true \\ predicted", "Heat from node 2027", "Next:", "graphheat fit"):
        assert words in text


def test_demo_in_json():
    result = ask("demo", "--epochs", "3")
    assert result["paper_test_accuracy"] == 0.837
    assert np.sum(result["confusion"]) == 1000
    right = np.trace(result["confusion"]) / 1000
    assert result["test_accuracy"] == pytest.approx(right)


# ------------------------------------------------------------------- words


def test_names_with_markup_print_literally(tmp_path):
    name, kind = "[bold]x[/bold]", "[red]k[/red]"
    (tmp_path / "e.csv").write_text(f"source,target\n{name},y\ny,z\n")
    (tmp_path / "n.csv").write_text(f"id,label,v\n{name},{kind},1\ny,b,2\nz,{kind},3\n")
    given = (tmp_path / "e.csv", "--nodes", tmp_path / "n.csv")
    assert kind in call("info", *given).stdout
    text = call("neighbors", tmp_path / "e.csv", "y", "--nodes", tmp_path / "n.csv").stdout
    assert name in text
    assert kind in text
    title = call("neighbors", tmp_path / "e.csv", name, "--nodes", tmp_path / "n.csv").stdout
    assert name in title
    call("fit", *given, "--epochs", "2", "--out", tmp_path / "run")
    assert kind in call("predict", tmp_path / "run", "--out", tmp_path / "l.csv").stdout
    assert f"p_{kind}" in pandas.read_csv(tmp_path / "l.csv").columns
    wrong = call("neighbors", tmp_path / "e.csv", "[bold]no[/bold]", code=2)
    assert "[bold]no[/bold]" in wrong.stderr
