"""Which labels train, validate, calibrate and test."""

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.graph.split import CODES, Split

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


def ring(labels, features=True, **more):
    n = len(labels)
    ids = np.arange(n)
    random = np.random.default_rng(0)
    return Graph.from_edges(
        ids,
        (ids + 1) % n,
        features=random.normal(size=(n, 4)) if features else None,
        labels=labels,
        **more,
    )


def test_the_graphs_split_is_taken_as_it_is():
    split = GRAPH.completed_split(0)
    for name in ("train", "val", "test"):
        assert np.array_equal(getattr(split, name), GRAPH.split[name])
    assert split.notes == ()


def test_without_a_train_part_every_label_outside_val_and_test_trains():
    val, test = GRAPH.split["val"], GRAPH.split["test"]
    split = GRAPH.with_split(val=val, test=test).completed_split(0)
    assert np.array_equal(split.train, np.setdiff1d(np.arange(60), np.concatenate([val, test])))


def test_drawn_validation_is_a_fifth_of_each_class_and_disjoint():
    graph = GRAPH.with_split(test=GRAPH.split["test"])
    split = graph.completed_split(0)
    assert not np.intersect1d(split.train, split.val).size
    free = np.setdiff1d(np.arange(60), GRAPH.split["test"])
    assert np.array_equal(np.union1d(split.train, split.val), free)
    for code in range(3):
        members = (GRAPH.labels[free] == code).sum()
        assert (GRAPH.labels[split.val] == code).sum() == max(1, round(members / 5))


def test_drawn_validation_follows_the_seed():
    graph = GRAPH.with_split()
    first, same, other = (graph.completed_split(seed).val for seed in (0, 0, 1))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_class_with_a_single_label_stays_in_training():
    labels = np.full(30, None, dtype=object)
    labels[:12], labels[15] = "many", "one"
    labels[20:26] = "some"
    split = ring(labels).completed_split(0)
    assert 15 in split.train
    assert 15 not in split.val


# ------------------------------------------------------------------ calibration nodes

LARGE = block_model(400, 4, features=8, labels_per_class=5, seed=0)


def with_validation(count):
    """Return ``LARGE`` with that many validation nodes; half the other nodes test."""
    free = np.setdiff1d(np.arange(400), LARGE.split["train"])
    return LARGE.with_split(train=LARGE.split["train"], val=free[:count], test=free[count::2])


def test_a_share_of_the_validation_nodes_calibrates_and_does_not_stop():
    graph = with_validation(200)
    split = graph.completed_split(0, calibration=0.3)
    assert (len(split.calibration), len(split.val)) == (60, 140)
    both = np.concatenate([split.calibration, split.val])
    assert np.array_equal(np.sort(both), graph.split["val"])
    for code in range(4):
        expected = 0.3 * (graph.labels[graph.split["val"]] == code).sum()
        assert abs((graph.labels[split.calibration] == code).sum() - expected) <= 1
    assert np.array_equal(split.train, graph.split["train"])
    assert split.notes == ()


def test_calibration_nodes_follow_the_seed():
    graph = with_validation(200)
    first, same, other = (
        graph.completed_split(seed, calibration=0.3).calibration for seed in (0, 0, 1)
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_without_a_share_nothing_is_drawn():
    split = with_validation(200).completed_split(0)
    assert len(split.calibration) == 0
    assert len(split.val) == 200


@pytest.mark.parametrize(("count", "share"), [(59, 0.34), (60, 0.3), (100, 0.7)])
def test_too_few_validation_nodes_are_not_divided_and_it_is_said(count, share):
    split = with_validation(count).completed_split(0, calibration=share)
    assert len(split.calibration) == 0
    assert len(split.val) == count
    assert f"{count} validation labels are too few to hold {share:.0%} out" in split.notes[0]


def test_sixty_validation_nodes_are_just_enough():
    split = with_validation(60).completed_split(0, calibration=1 / 3)
    assert (len(split.calibration), len(split.val)) == (20, 40)


def test_the_notes_of_both_holdouts_are_joined():
    notes = GRAPH.with_split().completed_split(0, calibration=0.3).notes
    assert len(notes) == 2
    assert notes[0].startswith("No validation labels were given: 12")
    assert notes[1].endswith("so the same nodes do both.")


def test_a_split_with_calibration_nodes_uses_those():
    graph = with_validation(200)
    val = graph.split["val"]
    parts = {**graph.split, "val": val[:100], "calibration": val[100:]}
    for share in (0.0, 0.3):
        split = graph.with_split(**parts).completed_split(0, calibration=share)
        assert np.array_equal(split.calibration, val[100:])
        assert np.array_equal(split.val, val[:100])
    del parts["train"]
    assert not np.intersect1d(graph.with_split(**parts).completed_split(0).train, val).size


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan, "0.3"])
def test_a_share_outside_the_range_is_said(share):
    with pytest.raises(ParameterError, match="'calibration' parameter of fit"):
        GRAPH.completed_split(0, calibration=share)


def test_test_nodes_without_a_label_do_not_count():
    labels = ["a"] * 5 + ["b"] * 5 + [None] * 2
    split = ring(labels, split={"test": [4, 9, 10, 11]}).completed_split(0)
    assert split.test.tolist() == [4, 9]


# ------------------------------------------------------------------ the type


def test_a_split_is_a_mapping_of_the_parts_that_were_given():
    split = GRAPH.with_split(train=[0, 1], test=[5]).split
    assert list(split) == ["train", "test"]
    assert len(split) == 2
    assert "val" not in split
    assert split["test"].tolist() == [5]
    assert split.val.tolist() == split.calibration.tolist() == []
    assert repr(split) == "Split(train=2, test=1)"
    with pytest.raises(KeyError):
        split["val"]


def test_a_part_of_another_name_is_kept_and_plays_no_part():
    test = GRAPH.split["test"]
    parts = {**GRAPH.split, "test": test[2:]}
    plain, more = GRAPH.with_split(**parts), GRAPH.with_split(**parts, shown=test[:2])
    assert np.array_equal(more.split["shown"], test[:2])
    assert np.array_equal(more.split.codes(), plain.split.codes())
    assert set(more.completed_split(0)) == {"train", "val", "calibration", "test"}


def test_a_completed_split_has_all_parts():
    for graph in (GRAPH, GRAPH.with_split()):
        assert set(graph.completed_split(0)) == {"train", "val", "calibration", "test"}


def test_codes_name_each_nodes_part_and_lead_back():
    val = GRAPH.split["val"]
    split = GRAPH.with_split(**{**GRAPH.split, "val": val[::2], "calibration": val[1::2]}).split
    codes = split.codes()
    assert codes.dtype == np.int8
    assert [CODES[code] for code in codes] == split.names()
    again = Split.from_codes(codes)
    assert again.n == GRAPH.n
    assert set(again) == set(split)
    for name in split:
        assert np.array_equal(again[name], np.sort(split[name]))


def test_the_codes_in_files_stay_what_they_are():
    assert CODES == ("", "train", "val", "test", "calibration")


def test_masks_and_indices_are_the_same_split():
    mask = np.zeros(GRAPH.n, dtype=bool)
    mask[[3, 7]] = True
    assert GRAPH.with_split(train=mask).split["train"].tolist() == [3, 7]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"train": [0, 1], "val": [1, 2]}, r"split\['train'\] and split\['val'\] share 1 nodes"),
        ({"train": [0, 0]}, "more than once"),
        ({"train": [60]}, r"indices in \[0, 60\)"),
        ({"train": [-1]}, r"indices in \[0, 60\)"),
        ({"train": [0.5]}, "must hold node indices; got float64"),
        ({"train": np.ones(3, dtype=bool)}, r"mask of shape \(3,\); it needs \(60,\)"),
    ],
)
def test_what_is_wrong_with_a_part_is_said(parts, words):
    with pytest.raises(GraphError, match=words):
        GRAPH.with_split(**parts)


@pytest.mark.parametrize("name", ["train", "val", "calibration"])
def test_a_part_that_needs_labels_and_has_none_is_refused(name):
    with pytest.raises(GraphError, match=f"split\\['{name}'\\] holds 1 nodes without a label"):
        ring(["a", "b", None, "a"], split={name: [0, 2]})


def test_without_holding_out_no_label_is_drawn():
    split = GRAPH.with_split().completed_split(0, hold_out=False)
    assert len(split.val) == 0
    assert len(split.train) == GRAPH.n
    assert not split.held_out
    assert split.notes == ()


def test_what_was_held_out_can_be_merged_back():
    graph = GRAPH.with_split(test=GRAPH.split["test"])
    split = graph.completed_split(0)
    assert split.held_out
    merged = split.merged()
    assert not merged.held_out
    assert np.array_equal(merged.train, graph.training_nodes)
    assert len(merged.val) == 0
    given = GRAPH.completed_split(0)
    assert given.merged() is given


def test_a_share_for_calibration_changes_no_other_draw():
    graph = LARGE.with_split()
    plain, shared = graph.completed_split(0), graph.completed_split(0, calibration=0.3)
    assert np.array_equal(plain.train, shared.train)
    assert np.array_equal(np.union1d(shared.val, shared.calibration), plain.val)
    assert len(shared.calibration) == round(0.3 * len(plain.val))


def test_a_split_survives_a_pickle():
    import pickle

    split = GRAPH.completed_split(0)
    again = pickle.loads(pickle.dumps(split))  # noqa: S301 - what the test itself wrote
    assert np.array_equal(again.codes(), split.codes())
    assert again.n == split.n
