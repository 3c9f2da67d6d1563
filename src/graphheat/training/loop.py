"""The training loop: the only one, of heat networks and of baselines alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from graphheat.errors import CheckpointError
from graphheat.progress import Progress
from graphheat.runs.checkpoint import Arrays, Header, with_prefix
from graphheat.runs.run_file import HISTORY_COLUMNS, History, history_arrays, history_from
from graphheat.training.objective import Objective, Weights
from graphheat.training.stop_rule import Best, StopRule

CHECKPOINT_SECONDS = 1.0


class Optimizer(Protocol):
    """What takes steps: an optimizer of torch's, or one that works alike."""

    param_groups: list[dict[str, Any]]

    def zero_grad(self) -> None:
        """Forget the gradients."""

    def step(self) -> Any:
        """Take a step along the gradients."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state_dict: Any, /) -> None:
        """Take up a state."""


class Epoch(NamedTuple):
    """What an observer gets after each epoch; epochs count from 1."""

    epoch: int
    max_epochs: int
    train_loss: float
    val_loss: float
    val_accuracy: float
    watched: NDArray[np.int64]  # the classes that the watched nodes would be given now


@dataclass(frozen=True, eq=False)
class Trained:
    """What comes of a training.

    Attributes
    ----------
    weights
        Of the epoch that was kept.
    diverged
        Whether the last epoch came to nothing, so that an earlier one is what is left.
    """

    weights: Weights
    history: History
    best_epoch: int
    seconds: float
    diverged: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences the user should read."""
        if not self.diverged:
            return ()
        epochs = len(self.history["train_loss"])
        return (
            f"Training diverged at epoch {epochs}; the weights of epoch {self.best_epoch} are "
            "kept. Lower learning_rate.",
        )


class Loop:
    """A training under way; all of its state can go into a checkpoint.

    Parameters
    ----------
    objective, optimizer
        What to minimise, and by which steps.
    rule
        When to stop, and which weights to keep.
    val_labels
        Class codes of the validation nodes, shape (v,): the first rows of ``objective.logits()``.
    watched
        How many further rows of these logits an observer gets.
    """

    def __init__(
        self,
        objective: Objective,
        optimizer: Optimizer,
        rule: StopRule,
        val_labels: NDArray[np.int64],
        *,
        watched: int = 0,
    ) -> None:
        self.objective, self.optimizer, self.rule = objective, optimizer, rule
        self.val_labels, self.watched = torch.tensor(val_labels), watched
        self.validated = len(val_labels) > 0
        self.history: History = {name: [] for name in HISTORY_COLUMNS}
        self.losses: list[float] = []  # the validation losses that the rule looks at
        self.best = Best(rule)
        self.seconds = 0.0
        self.between_epochs = True

    @property
    def epoch(self) -> int:
        """How many epochs have been run."""
        return len(self.history["train_loss"])

    @property
    def max_epochs(self) -> int:
        """How many there can be."""
        most = self.rule.max_epochs
        return most if self.validated else min(most, self.rule.fixed_epochs)

    def run(
        self,
        *,
        progress: Progress | None = None,
        observer: Callable[[Epoch], None] | None = None,
        save: Callable[[Header, Arrays], None] | None = None,
        deadline: float | None = None,
    ) -> Trained:
        """Train until the rule says so.

        Parameters
        ----------
        progress, observer
            Called after each epoch.
        save
            Given the state about once a second, and when interrupted between two epochs.
        deadline
            Of ``time.monotonic()``: no epoch begins after it, but for the first.
        """
        self.objective.start(self.epoch)
        started = last_saved = time.monotonic()
        before = self.seconds
        try:
            while not self._done():
                self.between_epochs = False
                watched = self._evaluate(self._step())
                self.between_epochs = True
                now = time.monotonic()
                self.seconds = before + now - started
                self._tell(watched, progress, observer)
                if save is not None and now - last_saved > CHECKPOINT_SECONDS:
                    self._save(save)
                    last_saved = now
                if deadline is not None and now > deadline:
                    break
        except KeyboardInterrupt:
            if save is not None and self.between_epochs:  # half an epoch cannot be resumed
                self._save(save)
            raise
        last = self.history["val_loss" if self.validated else "train_loss"][-1]
        return Trained(
            self.best.weights,
            self.history,
            self.best.epoch,
            self.seconds,
            diverged=not math.isfinite(last),
        )

    def _tell(
        self,
        watched: NDArray[np.int64],
        progress: Progress | None,
        observer: Callable[[Epoch], None] | None,
    ) -> None:
        loss, val_loss, val_accuracy = (self.history[name][-1] for name in HISTORY_COLUMNS)
        if observer is not None:
            observer(Epoch(self.epoch, self.max_epochs, loss, val_loss, val_accuracy, watched))
        if progress is not None:
            text = f"val loss {val_loss:.3f}" if self.validated else f"loss {loss:.3f}"
            progress(self.epoch, self.max_epochs, text)

    def _step(self) -> float:
        self.objective.module.train()
        self.optimizer.zero_grad()
        loss = self.objective.loss()
        loss.backward()
        self.optimizer.step()
        return float(loss.item())

    def _evaluate(self, loss: float) -> NDArray[np.int64]:
        val_loss, val_accuracy = math.nan, math.nan
        watched = np.empty(0, dtype=np.int64)
        if self.validated or self.watched:
            self.objective.module.eval()
            with torch.no_grad():
                logits = self.objective.logits()
            validated = len(self.val_labels)
            watched = logits[validated:].argmax(1).numpy()
            logits = logits[:validated]
        if self.validated:
            val_loss = cross_entropy(logits, self.val_labels).item()
            val_accuracy = (logits.argmax(1) == self.val_labels).double().mean().item()
        for name, value in zip(HISTORY_COLUMNS, (loss, val_loss, val_accuracy), strict=True):
            self.history[name].append(value)
        penalty = penalty_of(self.optimizer) if self.rule.penalised and self.validated else 0.0
        self.losses.append(val_loss + penalty)
        keep = self.best.take(self.losses[-1], val_accuracy)
        if keep or not self.validated or self.rule.keep == "last":
            self.best.epoch = self.epoch
            if self.rule.keep != "last":
                self.best.weights = self.objective.weights()
        return watched

    def _done(self) -> bool:
        if self.epoch < self.max_epochs and (not self.validated or self.epoch == 0):
            return False
        done = self.epoch >= self.max_epochs or self.best.has_waited(self.losses)
        if done and self.rule.keep == "last" and self.epoch:
            self.best.weights = self.objective.weights()
        return done

    # ------------------------------------------------------------------ checkpoint

    def _save(self, save: Callable[[Header, Arrays], None]) -> None:
        if not self.best.weights:
            return
        arrays = {f"best/{k}": v.numpy() for k, v in self.best.weights.items()}
        arrays |= {f"now/{k}": v.numpy() for k, v in self.objective.module.state_dict().items()}
        for index, state in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam/{index}/{k}": v.numpy() for k, v in state.items()}
        arrays |= history_arrays(self.history)
        arrays["random"] = torch.get_rng_state().numpy()
        header = {
            "epoch": self.epoch,
            "best_epoch": self.best.epoch,
            "seconds": self.seconds,
            "threads": torch.get_num_threads(),
        }
        save(header, arrays)

    def restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        """Take up the state that a checkpoint holds."""
        try:
            tensors = {name: torch.tensor(array) for name, array in arrays.items()}
            self.objective.module.load_state_dict(with_prefix(tensors, "now/"))
            state: dict[int, dict[str, Tensor]] = {}
            for name, tensor in with_prefix(tensors, "adam/").items():
                index, key = name.split("/")
                state.setdefault(int(index), {})[key] = tensor
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": state, "param_groups": groups})
            self.history = history_from(arrays)
            losses, accuracies = self.history["val_loss"], self.history["val_accuracy"]
            for validation in zip(losses, accuracies, strict=True):
                self.best.take(*validation)
            self.losses = list(losses)
            self.best.epoch = header["best_epoch"]
            self.best.weights = with_prefix(tensors, "best/")
            self.seconds = header["seconds"]
            torch.set_rng_state(tensors["random"])
        except (KeyError, RuntimeError, ValueError) as error:
            raise CheckpointError(f"The checkpoint does not fit this network: {error}.") from error


def penalty_of(optimizer: Optimizer) -> float:
    """Return Σ ½·weight_decay·‖W‖², whose gradient is what the optimizer adds."""
    return float(
        sum(
            0.5 * group["weight_decay"] * float(weight.detach().square().sum())
            for group in optimizer.param_groups
            for weight in group["params"]
            if group["weight_decay"]
        )
    )


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Let torch have so many threads inside, and as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from ``seed`` inside, and leave the caller's as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
