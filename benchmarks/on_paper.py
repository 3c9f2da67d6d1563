"""What graphs would take that nobody here has: the plan, by the rates that were measured.

    python benchmarks/on_paper.py

ogbn-papers100M has 111 million nodes, 1.6 billion edges, 128 features, 172 classes; Common Crawl's
host graph of November 2023 to April 2024 has 335.3 million hosts and 2.7 billion edges, here with
two classes and no features. That the largest hub has 250,000 neighbours is assumed; it decides for
float64. Machines have 24 GB and two cores.
"""

from __future__ import annotations

from typing import Any

from interleave import report

from graphheat.linear.work_plan import Sizes, plan_sizes

ROOM = int(0.8 * 24e9)
GRAPHS = {
    "papers100M": (Sizes(111_059_956, 2 * 1_615_685_872, 250_000, 128, 10_000), 174),
    "Common Crawl hosts": (Sizes(335_300_000, 2 * 2_700_000_000, 250_000, 0, 1_000), 4),
}


def main() -> None:
    rows: list[dict[str, Any]] = []
    for name, (sizes, columns) in GRAPHS.items():
        for workers in (0, 16):
            plan = plan_sizes(
                sizes, name, s=3.0, columns=columns, threads=2, workers=workers, room=ROOM
            )
            wanted = "cluster" if workers else "disk"
            way = next(each for each in plan.ways if each.where == wanted)
            rows.append(
                {
                    "graph": name,
                    "where": f"{workers} machines" if workers else "one machine, disk",
                    "dtype": plan.dtype,
                    "memory GB": way.memory / 1e9,
                    "disk GB": way.disk / 1e9,
                    "network GB": way.network / 1e9,
                    "training h": way.training / 3600,
                    "labelling h": way.labelling / 3600,
                    "fits": way.fits,
                }
            )
    report("on_paper", rows, machine_memory="24 GB", threads=2)


if __name__ == "__main__":
    main()
