"""Why a node got its label: what each source node gave to a logit."""

from graphheat.explain.explanation import Counterfactual, Explanation
from graphheat.explain.kernels import run_kernels
from graphheat.explain.linear import LinearExplainer, explain_linear
from graphheat.explain.network import Explainer
from graphheat.explain.runs import Explains, explain, explainer_for

__all__ = [
    "Counterfactual",
    "Explainer",
    "Explains",
    "Explanation",
    "LinearExplainer",
    "explain",
    "explain_linear",
    "explainer_for",
    "run_kernels",
]
