"""The recipes that train a heat network: the paper's, its authors', and two with consistency.

The training scheme of the last two is GRAND's; see :mod:`graphheat.training.consistency`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from graphheat.datasets import paper_name
from graphheat.errors import MissingDependencyError, ParameterError
from graphheat.features import suitable_scaling
from graphheat.graph import Graph, Split
from graphheat.linear.linear_run import LinearRun
from graphheat.progress import Progress
from graphheat.recipes.diffusion_time import AUTO, Time, choose_time, settings_from
from graphheat.recipes.memory_plan import check_fit_memory
from graphheat.recipes.recipe import Prepared, Recipe, State, WarmStart, checked_threads
from graphheat.runs import Run
from graphheat.suitability import warnings_of
from graphheat.training.settings import ConsistencySettings, NetworkSettings

if TYPE_CHECKING:
    from graphheat.training.prepared import PreparedNetwork

# What goes with batch normalisation: large steps, and much that is dropped.
BATCHNORM: Mapping[str, Any] = {
    "normalize": True, "learning_rate": 0.2, "input_dropout": 0.6, "dropout": 0.8, "views": 2,
    "drop_nodes": 0.3, "sharpening": 0.2, "stopping": "either", "patience": 200,
}  # fmt: skip

# Section 4.3 of the paper: s and eps that its authors chose on the validation set.
PUBLISHED = {"cora": (3.5, 1e-4), "citeseer": (4.5, 1e-5), "pubmed": (3.0, 1e-5)}

# What "consistent" has on the public splits, by their validation labels: benchmarks/search.py. The
# features' scaling, which was not searched, is the paper's there.
SEARCHED: Mapping[str, Mapping[str, Any]] = {
    "cora": {"s": 3.0, "dropout": 0.7},
    "citeseer": {
        "s": 1.5, "input_dropout": 0.3, "consistency": 0.7, "sharpening": 0.3, "l2": 1e-3,
    },
    "pubmed": {"s": 3.0, **BATCHNORM},
}  # fmt: skip


@dataclass(frozen=True)
class NetworkRequest:
    """Settings, of which s may still have to be chosen.

    Attributes
    ----------
    settings
        Complete and checked; ``s`` plays no part where it is to be chosen.
    chooses_s
        Whether it is.
    given
        The settings that a user named, which have the last word.
    """

    settings: NetworkSettings
    chooses_s: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        values = self.settings.as_dict()
        return {**values, "s": AUTO} if self.chooses_s else values


class PreparedNetworks(Prepared):
    """What seeds share: the choice of s as far as the same nodes calibrate, and the kernel."""

    settings: NetworkRequest

    def __init__(self, graph: Graph, request: NetworkRequest, threads: int | None) -> None:
        super().__init__(graph, request, threads, warnings_of(graph))
        self._choices: dict[bytes, tuple[LinearRun, NetworkSettings, str]] = {}
        self._networks: dict[NetworkSettings, PreparedNetwork] = {}
        self._splits: dict[int, Split] = {}

    def split(self, seed: int) -> Split:
        """Return the split of a seed's run, derived once."""
        if seed not in self._splits:
            share = self.settings.settings.calibration
            self._splits = {seed: self.graph.completed_split(seed, calibration=share)}
        return self._splits[seed]

    def choose(
        self, seed: int, progress: Progress | None = None
    ) -> tuple[NetworkSettings, tuple[str, ...], LinearRun | None]:
        """Return the settings of a seed's run, notes on them, and what s was chosen on."""
        request = self.settings
        if not request.chooses_s:
            return request.settings, (), None
        split = self.split(seed).merged()  # nodes that were held out may choose, too
        key = split.calibration.tobytes()
        if key not in self._choices:
            linear = choose_time(
                self.graph, split, request.settings.scaling, threads=self.threads, progress=progress
            )
            found, sentence = settings_from(linear, request.settings)
            settings = request.settings.changed({**found, **request.given})
            self._choices[key] = linear, settings, sentence
        linear, settings, sentence = self._choices[key]
        return settings, (sentence,), linear

    def network(
        self, settings: NetworkSettings, progress: Progress | None = None
    ) -> PreparedNetwork:
        """Return the prepared network of some settings, made once."""
        from graphheat.training.prepared import prepare_network

        if settings not in self._networks:
            self._networks[settings] = prepare_network(
                self.graph, settings, threads=self.threads, progress=progress
            )
        return self._networks[settings]


@dataclass(frozen=True)
class NetworkRecipe(Recipe):
    """A recipe whose settings are :class:`~graphheat.training.NetworkSettings`.

    Attributes
    ----------
    base
        Its settings on any graph.
    searched
        Those that differ on the data sets of the paper.
    automatic
        Whether s is chosen where none is given.
    """

    base: NetworkSettings
    title: str
    reference: str
    searched: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    automatic: bool = False
    brief: Mapping[str, Any] = field(default_factory=lambda: {"max_epochs": 3})

    @property
    def name(self) -> str:  # type: ignore[override]
        """The recipe's name, which its settings hold."""
        return self.base.recipe

    def settings(
        self,
        graph: Graph,
        *,
        s: Time = None,
        eps: float | Literal["recipe"] | None = "recipe",
        **changes: Any,
    ) -> NetworkRequest:
        """Return the settings for a graph.

        Parameters
        ----------
        s
            Diffusion time; None: the recipe's for the paper's three data sets, elsewhere 3, or for
            recipes that choose it ``"auto"``.
        eps
            Threshold; None: implicit kernel; ``"recipe"``: the recipe's.
        **changes
            Other fields of the settings. ``scaling`` is by default ``"standard"`` for dense
            features and for bag-of-words what the recipe has.
        """
        if isinstance(s, str) and s != AUTO:
            raise ParameterError(
                f"The 's' parameter of fit must be a number or 'auto'. Got {s!r} instead."
            )
        known = self.searched.get(paper_name(graph))
        defaults: dict[str, Any] = {"scaling": suitable_scaling(graph)}
        if known is not None:
            defaults |= known
        elif self.automatic and defaults["scaling"] == "l1":
            defaults["scaling"] = "l2"
        given = {**changes} if eps == "recipe" else {**changes, "eps": eps}
        chooses = s == AUTO or (s is None and self.automatic and known is None)
        if s is not None and s != AUTO:
            given["s"] = s
        settings = self.base.changed({**defaults, **given})
        return NetworkRequest(settings, chooses and graph.features is not None, given)

    def warm_start(self, run: Run, changes: dict[str, Any]) -> WarmStart:
        """Take the settings, s among them, and let training begin at the run's weights."""
        taken = {**run.settings.as_dict(), **changes}
        del taken["recipe"]
        return WarmStart(
            taken,
            f"Settings are those of the run (s = {taken['s']:g}); training begins at its weights.",
            {"start": run},
        )

    def prepare(
        self,
        graph: Graph,
        settings: NetworkRequest,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PreparedNetworks:
        """Check the graph; compute the kernel where s is known already."""
        try:
            from graphheat.training.prepared import check_trainable
        except ImportError as error:
            raise MissingDependencyError(
                f"The {self.name!r} recipe trains a network and needs torch: "
                "pip install 'graphheat[nn]'. Without it there is recipe 'linear'."
            ) from error

        check_trainable(graph)
        check_fit_memory(graph, self.name, settings)
        prepared = PreparedNetworks(graph, settings, checked_threads(threads))
        if not settings.chooses_s:
            prepared.network(settings.settings, progress)
        return prepared

    def identity(
        self, prepared: PreparedNetworks, seed: int, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Return what decides the run: also how the kernel was computed."""
        settings, _, _ = prepared.choose(seed, progress)
        network = prepared.network(settings, progress)
        identity = super().identity(prepared, seed)
        return {
            **identity,
            "kind": "network",
            "settings": settings.as_dict(),
            "kernel": network.kernel,
        }

    def train(
        self,
        prepared: PreparedNetworks,
        seed: int,
        *,
        state: State,
        progress: Progress | None,
        **options: Any,
    ) -> Run:
        """Choose s where that is left open, then train; ``options`` are train_network's."""
        from graphheat.training.train import train_network

        settings, notes, linear = prepared.choose(seed, progress)
        run = train_network(
            prepared.network(settings, progress),
            prepared.split(seed),
            seed,
            threads=prepared.threads,
            notes=(*notes, *prepared.notes),
            source=None if state.source is None else dict(state.source),
            save=state.save,
            saved=state.saved,
            progress=progress,
            **options,
        )
        return run if linear is None else replace(run, search=linear.search)


PAPER_REFERENCE = (
    "Xu, Shen, Cao, Cen and Cheng, Graph Convolutional Networks using Heat Kernel for "
    "Semi-supervised Learning, IJCAI 2019"
)
GRAND_REFERENCE = (
    "Feng, Zhang, Dong et al., Graph Random Neural Networks for Semi-Supervised Learning on "
    "Graphs, NeurIPS 2020 (GRAND's training scheme, with heat for its propagation)"
)

PAPER = NetworkRecipe(
    NetworkSettings(),
    "GraphHeat",
    PAPER_REFERENCE,
    searched={name: {"s": s, "eps": eps} for name, (s, eps) in PUBLISHED.items()},
)
AUTHORS = NetworkRecipe(
    NetworkSettings(recipe="authors", zero_diagonal=True, stopping="mean"),
    "GraphHeat, as the authors' code",
    PAPER_REFERENCE,
    searched=PAPER.searched,
)
CONSISTENT = NetworkRecipe(
    ConsistencySettings(),
    "GraphHeat with consistency regularisation",
    GRAND_REFERENCE,
    searched=SEARCHED,
    automatic=True,
)
NORMALIZED = NetworkRecipe(
    ConsistencySettings(recipe="normalized", **BATCHNORM),
    "Heat and a batch-normalised network with consistency regularisation",
    GRAND_REFERENCE,
    automatic=True,
)
