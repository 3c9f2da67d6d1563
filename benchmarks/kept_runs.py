"""Runs of a recipe on the public splits, made once and kept for the questions about them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphheat
from graphheat.runs import Run, load_run

GRAPHS = "cora,citeseer,pubmed"


def parser(about: str | None, seeds: int) -> argparse.ArgumentParser:
    """Return the options that every question about runs has."""
    options = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--recipe", default="paper", help="of GraphHeat, or a baseline such as gcn"
    )
    options.add_argument("--graphs", default=GRAPHS, help=f"default {GRAPHS}")
    options.add_argument("--seeds", type=int, default=seeds, help=f"0 … N−1; default {seeds}")
    options.add_argument("--set", action="append", default=[], metavar="NAME=JSON", dest="given",
                         help="a setting of the recipe, such as eps=null")  # fmt: skip
    options.add_argument("--calibration", type=float, default=0.0, metavar="SHARE",
                         help="of the validation nodes, held out of stopping")  # fmt: skip
    options.add_argument("--runs", type=Path, help="folder of runs: read, and added to")
    return options


def run_file(folder: Path, *words: Any) -> Path:
    """Return where a run is kept: recipe, graph, changed settings, seed."""
    return folder / ("-".join(map(str, words)) + ".safetensors")


def runs(arguments: argparse.Namespace, name: str) -> Iterator[tuple[graphheat.Graph, Run]]:
    """Yield a graph, with the split that was used, and its run, seed after seed."""
    given = dict(pair.split("=", 1) for pair in arguments.given)
    changes: dict[str, Any] = {key: json.loads(value) for key, value in given.items()}
    share = arguments.calibration
    public = graphheat.datasets.load(name)
    words = [arguments.recipe, name, *(f"{k}={v}" for k, v in sorted(given.items()))]
    words += [f"calibration={share}"] if share else []
    for seed in range(arguments.seeds):
        graph = public
        if share:
            split = public.completed_split(seed, calibration=share)
            if split.notes:
                raise SystemExit(f"{name} has too few validation labels to hold {share} out.")
            graph = public.with_split(**split)
        path = arguments.runs and run_file(arguments.runs, *words, seed)
        if path and path.exists():
            run = load_run(path)
            if run.fingerprint != graph.fingerprint:
                raise SystemExit(f"{path} belongs to another graph.")
        else:
            run = graphheat.fit(graph, arguments.recipe, seed=seed, threads=1, **changes)
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                run.save(path)
        yield graph, run
