"""Recipes: every setting of a training run, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, get_args

from graphheat.checks import check_choice, check_count, check_eps, check_flag, check_number, check_s
from graphheat.datasets import paper_name
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.training.scaling import ScalingKind, suitable_scaling

Propagation = Literal["heat", "powers"]
Stopping = Literal["patience", "mean", "either"]
Keep = Literal["loss", "accuracy"]


@dataclass(frozen=True)
class Settings:
    """Everything that, with the graph and the seed, decides a run.

    Attributes
    ----------
    s, eps
        Diffusion time and threshold; ``eps=None`` is the implicit kernel.
    l2
        λ of λ·½‖W‖² on the first layer's weights.
    stopping
        ``"patience"``: stop when for ``patience`` epochs none was worth keeping, that is, none had
        a lower validation loss (the paper). ``"mean"``: after ``patience`` epochs, stop when it is
        above the mean of the last ``patience`` (the authors' code). Either way the weights of the
        lowest loss are kept.
    scaling
        ``"rows"``: divide each row of features by its sum (the paper). ``"lengths"``: give each row
        the same length. ``"columns"``: standardise each column. ``"none"``: take them as they are.
    """

    recipe: str = "paper"
    s: float = 3.0
    eps: float | None = 1e-4
    K: int = 2
    hidden: int = 16
    dropout: float = 0.5
    l2: float = 5e-4
    learning_rate: float = 0.01
    max_epochs: int = 1000
    patience: int = 200
    stopping: Stopping = "patience"
    zero_diagonal: bool = False
    scaling: ScalingKind = "rows"

    # What only ConsistentSettings can change. No fields: a run's settings name none of them.
    self_loops: ClassVar[float] = 0.0
    calibration: ClassVar[float] = 0.0
    keep: ClassVar[Keep] = "loss"
    propagation: ClassVar[Propagation] = "heat"

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Settings:
        """Rebuild settings from :meth:`as_dict`."""
        kind = type(RECIPES.get(values.get("recipe", "paper"), Settings()))
        known = {field.name for field in fields(kind)}
        return kind(**{name: value for name, value in values.items() if name in known})


@dataclass(frozen=True)
class ConsistentSettings(Settings):
    """Settings of the network that is taught to agree with itself.

    At each step ``views`` copies of the graph are made, in each of which the features of a random
    share ``drop_nodes`` of the nodes are missing. The loss on the labels gains ``consistency``
    times the cross-entropy between what the views say together, sharpened, and what each says, in
    the mean over *all* nodes: what a node is called must not hang on whose features happen to be
    there. This is how unlabelled nodes teach.

    Attributes
    ----------
    self_loops
        Weight of a self-loop that is added to each node before the Laplacian is built.
    input_dropout, dropout
        Of the features' non-zeros (the same ones in all views) and of the hidden units.
    l2
        λ of λ·½‖W‖² on all weights.
    warmup
        Epochs over which ``consistency`` grows to its full weight.
    sharpening
        T of p^{1/T}, normalised: the smaller, the more decided the mean that views are drawn to.
    normalize
        Whether heat is in the first layer only, in front of a batch-normalised network that a step
        shows the training nodes and ``batch`` random others; see
        :mod:`graphheat.training.normalized`.
    stopping, keep
        As above, and ``"either"``: stop when neither validation loss nor validation accuracy has
        been as good as the best so far for ``patience`` epochs. ``keep`` says of which of the two
        the best weights are kept.
    calibration
        Share of the validation nodes that take no part in stopping, for calibrated confidences and
        prediction sets; see :func:`~graphheat.training.holdout.assign_roles`.
    identity
        Whether layers have the term θ0·x; without it only e^{-sL}x is left, for comparison.
    propagation
        ``"heat"``, or ``"powers"``: the mean of the powers 0 … ``order`` of S, as GRAND has it, in
        place of e^{-sL}; for comparison.
    """

    recipe: str = "consistent"
    eps: float | None = None
    hidden: int = 32
    max_epochs: int = 2000
    patience: int = 100
    self_loops: float = 1.0
    input_dropout: float = 0.5
    views: int = 4
    drop_nodes: float = 0.5
    consistency: float = 1.0
    warmup: int = 100
    sharpening: float = 0.5
    normalize: bool = False
    batch: int = 1000
    keep: Keep = "loss"
    calibration: float = 0.2
    identity: bool = True
    propagation: Propagation = "heat"
    order: int = 8


# What goes with batch normalisation: large steps, and much that is dropped.
NORMALIZED: dict[str, Any] = {
    "normalize": True, "learning_rate": 0.2, "input_dropout": 0.6, "dropout": 0.8, "views": 2,
    "drop_nodes": 0.3, "sharpening": 0.2, "stopping": "either", "patience": 200,
}  # fmt: skip

RECIPES: dict[str, Settings] = {
    "consistent": ConsistentSettings(),
    "normalized": ConsistentSettings(recipe="normalized", **NORMALIZED),
    "paper": Settings(),
    "authors": Settings(recipe="authors", zero_diagonal=True, stopping="mean"),
}

# Section 4.3 of the paper: s and eps that its authors chose on the validation set.
PUBLISHED = {"cora": (3.5, 1e-4), "citeseer": (4.5, 1e-5), "pubmed": (3.0, 1e-5)}

# What "consistent" has on the public splits, by their validation labels: benchmarks/search.py. The
# features' scaling, which was not searched, is the paper's there.
CHOSEN: dict[str, dict[str, Any]] = {
    "cora": {"s": 3.0, "dropout": 0.7},
    "citeseer": {
        "s": 1.5, "input_dropout": 0.3, "consistency": 0.7, "sharpening": 0.3, "l2": 1e-3,
    },
    "pubmed": {"s": 3.0, **NORMALIZED},
}  # fmt: skip


def settings_for(
    graph: Graph,
    recipe: str = "paper",
    *,
    s: float | None = None,
    eps: float | Literal["recipe"] | None = "recipe",
    **changes: Any,
) -> Settings:
    """Return a recipe's settings for a graph.

    Parameters
    ----------
    s
        Diffusion time; None: the paper's for its three data sets (for ``"consistent"``: what their
        validation labels chose), elsewhere 3.
    eps
        Threshold; None: implicit kernel; ``"recipe"``: the paper's for its three data sets,
        elsewhere 1e-4 (``"consistent"`` and ``"normalized"``: None).
    **changes
        Other fields of :class:`Settings` to replace. ``scaling`` is by default ``"columns"`` for
        tables of measurements and, for features that are mostly zeros, as the paper's are,
        ``"rows"`` (``"consistent"`` and ``"normalized"``: ``"lengths"``).
    """
    check_choice(recipe, "recipe", "fit", tuple(RECIPES))
    base = RECIPES[recipe]
    scaling, name = suitable_scaling(graph), paper_name(graph)
    if recipe == "consistent" and name:
        base = replace(base, **CHOSEN[name])
    elif isinstance(base, ConsistentSettings) and scaling == "rows":
        scaling = "lengths"
    elif recipe in ("paper", "authors") and name:
        default_s, default_eps = PUBLISHED[name]
        base = replace(base, s=default_s, eps=default_eps)
    unknown = set(changes) - {field.name for field in fields(base)}
    if unknown:
        raise ParameterError(f"fit has no setting {sorted(unknown)[0]!r}.")
    changes.setdefault("scaling", scaling)
    settings = replace(
        base,
        s=base.s if s is None else s,
        eps=base.eps if eps == "recipe" else eps,
        **changes,
    )
    return _checked(settings)


def _checked(settings: Settings) -> Settings:
    check_choice(settings.scaling, "scaling", "fit", ("rows", "lengths", "columns", "none"))
    check_choice(settings.stopping, "stopping", "fit", get_args(Stopping))
    if isinstance(settings.eps, str):
        raise ParameterError(
            "The 'eps' parameter of fit must be a number in [0, 1), None or 'recipe'. "
            f"Got {settings.eps!r} instead."
        )
    checked = replace(
        settings,
        s=check_s(settings.s, "fit"),
        eps=None if settings.eps is None else check_eps(settings.eps, "fit"),
        K=check_count(settings.K, "K", "fit"),
        hidden=check_count(settings.hidden, "hidden", "fit"),
        dropout=check_number(settings.dropout, "dropout", "fit", 0.0, 1.0, right="open"),
        l2=check_number(settings.l2, "l2", "fit", 0.0, float("inf")),
        learning_rate=check_number(
            settings.learning_rate, "learning_rate", "fit", 0.0, float("inf"), left="open"
        ),
        max_epochs=check_count(settings.max_epochs, "max_epochs", "fit"),
        patience=check_count(settings.patience, "patience", "fit"),
        zero_diagonal=check_flag(settings.zero_diagonal, "zero_diagonal", "fit"),
    )
    if checked.zero_diagonal and checked.eps is None:
        raise ParameterError(
            f"The {checked.recipe!r} recipe zeroes the kernel's diagonal and so needs an explicit "
            "kernel: give eps."
        )
    return _checked_consistent(checked) if isinstance(checked, ConsistentSettings) else checked


def _checked_consistent(settings: ConsistentSettings) -> ConsistentSettings:
    if settings.eps is not None:
        raise ParameterError(
            f"The {settings.recipe!r} recipe diffuses without a kernel matrix: leave eps alone, or "
            "give eps=None."
        )
    if settings.K != 2:
        raise ParameterError(f"The {settings.recipe!r} recipe has K = 2 terms; got K={settings.K}.")
    check_choice(settings.keep, "keep", "fit", get_args(Keep))
    check_choice(settings.propagation, "propagation", "fit", get_args(Propagation))

    def share(name: str) -> float:
        return check_number(getattr(settings, name), name, "fit", 0.0, 1.0, right="open")

    return replace(
        settings,
        self_loops=check_number(settings.self_loops, "self_loops", "fit", 0.0, float("inf")),
        input_dropout=share("input_dropout"),
        views=check_count(settings.views, "views", "fit"),
        drop_nodes=share("drop_nodes"),
        calibration=share("calibration"),
        consistency=check_number(settings.consistency, "consistency", "fit", 0.0, float("inf")),
        warmup=check_count(settings.warmup, "warmup", "fit"),
        sharpening=check_number(settings.sharpening, "sharpening", "fit", 0.0, 1.0, left="open"),
        normalize=check_flag(settings.normalize, "normalize", "fit"),
        identity=check_flag(settings.identity, "identity", "fit"),
        batch=check_count(settings.batch, "batch", "fit"),
        order=check_count(settings.order, "order", "fit"),
    )
