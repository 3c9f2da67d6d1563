"""Why a node got its label: what each source node gave to a logit."""

from graphheat.explain.explain import explain
from graphheat.explain.explanation import Counterfactual, Explanation
from graphheat.explain.linear_explainer import LinearExplainer, explain_linear
from graphheat.explain.network_explainer import NetworkExplainer
from graphheat.explain.run_kernels import run_kernels

__all__ = [
    "Counterfactual",
    "Explanation",
    "LinearExplainer",
    "NetworkExplainer",
    "explain",
    "explain_linear",
    "run_kernels",
]
