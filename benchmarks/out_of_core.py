"""Graphs larger than memory, from Parquet with string ids to a label for every node.

    python benchmarks/out_of_core.py [--sizes 100000,1000000,10000000] [--work FOLDER]

Block models of mean degree 20 in ten classes (homophily 0.5, 64 features, class means of length 1
in noise of deviation 1), 50 training labels per class, 1,000 to validate, 5,000 to test. Every step
is a process of its own under ``ulimit -d`` of 6 GB (RLIMIT_DATA: all private writable memory, and
no mapped file, whose pages the kernel may drop). *reference*: belief propagation with the true
parameters over two hops and their features, on 1,000 test nodes, which is near the best that can be
known. *memory*: labelling by the same model with edges and features mapped, then in memory, in one
process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from interleave import RESULTS, report

CLASSES, FEATURES, DEGREE, HOMOPHILY, STRENGTH = 10, 64, 20, 0.5, 1.0
PER_CLASS, VALIDATION, TEST = 50, 1000, 5000
LIMIT = 6_000_000_000
CHUNK = 2_000_000


def means() -> np.ndarray:
    drawn = np.random.default_rng(7).standard_normal((CLASSES, FEATURES), dtype=np.float32)
    return STRENGTH * drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def names(numbers: np.ndarray) -> Any:
    """Return ids such as user-000123456 as an Arrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    padded = pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), 9, "0")
    return pc.binary_join_element_wise("user", padded, "-")


def generate(n: int, folder: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(n)
    centres = means()
    parts = np.zeros(n, dtype=np.int8)
    drawn = random.choice(n, min(n, 40 * PER_CLASS * CLASSES), replace=False)
    taken: list[np.ndarray] = []
    for c in range(CLASSES):
        taken.append(drawn[drawn % CLASSES == c][:PER_CLASS])
    train = np.concatenate(taken)
    rest = np.setdiff1d(drawn, train, assume_unique=True)
    random.shuffle(rest)
    parts[train], parts[rest[:VALIDATION]] = 1, 2
    parts[rest[VALIDATION : VALIDATION + TEST]] = 3
    words = np.array([None, "train", "val", "test"], dtype=object)
    multiplier = next(k for k in range(7919, n + 9000) if np.gcd(k, n) == 1)
    writer = None
    for first in range(0, n, CHUNK // 8):
        rows = np.arange(first, min(n, first + CHUNK // 8))
        x = random.standard_normal((len(rows), FEATURES), dtype=np.float32)
        x += centres[rows % CLASSES]
        vector = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), FEATURES)
        known = parts[rows] > 0
        label = np.where(known, np.char.add("c", (rows % CLASSES).astype(str)).astype(object), None)
        table = pa.table(
            {"id": names(rows * multiplier % n), "label": pa.array(label), "x": vector,
             "split": pa.array(words[parts[rows]])}
        )  # fmt: skip
        writer = writer or pq.ParquetWriter(folder / "nodes.parquet", table.schema)
        writer.write_table(table)
    writer.close()
    edges, done, number = n * DEGREE // 2, 0, 0
    while done < edges:
        size = min(CHUNK, edges - done)
        u = random.integers(0, n, size)
        same = random.random(size) < HOMOPHILY
        shift = random.integers(1, CLASSES, size)
        v = random.integers(0, n // CLASSES, size) * CLASSES
        v += np.where(same, u % CLASSES, (u + shift) % CLASSES)
        table = pa.table({"source": names(u * multiplier % n), "target": names(v * multiplier % n)})
        if number % 10 == 0:
            part = pq.ParquetWriter(folder / f"edges-{number // 10:03d}.parquet", table.schema)
        part.write_table(table)
        done, number = done + size, number + 1
        if number % 10 == 0 or done >= edges:
            part.close()
    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    return {"parquet GB": round(size / 1e9, 3)}


def ingest(n: int, folder: Path) -> dict[str, Any]:
    from graphheat.disk import ingest as ingest_files

    graph = ingest_files(
        str(folder / "edges-*.parquet"), folder / "big.graph", nodes=folder / "nodes.parquet",
        memory="4GB", threads=2,
    )  # fmt: skip
    return {"edges": graph.describe().edges, "graph GB": round(graph.bytes_on_disk() / 1e9, 3)}


def fit(n: int, folder: Path) -> dict[str, Any]:
    from graphheat.disk import DiskGraph
    from graphheat.linear.labelling import label_nodes
    from graphheat.linear.linear_run import LinearSettings
    from graphheat.recipes.disk_fit import train_linear

    graph = DiskGraph.open(folder / "big.graph")
    split = graph.completed_split(0, hold_out=False)
    started = time.perf_counter()
    trained = train_linear(graph, split, LinearSettings(), threads=1)
    training = time.perf_counter() - started
    out = folder / "run"
    out.mkdir(exist_ok=True)
    started = time.perf_counter()
    found = label_nodes(graph, trained.model, split, out=out, threads=2)
    labelling = time.perf_counter() - started
    codes = np.asarray(graph.labels)
    right = found.probabilities[split.test].argmax(axis=1) == codes[split.test]
    return {
        "training s": round(training, 1),
        "labelling s": round(labelling, 1),
        "s": found.model.s,
        "heat kept %": round(100 * trained.kept, 1),
        "test %": round(100 * float(right.mean()), 2),
    }


def train(n: int, folder: Path) -> dict[str, Any]:
    """Train alone, counted by the processor: other work on the machine plays a smaller part."""
    from graphheat.disk import DiskGraph
    from graphheat.linear.linear_run import LinearSettings
    from graphheat.recipes.disk_fit import train_linear

    graph = DiskGraph.open(folder / "big.graph")
    split = graph.completed_split(0, hold_out=False)
    started = time.process_time()
    train_linear(graph, split, LinearSettings(), threads=1)
    return {"training, processor s": round(time.process_time() - started, 1)}


def stream(n: int, folder: Path) -> dict[str, Any]:
    """Stream predictions to Parquet, from the run's folder."""
    from graphheat.disk import DiskGraph
    from graphheat.features import Scaling
    from graphheat.linear.disk_run import DiskRun
    from graphheat.linear.narrow_model import LinearModel
    from graphheat.runs.protocols import PlainSettings

    graph = DiskGraph.open(folder / "big.graph")
    stored = folder / "run" / "probabilities.npy"
    model = LinearModel(1.0, 0.0, Scaling("none"), np.zeros((1, 1)), np.zeros(1))
    run = DiskRun(
        **DiskRun.parts_of(graph, graph.split), recipe="linear", settings=PlainSettings({}), seed=0,
        probabilities=np.load(stored, mmap_mode="r"), seconds=0.0, model=model,
    )  # fmt: skip
    run.write_predictions(folder / "predictions.parquet")
    size = (folder / "predictions.parquet").stat().st_size
    return {"predictions GB": round(size / 1e9, 3)}


def one_node(n: int, folder: Path) -> dict[str, Any]:
    """Open the graph, and ask for one row, its neighbours."""
    from graphheat import HeatKernel, neighborhood
    from graphheat.disk import DiskGraph

    warm = DiskGraph.open(folder / "big.graph")
    HeatKernel(warm, 1.0, tol=1e-3).row(0, 1e-2)  # compiled loops are loaded
    started = time.perf_counter()
    graph = DiskGraph.open(folder / "big.graph")
    index = graph.index_of(graph.nodes[n // 3])
    opened = time.perf_counter() - started
    neighborhood(graph, index, 1.0, 1e-3)
    return {
        "open s": round(opened, 3),
        "neighbors s": round(time.perf_counter() - started - opened, 3),
    }


def eight(n: int, folder: Path) -> dict[str, Any]:
    from graphheat import HeatKernel
    from graphheat.disk import DiskGraph

    graph = DiskGraph.open(folder / "big.graph")
    X = np.random.default_rng(0).random((n, 8), dtype=np.float32)
    heat = HeatKernel(graph, 3.0, tol=1e-3)  # as many threads as there are processors
    seconds = []
    for _ in range(5):  # the first sorts the entries, once for all
        started = time.perf_counter()
        heat.apply(X)
        seconds.append(time.perf_counter() - started)
    return {"apply 8 s": round(min(seconds), 4)}


def reference(n: int, folder: Path) -> dict[str, Any]:
    """Belief propagation with the true parameters, over two hops."""
    from graphheat.disk import DiskGraph

    graph = DiskGraph.open(folder / "big.graph")
    nodes = np.sort(np.random.default_rng(0).choice(graph.split.test, 1000, replace=False))
    centres = means()
    affinity = np.full((CLASSES, CLASSES), (1 - HOMOPHILY) / (CLASSES - 1))
    np.fill_diagonal(affinity, HOMOPHILY)
    right = 0
    for node in nodes:
        place = int(graph.places_of([node])[0])
        near = np.setdiff1d(graph.neighbors_of(place), [place])
        belief = _evidence(graph, np.array([place]), centres)[0]
        own = _evidence(graph, near, centres)
        for k, neighbour in enumerate(near):
            further = np.setdiff1d(graph.neighbors_of(int(neighbour)), [place, neighbour])
            shown = own[k].copy()
            if len(further):
                shown += np.log(_shares(_evidence(graph, further, centres)) @ affinity).sum(axis=0)
            belief += np.log(_shares(shown[None])[0] @ affinity)
        right += int(belief.argmax()) == int(np.asarray(graph.labels)[node])
    return {"reference %": round(100 * right / len(nodes), 2)}


def _evidence(graph: Any, places: np.ndarray, centres: np.ndarray) -> np.ndarray:
    # Classes are named c0 … c9, so that codes are theirs.
    return np.asarray(graph.features[graph.rows_at(places)] @ centres.T, dtype=np.float64)


def _shares(logs: np.ndarray) -> np.ndarray:
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def memory(n: int, folder: Path) -> dict[str, Any]:
    """Label by one model, and diffuse, from mapped files and with edges and features in memory."""
    from graphheat import HeatKernel
    from graphheat.disk import DiskGraph
    from graphheat.linear.labelling import label_nodes
    from graphheat.linear.linear_run import LinearSettings
    from graphheat.recipes.disk_fit import train_linear

    mapped, held = (DiskGraph.open(folder / "big.graph") for _ in range(2))
    split = mapped.completed_split(0, hold_out=False)
    # A short search: what is measured is the labelling.
    model = train_linear(mapped, split, LinearSettings(s=3.0, l2=3.0), threads=1).model
    for name in ("indptr", "indices", "rank", "order"):
        if getattr(held, name) is not None:
            setattr(held, name, np.array(getattr(held, name)))
    held.features._dense = np.array(held.features._dense)
    seconds = {}
    for way, graph in (("mapped", mapped), ("in memory", held)):
        started = time.perf_counter()
        label_nodes(graph, model, split, threads=2)
        seconds[f"labelling {way} s"] = round(time.perf_counter() - started, 1)
    X = np.random.default_rng(0).random((n, 8), dtype=np.float32)
    kernels = {
        "mapped": HeatKernel(mapped, 3.0, tol=1e-3),
        "in memory": HeatKernel(held, 3.0, tol=1e-3),
    }
    best = dict.fromkeys(kernels, float("inf"))
    for _ in range(4):  # the first sorts the entries
        for way, kernel in kernels.items():
            started = time.perf_counter()
            kernel.apply(X)
            best[way] = min(best[way], time.perf_counter() - started)
    return seconds | {f"apply 8 {way} s": round(each, 3) for way, each in best.items()}


STEPS = {
    each.__name__: each
    for each in (generate, ingest, fit, train, stream, one_node, eight, reference, memory)
}
UNLIMITED = ("generate", "reference", "memory")


def child(step: str, n: int, folder: Path) -> None:
    if step not in UNLIMITED:
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    started = time.perf_counter()
    found = STEPS[step](n, folder)
    seconds = time.perf_counter() - started
    print(json.dumps({**found, f"{step} s": round(seconds, 1)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100000,1000000,10000000")
    parser.add_argument("--work", type=Path, default=Path("/tmp/graphheat-out-of-core"))
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--child", nargs=2)
    given = parser.parse_args()
    if given.child:
        step, n = given.child
        child(step, int(n), given.work / n)
        return
    rows = []
    for n in map(int, given.sizes.split(",")):
        folder = given.work / str(n)
        folder.mkdir(parents=True, exist_ok=True)
        state = folder / "figures.json"
        row: dict[str, Any] = {"nodes": n, "done": []}
        if state.exists():
            row = json.loads(state.read_text())
        for step in given.steps.split(","):
            if step in row["done"]:
                continue
            command = [sys.executable, __file__, "--work", str(given.work), "--child", step, str(n)]
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            if done.returncode:
                print(step, n, done.stderr[-2000:], file=sys.stderr)
                continue
            row |= json.loads(done.stdout)
            row["done"].append(step)
            state.write_text(json.dumps(row))
            print(step, n, done.stdout.strip(), file=sys.stderr, flush=True)
        rows.append({k: v for k, v in row.items() if k != "done"})
    exponents = {}
    for name in ("apply 8 s", "training, processor s", "labelling s"):
        shown = [(r["nodes"], r[name]) for r in rows if name in r]
        if len(shown) > 1:
            x, y = np.log(np.array(shown, dtype=float)).T
            grown = name.removesuffix(" s").removesuffix(", processor")
            exponents[f"growth of {grown}"] = round(float(np.polyfit(x, y, 1)[0]), 2)
    report("out_of_core", rows, limit="ulimit -d 6 GB", **exponents)
    assert RESULTS.is_dir()


if __name__ == "__main__":
    main()
