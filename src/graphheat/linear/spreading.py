"""Label spreading by heat: the labels alone, no features, s chosen by leave-one-out.

With H = e^{-sL} of the graph with self-loops and Y the one-hot training labels, node v gets

    p_vc ∝ (Σ_l H_vl Y_lc + ε π_c)^γ,

the heat that each class's labels send it, beside a trace ε of the classes' shares π among the
labels, which decides where no heat arrives. Leaving label l out takes away its own H_ll and nothing
else, so that every s is judged on all labels in closed form; γ makes the shares as sure as they are
right.

References
----------
X. Zhu, Z. Ghahramani, J. Lafferty: Semi-Supervised Learning Using Gaussian Fields and Harmonic
Functions, ICML 2003. D. Zhou, O. Bousquet, T. N. Lal et al.: Learning with Local and Global
Consistency, NeurIPS 2004.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.checks import check_s
from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph, Split
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF, Auto
from graphheat.linear.grid import sharpness_of
from graphheat.linear.local_rows import EXACT_ENOUGH, LocalRows, is_local, note
from graphheat.linear.ridge import one_hot
from graphheat.progress import Progress
from graphheat.runs import Run
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.other_graph import Answer, old_rows

Array = NDArray[np.float64]

TIMES = (1.0, 3.0, 10.0, 30.0, 100.0)
DEFAULT_S = 10.0  # where no class has two labels to choose by
TIE = 1e-9  # mean cross-entropies that differ by less are the same
SELF_LOOPS = 1.0
TOL = 1e-7
TRACE = 1e-4  # ε, as a share of what a label's own heat is on average
MOST_LABELS = 256  # that choose; more tell the times apart no better
LEAST_LABELS, MOST_WORK = 16, 2e10  # at least so many, at most so many multiply-adds
ORDER = 70  # of the longest time's series, about
STRIP_BYTES = 3e8  # of kernel rows that are held at once


@dataclass(frozen=True)
class SpreadingSettings:
    """What was asked for.

    Attributes
    ----------
    s
        Diffusion time; ``"auto"``: chosen among 1 … 100.
    """

    s: float | Literal["auto"] = "auto"

    @classmethod
    def checked(cls, **given: Any) -> SpreadingSettings:
        """Return checked settings; None means ``"auto"``."""
        s = given.pop("s", None)
        if given:
            raise ParameterError(
                f"The spreading recipe has no setting {min(given)!r}; it has s, the diffusion time."
            )
        return cls("auto" if s is None or s == "auto" else check_s(s, "fit"))

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SpreadingRun(Run, kind="spreading"):
    """What label spreading returns.

    Attributes
    ----------
    s, sharpness
        The diffusion time, and γ.
    floor
        ε π, what every class has without any heat, shape (c,).
    """

    s: float
    sharpness: float
    floor: Array

    explained_by: ClassVar[str | None] = "graphheat.explain.spreading_explainer:SpreadingExplainer"

    def settings_dict(self) -> dict[str, Any]:
        """Return s as it was chosen."""
        return {"s": self.s, "asked": self.settings.as_dict()}

    def logits_of(self, heat: Array) -> Array:
        """Return γ·log(heat + ε π) of rows of heat by class, shape (k, c)."""
        logits: Array = self.sharpness * np.log(np.maximum(heat, 0.0) + self.floor)
        return logits

    @property
    def uses_features(self) -> bool:
        """Not at all."""
        return False

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return the run's labels spread on its own graph grown; of any other graph, raise.

        Of a few nodes of a large graph, by their rows of the kernel where that is accurate enough.
        """
        if old is None:
            raise GraphError(
                f"Label spreading labels the graph that it was fitted on, and that one grown; "
                f"{graph.name} lacks nodes or training labels of it. Fit it there."
            )
        train = old[self.split.train]
        truth = one_hot(self.labels[self.split.train], len(self.classes))
        if wanted is not None and is_local(graph, len(wanted), len(self.classes)):
            rows = LocalRows.of(graph, wanted, self.s)
            if rows is not None:
                heat = np.asarray(rows.heat[:, train] @ truth)
                error = self._off(heat, rows.lacking)
                if error <= EXACT_ENOUGH:
                    return self._shares(heat, (note(len(wanted), error),))
        columns = np.zeros((graph.n, len(self.classes)))
        columns[train] = truth
        whole = np.asarray(spreading_kernel(graph, self.s, threads).apply(columns))
        return self._shares(whole if wanted is None else whole[wanted])

    def _off(self, heat: Array, lacking: Array) -> float:
        """Return how much larger a probability may be where rows lack so much heat, shape (k,)."""
        low, high = self.logits_of(heat), self.logits_of(heat + lacking[:, None])
        most = 0.0
        for up, down in ((high, low), (low, high)):
            for code in range(heat.shape[1]):
                logits = down.copy()
                logits[:, code] = up[:, code]
                changed = softmax(logits, axis=1)[:, code] - softmax(low, axis=1)[:, code]
                most = max(most, float(np.abs(changed).max(initial=0.0)))
        return most

    def _shares(self, heat: Array, notes: tuple[str, ...] = ()) -> Answer:
        heat = np.maximum(heat, 0.0)
        reached = heat.sum(axis=1) >= self.floor.sum()
        return Answer(softmax(self.logits_of(heat), axis=1), reached, notes)

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of the run's graph grown, shape (n, c)."""
        return self.answer(graph, old_rows(self, graph), threads=threads).probabilities

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return s, γ and ε π."""
        return {"spreading": {"s": self.s, "sharpness": self.sharpness}}, {"floor": self.floor}

    @classmethod
    def settings_from(cls, header: Header) -> SpreadingSettings:
        """Return the settings that a file's header tells."""
        return SpreadingSettings.checked(**header["settings"])

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> SpreadingRun:
        """Rebuild a run from what a file holds."""
        own = header["spreading"]
        return cls(
            **cls.shared_parts(header, arrays),
            s=own["s"],
            sharpness=own["sharpness"],
            floor=arrays["floor"],
        )


def spreading_kernel(
    graph: Graph, s: float, threads: int | None = None, engine: Auto = ONE_OFF
) -> HeatKernel:
    """Return the kernel that labels are spread by."""
    return HeatKernel(graph, s, tol=TOL, self_loops=SELF_LOOPS, engine=engine, threads=threads)


def fit_spreading(
    graph: Graph,
    split: Split,
    settings: SpreadingSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SpreadingRun:
    """Spread the training labels by heat.

    Notes
    -----
    *Accuracy*: of heat, 1e-7. *Cost*: one diffusion of as many columns as there are classes, and
    where s is chosen one of as many as there are training nodes. *Deterministic*: yes. *Isolated
    nodes*: get the classes' shares among the labels.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(300, 3, homophily=0.9, seed=0)
    >>> run = fit_spreading(graph, graph.completed_split(0), SpreadingSettings())
    >>> run.test_accuracy > 0.7
    True
    """
    began = time.perf_counter()
    train = np.sort(split.train)
    codes, classes = graph.labels[train], len(graph.classes)
    truth = one_hot(codes, classes)
    prior = (truth.sum(axis=0) + 1e-3) / (len(train) + 1e-3 * classes)
    times = np.array(TIMES if settings.s == "auto" else [settings.s])
    affordable = int(MOST_WORK / (ORDER * (graph.adjacency.nnz + graph.n)))
    most = min(MOST_LABELS, max(LEAST_LABELS, affordable))
    tried = np.sort(np.random.default_rng(seed).permutation(len(train))[:most])
    own, left_out = left_out_heat(graph, train, tried, truth, times, threads, progress)
    floors = TRACE * own[:, None] * prior
    choosable = np.bincount(codes, minlength=classes)[codes[tried]] > 1
    notes: tuple[str, ...] = ()
    if choosable.any():
        scored = [
            sharpness_of(np.log(heat[choosable] + floor), codes[tried][choosable])
            for heat, floor in zip(left_out, floors, strict=True)
        ]
        losses = np.array([loss for _, loss in scored])
        # Two labels of one class tell no times apart: rounding shall not decide, here or in a page.
        tied = losses <= losses.min() + TIE
        chosen = int(np.argmin(np.where(tied, np.abs(times - DEFAULT_S), np.inf)))
        sharpness = scored[chosen][0]
    else:
        chosen = int(np.argmin(np.abs(times - DEFAULT_S)))
        sharpness = 1.0
        notes = (f"No class has two labels, so none can be spared to choose by: s = "
                 f"{times[chosen]:g}.",) if settings.s == "auto" else ()  # fmt: skip
    s, floor = float(times[chosen]), floors[chosen]
    columns = np.zeros((graph.n, classes))
    columns[train] = truth
    heat = np.asarray(spreading_kernel(graph, s, threads).apply(columns), dtype=np.float64)
    heat = np.maximum(heat, 0.0)
    out_of_fold = np.full((len(train), classes), np.nan)
    out_of_fold[tried] = softmax(sharpness * np.log(left_out[chosen] + floor), axis=1)
    return SpreadingRun(
        **SpreadingRun.graph_parts(graph, split),
        recipe="spreading",
        settings=settings,
        s=s,
        sharpness=sharpness,
        floor=floor,
        seed=seed,
        probabilities=softmax(sharpness * np.log(heat + floor), axis=1),
        reached=heat.sum(axis=1) >= floor.sum(),
        out_of_fold=out_of_fold,
        seconds=time.perf_counter() - began,
        notes=notes,
    )


def spread_without_folds(
    graph: Graph, run: SpreadingRun, folds: NDArray[np.int64], threads: int | None = None
) -> Array:
    """Return the prediction for each training node from the labels of other folds, shape (m, c).

    ``folds`` are those of the training nodes in rising order, shape (m,); nodes without one, −1,
    have rows of NaN.
    """
    train, classes = np.sort(run.split.train), len(run.classes)
    truth = one_hot(graph.labels[train], classes)
    count = int(folds.max()) + 1
    columns = np.zeros((graph.n, count, classes))
    columns[train] = truth[:, None] * (folds[:, None] != np.arange(count))[:, :, None]
    kernel = spreading_kernel(graph, run.s, threads)
    heat = np.asarray(kernel.apply(columns.reshape(graph.n, -1)), dtype=np.float64)[train]
    dealt = np.flatnonzero(folds >= 0)
    found = np.full((len(train), classes), np.nan)
    own = heat.reshape(len(train), count, classes)[dealt, folds[dealt]]
    found[dealt] = softmax(run.logits_of(own), axis=1)
    return found


def left_out_heat(
    graph: Graph,
    train: NDArray[np.int64],
    tried: NDArray[np.int64],
    truth: Array,
    times: Array,
    threads: int | None,
    progress: Progress | None,
) -> tuple[Array, Array]:
    """Return a label's mean heat on itself, (times,), and others' heat on it, (times, k, c).

    ``tried`` are positions in ``train``, shape (k,).
    """
    kernel = spreading_kernel(graph, 0.0, threads)
    diagonal = np.empty((len(times), len(tried)))
    heat = np.empty((len(times), len(tried), truth.shape[1]))
    width = max(1, int(STRIP_BYTES // (8 * graph.n)))
    for a in range(0, len(tried), width):
        places = tried[a : a + width]
        here = np.arange(len(places))
        units = np.zeros((graph.n, len(places)))
        units[train[places], here] = 1.0
        rows = np.maximum(np.asarray(kernel.sweep(units, times, rows=train)), 0.0)
        diagonal[:, a : a + len(places)] = rows[:, places, here]
        rows[:, places, here] = 0.0
        heat[:, a : a + len(places)] = rows.swapaxes(1, 2) @ truth
        if progress is not None:
            progress(a + len(places), len(tried), "labels")
    return diagonal.mean(axis=1), heat
