"""Sections 3.1 and 3.2: basic filters, and which combinations let high frequencies pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from graphheat.graph import Graph
from graphheat.heat import HeatKernel, laplacian
from graphheat.paper.claims.claim import Claim, Verdict, judge, not_measured
from graphheat.paper.spectrum import Spectrum
from graphheat.training.network_run import NetworkRun

ROUNDING = 1e-9


@dataclass(frozen=True)
class Passband:
    """What a filter's response does over a spectrum.

    Attributes
    ----------
    falling
        Share of the steps between distinct eigenvalues at which the response falls in magnitude.
    correlation
        Spearman's, between eigenvalues and the magnitude; −1: falls throughout.
    high_to_low
        Mean squared response above λ = 1 divided by that below it; 1: both pass alike.
    """

    falling: float
    correlation: float
    high_to_low: float

    def __str__(self) -> str:
        return (
            f"falls over {self.falling:.0%} of the spectrum, rank correlation "
            f"{self.correlation:+.2f}, high against low frequencies {self.high_to_low:.2g}"
        )


def passband(values: NDArray[np.float64], response: NDArray[np.float64]) -> Passband:
    """Measure a response, shape (n,), at ascending eigenvalues, shape (n,).

    Examples
    --------
    >>> values = np.linspace(0, 2, 5)
    >>> passband(values, 1 - values)
    Passband(falling=0.5, correlation=0.0, high_to_low=1.0)
    """
    size = np.abs(response)
    distinct = np.flatnonzero(np.diff(values, prepend=-1.0) > ROUNDING)
    steps = np.diff(size[distinct])
    # The middle of [0, 2] belongs to neither half; I − L is 0 there.
    halves = (values > 1 + ROUNDING, values < 1 - ROUNDING)
    high, low = (float((size[half] ** 2).mean()) if half.any() else 0.0 for half in halves)
    constant = np.ptp(size) < 1e-12
    return Passband(
        falling=float((steps < -1e-15).mean()) if len(steps) else 0.0,
        correlation=0.0 if constant else round(float(stats.spearmanr(values, size)[0]), 12) + 0.0,
        high_to_low=high / low if low > 0 else float("inf"),
    )


def filter_claims(
    graph: Graph, spectrum: Spectrum, renormalised: NDArray[np.float64], s: float
) -> list[Claim]:
    """Return the claims that follow from one graph's spectrum.

    Parameters
    ----------
    spectrum
        Of ``graph``.
    renormalised
        Eigenvalues of GCN's operator with self-loops, ascending, shape (n,).
    s
        The paper's diffusion time for the graph.
    """
    values = spectrum.values
    return [
        equation_7(graph, spectrum),
        basic_filters(spectrum),
        _chebynet(values),
        _gcn("GCN's I − L does not give high frequencies less weight.", values),
        _gcn("GCN as it is run, with self-loops, does not either.", renormalised),
        _heat(values, s),
        _layer(values, s),
        _series(graph, spectrum, s),
    ]


def equation_7(graph: Graph, spectrum: Spectrum) -> Claim:
    """Return the claim that an eigenvalue is the smoothness of its eigenvector."""
    U = spectrum.vectors
    quotients = np.einsum("ij,ij->j", U, laplacian(graph.adjacency) @ U)
    gap = float(np.abs(quotients - spectrum.values).max())
    return Claim(
        "3.1",
        "An eigenvalue is the smoothness of its eigenvector (Eq. 7).",
        f"largest difference {gap:.0e}",
        judge([gap < ROUNDING]),
        f"Over all {len(quotients):,} eigenvectors of {graph.name.title()}.",
    )


def basic_filters(spectrum: Spectrum, *, seed: int = 0) -> Claim:
    """Return the claim that u_i u_iᵀ lets the component α_i u_i of a signal pass, and no other.

    The coefficients α are found by solving Uα = x (Eq. 9), not by Uᵀx, which would take the
    orthogonality that is to be shown for granted.
    """
    U = spectrum.vectors
    x = np.random.default_rng(seed).standard_normal(len(U))
    alpha = np.linalg.solve(U, x)
    # The norm of u_i u_iᵀ x − α_i u_i, for every i, since u_i has norm 1.
    gap = float(np.abs(U.T @ x - alpha).max())
    overlap = U.T @ U
    np.fill_diagonal(overlap, overlap.diagonal() - 1)
    worst = float(np.abs(overlap).max())
    return Claim(
        "3.1",
        "A basic filter u_i u_iᵀ lets α_i u_i pass and nothing else (Eq. 8–10).",
        f"largest difference {gap:.0e}; largest overlap of two eigenvectors {worst:.0e}",
        judge([gap < ROUNDING and worst < ROUNDING]),
        "For a random signal and every eigenvector; α from Uα = x.",
    )


def _chebynet(values: NDArray[np.float64]) -> Claim:
    powers = {k: passband(values, values**k) for k in (1, 2)}
    second = 2 * (values - 1) ** 2 - 1  # T_2 of λ − 1, as ChebyNet is computed
    rising = all(band.correlation > 1 - 1e-6 for band in powers.values())
    polynomial = passband(values, second)
    return Claim(
        "3.1",
        "ChebyNet's combined filters L^k give high frequencies more weight.",
        "; ".join(f"L^{k} {band}" for k, band in powers.items()) + f"; T_2(L − I) {polynomial}",
        judge([rising, polynomial.correlation > 1 - 1e-6]),
        "True of each power. Their weighted sum may be anything: I − L, which falls up to λ = 1, "
        "is one; and ChebyNet computes with polynomials T_k that fall and rise.",
    )


def _gcn(text: str, values: NDArray[np.float64]) -> Claim:
    band = passband(values, 1 - values)
    verdict: Verdict
    if band.high_to_low >= 1:
        verdict = "holds"
    else:
        verdict = "does not hold" if band.correlation < -0.5 else "holds in part"
    detail = (
        f"The magnitude of 1 − λ over eigenvalues up to {values.max():.2f}: it falls up to λ = 1 "
        f"and rises beyond, where {np.mean(values > 1 + ROUNDING):.0%} of them lie; the highest "
        f"frequency passes with {abs(1 - values.max()):.2f}, the lowest with 1."
    )
    return Claim("3.1", text, str(band), verdict, detail)


def _heat(values: NDArray[np.float64], s: float) -> Claim:
    band = passband(values, np.exp(-s * values))
    return Claim(
        "3.2",
        "e^{-sλ} falls with λ: the heat kernel is a low-pass filter.",
        f"s = {s:g}: {band}; at the median frequency {np.exp(-s * np.median(values)):.3f}, at the "
        f"highest {np.exp(-s * values.max()):.4f}",
        judge([band.falling == 1.0]),
        "Of the kernel alone; see the next claim for the layer.",
    )


def _layer(values: NDArray[np.float64], s: float) -> Claim:
    heat = np.exp(-s * values)
    low, high = passband(values, 0.5 + 0.5 * heat), passband(values, 1 - heat)
    return Claim(
        "3.2",
        "GraphHeat's layer θ0 I + θ1 e^{-sL} suppresses high frequencies.",
        f"θ = (½, ½): high against low {low.high_to_low:.2g}; θ = (1, −1): {high.high_to_low:.2g}",
        judge([low.high_to_low < 1, high.high_to_low < 1]),
        "θ0 lets every frequency pass alike, and weights of opposite sign make a high-pass filter: "
        "training decides, not the form.",
    )


def trained_layers(run: NetworkRun | None) -> Claim:
    """Return the claim that the layers of a fitted network are low-pass filters.

    All weights together answer a frequency λ with the energy Σ_ij (Σ_k θ_k,ij e^{-ksλ})²; it is
    compared at λ = 2 and λ = 0.
    """
    text = "Trained, GraphHeat's layers suppress high frequencies."
    if run is None:
        return not_measured("3.2", text, "a fitted network")
    ratios = []
    for name in ("first.weight", "second.weight"):
        theta = run.weights[name].astype(np.float64)
        steps = np.exp(-run.settings.s * np.outer([0.0, 2.0], np.arange(len(theta))))
        low, high = (np.square(np.tensordot(step, theta, axes=1)).sum() for step in steps)
        ratios.append(float(high / low))
    return Claim(
        "3.2",
        text,
        f"energy at λ = 2 against λ = 0: first layer {ratios[0]:.2f}, second {ratios[1]:.2f}",
        judge(ratio < 1 for ratio in ratios),
        f"Over all weights of a network fitted on {run.name.title()} (seed {run.seed}); 1 would be "
        "a uniform filter, and the kernel alone is far below.",
    )


def _series(graph: Graph, spectrum: Spectrum, s: float) -> Claim:
    kernel = HeatKernel(graph, s)
    X = np.random.default_rng(0).standard_normal((graph.n, 8))
    U = spectrum.vectors
    exact = U @ (np.exp(-s * spectrum.values)[:, None] * (U.T @ X))
    gaps = np.linalg.norm(kernel.apply(X) - exact, axis=0) / np.linalg.norm(X, axis=0)
    return Claim(
        "3.2",
        "e^{-sL} can be had by Chebyshev polynomials without eigendecomposition.",
        f"order {kernel.order}: relative error {gaps.max():.0e}, promised {kernel.error_bound:.0e}",
        judge([bool(gaps.max() <= kernel.error_bound)]),
        f"Products of {graph.name.title()}'s kernel with 8 random signals, against eigenvectors.",
    )
