"""Why the linear recipe gave a node its label."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.linear import linear_run

from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.explain import LinearExplainer, explain_linear
from graphheat.graph import Graph
from graphheat.linear.diffusion import Diffusion

GRAPH = block_model(300, 3, seed=0)


def odd_graph():
    """String ids, sparse words, an isolated node, and a component without labels."""
    random = np.random.default_rng(5)
    n = 60
    A = np.triu(random.random((n, n)) < 0.08, 1)
    A[:50, 50:] = False
    A[49] = A[:, 49] = False
    words = sp.csr_array((random.random((n, 30)) < 0.2).astype(float))
    labels = random.integers(0, 3, n)
    labels[50:] = -1
    return Graph.from_scipy(
        adjacency=sp.csr_array((A + A.T).astype(float)), features=words, labels=labels,
        classes=("red", "green", "blue"), nodes=[f"n{i}" for i in range(n)],
        split={"train": np.arange(20), "val": np.arange(20, 40)},
    )  # fmt: skip


@pytest.mark.parametrize("graph", [GRAPH, odd_graph()], ids=["table", "words"])
@pytest.mark.parametrize(("s", "weight"), [(0.0, 0.0), (4.0, 0.0), (4.0, 0.2)])
def test_contributions_and_constant_sum_to_the_logit(graph, s, weight):
    run = linear_run(graph, s=s, l2=0.003, self_weight=weight)
    explainer = LinearExplainer(run, graph)
    logs = np.log(run.probabilities)
    for index in range(0, graph.n, 7):
        each_class = []
        for name in graph.classes:
            for view in ("sources", "labels"):
                why = explainer.explain(graph.nodes[index], label=name, view=view)
                total = why.constant + why.contributions.sum()
                assert total == pytest.approx(why.logit, abs=1e-6)
            assert why.training.all()
            each_class.append(why.logit)
        logits = np.array(each_class)
        np.testing.assert_allclose(
            logits - logits.mean(), logs[index] - logs[index].mean(), atol=1e-6
        )


def test_an_isolated_node_is_its_own_source_and_an_unreached_one_has_no_training_source():
    graph = odd_graph()
    run = linear_run(graph, s=4.0, l2=0.01)
    alone = explain_linear(run, graph, "n49")
    assert alone.sources.tolist() == [49] and alone.hops.tolist() == [0]
    far = explain_linear(run, graph, "n55")
    assert not far.training.any() and not run.reached[50:].any()
    assert len(explain_linear(run, graph, "n55", view="labels").sources) > 0


@pytest.mark.parametrize("weight", [0.0, 0.2])
def test_scaling_a_source_moves_the_logit_by_its_contribution(weight):
    run = linear_run(GRAPH, s=2.0, l2=0.01, scaling="none", self_weight=weight)
    why = explain_linear(run, GRAPH, 11)
    source, step = why.sources[1], 1e-3
    features = np.asarray(GRAPH.features, dtype=np.float64).copy()
    features[source] *= 1 + step
    changed = Graph.from_scipy(adjacency=GRAPH.adjacency, features=features)
    after = Diffusion(changed, run.scaling, self_weight=weight).rows(np.array([11]), run.s)[0]
    moved = after @ run.weights[:, run.classes.index(why.label)] + why.constant - why.logit
    assert moved == pytest.approx(step * why.contributions[1], rel=1e-2)


def test_what_would_be_without_a_source():
    run = linear_run(GRAPH, s=2.0, l2=0.01)
    explainer = LinearExplainer(run, GRAPH)
    why = explainer.explain(11)
    assert why.predicted == why.label == run.classes[run.predicted[11]]
    largest = why.nodes[why.sources[0]]
    other = explainer.without(11, largest)
    np.testing.assert_allclose(other.logits, why.without_largest.logits)
    code = run.classes.index(why.label)
    assert other.logits[code] == pytest.approx(why.logit - why.contributions[0], abs=1e-9)
    nothing = explainer.without(11, list(why.nodes))
    np.testing.assert_allclose(nothing.logits, run.bias)
    assert explainer.explain(11, view="labels").without_largest is None


def test_wrong_questions_are_named():
    run = linear_run(GRAPH, s=1.0, l2=0.01)
    with pytest.raises(ParameterError, match="label"):
        explain_linear(run, GRAPH, 0, label="no such class")
    with pytest.raises(ParameterError, match="view"):
        explain_linear(run, GRAPH, 0, view="edges")
    with pytest.raises(GraphError, match="not the graph"):
        explain_linear(run, block_model(300, 3, seed=9), 0)


def test_a_class_without_training_labels_has_no_sources():
    train = GRAPH.split["train"]
    graph = GRAPH.with_split(train=train[GRAPH.labels[train] != 1], val=GRAPH.split["val"])
    why = explain_linear(linear_run(graph), graph, 5, label=graph.classes[1])
    assert len(why.sources) == 0 and why.logit == why.constant
