"""The rows of Table 2: what is run for each, and what was published about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from graphheat.errors import ParameterError

GRAPHS = ("cora", "citeseer", "pubmed")

Family = Literal["earlier", "spectral", "spatial", "heat"]


@dataclass(frozen=True)
class Row:
    """One recipe of Table 2, or of the paper's text.

    Attributes
    ----------
    key
        The name in the store and on the command line.
    recipe
        A name of :func:`graphheat.recipes.names`.
    changes
        Settings that differ from the recipe's presets.
    published
        Test accuracy (%) on Cora, Citeseer and Pubmed as the paper's table prints it; None where
        it gives none.
    elsewhere
        For recipes that the table leaves out: figures published elsewhere (%).
    reproduced
        Means that others measured on the same split (%), by data set.
    """

    key: str
    title: str
    recipe: str
    family: Family
    published: tuple[float | None, float | None, float | None]
    changes: Mapping[str, Any] = field(default_factory=dict)
    elsewhere: tuple[float | None, float | None, float | None] = (None, None, None)
    reproduced: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def watched(self) -> bool:
        """Whether the test accuracy of every epoch is noted, as the paper's authors' code does."""
        return self.family == "heat"


def _reproduced(
    cora: tuple[float, ...], citeseer: tuple[float, ...], pubmed: tuple[float, ...]
) -> dict[str, tuple[float, ...]]:
    return dict(zip(GRAPHS, (cora, citeseer, pubmed), strict=True))


NOTHING = (None, None, None)

# Published figures: the paper's Table 2. Reproductions: the READMEs of DGL, GammaGL and CogDL.
ROWS: dict[str, Row] = {
    row.key: row
    for row in (
        Row("mlp", "MLP", "mlp", "earlier", (55.1, 46.5, 71.4)),
        Row("manireg", "ManiReg", "manireg", "earlier", (59.5, 60.1, 70.7)),
        Row("semiemb", "SemiEmb", "semiemb", "earlier", (59.0, 59.6, 71.7)),
        Row("lp", "LP", "lp", "earlier", (68.0, 45.3, 63.0),
            reproduced=_reproduced((69.2,), (51.3,), (71.4,))),
        Row("deepwalk", "DeepWalk", "deepwalk", "earlier", (67.2, 43.2, 65.3),
            reproduced=_reproduced((70.8, 71.1), (47.1, 48.2), (61.7, 61.6))),
        Row("ica", "ICA", "ica", "earlier", (75.1, 69.1, 73.9)),
        Row("planetoid", "Planetoid", "planetoid", "earlier", (75.7, 64.7, 77.2)),
        Row("chebynet", "ChebyNet", "chebynet", "spectral", (81.2, 69.8, 74.4),
            reproduced=_reproduced((80.4, 81.7, 79.0), (70.6, 70.2, 69.8), (76.9, 68.6))),
        Row("gcn", "GCN", "gcn", "spectral", (81.5, 70.3, 79.0),
            reproduced=_reproduced((82.3, 81.4, 81.0), (71.4, 70.5, 70.7), (79.5, 78.6, 79.2))),
        Row("monet", "MoNet", "monet", "spatial", (81.7, None, 78.8),
            reproduced=_reproduced((81.7, 81.6), (), (78.8, 76.3))),
        Row("gat", "GAT", "gat", "spatial", (83.0, 72.5, 79.0),
            reproduced=_reproduced((82.9, 82.4, 82.1), (71.0, 70.9, 71.0), (78.9, 78.5, 78.0))),
        Row("graphheat", "GraphHeat", "paper", "heat", (83.7, 72.5, 80.5)),
        Row("graphheat_implicit", "GraphHeat, no threshold", "paper", "heat", NOTHING,
            changes={"eps": None}),
        Row("graphheat_authors", "GraphHeat, as the authors' code", "authors", "heat", NOTHING),
        Row("spectral_cnn", "Spectral CNN", "spectral_cnn", "spectral", NOTHING,
            elsewhere=(73.3, 58.9, 73.9)),
        Row("gwnn", "GWNN, exact inverse", "gwnn", "spectral", NOTHING,
            elsewhere=(82.8, 71.7, 79.1), changes={"inverse": "exact"}),
        Row("gwnn_published", "GWNN, as its code computes", "gwnn", "spectral", NOTHING,
            elsewhere=(82.8, 71.7, 79.1), changes={"inverse": "published"}),
        Row("graphsage", "GraphSAGE", "graphsage", "spatial", NOTHING,
            reproduced=_reproduced((80.1, 81.1, 83.3), (66.2, 71.1), (77.2, 78.3))),
    )
}  # fmt: skip


def row_named(key: str) -> Row:
    """Return a row, or raise with the names there are."""
    if key not in ROWS:
        raise ParameterError(f"There is no row {key!r} in Table 2; choose from {', '.join(ROWS)}.")
    return ROWS[key]
