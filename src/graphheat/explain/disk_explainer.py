"""Why a node of a graph on disk got its label: from one row of the kernel, by push."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.disk import DiskGraph
from graphheat.explain.explanation import Explanation, code_of
from graphheat.linear.disk_model import CombinedModel, SpreadingModel
from graphheat.linear.disk_run import DiskRun
from graphheat.linear.heat_rows import HeatRows
from graphheat.linear.narrow_model import SampledModel
from graphheat.linear.row_diffusion import ScaledFeatures

MOST_STEPS = 200_000  # nodes that a search for distances looks at


class DiskExplainer:
    """Explains node after node of one run on a graph on disk.

    A logit of the linear model is Σ_w P_vw ⟨x_w, Θ_c⟩ + b_c; of a network with heat after its first
    map the same, where ReLU lets a unit pass: Σ_j [h_j > 0] (Σ_w P_vw ⟨x_w, Θ_j⟩ + b_j) V_jc + a_c;
    of label spreading it grows with the heat that labelled nodes send, which share it in that
    proportion. Where several answer together, what each source gave is added up with their weights.
    P_v is the row of one push, its largest 1,024 entries: contributions are those of the sources
    that most heat comes from, and what the others gave is part of the constant.
    """

    def __init__(self, run: DiskRun, graph: DiskGraph, *, threads: int | None = None) -> None:
        run.check_graph(graph)  # type: ignore[arg-type]  # a fingerprint is all it looks at
        self.run, self.graph = run, graph
        whole = isinstance(run.model, CombinedModel)
        self._models: Any = run.model.models if whole else (run.model,)  # type: ignore[union-attr]
        self._weights = run.model.weights if isinstance(run.model, CombinedModel) else np.ones(1)
        self._heat = HeatRows(graph)

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``."""
        index = self.graph.index_of(node)
        code = code_of(self.run, index, label)
        sources, given = self._given(index, [code])
        p = np.asarray(self.run.probabilities[index], dtype=np.float64)
        # Logits are known up to what all of a node have in common; that of the run's own bias.
        logits = np.log(np.maximum(p, 1e-30))
        exact = float(logits[code])
        contributions = given[:, 0]
        order = np.lexsort((sources, -np.abs(contributions)))
        kept = order[contributions[order] != 0]
        return Explanation(
            node=self.run.nodes[index],
            index=index,
            label=self.run.classes[code],
            logit=exact,
            probability=float(p[code]),
            constant=exact - float(contributions.sum()),
            sources=sources[kept],
            contributions=contributions[kept],
            hops=self._hops(index, sources[kept]),
            training=np.isin(sources[kept], self.run.split.train),
            nodes=self.run.nodes,
            predicted=self.run.classes[int(p.argmax())],
        )

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of row ``index``, and the constants."""
        sources, given = self._given(index, codes)
        whole = np.zeros((self.graph.n, len(codes)))
        whole[sources] = given
        p = np.asarray(self.run.probabilities[index, codes], dtype=np.float64)
        return whole, np.log(np.maximum(p, 1e-30)) - given.sum(axis=0)

    def _given(self, index: int, codes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the sources of all models, rising, and what each gave, shape (k, len(codes))."""
        found = [self._by(model, index, codes) for model in self._models]
        sources = np.unique(np.concatenate([own for own, _ in found]))
        total = np.zeros((len(sources), len(codes)))
        for (own, given), weight in zip(found, self._weights, strict=True):
            total[np.searchsorted(sources, own)] += weight * given
        return sources, total

    def _by(
        self, model: Any, index: int, codes: list[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if isinstance(model, SpreadingModel):
            return self._by_labels(model, index, codes)
        rows = self._heat.of(np.array([index]), model.s).rows
        sources, shares = rows.indices.astype(np.int64), rows.data * (1 - model.self_weight)
        if index not in sources:
            sources, shares = np.append(sources, index), np.append(shares, 0.0)
        shares[sources == index] += model.self_weight
        projected = np.asarray(
            model.project(ScaledFeatures(self.graph, model.scaling)[sources]), dtype=np.float64
        )
        if isinstance(model, SampledModel):
            passing = shares @ projected + model.bias > 0
            kept = model.output[passing][:, codes]
            return sources, shares[:, None] * (projected[:, passing] @ kept)
        return sources, shares[:, None] * projected[:, codes]

    def _by_labels(
        self, model: SpreadingModel, index: int, codes: list[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        heat = self._heat.of(np.array([index]), model.s)
        known = np.isin(heat.rows.indices, self.run.split.train)
        sources, shares = heat.rows.indices[known].astype(np.int64), heat.rows.data[known]
        classes = np.asarray(self.run.labels[sources])
        by_label = shares[:, None] * (classes[:, None] == np.array(codes))
        total = by_label.sum(axis=0)
        gain = model.sharpness * np.log1p(total / model.floor[codes])
        share = np.divide(by_label, total, out=np.zeros_like(by_label), where=total > 0)
        return sources, share * gain

    def _hops(self, index: int, sources: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return distances in edges, −1 beyond what a short search finds."""
        start = int(self.graph.places_of([index])[0])
        wanted = {int(place): k for k, place in enumerate(self.graph.places_of(sources))}
        found = np.full(len(sources), -1, dtype=np.int64)
        seen, queue = {start: 0}, deque([start])
        left = len(wanted)
        while queue and left and len(seen) < MOST_STEPS:
            place = queue.popleft()
            if place in wanted:
                found[wanted[place]] = seen[place]
                left -= 1
            for near in self.graph.neighbors_of(place).tolist():
                if near not in seen:
                    seen[near] = seen[place] + 1
                    queue.append(near)
        for place, k in wanted.items():
            found[k] = seen.get(place, -1)
        return found
