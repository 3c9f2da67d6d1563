"""Settings of a network's training: every number that, with the graph and the seed, decides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, get_args

from graphheat.checks import (
    check_choice,
    check_count,
    check_eps,
    check_flag,
    check_number,
    check_s,
)
from graphheat.errors import ParameterError
from graphheat.features import ScalingKind, scaling_kind

Objective = Literal["supervised", "consistency", "batchnorm"]
Propagation = Literal["heat", "powers"]
Stopping = Literal["patience", "mean", "either"]
Keep = Literal["loss", "accuracy"]


MOST_RATE = 1e6  # of learning; float32 has no room for much more
MOST_TERMS = 1000  # K: each is a product with the kernel, at every step


@dataclass(frozen=True)
class NetworkSettings:
    """Settings of the paper's network.

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
        ``"l1"``: divide each row of features by its sum (the paper). ``"l2"``: give each row the
        same length. ``"standard"``: standardise each column. ``"none"``: take them as they are.
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
    scaling: ScalingKind = "l1"

    # What the objective, the operator and the split ask of any settings. No fields: a run's
    # settings name only what can be changed.
    objective: ClassVar[Objective] = "supervised"
    bias: ClassVar[bool] = False
    self_loops: ClassVar[float] = 0.0
    calibration: ClassVar[float] = 0.0
    keep: ClassVar[Keep] = "loss"
    propagation: ClassVar[Propagation] = "heat"
    pseudo_labels: ClassVar[bool] = False
    tol: ClassVar[float] = 1e-6  # of products without a kernel matrix
    compiled_work: ClassVar[float] = 1e8  # multiply-adds from which compiled loops pay

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkSettings:
        """Rebuild settings from :meth:`as_dict`; the fields that are there say of which class."""
        kind = ConsistencySettings if "consistency" in values else NetworkSettings
        known = {field.name for field in fields(kind)}
        return kind(**{name: value for name, value in values.items() if name in known})

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the settings with ``changes``, checked, or raise with the first wrong one."""
        unknown = set(changes) - {field.name for field in fields(self)}
        if unknown:
            raise ParameterError(f"fit has no setting {sorted(unknown)[0]!r}.")
        return replace(self, **changes).checked()

    def checked(self) -> Self:
        """Return the settings with numbers as numbers, or raise."""
        scaling: ScalingKind = scaling_kind(self.scaling, ("l1", "l2", "standard", "none"))
        check_choice(self.stopping, "stopping", "fit", get_args(Stopping))
        if isinstance(self.eps, str):
            raise ParameterError(
                "The 'eps' parameter of fit must be a number in [0, 1), None or 'recipe'. "
                f"Got {self.eps!r} instead."
            )
        checked = replace(
            self,
            scaling=scaling,
            s=check_s(self.s, "fit"),
            eps=None if self.eps is None else check_eps(self.eps, "fit"),
            K=check_count(self.K, "K", "fit"),
            hidden=check_count(self.hidden, "hidden", "fit"),
            dropout=check_number(self.dropout, "dropout", "fit", 0.0, 1.0, right="open"),
            l2=check_number(self.l2, "l2", "fit", 0.0, float("inf")),
            learning_rate=check_number(
                self.learning_rate, "learning_rate", "fit", 0.0, MOST_RATE, left="open"
            ),
            max_epochs=check_count(self.max_epochs, "max_epochs", "fit"),
            patience=check_count(self.patience, "patience", "fit"),
            zero_diagonal=check_flag(self.zero_diagonal, "zero_diagonal", "fit"),
        )
        if checked.K > MOST_TERMS:
            raise ParameterError(
                f"The 'K' parameter of fit must be an int in [1, {MOST_TERMS}]. "
                f"Got {checked.K} instead."
            )
        if checked.zero_diagonal and checked.eps is None:
            raise ParameterError(
                f"The {checked.recipe!r} recipe zeroes the kernel's diagonal and so needs an "
                "explicit kernel: give eps."
            )
        return checked


@dataclass(frozen=True)
class ConsistencySettings(NetworkSettings):
    """Settings of a network with consistency regularisation on unlabelled nodes.

    The training scheme is GRAND's (Feng et al. 2020), with heat for its propagation. At each step
    ``views`` copies of the graph are made, in each of which the features of a random share
    ``drop_nodes`` of the nodes are missing. The loss on the labels gains ``consistency`` times the
    cross-entropy between the views' mean, sharpened, and what each view says, in the mean over
    *all* nodes: a node's label must not depend on whose features happen to be there.

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
        :mod:`graphheat.training.batchnorm`.
    stopping, keep
        As above, and ``"either"``: stop when neither validation loss nor validation accuracy has
        been as good as the best so far for ``patience`` epochs. ``keep`` says of which of the two
        the best weights are kept.
    calibration
        Share of the validation nodes that take no part in stopping, for calibrated confidences and
        prediction sets; see :meth:`graphheat.graph.Split.completed`.
    self_term
        Whether layers have the term θ0·x; without it only e^{-sL}x is left, for comparison.
    propagation
        ``"heat"``, or ``"powers"``: the mean of the powers 0 … ``order`` of S, as GRAND has it, in
        place of e^{-sL}; for comparison.

    References
    ----------
    W. Feng, J. Zhang, Y. Dong et al.: Graph Random Neural Networks for Semi-Supervised Learning on
    Graphs, NeurIPS 2020.
    """

    # Four of these are constants of the paper's settings, hence mypy's objection.
    recipe: str = "consistent"
    eps: float | None = None
    hidden: int = 32
    max_epochs: int = 2000
    patience: int = 100
    self_loops: float = 1.0  # type: ignore[misc]
    input_dropout: float = 0.5
    views: int = 4
    drop_nodes: float = 0.5
    consistency: float = 1.0
    warmup: int = 100
    sharpening: float = 0.5
    normalize: bool = False
    batch: int = 1000
    keep: Keep = "loss"  # type: ignore[misc]
    calibration: float = 0.2  # type: ignore[misc]
    self_term: bool = True
    propagation: Propagation = "heat"  # type: ignore[misc]
    order: int = 8

    bias: ClassVar[bool] = True
    pseudo_labels: ClassVar[bool] = True
    tol: ClassVar[float] = 1e-5
    compiled_work: ClassVar[float] = 1e6  # applied thousands of times: small products pay, too

    @property
    def objective(self) -> Objective:  # type: ignore[override]
        """Which loss the network is trained with."""
        return "batchnorm" if self.normalize else "consistency"

    def checked(self) -> Self:
        """Return the settings with numbers as numbers, or raise."""
        settings = super().checked()
        if settings.eps is not None:
            raise ParameterError(
                f"The {settings.recipe!r} recipe diffuses without a kernel matrix: leave eps "
                "alone, or give eps=None."
            )
        if settings.K != 2:
            raise ParameterError(
                f"The {settings.recipe!r} recipe has K = 2 terms; got K={settings.K}."
            )
        check_choice(settings.keep, "keep", "fit", get_args(Keep))
        check_choice(settings.propagation, "propagation", "fit", get_args(Propagation))

        def share(name: str) -> float:
            return check_number(getattr(settings, name), name, "fit", 0.0, 1.0, right="open")

        infinity = float("inf")
        return replace(
            settings,
            self_loops=check_number(settings.self_loops, "self_loops", "fit", 0.0, infinity),
            input_dropout=share("input_dropout"),
            views=check_count(settings.views, "views", "fit"),
            drop_nodes=share("drop_nodes"),
            calibration=share("calibration"),
            consistency=check_number(settings.consistency, "consistency", "fit", 0.0, infinity),
            warmup=check_count(settings.warmup, "warmup", "fit"),
            sharpening=check_number(
                settings.sharpening, "sharpening", "fit", 0.0, 1.0, left="open"
            ),
            normalize=check_flag(settings.normalize, "normalize", "fit"),
            self_term=check_flag(settings.self_term, "self_term", "fit"),
            batch=check_count(settings.batch, "batch", "fit"),
            order=check_count(settings.order, "order", "fit"),
        )
