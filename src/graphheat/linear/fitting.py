"""The linear recipe: features diffused, then logistic regression, with s and L2 chosen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from graphheat.baselines.system import Callback
from graphheat.checks import check_choice, check_count, check_number, check_s, check_seed
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.linear.choice import (
    DEFAULT_L2,
    DEFAULT_S,
    PENALTIES,
    SHARES,
    TIMES,
    Form,
    Judges,
    Path,
    deal_folds,
    walk_path,
)
from graphheat.linear.diffusion import PATH_TOL, TOL, Diffusion
from graphheat.linear.regression import Rotation, fit_logistic
from graphheat.linear.run import LinearRun, LinearSettings
from graphheat.training.holdout import Roles, assign_roles
from graphheat.training.scaling import Scaling, ScalingKind, suitable_scaling

Array = NDArray[np.float64]

REACHED = 1e-4  # heat from the training nodes that counts as arrived
UNTAUGHT = 30.0  # how far below every other logit a class without labels is put


def linear_settings(s: Any = "auto", l2: Any = "auto", **changes: Any) -> LinearSettings:
    """Return checked settings; None means ``"auto"``."""
    scaling, own = changes.pop("scaling", None) or "auto", changes.pop("own", None)
    if changes:
        raise ParameterError(
            f"The linear recipe has no setting {sorted(changes)[0]!r}; it has s, l2, scaling and "
            "own."
        )
    check_choice(scaling, "scaling", "fit", ("auto", *get_args(ScalingKind)))
    s, l2, own = ("auto" if value is None else value for value in (s, l2, own))
    if s != "auto":
        s = check_s(s, "fit")
    if l2 != "auto":
        l2 = check_number(l2, "l2", "fit", 0.0, float("inf"), left="open")
    if own == "auto" and s != "auto":
        own = 0.0
    if own != "auto":
        own = check_number(own, "own", "fit", 0.0, 1.0, right="open")
    return LinearSettings(s, l2, scaling, own)


def fit_linear(
    graph: Graph,
    *,
    s: float | str | None = "auto",
    l2: float | str | None = "auto",
    seed: int = 0,
    threads: int | None = None,
    callback: Callback | None = None,
    source: dict[str, Any] | None = None,
    **changes: Any,
) -> LinearRun:
    """Diffuse the features, fit a logistic regression on the labels, and label all nodes.

    Parameters
    ----------
    graph
        With features and labels; its split says which ones teach, choose and test.
    s
        Diffusion time; ``"auto"``: chosen among 0 (no graph at all) … 20.
    l2
        λ of mean cross-entropy + λ·v·½‖W‖², v being the mean squared distance of the diffused
        training rows from their mean; ``"auto"``: chosen among 1 … 3e-4.
    seed
        Decides the folds of cross-validation, and nothing else.
    threads
        For the heat, default all; the regressions are small and take one.
    callback
        Told of each s along the path.
    **changes
        ``scaling``: as for :class:`~graphheat.training.Settings`, or ``"rarity"``; default: for
        features that are mostly zeros ``"rows"`` or ``"rarity"``, whichever the labels that choose
        like better, otherwise ``"columns"``. ``own``: the share of a node's own features that is
        not diffused; default: 0 or 0.2, chosen with s on validation labels, and 0 where s is given
        or there are none.

    Notes
    -----
    *Choice*: on the validation labels; without any, by stratified cross-validation over the
    training labels; s = 5 and l2 = 1e-3 where no class has two. The run's notes say which. The
    labels that choose also scale the logits, which a strong penalty leaves next to 0.
    *Cost*: one diffusion of the features for all s together, milliseconds for each pair.
    *Deterministic*: yes. *Isolated nodes*: keep their own features, and are labelled by them.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, seed=0)
    >>> run = fit_linear(graph)
    >>> run.s > 0, run.test_accuracy > 0.7
    (True, True)
    """
    asked = linear_settings(s, l2, **changes)
    seed = check_seed(seed)
    threads = None if threads is None else check_count(threads, "threads", "fit")
    began = time.perf_counter()
    diffusions = {
        kind: Diffusion(graph, _scaling(graph, kind), threads=threads)
        for kind in _kinds(graph, asked)
    }
    roles = _roles(graph, seed)
    train, val = roles.train, roles.val
    present, taught = np.unique(graph.labels[train], return_inverse=True)
    # One thread is the fastest for small matrices, and its sums are always in the same order.
    with threadpool_limits(1):
        codes = _codes_among(present, graph.labels[val])
        path, notes = _choose(diffusions, asked, train, val, taught, codes, seed, callback)
        diffusion = diffusions[path.form.scaling].keeping(path.form.own)
        chosen_s, chosen_l2 = _chosen(asked, path)
        noise = diffusion.noise(TOL) if chosen_s > 0 else 0.0
        rotation = Rotation.of(diffusion.rows(train, chosen_s), noise)
        inner, intercepts = fit_logistic(
            rotation.coordinates, taught, len(present), chosen_l2 * rotation.variance, accuracy=1e-9
        )
        if path.chosen >= 0:
            inner, intercepts = (each * path.sharpness[path.chosen] for each in (inner, intercepts))
        weights = np.zeros((diffusion.features.shape[1], len(graph.classes)))
        weights[:, present] = rotation.right @ inner
        duals = np.zeros((len(train), len(graph.classes)))
        duals[:, present] = rotation.duals(inner)
        bias = np.zeros(len(graph.classes))
        bias[present] = intercepts - rotation.center @ weights[:, present]
        logits = diffusion.spread(np.asarray(diffusion.features @ weights), chosen_s) + bias
        untaught = np.setdiff1d(np.arange(len(graph.classes)), present)
        bias[untaught] = logits[:, present].min() - UNTAUGHT
        logits[:, untaught] = bias[untaught]
    heat = diffusion.heat_from(train, chosen_s)
    return LinearRun(
        **LinearRun.graph_parts(graph, roles),
        asked=asked,
        s=chosen_s,
        l2=chosen_l2,
        own=diffusion.own,
        threads=threads,
        weights=weights,
        bias=bias,
        duals=duals,
        scaling=diffusion.scaling,
        reached=heat >= REACHED,
        path=path,
        seed=seed,
        history={},
        probabilities=softmax(logits, axis=1),
        best_epoch=0,
        seconds=time.perf_counter() - began,
        notes=notes,
        source=source or {},
    )


def _roles(graph: Graph, seed: int) -> Roles:
    """Return who teaches, rising, and who chooses; none is held out where none may choose."""
    roles = assign_roles(graph, seed)
    if len(graph.split.get("val", ())):
        return roles._replace(train=np.sort(roles.train))
    return roles._replace(train=np.union1d(roles.train, roles.val), val=roles.val[:0])


def _kinds(graph: Graph, asked: LinearSettings) -> tuple[ScalingKind, ...]:
    """Return the scalings to choose from; the first where no label can be spared to choose by."""
    if asked.scaling != "auto":
        return (asked.scaling,)
    suitable = suitable_scaling(graph)
    return ("rows", "rarity") if suitable == "rows" else (suitable,)


def _scaling(graph: Graph, kind: ScalingKind) -> Scaling:
    return Scaling(kind) if graph.features is None else Scaling.learn(graph.features, kind)


def _choose(
    diffusions: Mapping[ScalingKind, Diffusion],
    asked: LinearSettings,
    train: NDArray[np.int64],
    val: NDArray[np.int64],
    taught: NDArray[np.int64],
    codes: NDArray[np.int64],
    seed: int,
    callback: Callback | None,
) -> tuple[Path, tuple[str, ...]]:
    """Return what was tried, and what to tell of it; ``codes`` are the validation nodes'."""
    shares: tuple[float, ...] = SHARES if len(val) else SHARES[:1]  # folds are fitted often enough
    if asked.own != "auto":
        shares = (float(asked.own),)
    nothing = Path.nothing(Form(next(iter(diffusions)), shares[0]))
    open_ones = [name for name in ("s", "l2") if getattr(asked, name) == "auto"]
    if len(shares) > 1:
        open_ones.append("own")
    if len(diffusions) > 1:
        open_ones.append("scaling")
    if not open_ones:
        return nothing, ()
    *most, last = open_ones
    names = f"{', '.join(most)} and {last}" if most else last
    notes: tuple[str, ...] = ()
    judges = Judges(codes, None)
    if not len(val):
        folds = deal_folds(taught, seed)
        if folds is None:
            s, l2 = _chosen(asked, nothing)
            return nothing, (
                f"No class has two labels, so none can be spared to choose {names} by: s = {s:g}, "
                f"l2 = {l2:g}.",
            )
        judges = Judges(codes, folds)
        notes = (
            f"No validation labels were given: {names} chosen by {folds.max() + 1}-fold "
            f"cross-validation over the {len(train)} training labels.",
        )
    # Every fold is fitted at every time: with folds, every second one has to do.
    tried = TIMES if judges.folds is None else TIMES[::2]
    times = np.array(tried if asked.s == "auto" else [asked.s], dtype=np.float64)
    penalties = np.array(PENALTIES if asked.l2 == "auto" else [asked.l2], dtype=np.float64)
    looked_at = np.concatenate([train, val])
    diffused = {
        kind: diffusion.path(looked_at, times, shares) for kind, diffusion in diffusions.items()
    }
    noises = {kind: diffusion.noise(PATH_TOL) for kind, diffusion in diffusions.items()}
    return walk_path(diffused, noises, shares, times, penalties, taught, judges, callback), notes


def _chosen(asked: LinearSettings, path: Path) -> tuple[float, float]:
    s, l2 = DEFAULT_S, DEFAULT_L2
    if path.chosen >= 0:
        s, l2 = float(path.s[path.chosen]), float(path.l2[path.chosen])
    return (
        s if asked.s == "auto" else float(asked.s),
        l2 if asked.l2 == "auto" else float(asked.l2),
    )


def _codes_among(present: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return positions of labels in ``present``, −1 for those that are not in it."""
    places = np.minimum(np.searchsorted(present, labels), len(present) - 1)
    return np.where(present[places] == labels, places, -1)
