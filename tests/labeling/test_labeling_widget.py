import pytest

import graphheat

pytest.importorskip("anywidget", reason="needs the extra notebook")

KARATE = graphheat.datasets.load("karate")
GRAPH = graphheat.Graph.from_scipy(KARATE.adjacency)


def test_labels_arrive_in_python():
    widget = GRAPH.label(classes=["Mr. Hi", "Officer"])
    assert widget.labels == {}
    first = widget.asked[0]
    assert "heat" in first["why"]
    widget.answers = [[0, 0, "label"], [33, 1, "label"], [5, None, "skip"]]
    assert widget.labels == {0: "Mr. Hi", 33: "Officer"}
    assert not {0, 33, 5} & {each["index"] for each in widget.asked}
    assert graphheat.fit(widget.graph, "spreading").predicted[32] == 1
    widget.classes = ["Mr. Hi", "Officer", "new"]
    widget.answers = [*widget.answers, [7, 2, "label"]]
    assert widget.labels[7] == "new"


def test_a_graphs_own_labels_are_there():
    some = GRAPH.with_labels({3: "a", 4: "b"})
    assert some.label().labels == {3: "a", 4: "b"}


@pytest.mark.parametrize(
    "answers", [[[99, 0, "label"]], [[0, 7, "label"]], [["x", 0, "label"]], ["x"], [[0, 0, "rm"]]]
)
def test_what_is_malformed_is_told(answers):
    widget = GRAPH.label(classes=["a"])
    widget.answers = answers
    assert widget.error


def test_explore_shows_the_page_alone():
    widget = GRAPH.explore()
    assert "Content-Security-Policy" in widget.page
    assert not widget.labels_here
    assert widget.asked == []
