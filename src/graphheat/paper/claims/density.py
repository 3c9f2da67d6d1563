"""Section 4.4: what it says of the data sets."""

from __future__ import annotations

from collections.abc import Mapping

from graphheat.graph import Graph
from graphheat.paper.claims.claim import Claim, judge, not_measured


def density_claims(graphs: Mapping[str, Graph]) -> list[Claim]:
    """Return the claims on label rate and density, for graphs by name."""
    rates = {name: len(graph.split.get("train", ())) / graph.n for name, graph in graphs.items()}
    degrees = {name: graph.adjacency.nnz / graph.n for name, graph in graphs.items()}
    return [
        _least(rates, "pubmed", "Pubmed has the smallest label rate.", "Training nodes by nodes."),
        _least(degrees, "citeseer", "Citeseer is sparser than the other two.", "Mean degree."),
    ]


def _least(values: Mapping[str, float], name: str, text: str, detail: str) -> Claim:
    if name not in values or len(values) < 2:
        return not_measured("4.4", text, "the three data sets")
    least = values[name] == min(values.values())
    numbers = "; ".join(f"{each} {value:.3g}" for each, value in values.items())
    return Claim("4.4", text, numbers, judge([least]), detail)
