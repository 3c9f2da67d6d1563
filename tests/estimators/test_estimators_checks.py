"""scikit-learn's own checks of an estimator; each expected failure has its reason."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from graphheat import GraphHeatClassifier, HeatDiffusion

EXPECTED = {
    "GraphHeatClassifier": {
        "check_methods_subset_invariance": (
            "a node's label depends on its neighbours, which a subset leaves out"
        ),
        "check_methods_sample_order_invariance": (
            "sums in single precision depend on the order of nodes; 1e-7 is asked for"
        ),
    },
    "HeatDiffusion": {
        "check_methods_subset_invariance": (
            "a node's heat comes from its neighbours, which a subset leaves out"
        ),
    },
}


def expected_failures(estimator):
    return EXPECTED[type(estimator).__name__]


@parametrize_with_checks(
    [
        GraphHeatClassifier(s=1.0, max_epochs=60, neighbors=5, random_state=0),
        HeatDiffusion(neighbors=5),
    ],
    expected_failed_checks=expected_failures,
    # Rounding may agree by luck on another machine.
    xfail_strict=False,
)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


def test_at_most_six_checks_are_expected_to_fail():
    assert all(len(checks) <= 6 for checks in EXPECTED.values())
