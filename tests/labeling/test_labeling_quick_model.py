"""The model that follows each label is that of a fit of its own."""

from typing import Any

import numpy as np
import pytest

import graphheat
from graphheat.labeling.answers import Answers
from graphheat.labeling.journal import Entry
from graphheat.labeling.quick_model import QuickModel
from graphheat.linear import kept_diffusion
from graphheat.linear.suspects import quick_suspects


@pytest.mark.parametrize("kind", ["bag-of-words", "dense"])
@pytest.mark.parametrize("bytes_kept", [4e8, 2e4])
def test_equals_a_fresh_fit(kind, bytes_kept, monkeypatch):
    monkeypatch.setattr(kept_diffusion, "MOST_BYTES", bytes_kept)  # the second: of few nodes
    known = graphheat.datasets.block_model(150, 3, homophily=0.8, seed=1)
    features: Any = known.features
    if kind == "dense":
        features = np.random.default_rng(0).normal(size=(150, 12)) + known.labels[:, None]
    blank = graphheat.Graph.from_scipy(known.adjacency, features)
    answers = Answers(blank, ["a", "b", "c"])
    quick = QuickModel(blank)
    asked = np.random.default_rng(2).permutation(150)[:14].tolist()
    for k, node in enumerate([*asked, asked[3], asked[7]]):  # two of them are changed, one removed
        code = int(known.labels[node]) if k < 14 else (int(known.labels[node]) + 1) % 3
        entry = Entry(str(k), "label", node, code) if k < 15 else Entry(str(k), "remove", node)
        answers.take(answers.check(entry))
        labelled = answers.labelled()
        if k < 6:
            continue
        model = quick.fit(labelled, k, answers.count)
        fresh: Any = graphheat.fit(labelled, "linear")
        assert model is not None
        run: Any = model.run
        assert run is not None and run.recipe == "linear"
        assert run.notes == fresh.notes
        assert (run.s, run.l2) == (fresh.s, fresh.l2)
        assert run.search.candidate == fresh.search.candidate
        np.testing.assert_allclose(run.probabilities, fresh.probabilities, atol=1e-9)
        np.testing.assert_allclose(run.out_of_fold, fresh.out_of_fold, atol=1e-9)
        found, alone = quick.look_ahead(labelled, answers.passed(), model), quick_suspects(labelled)
        expected = [] if alone is None else alone.nodes[: alone.count]
        assert found.suspects == [labelled.index_of(node) for node in expected]
