"""HeatDiffusion: e^{-sL}X as a step before any classifier."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from graphheat import Graph, HeatDiffusion, HeatKernel
from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.io import from_arrays

GRAPH = block_model(200, 3, features=8, homophily=0.9, feature_strength=0.7, seed=0)
X = GRAPH.features.astype(np.float64)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("adjacency", [GRAPH, GRAPH.adjacency, GRAPH.adjacency.toarray()])
def test_it_is_the_kernel_applied(form, adjacency):
    Z = HeatDiffusion(s=2.0, adjacency=adjacency, tol=1e-8).fit_transform(form(X))
    exact = HeatKernel(GRAPH, 2.0, tol=1e-8).apply(X)
    assert isinstance(Z, np.ndarray)
    assert pytest.approx(exact, abs=1e-7) == Z


def test_without_adjacency_x_is_diffused_on_its_nearest_neighbours():
    near = from_arrays(X, None, neighbors=4)
    Z = HeatDiffusion(s=2.0, neighbors=4).fit_transform(X)
    assert np.array_equal(Z, HeatKernel(near, 2.0).apply(X))


def test_a_graph_is_diffused_along_its_own_edges():
    exact = HeatKernel(GRAPH, 2.0).apply(GRAPH.features)
    model = HeatDiffusion(s=2.0)
    assert np.array_equal(model.fit_transform(GRAPH), exact)
    other = block_model(100, 3, features=8, seed=1)
    assert np.array_equal(model.transform(other), HeatKernel(other, 2.0).apply(other.features))


def test_s_0_changes_nothing():
    assert np.array_equal(HeatDiffusion(s=0.0, adjacency=GRAPH).fit_transform(X), X)


def test_with_a_classifier_in_a_pipeline_it_beats_the_classifier_alone():
    train, test = GRAPH.split["train"], GRAPH.split["test"]
    Z = HeatDiffusion(s=5.0, adjacency=GRAPH).fit_transform(X)
    alone = LogisticRegression().fit(X[train], GRAPH.labels[train])
    aware = LogisticRegression().fit(Z[train], GRAPH.labels[train])
    score = aware.score(Z[test], GRAPH.labels[test])
    assert score > alone.score(X[test], GRAPH.labels[test])
    weights = np.isin(np.arange(GRAPH.n), train).astype(float)  # other labels play no part
    pipeline = make_pipeline(HeatDiffusion(s=5.0, adjacency=GRAPH), LogisticRegression())
    pipeline.fit(X, GRAPH.labels, logisticregression__sample_weight=weights)
    assert (pipeline.predict(X)[test] == GRAPH.labels[test]).mean() == pytest.approx(
        score, abs=0.02
    )


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(GraphError, match="one row per node each; got 10 and 200"):
        HeatDiffusion(adjacency=GRAPH).fit(X[:10])
    with pytest.raises(ParameterError, match=r"X must have shape \(200,\)"):
        HeatDiffusion(adjacency=GRAPH).fit(X).transform(X[:10])
    with pytest.raises(ParameterError, match="'s' parameter"):
        HeatDiffusion(s=-1).fit(X)
    with pytest.raises(ParameterError, match="'neighbors' parameter"):
        HeatDiffusion(neighbors=0).fit(X)
    with pytest.raises(GraphError, match="bare has no features to diffuse"):
        HeatDiffusion().fit(Graph.from_scipy(GRAPH.adjacency, name="bare"))
    with pytest.raises(ValueError, match="NaN"):
        HeatDiffusion().fit(np.where(X > 1, np.nan, X))
