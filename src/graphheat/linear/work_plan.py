"""What labelling a graph takes in memory, on disk and on a cluster, estimated beforehand.

Bytes are counted; seconds are bytes over rates that ``benchmarks/out_of_core.py`` and
``benchmarks/cluster.py`` measure on one machine, and are meant to a factor of two.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from graphheat.checks import check_count
from graphheat.disk import DiskGraph
from graphheat.graph import Graph
from graphheat.heat.engines.panel.panel import row_bytes, widest
from graphheat.heat.series import DOUBLE, SINGLE, heat_series
from graphheat.linear.heat_rows import MOST_EDGES
from graphheat.linear.row_diffusion import SPREAD_TOL, is_large
from graphheat.memory import available_memory

Where = Literal["memory", "disk", "cluster"]

GATHER = 1.2e9  # bytes per second and thread of panel rows that a product reads
STREAM = 0.8e9  # bytes per second from a disk, and of features through a product with weights
NETWORK = 0.1e9  # bytes per second and machine from storage that workers share
EDGES = 5.0e6  # edges per second that a push goes over
TIMES = 6  # that training tries
GRAPH_BYTES = 12  # of an entry in memory: index and weight
ROOM = 0.8  # of the memory that is left, which may be planned with


@dataclass(frozen=True)
class Cost:
    """What one way takes.

    Attributes
    ----------
    where
        ``"memory"``, ``"disk"`` or ``"cluster"``.
    memory
        Bytes of memory on one machine.
    disk, network
        Bytes written to disk beside the graph, and bytes that go over the network in all.
    training, labelling
        Seconds.
    fits
        Whether ``memory`` is to be had.
    """

    where: Where
    memory: int
    disk: int
    network: int
    training: float
    labelling: float
    fits: bool

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.training + self.labelling


@dataclass(frozen=True)
class WorkPlan:
    """The ways there are, and which one to take.

    Attributes
    ----------
    graph, columns, order, dtype, error_bound
        The graph's name; how many columns are diffused, by how many products, in which precision,
        and what the result is off by at most, relative to a column's length.
    ways
        A cost each.
    chosen, why
        The way to take, and the reason.
    """

    graph: str
    nodes: int
    entries: int
    columns: int
    order: int
    dtype: str
    error_bound: float
    ways: tuple[Cost, ...]
    chosen: Where
    why: str

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        way = next(each for each in self.ways if each.where == self.chosen)
        return (
            f"{self.chosen} ({self.why}): {way.memory / 1e9:.2f} GB of memory, about "
            f"{way.training:.0f} s to train and {way.labelling:.0f} s to label "
            f"{self.nodes:,} nodes, error at most {self.error_bound:.1e}"
        )


def plan_work(
    graph: Graph | DiskGraph,
    *,
    s: float = 3.0,
    columns: int | None = None,
    labels: int | None = None,
    threads: int = 2,
    workers: int = 0,
    room: int | None = None,
) -> WorkPlan:
    """Say what training and labelling would take, and where they should run.

    Parameters
    ----------
    s
        Diffusion time.
    columns
        How many are diffused; default: as many as there are classes, and two.
    labels
        Training labels; default: the graph's.
    threads
        Threads of a machine.
    workers
        Machines of a cluster; 0: there is none.
    room
        Bytes of memory on a machine; default: what is left on this one.

    Examples
    --------
    >>> import graphheat
    >>> plan = plan_work(graphheat.datasets.load("cora"), room=8_000_000_000)
    >>> plan.chosen, plan.columns
    ('memory', 9)
    """
    check_count(threads, "threads", "plan")
    check_count(workers, "workers", "plan", least=0)
    count = columns or max(2, len(graph.classes)) + 2
    if isinstance(graph, DiskGraph):
        entries, longest = graph.nnz, graph.longest_row
    else:
        entries = int(graph.adjacency.nnz)
        longest = int(np.diff(graph.adjacency.indptr).max(initial=0))
    labels = len(graph.training_nodes) if labels is None else labels
    features = 0 if graph.features is None else int(graph.features.shape[1])
    sizes = Sizes(graph.n, entries, longest, features, min(labels, 10_000))
    available = (available_memory() if room is None else room) or 2**62
    return plan_sizes(
        sizes, graph.name, s=s, columns=count, threads=threads, workers=workers,
        room=int(ROOM * available), on_disk=isinstance(graph, DiskGraph), large=is_large(graph),
    )  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """What a plan depends on: nodes, stored entries, the longest row, features, labels."""

    nodes: int
    entries: int
    longest_row: int
    features: int
    labels: int


def plan_sizes(
    sizes: Sizes,
    name: str,
    *,
    s: float,
    columns: int,
    threads: int,
    workers: int,
    room: int,
    on_disk: bool = True,
    large: bool = True,
) -> WorkPlan:
    """Return the plan of a graph that is known by its sizes alone."""
    series = heat_series(s, SPREAD_TOL, sizes.longest_row + 1)
    dtype = series.dtype if series.order else SINGLE
    n, entries = sizes.nodes, sizes.entries
    fitting = min(columns, widest(n, dtype, 1, room))
    panels = -(-columns // fitting)
    width = row_bytes(fitting, dtype)
    panel = 3 * n * width
    passes = panels * max(1, series.order)
    # A product reads a row of the panel for each entry, and three more of its own.
    moved = passes * (entries + 5 * n) * width
    training = sizes.labels * TIMES * MOST_EDGES / EDGES / threads
    projection = n * sizes.features * 4 / STREAM
    push = 44 * n * threads  # of training, which is over when panels are made
    in_memory = entries * GRAPH_BYTES + n * (60 + 4 * sizes.features)
    compute = moved / GATHER / threads
    memory = Cost(
        "memory", in_memory + max(panel, push), 0, 0, training, compute + projection,
        in_memory + max(panel, push) <= room,
    )  # fmt: skip
    reading = max(0, passes * entries * 4 - room) / STREAM
    kept = n * columns * dtype.itemsize * (panels > 1)
    disk = Cost(
        "disk", max(panel, push) + 9 * n, kept + n * columns * 4, 0, training,
        compute + reading + 2 * projection, max(panel, push) + 9 * n <= room,
    )  # fmt: skip
    ways = [memory, disk]
    if workers:
        steps = passes * n * width  # of T_k, which every worker reads and one writes by block
        network = (workers + 4) * steps + passes * entries * 4
        shared = compute / workers + network / NETWORK / workers
        needed = max(n * width + panel // max(1, 4 * workers), push)
        ways.append(
            Cost(
                "cluster", needed, 5 * n * width, network, training / workers,
                shared + projection / workers, needed <= room,
            )
        )  # fmt: skip
    chosen, why = _choice(ways, on_disk, large)
    return WorkPlan(
        name, n, entries, columns, series.order, str(DOUBLE if dtype == DOUBLE else SINGLE),
        series.error_bound, tuple(ways), chosen, why,
    )  # fmt: skip


def _choice(ways: list[Cost], on_disk: bool, large: bool) -> tuple[Where, str]:
    memory, disk, *rest = ways
    if memory.fits and not on_disk:
        size = "models learn from rows" if large else "models learn from all features"
        return "memory", f"it fits, and {size}"
    if rest and rest[0].fits and (not disk.fits or rest[0].seconds < disk.seconds):
        return "cluster", "it is faster" if disk.fits else "one machine has too little memory"
    if disk.fits:
        return "disk", "panels fit" if on_disk else "the graph does not fit into memory: ingest it"
    return "cluster", "panels do not fit into memory: more machines are needed, or fewer columns"
