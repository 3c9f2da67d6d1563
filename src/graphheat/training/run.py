"""A finished run: weights, history, predictions, and the file that holds them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphheat import calibration
from graphheat.errors import CheckpointError, GraphError
from graphheat.graph import Graph
from graphheat.training import checkpoint
from graphheat.training.holdout import Roles
from graphheat.training.recipes import Settings
from graphheat.training.scaling import Scaling

if TYPE_CHECKING:
    import pandas

History = dict[str, list[float]]
HISTORY_COLUMNS = ("train_loss", "val_loss", "val_accuracy")
ROLE_NAMES = ("", "train", "val", "test", "calibration")  # files hold indices: only append

SHARED_NODES = (
    "The temperature was learned on the validation nodes, which also chose or stopped the model: a "
    "little optimistic."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Labelling:
    """Labels of all nodes of one graph, by one run of any system.

    Attributes
    ----------
    recipe, seed
        Which system, and which seed it drew its random numbers from.
    fingerprint, name, classes, nodes, labels
        Of the graph: what identifies it, its name, its classes, its node ids, the known labels.
    roles
        Indices into :data:`ROLE_NAMES`, shape (n,).
    probabilities
        Shape (n, c).
    history
        ``train_loss``, ``val_loss`` and ``val_accuracy``, one number an epoch; empty for systems
        that do not learn in epochs. Test labels play no part in it.
    best_epoch, epochs
        The epoch of the lowest validation loss, and how many were run; epochs count from 1.
    val_accuracy, test_accuracy
        Fractions at the best epoch; None without such nodes.
    notes
        Sentences the user should read.
    """

    seed: int
    fingerprint: str
    name: str
    classes: tuple[Any, ...]
    nodes: tuple[Any, ...]
    labels: NDArray[np.int64]
    roles: NDArray[np.int8]
    history: History
    probabilities: NDArray[np.floating[Any]]
    best_epoch: int
    seconds: float
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def recipe(self) -> str:
        """The name that ``fit`` was given."""
        raise NotImplementedError

    @property
    def epochs(self) -> int:
        """How many epochs were run."""
        return len(self.history.get("train_loss", []))

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """Predicted class codes, shape (n,)."""
        return self.probabilities.argmax(axis=1)

    def accuracy(self, role: str) -> float | None:
        """Return the share of right predictions among the nodes of a role, or None without any."""
        members = self.roles == ROLE_NAMES.index(role)
        if not members.any():
            return None
        return float((self.predicted == self.labels)[members].mean())

    @property
    def val_accuracy(self) -> float | None:
        """Accuracy on the validation nodes."""
        return self.accuracy("val")

    @property
    def test_accuracy(self) -> float | None:
        """Accuracy on the test nodes."""
        return self.accuracy("test")

    def members(self, role: str) -> NDArray[np.int64]:
        """Return the labelled nodes of a role: row numbers, rising."""
        return np.flatnonzero((self.roles == ROLE_NAMES.index(role)) & (self.labels >= 0))

    def check_graph(self, graph: Graph) -> None:
        """Raise where this is not the graph that the run was fitted on."""
        if graph.fingerprint != self.fingerprint:
            raise GraphError(
                f"{graph.name} is not the graph that this run was fitted on; its edges, features, "
                "labels, ids or split differ. Give that graph."
            )

    # ------------------------------------------------------------------ confidence

    @property
    def calibration_role(self) -> str | None:
        """Whose labels say how far the run may be believed.

        ``"calibration"``, or where there is no such node ``"val"``, or None where there is neither.
        """
        return next((role for role in ("calibration", "val") if len(self.members(role))), None)

    @cached_property
    def temperature(self) -> float | None:
        """T of :func:`graphheat.calibration.temperature`, from the nodes of that role."""
        if self.calibration_role is None:
            return None
        nodes = self.members(self.calibration_role)
        return calibration.temperature(self.probabilities, self.labels, nodes)

    @cached_property
    def calibrated(self) -> NDArray[np.float64] | None:
        """Probabilities after temperature scaling, shape (n, c); the same labels."""
        if self.temperature is None:
            return None
        return calibration.calibrated(self.probabilities, self.temperature)

    def calibration_report(self) -> dict[str, Any]:
        """Return the temperature, and the calibration error before and after it, ready for JSON.

        The error is that of 15 equal-width bins on the test nodes, None without any;
        ``expected_by_chance`` is what a perfectly calibrated predictor with the scaled confidences
        would show on the average.
        """
        role, after, judged = self.calibration_role, self.calibrated, self.members("test")
        error, chance = calibration.expected_calibration_error, calibration.expected_by_chance
        known = len(judged) > 0
        scaled = known and after is not None
        return {
            "temperature": self.temperature,
            "learned_on": role,
            "nodes": 0 if role is None else len(self.members(role)),
            "error_before": error(self.probabilities, self.labels, judged) if known else None,
            "error_after": error(after, self.labels, judged) if scaled else None,
            "expected_by_chance": chance(after, judged) if scaled else None,
            "note": SHARED_NODES if role == "val" else None,
        }

    # ------------------------------------------------------------------ tables

    def metrics(self) -> dict[str, Any]:
        """Return one row of numbers about the run, ready for JSON."""
        return {
            "seed": self.seed,
            "test_accuracy": self.test_accuracy,
            "val_accuracy": self.val_accuracy,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 3),
        }

    def settings_dict(self) -> dict[str, Any]:
        """Return every setting that, with the graph and the seed, decided the run."""
        raise NotImplementedError

    def reached_nodes(self) -> NDArray[np.bool_] | None:
        """Return where heat from the training nodes arrives; None for systems without heat."""
        return None

    def predictions_frame(self) -> pandas.DataFrame:
        """Return one row a node: id, label, prediction, confidence, reached, split, p_<class>.

        ``confidence`` is the network's own probability. Where calibration or validation labels are
        known, a last column ``calibrated`` holds the confidence after temperature scaling.
        """
        return predictions_table(
            nodes=list(self.nodes),
            classes=self.classes,
            labels=self.labels,
            probabilities=self.probabilities,
            reached=self.reached_nodes(),
            split=[ROLE_NAMES[role] for role in self.roles],
            temperature=self.temperature,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to one safetensors file, which is replaced as a whole."""
        own_header, own_tensors = self._own_parts()
        header = {
            "state": "finished",
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "name": self.name,
            "classes": list(self.classes),
            "best_epoch": self.best_epoch,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "source": self.source,
            **own_header,
        }
        tensors = {
            **history_tensors(self.history),
            "probabilities": torch.tensor(self.probabilities),
            "labels": torch.tensor(self.labels),
            "roles": torch.tensor(self.roles),
            "nodes": checkpoint.pack_text(list(self.nodes)),
            **own_tensors,
        }
        checkpoint.write(path, header, tensors)

    def _own_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a subclass adds to the file."""
        raise NotImplementedError

    @staticmethod
    def graph_parts(graph: Graph, split: Roles) -> dict[str, Any]:
        """Return the fields that say which graph a run was made on, and what its nodes did."""
        roles = np.zeros(graph.n, dtype=np.int8)
        for code, name in enumerate(ROLE_NAMES[1:], start=1):
            roles[getattr(split, name)] = code
        return {
            "fingerprint": graph.fingerprint,
            "name": graph.name,
            "classes": graph.classes,
            "nodes": tuple(graph.nodes.tolist()),
            "labels": graph.labels,
            "roles": roles,
        }

    @staticmethod
    def shared_parts(header: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
        """Return this class's fields from what :func:`checkpoint.read` returned."""
        return {
            "seed": header["seed"],
            "fingerprint": header["fingerprint"],
            "name": header["name"],
            "classes": tuple(header["classes"]),
            "nodes": tuple(checkpoint.unpack_text(tensors["nodes"])),
            "labels": tensors["labels"].numpy(),
            "roles": tensors["roles"].numpy(),
            "history": history_from(tensors),
            "probabilities": tensors["probabilities"].numpy(),
            "best_epoch": header["best_epoch"],
            "seconds": header["seconds"],
            "notes": tuple(header["notes"]),
            "source": header["source"],
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Run(Labelling):
    """What training GraphHeat returns; see :func:`~graphheat.training.fit`.

    Attributes
    ----------
    settings, threads, kernel
        What, with the seed, decided the run; ``kernel`` says by which method and to which accuracy
        it was computed.
    weights, scaling
        The network's parameters at the lowest validation loss, and how its input is scaled.
    reached
        Whether heat of at least eps arrives from the training nodes, shape (n,).
    """

    settings: Settings
    threads: int
    kernel: dict[str, Any]
    weights: dict[str, Tensor]
    scaling: Scaling
    reached: NDArray[np.bool_]

    @property
    def recipe(self) -> str:
        """``"paper"``, ``"authors"``, ``"consistent"`` or ``"normalized"``."""
        return self.settings.recipe

    def settings_dict(self) -> dict[str, Any]:
        """Return the settings, and on how many threads the run was made."""
        return {**self.settings.as_dict(), "threads": self.threads}

    def reached_nodes(self) -> NDArray[np.bool_]:
        """Return :attr:`reached`."""
        return self.reached

    # ------------------------------------------------------------------ file

    def _own_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        header = {
            "settings": self.settings.as_dict(),
            "threads": self.threads,
            "kernel": self.kernel,
        }
        tensors = {
            **{f"best/{name}": tensor for name, tensor in self.weights.items()},
            **{f"input/{name}": tensor for name, tensor in self.scaling.tensors().items()},
            "reached": torch.tensor(self.reached),
        }
        return header, tensors

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Run:
        """Read a finished run."""
        header, tensors = checkpoint.read(path)
        if header.get("state") != "finished":
            raise CheckpointError(
                f"{path} holds a run that was interrupted after {header.get('epoch')} epochs. "
                "Finish it first with --resume."
            )
        return cls.from_parts(header, tensors)

    @classmethod
    def from_parts(cls, header: dict[str, Any], tensors: dict[str, Tensor]) -> Run:
        """Rebuild a run from what :func:`checkpoint.read` returned."""
        try:
            settings = Settings.from_dict(header["settings"])
            return cls(
                **cls.shared_parts(header, tensors),
                settings=settings,
                threads=header["threads"],
                kernel=header["kernel"],
                weights=with_prefix(tensors, "best/"),
                scaling=Scaling.from_tensors(settings.scaling, with_prefix(tensors, "input/")),
                reached=tensors["reached"].numpy(),
            )
        except KeyError as error:
            raise CheckpointError(f"The checkpoint lacks {error}; it is damaged.") from error


def predictions_table(
    nodes: list[Any],
    classes: tuple[Any, ...],
    labels: NDArray[np.int64],
    probabilities: NDArray[Any],
    reached: NDArray[np.bool_] | None,
    split: list[str],
    temperature: float | None = None,
) -> pandas.DataFrame:
    """Return node, label, predicted, confidence, reached, split and p_<class>, one row a node.

    With a temperature a last column, ``calibrated``, holds the confidence after scaling by it.
    """
    import pandas

    names = np.array(classes, dtype=object)
    label = np.full(len(labels), None, dtype=object)
    label[labels >= 0] = names[labels[labels >= 0]]
    table: dict[str, Any] = {
        "node": nodes,
        "label": label,
        "predicted": names[probabilities.argmax(axis=1)],
        "confidence": probabilities.max(axis=1),
        "reached": np.full(len(labels), None, dtype=object) if reached is None else reached,
        "split": split,
    }
    for code, name in enumerate(classes):
        table[f"p_{name}"] = probabilities[:, code]
    if temperature is not None:
        table["calibrated"] = calibration.calibrated(probabilities, temperature).max(axis=1)
    return pandas.DataFrame(table)


def with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names start with ``prefix``, without it."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def history_tensors(history: History) -> dict[str, Tensor]:
    """Return a history as tensors, one a column."""
    return {
        f"history/{name}": torch.tensor(values, dtype=torch.float64)
        for name, values in history.items()
    }


def history_from(tensors: dict[str, Tensor]) -> History:
    """Undo :func:`history_tensors`: all columns, or none."""
    if not with_prefix(tensors, "history/"):
        return {}
    return {name: tensors[f"history/{name}"].tolist() for name in HISTORY_COLUMNS}
