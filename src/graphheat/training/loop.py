"""The training loop."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from graphheat.checks import check_count, check_seed
from graphheat.errors import CheckpointError, GraphError, OutputError
from graphheat.graph import Graph
from graphheat.heat.kernel import Progress
from graphheat.training import checkpoint as checkpoint_file
from graphheat.training.borrowing import teachers
from graphheat.training.holdout import Roles, assign_roles
from graphheat.training.learner import LabelLearner, Learner, Lesson, ViewLearner
from graphheat.training.network import build_network
from graphheat.training.normalized import NormalizedLearner
from graphheat.training.problem import Problem, prepare, reached
from graphheat.training.recipes import ConsistentSettings, settings_for
from graphheat.training.run import (
    HISTORY_COLUMNS,
    History,
    Run,
    history_from,
    history_tensors,
    with_prefix,
)
from graphheat.training.stopping import Best, has_waited

FIXED_EPOCHS = 200  # when there is no validation label to stop by
CHECKPOINT_SECONDS = 1.0


class Epoch(NamedTuple):
    """What a callback is told after each epoch; epochs count from 1."""

    epoch: int
    max_epochs: int
    train_loss: float
    val_loss: float
    val_accuracy: float
    watched: NDArray[np.int64]  # the classes that the watched nodes would be given now


def fit(
    graph: Graph,
    recipe: str = "paper",
    *,
    seed: int = 0,
    s: float | None = None,
    eps: float | Literal["recipe"] | None = "recipe",
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    callback: Callable[[Epoch], None] | None = None,
    kernel_progress: Progress | None = None,
    **changes: Any,
) -> Run:
    """Train a network on a graph.

    Parameters
    ----------
    graph
        With features and labels; its split says which labels teach, stop and test.
    recipe
        ``"paper"``, ``"authors"``, ``"consistent"`` or ``"normalized"``.
    seed
        Decides weights, dropout and, without validation labels, which nodes are held out.
    s, eps
        Diffusion time and threshold; by default the recipe's. ``eps=None``: implicit kernel.
    threads
        Threads for the kernel and the network; default: all cores for the kernel, and for the
        network one on small graphs and torch's own number on large ones.
    checkpoint
        File to keep the run in; replaced as a whole about once a second and at the end.
    resume
        Go on from ``checkpoint`` where it exists; a finished run is returned as it is.
    callback, kernel_progress
        Called after each epoch, and while the kernel is computed.
    **changes
        Other fields of :class:`~graphheat.training.Settings`.

    Returns
    -------
    Run

    Notes
    -----
    Deterministic for a seed and a number of threads; a resumed run ends with the same weights, bit
    for bit, as an undisturbed one. The caller's random state is left alone.
    """
    settings = settings_for(graph, recipe, s=s, eps=eps, **changes)
    problem = prepare(graph, settings, threads=threads, progress=kernel_progress)
    return train(
        problem, seed, threads=threads, checkpoint=checkpoint, resume=resume, callback=callback
    )


def train(
    problem: Problem,
    seed: int = 0,
    *,
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    callback: Callable[[Epoch], None] | None = None,
    source: dict[str, Any] | None = None,
    watch: NDArray[np.int64] | None = None,
) -> Run:
    """Train on a prepared problem; see :func:`fit`.

    ``source`` is kept in the run as it is. ``watch`` names nodes whose predicted classes the
    callback is told after each epoch; they play no part in the training.
    """
    seed = check_seed(seed)
    threads = None if threads is None else check_count(threads, "threads", "fit")
    path = None if checkpoint is None else Path(checkpoint)
    saved = None
    if path is not None and path.exists():
        if not resume:
            raise OutputError(f"{path} already holds a run. Pass resume=True, or remove it.")
        header, tensors = checkpoint_file.read(path)
        _check_same_run(path, header, problem, seed)
        if header.get("state") == "finished":
            return Run.from_parts(header, tensors)
        saved = header, tensors
        threads = threads or header["threads"]
    threads = threads or _default_threads(problem)
    with _torch_threads(threads), torch.random.fork_rng(devices=[]):
        trainer = _Trainer(problem, seed, path, source or {}, watch)
        if saved is not None:
            trainer.restore(*saved)
        return trainer.run(callback)


class _Trainer:
    """The state of a run under way; all of it goes into the checkpoint."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        path: Path | None,
        source: dict[str, Any],
        watch: NDArray[np.int64] | None,
    ) -> None:
        self.problem, self.seed, self.path, self.source = problem, seed, path, source
        self.watch = np.empty(0, dtype=np.int64) if watch is None else watch
        self.roles: Roles = assign_roles(
            problem.graph, seed, calibration=problem.settings.calibration
        )
        self.val_labels = torch.tensor(problem.graph.labels[self.roles.val])
        torch.manual_seed(seed)
        # Watched nodes ride along with the validation nodes, in one pass.
        looked_at = np.concatenate([self.roles.val, self.watch])
        nodes, labels, self.notes = teachers(problem, self.roles)
        self.learner = build_learner(problem, Lesson(nodes, labels, looked_at), seed)
        self.optimizer = torch.optim.Adam(self.learner.groups(), lr=problem.settings.learning_rate)
        self.history: History = {name: [] for name in HISTORY_COLUMNS}
        self.best = Best()
        self.seconds = 0.0
        self.between_epochs = True

    @property
    def epoch(self) -> int:
        return len(self.history["train_loss"])

    @property
    def max_epochs(self) -> int:
        most = self.problem.settings.max_epochs
        return most if len(self.roles.val) else min(most, FIXED_EPOCHS)

    def run(self, callback: Callable[[Epoch], None] | None) -> Run:
        self.learner.start(self.epoch)
        started = last_saved = time.monotonic()
        before = self.seconds
        try:
            while not self._done():
                self.between_epochs = False
                watched = self._evaluate(self._step())
                self.between_epochs = True
                now = time.monotonic()
                self.seconds = before + now - started
                if callback is not None:
                    callback(
                        Epoch(
                            self.epoch,
                            self.max_epochs,
                            *(self.history[name][-1] for name in HISTORY_COLUMNS),
                            watched,
                        )
                    )
                if now - last_saved > CHECKPOINT_SECONDS:
                    self._save()
                    last_saved = now
        except KeyboardInterrupt:
            if self.between_epochs:  # half an epoch cannot be resumed; the last checkpoint can
                self._save()
            raise
        run = self._finish()
        if self.path is not None:
            run.save(self.path)
        return run

    def _step(self) -> float:
        self.learner.module.train()
        self.optimizer.zero_grad()
        loss = self.learner.loss()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item()

    def _evaluate(self, loss: float) -> NDArray[np.int64]:
        val_loss, val_accuracy, watched = math.nan, math.nan, self.watch
        validated = len(self.roles.val)
        if validated or len(self.watch):
            self.learner.module.eval()
            with torch.no_grad():
                logits = self.learner.logits()
            watched = logits[validated:].argmax(1).numpy()
            logits = logits[:validated]
        if validated:
            val_loss = cross_entropy(logits, self.val_labels).item()
            val_accuracy = (logits.argmax(1) == self.val_labels).double().mean().item()
        for name, value in zip(HISTORY_COLUMNS, (loss, val_loss, val_accuracy), strict=True):
            self.history[name].append(value)
        keep = self.problem.settings.keep
        if self.best.take(self.epoch, val_loss, val_accuracy, keep) or not validated:
            self.best.epoch, self.best.weights = self.epoch, self.learner.weights()
        return watched

    def _done(self) -> bool:
        if self.epoch >= self.max_epochs:
            return True
        if not len(self.roles.val) or self.epoch == 0:
            return False
        return has_waited(self.problem.settings, self.history["val_loss"], self.best)

    def _finish(self) -> Run:
        graph, settings = self.problem.graph, self.problem.settings
        probabilities = self._probabilities() if self.best.weights else np.full(1, math.nan)
        if not np.isfinite(probabilities).all():
            raise GraphError(
                "Training diverged: the features are too large for these settings, or the "
                "settings too bold. Scale the features, or lower learning_rate."
            )
        return Run(
            **Run.graph_parts(graph, self.roles),
            settings=settings,
            seed=self.seed,
            threads=torch.get_num_threads(),
            kernel=kernel_facts(self.problem),
            weights=self.best.weights,
            scaling=self.problem.scaling,
            history=self.history,
            probabilities=probabilities,
            reached=reached(graph, self.roles.train, settings),
            best_epoch=self.best.epoch,
            seconds=self.seconds,
            notes=self.notes + self._misfortune(),
            source=self.source,
        )

    def _misfortune(self) -> tuple[str, ...]:
        """Say so where the last epoch came to nothing and an earlier one is what is left."""
        last = self.history["val_loss" if len(self.roles.val) else "train_loss"][-1]
        if math.isfinite(last):
            return ()
        return (
            f"Training diverged at epoch {self.epoch}; the weights of epoch {self.best.epoch} are "
            "kept. Lower learning_rate.",
        )

    def _probabilities(self) -> NDArray[np.float32]:
        problem = self.problem
        network = build_network(problem.x.size(1), len(problem.graph.classes), problem.settings)
        network.load_state_dict(self.best.weights)
        network.eval()
        with torch.no_grad():
            logits = network(problem.x, problem.operator)
        return torch.softmax(logits, dim=1).numpy()

    # ------------------------------------------------------------------ checkpoint

    def _save(self) -> None:
        if self.path is None or not self.best.weights:
            return
        tensors = {f"best/{k}": v for k, v in self.best.weights.items()}
        tensors |= {f"now/{k}": v for k, v in self.learner.module.state_dict().items()}
        for index, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam/{index}/{k}": v for k, v in state.items()}
        tensors |= history_tensors(self.history)
        tensors["random"] = torch.get_rng_state()
        header = {
            "state": "running",
            "settings": self.problem.settings.as_dict(),
            "seed": self.seed,
            "threads": torch.get_num_threads(),
            "kernel": kernel_facts(self.problem),
            "fingerprint": self.problem.graph.fingerprint,
            "name": self.problem.graph.name,
            "classes": list(self.problem.graph.classes),
            "epoch": self.epoch,
            "best_epoch": self.best.epoch,
            "seconds": self.seconds,
            "source": self.source,
        }
        checkpoint_file.write(self.path, header, tensors)

    def restore(self, header: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Take up the state that :meth:`_save` wrote."""
        try:
            self.learner.module.load_state_dict(with_prefix(tensors, "now/"))
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in with_prefix(tensors, "adam/").items():
                index, key = name.split("/")
                state.setdefault(int(index), {})[key] = tensor
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": state, "param_groups": groups})
            self.history = history_from(tensors)
            self.best = Best(epoch=header["best_epoch"], weights=with_prefix(tensors, "best/"))
            losses, accuracies = self.history["val_loss"], self.history["val_accuracy"]
            for epoch, validation in enumerate(zip(losses, accuracies, strict=True), start=1):
                self.best.take(epoch, *validation, self.problem.settings.keep)
            self.seconds = header["seconds"]
            torch.set_rng_state(tensors["random"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(f"The checkpoint does not fit this network: {error}.") from error


def build_learner(problem: Problem, lesson: Lesson, seed: int) -> Learner:
    """Return what the settings ask for, its weights drawn from torch's random state."""
    settings = problem.settings
    if not isinstance(settings, ConsistentSettings):
        return LabelLearner(problem, lesson)
    if settings.normalize:
        return NormalizedLearner(problem, lesson, seed)
    return ViewLearner(problem, lesson)


def _check_same_run(path: Path, header: dict[str, Any], problem: Problem, seed: int) -> None:
    if header.get("fingerprint") != problem.graph.fingerprint:
        raise CheckpointError(f"{path} belongs to another graph than {problem.graph.name}.")
    wanted = {**problem.settings.as_dict(), "seed": seed, "kernel": kernel_facts(problem)}
    found = {name: header.get(name) for name in ("seed", "kernel")} | header.get("settings", {})
    for name, value in wanted.items():
        if found.get(name) != value:
            raise CheckpointError(
                f"{path} was started with {name}={found.get(name)!r}, not {value!r}. "
                "Resume with the same settings, or start anew with --force."
            )


def kernel_facts(problem: Problem) -> dict[str, Any]:
    """Return how the kernel was computed, which decides its last digits."""
    return {"method": problem.operator.method, "tol": problem.operator.tol}


def _default_threads(problem: Problem) -> int:
    """One thread while a product takes about a millisecond: more would wait for each other."""
    work = problem.operator.nnz * problem.settings.hidden
    return 1 if work < 50_000_000 else torch.get_num_threads()


@contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
