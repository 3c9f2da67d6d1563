"""A Dask cluster on one machine: two workers against one, killed workers, a killed scheduler.

    python benchmarks/cluster.py [--graph FOLDER] [--columns 16]

Workers are processes of one thread that a scheduler's address is given to, as on a cluster. The
graph is one that ``benchmarks/out_of_core.py`` leaves. *same bits*: as the panels of one process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report

S = 3.0


class Machines:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, workers: int) -> None:
        self.address = f"tcp://127.0.0.1:{_free_port()}"
        self.scheduler = _dask("scheduler", "--port", self.address.rsplit(":", 1)[1],
                               "--host", "127.0.0.1", "--no-dashboard")  # fmt: skip
        self.workers = [self._worker() for _ in range(workers)]
        from distributed import Client

        self.client = Client(self.address, timeout=60)
        self.client.wait_for_workers(workers, timeout=120)

    def _worker(self) -> subprocess.Popen[bytes]:
        return _dask("worker", self.address, "--nthreads", "1", "--nworkers", "1",
                     "--memory-limit", "0", "--no-dashboard", "--no-nanny")  # fmt: skip

    def replace(self, number: int) -> None:
        """Kill a worker, and start another."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()
        self.workers[number] = self._worker()

    def close(self) -> None:
        """Kill all that is left."""
        import contextlib

        with contextlib.suppress(Exception):
            self.client.close(timeout=5)
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _dask(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *words]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def diffusion(graph: Any, X: np.ndarray, where: Any, folder: Path) -> tuple[np.ndarray, Any, float]:
    """Return the results, the traffic and the seconds of the steps."""
    from graphheat.heat.engines.cluster.cluster import open_cluster
    from graphheat.linear.labelling import series_of

    with open_cluster(where, folder) as cluster:
        started = time.perf_counter()
        rows = cluster.diffuse(
            graph, lambda a, b, part: X[a:b, part], X.shape[1], series_of(graph, [S])
        )
        seconds = time.perf_counter() - started
        return np.array(rows(slice(0, graph.n), 0)), cluster.traffic, seconds


def whole_fit(graph: Any, where: Any, folder: Path) -> tuple[Any, int, float]:
    """Return a run whose rows, XΘ, products and labels are tasks, how many, and the seconds."""
    from graphheat.heat.engines.cluster.cluster import open_cluster
    from graphheat.recipes.disk_fit import fit_on_disk
    from graphheat.runs.checkpoint import FILENAME

    folder.mkdir(parents=True, exist_ok=True)
    with open_cluster(where, folder) as cluster:
        started = time.perf_counter()
        run = fit_on_disk(graph, "linear", threads=1, cluster=cluster, checkpoint=folder / FILENAME)
        return run, cluster.traffic.tasks, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="/tmp/graphheat-out-of-core/1000000/big.graph")
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    from graphheat.disk import DiskGraph
    from graphheat.errors import GraphHeatError
    from graphheat.heat.engines.panel.panel import row_bytes
    from graphheat.linear.labelling import in_panels, series_of
    from graphheat.linear.work_plan import plan_work
    from graphheat.recipes.disk_fit import fit_on_disk

    graph = DiskGraph.open(given.graph)
    X = np.random.default_rng(0).random((graph.n, given.columns), dtype=np.float32)
    series = series_of(graph, [S])
    started = time.perf_counter()
    panel = in_panels(graph, lambda a, b, part: X[a:b, part], X.shape[1], series)
    exact = np.array(panel(slice(0, graph.n), 0))
    rows = [{"run": "one process, panels in memory", "seconds": time.perf_counter() - started}]
    folder = Path(tempfile.mkdtemp(prefix="graphheat-cluster-"))
    times: dict[int, list[float]] = {1: [], 2: []}
    machines = {count: Machines(count) for count in (1, 2)}
    for count, each in machines.items():  # loops are compiled and loaded once per worker
        diffusion(graph, X, each.client, folder / f"warm-{count}")
    for _ in range(given.rounds):
        for count, each in machines.items():
            found, traffic, seconds = diffusion(graph, X, each.client, folder / "timed")
            times[count].append(seconds)
            assert np.array_equal(found, exact)
    machines[1].close()
    plan = plan_work(graph, s=S, columns=given.columns, workers=2).ways[2]
    for count, seconds_of in times.items():
        rows.append(
            {"run": f"Dask, {count} worker{'s' * (count > 1)}", "seconds": min(seconds_of),
             "same bits": True, "tasks": traffic.tasks,
             "moved GB": (traffic.read + traffic.written) / 1e9, "planned GB": plan.network / 1e9}
        )  # fmt: skip
    two = machines[2]
    here = fit_on_disk(graph, "linear", threads=1)
    there, tasks, seconds = whole_fit(graph, two.client, folder / "fit")
    rows.append(
        {"run": "fit --recipe linear, two workers", "seconds": seconds, "tasks": tasks,
         "same bits": bool(np.array_equal(here.probabilities, there.probabilities))}
    )  # fmt: skip
    kills = threading.Thread(target=_kill, args=(two, 5, min(times[2]) / 6))
    kills.start()
    found, traffic, seconds = diffusion(graph, X, two.client, folder / "killed")
    kills.join()
    rows.append(
        {"run": "a worker killed five times", "seconds": seconds,
         "same bits": bool(np.array_equal(found, exact)), "tasks": traffic.tasks}
    )  # fmt: skip
    end = threading.Timer(min(times[2]) / 2, two.scheduler.kill)
    end.start()
    try:
        diffusion(graph, X, two.client, folder / "resumed")
        told = "finished before the kill"
    except GraphHeatError as error:
        told = str(error)[:80]
    two.close()
    again = Machines(2)
    found, traffic, seconds = diffusion(graph, X, again.client, folder / "resumed")
    again.close()
    rows.append(
        {"run": "scheduler killed, resumed", "seconds": seconds,
         "same bits": bool(np.array_equal(found, exact)), "tasks": traffic.tasks, "told": told}
    )  # fmt: skip
    shutil.rmtree(folder)
    report(
        "cluster", rows, ratio=round(min(times[1]) / min(times[2]), 2), nodes=graph.n,
        entries=graph.nnz, columns=given.columns, order=series[0].order,
        row_bytes=row_bytes(given.columns, series[0].dtype),
    )  # fmt: skip


def _kill(machines: Machines, count: int, pause: float) -> None:
    for _ in range(count):
        time.sleep(pause)
        machines.replace(0)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # a client whose scheduler was killed would wait for it
