"""What goes into a page: places, edges, labels and, for a fitted run, what it says and why."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.calibration import expected_calibration_error, prediction_sets
from graphheat.explorer.part import Part
from graphheat.explorer.schema import (
    FEATURES,
    HOPS,
    NO_SOURCE,
    PROTOCOL,
    SOURCES,
    SPLITS,
    UNIT,
    Blocks,
    GraphHeader,
    Header,
    RunHeader,
    check,
)
from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.graph.split import CODES
from graphheat.linear.suspects import quick_suspects
from graphheat.progress import Progress
from graphheat.runs import Run
from graphheat.runs.calibration_report import SHARED_NODES

EXPLAINED = 400  # least confident nodes whose sources are inlined: seconds of work, not a minute
AHEAD, AHEAD_BYTES = 64, 3e7  # nodes whose heat is computed at once, and what it takes per part
MOST_SUSPECTS = 100
ALPHA = 0.1  # share of prediction sets that may miss

# Calibration nodes are shown as validation nodes: both are labels that are not trained on.
PAGE_SPLIT = {"": "", "train": "train", "val": "validation", "test": "test"}
PAGE_SPLIT |= {"calibration": "validation"}


def page_data(
    graph: Graph,
    part: Part,
    places: NDArray[Any],
    *,
    run: Run | None,
    title: str,
    s: float,
    eps: float,
    noun: str | None = None,
    server: bool = False,
    progress: Progress | None = None,
) -> tuple[Header, Blocks]:
    """Return all of a page's header and blocks, checked against the schema."""
    about, blocks = graph_data(graph, part, places)
    blocks |= _suspects(graph, part)
    of_run: RunHeader | None = None
    if run is not None:
        of_run, added = run_data(run, graph, part, progress=progress)
        blocks |= added
        if "why_features" in blocks:
            blocks["text"] = _text(graph, part, _number_features(graph, blocks["why_features"]))
    header: Header = {
        "name": about["name"],
        "fingerprint": about["fingerprint"],
        "nodes": about["nodes"],
        "edges": about["edges"],
        "whole": about["whole"],
        "classes": about["classes"],
        "title": title,
        "s": s,
        "eps": eps,
        "note": part.note,
        "run": of_run,
    }
    if noun is not None:
        header["noun"] = noun
    if server:
        header["server"] = {"version": PROTOCOL}
    check(header, blocks)
    return header, blocks


def graph_data(graph: Graph, part: Part, places: NDArray[Any]) -> tuple[GraphHeader, Blocks]:
    """Return header and blocks of a graph.

    Parameters
    ----------
    places
        Of the part's nodes, shape (k, 2), within [0, 1]².
    """
    upper = sp.csr_array(sp.triu(part.adjacency, format="csr"))
    upper.sort_indices()
    grid = np.rint(places.astype(np.float64) * UNIT).astype(np.uint16)
    blocks: Blocks = {
        "x": grid[:, 0],
        "y": grid[:, 1],
        "edge_counts": np.diff(upper.indptr).astype(np.uint32),
        "edge_targets": upper.indices.astype(np.uint32),
        "labels": graph.labels[part.rows].astype(np.int16),
        "split": _page_split(graph.split.codes()[part.rows]),
        "text": _text(graph, part),
    }
    if not (upper.data == 1).all():
        blocks["weights"] = upper.data.astype(np.float64)
    if part.degrees is not None:
        blocks["degrees"] = part.degrees
    header: GraphHeader = {
        "name": graph.name,
        "fingerprint": graph.fingerprint,
        "nodes": len(part.rows),
        "edges": int(upper.nnz),
        "whole": None if part.note is None else graph.n,
        "classes": [str(name) for name in graph.classes],
    }
    return header, blocks


def run_data(
    run: Run, graph: Graph, part: Part, *, progress: Progress | None = None
) -> tuple[RunHeader, Blocks]:
    """Return what a page says of a fitted run, and the blocks that it adds."""
    rows, p = part.rows, np.asarray(run.probabilities, dtype=np.float64)
    T, apart_part, test = run.temperature, run.calibration_part, run.members("test")
    settings = run.settings_dict()
    about: RunHeader = {
        "recipe": run.recipe,
        "seed": run.seed,
        "s": run.diffusion_time or 0.0,
        "eps": settings.get("eps"),
        "test_accuracy": run.test_accuracy,
        "val_accuracy": run.val_accuracy,
        "notes": [str(note) for note in run.notes],
        "temperature": None,
    }
    blocks: Blocks = {
        "labels": run.labels[rows].astype(np.int16),
        "split": _page_split(run.split.codes()[rows]),
        "probabilities": _shares(p[rows]),
    }
    better = p
    if T is not None and apart_part is not None and run.calibrated is not None:
        better, apart = run.calibrated, run.members(apart_part)
        scored, on = (test, "test") if len(test) else (apart, "validation")
        about["temperature"] = T
        about["alpha"] = ALPHA
        about["error_on"] = on
        about["error_before"] = expected_calibration_error(p, run.labels, scored)
        about["error_after"] = expected_calibration_error(better, run.labels, scored)
        if apart_part == "val":
            about["caution"] = SHARED_NODES
        sets = prediction_sets(p, apart, run.labels, ALPHA)
        if len(test):
            about["coverage"] = float(sets[test, run.labels[test]].mean())
        blocks["calibrated"] = _shares(better[rows])
        blocks["sets"] = sets[rows].astype(np.uint8)
    blocks |= _reasons(run, graph, part, better, progress)
    return about, blocks


def _suspects(graph: Graph, part: Part) -> Blocks:
    """Return known labels that heat from the others contradicts, where they are soon found."""
    found = quick_suspects(graph)
    if found is None or not found.contradicted:
        return {}
    position = np.full(graph.n, -1, dtype=np.int64)
    position[part.rows] = np.arange(len(part.rows))
    code = {name: place for place, name in enumerate(graph.classes)}
    held = [
        (position[graph.index_of(node)], code[suggested], odds)
        for node, suggested, odds in zip(
            found.nodes[: found.contradicted], found.suggested, found.p_wrong, strict=False
        )
    ]
    held = [each for each in held if each[0] >= 0][:MOST_SUSPECTS]
    nodes, classes, odds = zip(*held, strict=True) if held else ((), (), ())
    return {
        "suspect_nodes": np.array(nodes, dtype=np.uint32),
        "suspect_classes": np.array(classes, dtype=np.uint16),
        "suspect_odds": np.array(odds, dtype=np.float32),
    }


def _number_features(graph: Graph, places: NDArray[np.uint32]) -> list[str]:
    """Return the names of the features that are shown, and put their places in it for columns."""
    held = places != NO_SOURCE
    columns, numbers = np.unique(places[held], return_inverse=True)
    places[held] = numbers
    names = graph.feature_names
    return [f"feature {column}" if names is None else names[column] for column in columns]


def _reasons(
    run: Run,
    graph: Graph,
    part: Part,
    confidence: NDArray[np.float64],
    progress: Progress | None,
) -> Blocks:
    """Return the largest sources of the least confident nodes, for the two most probable classes.

    The blocks are those of the schema whose names start with ``why_``.
    """
    least = confidence[part.rows].max(axis=1)
    chosen = np.lexsort((np.arange(len(least)), least))[:EXPLAINED]
    m = len(chosen)
    position = np.full(graph.n, -1, dtype=np.int64)
    position[part.rows] = np.arange(len(part.rows))
    # One thread: hundreds of small products are done before threads have started.
    explainer = run.explainer(graph, threads=1)
    classes = np.zeros((m, 2), dtype=np.uint16)
    sources = np.full((m, SOURCES), NO_SOURCE, dtype=np.uint32)
    given = np.zeros((m, SOURCES, 2), dtype=np.float32)
    rest = np.zeros((m, 2), dtype=np.float32)
    by_hop = np.zeros((m, 2, HOPS), dtype=np.float32)
    features = np.full((m, FEATURES), NO_SOURCE, dtype=np.uint32)
    feature_given = np.zeros((m, FEATURES, 2), dtype=np.float32)
    ahead = max(1, min(AHEAD, int(AHEAD_BYTES // (8 * graph.n))))
    for k, place in enumerate(chosen):
        index = int(part.rows[place])
        if k % ahead == 0:
            explainer.look_ahead(part.rows[chosen[k : k + ahead]])
        # The first of equals, as argmax takes it; one class alone is its own rival.
        codes = np.argsort(-run.probabilities[index], kind="stable")[:2]
        codes = np.resize(codes, 2)
        parts, constants = explainer.contributions(index, codes.tolist())
        shown = parts * (position >= 0)[:, None]  # a source outside the part is among the rest
        weight = np.abs(shown).max(axis=1)
        given_any = np.flatnonzero(weight)
        largest = given_any[np.argsort(-weight[given_any], kind="stable")[:SOURCES]]
        classes[k], held = codes, len(largest)
        sources[k, :held] = position[largest]
        given[k, :held] = parts[largest]
        rest[k] = parts.sum(axis=0) - parts[largest].sum(axis=0) + constants
        hops = hop_distances(graph.adjacency, index)
        ring = np.where((hops < 0) | (hops >= HOPS), HOPS - 1, hops)  # the last holds all others
        for column in range(2):
            by_hop[k, column] = np.bincount(ring, weights=parts[:, column], minlength=HOPS)
        by_feature = explainer.by_feature(index, codes.tolist())
        if by_feature is not None:
            weight = np.abs(by_feature).max(axis=1)
            most = np.argsort(-weight, kind="stable")[:FEATURES]
            most = most[weight[most] > 0]
            features[k, : len(most)] = most
            feature_given[k, : len(most)] = by_feature[most]
        if progress is not None:
            progress(k + 1, m, "explaining predictions")
    shown_features = {"why_features": features, "why_feature_given": feature_given}
    return {
        **(shown_features if (features != NO_SOURCE).any() else {}),
        "why_nodes": chosen.astype(np.uint32),
        "why_classes": classes,
        "why_sources": sources,
        "why_given": given,
        "why_rest": rest,
        "why_hops": by_hop,
    }


def _page_split(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """Return codes of the page's splits, from those of :meth:`Split.codes`."""
    known = [SPLITS.index(PAGE_SPLIT[name]) for name in CODES]
    return np.take(np.array(known, dtype=np.uint8), codes)


def _text(graph: Graph, part: Part, features: list[str] | None = None) -> NDArray[np.uint8]:
    """Return ids, titles and features as JSON in bytes; ids of row numbers go without saying."""
    ids = graph.nodes[part.rows].tolist()
    plain = ids == list(range(len(ids)))
    titles = None if graph.titles is None else [graph.titles[index] for index in part.rows]
    names = None if plain else [str(node) for node in ids]
    words = json.dumps({"ids": names, "titles": titles, "features": features})
    return np.frombuffer(words.encode("ascii"), dtype=np.uint8)


def _shares(p: NDArray[np.float64]) -> NDArray[np.uint16]:
    return np.rint(np.clip(p, 0.0, 1.0) * UNIT).astype(np.uint16)
