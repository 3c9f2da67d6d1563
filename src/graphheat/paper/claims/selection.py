"""Sections 4.3 to 4.5: what validation chooses, what s and eps do, which epoch is reported."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from graphheat.paper.claims.claim import Claim, Verdict, judge, not_measured
from graphheat.paper.rows import GRAPHS, ROWS
from graphheat.paper.trend import along, trend
from graphheat.recipes.network_recipe import PUBLISHED

# GraphHeat's row of Table 2, as fractions.
PRINTED = {
    graph: figure / 100
    for graph, figure in zip(GRAPHS, ROWS["graphheat"].published, strict=True)
    if figure is not None
}
HONEST = "lowest_val_loss"
PICKS = {
    "last": "last epoch",
    "best_val_accuracy": "best validation accuracy",
    "lowest_val_loss": "lowest validation loss",
    "best_test": "best test accuracy",
}


def selection_claims(sweep: pd.DataFrame | None) -> list[Claim]:
    """Return the claims that a sweep over s and eps bears on.

    Parameters
    ----------
    sweep
        One row per run: ``s``, ``eps``, ``seed``, ``test_accuracy``, ``val_accuracy``; with a
        column ``graph`` where it is not of Cora alone. A missing eps is the implicit kernel and
        counts as 0.
    """
    graphs = list(_by_graph(sweep))
    chosen = [validation_choice(part, graph) for graph, part in graphs]
    if not chosen:
        chosen = [validation_choice(None, "cora")]
    cora = dict(graphs).get("cora")
    return [*chosen, rises_then_falls(cora), falls_with_eps(cora)]


def validation_choice(sweep: pd.DataFrame | None, graph: str) -> Claim:
    """Return the claim that the validation set chooses the paper's s and eps."""
    s, eps = PUBLISHED[graph]
    text = f"On {graph.title()} validation chooses s = {s:g} and eps = {eps:g}."
    if sweep is None or sweep.empty:
        return not_measured("4.3", text, "a sweep over s and eps")
    sweep = sweep.assign(eps=sweep["eps"].astype(np.float64).fillna(0.0))
    table = sweep.groupby(["s", "eps"])[["val_accuracy", "test_accuracy"]].agg(["mean", "std"])
    mine = np.isclose(table.index.get_level_values("s").astype(float), s) & np.isclose(
        table.index.get_level_values("eps").astype(float), eps, rtol=1e-9, atol=0
    )
    if not mine.any() or len(table) < 2:
        return not_measured("4.3", text, "a sweep that runs through the paper's choice")
    validation = table["val_accuracy"].fillna(0.0)
    best, paper = validation["mean"].idxmax(), table.index[mine][0]
    rank = int((validation["mean"] > validation.loc[paper, "mean"]).sum()) + 1
    gap = validation.loc[best, "mean"] - validation.loc[paper, "mean"]
    deviation = np.sqrt((validation.loc[best, "std"] ** 2 + validation.loc[paper, "std"] ** 2) / 2)
    verdict: Verdict = "holds" if rank == 1 else "does not hold"
    if rank > 1 and gap <= deviation:
        verdict = "holds in part"
    test = table["test_accuracy"]["mean"]
    return Claim(
        "4.3",
        text,
        f"rank {rank} of {len(table)} settings; best s = {best[0]:g}, eps = {best[1]:g}, ahead by "
        f"{100 * gap:.2f} points of validation accuracy (a run's std: {100 * deviation:.2f})",
        verdict,
        f"By mean validation accuracy over seeds; in part: within one standard deviation of the "
        f"best. Test accuracy is {100 * test[best]:.1f} there and {100 * test[paper]:.1f} at the "
        "paper's choice.",
    )


def rises_then_falls(sweep: pd.DataFrame | None) -> Claim:
    """Return the claim that accuracy rises with s and then falls."""
    text = "Accuracy rises with s at first and then falls."
    line = _line(sweep, "s")
    if line is None or line["s"].nunique() < 3:
        return not_measured("4.5", text, "a sweep of three values of s or more at the paper's eps")
    found = trend(line, "s", "test_accuracy")
    return Claim(
        "4.5", text, found.words(), judge([found.rises, found.falls]),
        f"Test accuracy on Cora, {_seeds(found.runs)} seeds per value, s = {found.values[0]:g} to "
        f"{found.values[-1]:g}; a rise or fall counts beyond one standard deviation of a run.",
    )  # fmt: skip


def falls_with_eps(sweep: pd.DataFrame | None) -> Claim:
    """Return the claim that accuracy falls a lot as eps grows."""
    text = "Accuracy decreases a lot as eps grows."
    line = _line(sweep, "eps")
    if line is None or line["eps"].nunique() < 2:
        return not_measured("4.5", text, "a sweep of two values of eps or more at the paper's s")
    found = trend(line, "eps", "test_accuracy")
    return Claim(
        "4.5", text, found.words(), judge([found.falls]),
        f"Test accuracy on Cora, {_seeds(found.runs)} seeds per value, eps = {found.values[0]:g} "
        f"to {found.values[-1]:g}; a fall counts beyond one standard deviation of a run.",
    )  # fmt: skip


def pick_claims(picks: pd.DataFrame | None) -> list[Claim]:
    """Return what each rule for the reported epoch is worth, beside the paper's figure.

    Parameters
    ----------
    picks
        One row per run: ``graph``, ``seed``, and the test accuracy at the last epoch (``last``), at
        the best validation accuracy, at the lowest validation loss, and the best test accuracy
        seen (``best_test``).
    """
    found = []
    for graph, printed in PRINTED.items():
        text = f"{100 * printed:.1f} on {graph.title()} is what an honest pick of epoch gives."
        part = None if picks is None else picks[picks["graph"] == graph]
        known = [] if part is None else [name for name in PICKS if name in part]
        if part is None or part.empty or HONEST not in known:
            found.append(
                not_measured("4.4", text, f"runs on {graph} whose test accuracy was followed")
            )
            continue
        means = {name: float(part[name].mean()) for name in known}
        spread = {name: float(part[name].std(ddof=1)) if len(part) > 1 else 0.0 for name in known}
        nearest = min(known, key=lambda name: abs(means[name] - printed))
        numbers = ", ".join(
            f"{PICKS[name]} {100 * means[name]:.1f} ± {100 * spread[name]:.1f}" for name in known
        )
        found.append(
            Claim(
                "4.4", text, numbers,
                judge([means[HONEST] >= printed - max(spread[HONEST], 1e-12)]),
                f"{len(part)} seeds. Holds where the lowest validation loss gives the paper's "
                f"figure or more, within one standard deviation; {PICKS[nearest]} comes nearest. "
                "The best test accuracy looks at the labels it is to be measured on.",
            )
        )  # fmt: skip
    return found


def _by_graph(sweep: pd.DataFrame | None) -> Iterator[tuple[str, pd.DataFrame]]:
    if sweep is None or sweep.empty:
        return
    if "graph" not in sweep:
        yield "cora", sweep
        return
    for graph in PUBLISHED:
        part = sweep[sweep["graph"] == graph]
        if not part.empty:
            yield graph, part


def _line(sweep: pd.DataFrame | None, parameter: str) -> pd.DataFrame | None:
    return None if sweep is None else along(sweep, *PUBLISHED["cora"])[parameter]


def _seeds(runs: np.ndarray) -> str:
    low, high = int(runs.min()), int(runs.max())
    return f"{low}" if low == high else f"{low} to {high}"
