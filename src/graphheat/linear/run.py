"""What the linear recipe returns: weights, the path it chose on, and the file that holds them."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphheat.errors import CheckpointError
from graphheat.graph import Graph
from graphheat.linear.choice import Form, Path
from graphheat.training import checkpoint
from graphheat.training.run import ROLE_NAMES, Labelling, with_prefix
from graphheat.training.scaling import Scaling, ScalingKind

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class LinearSettings:
    """What was asked for and, with the labels, decided the run.

    Attributes
    ----------
    s, l2
        A number, or ``"auto"``: chosen along the path.
    scaling
        As for :class:`graphheat.training.Settings`, or ``"auto"``.
    own
        The share of a node's own features that is not diffused, or ``"auto"``.
    """

    s: float | str
    l2: float | str
    scaling: ScalingKind | Literal["auto"]
    own: float | Literal["auto"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearRun(Labelling):
    """What :func:`graphheat.linear.fit_linear` returns.

    A node's logits are its diffused features times ``weights`` plus ``bias``.

    Attributes
    ----------
    asked
        The settings that the run was asked for.
    s, l2, own
        Those that it has; L2 in units of the mean squared distance of the diffused training rows
        from their mean.
    weights, bias
        Shape (f, c) and (c,). A class without training labels has weights of 0 and a bias that
        makes it the last choice everywhere.
    duals
        What each training node, in the order of row numbers, counts for in the weights: they are
        the sum of its diffused features (less their mean) times its row, shape (m, c).
    scaling
        How features are scaled before they are diffused.
    reached
        Whether heat of at least 1e-4 arrives from the training nodes, shape (n,).
    path
        What was tried, and the row that was chosen.
    """

    asked: LinearSettings
    s: float
    l2: float
    own: float
    threads: int | None
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    duals: NDArray[np.float64]
    scaling: Scaling
    reached: NDArray[np.bool_]
    path: Path

    @property
    def recipe(self) -> str:
        """``"linear"``."""
        return "linear"

    @property
    def training_nodes(self) -> NDArray[np.int64]:
        """Row numbers of the nodes that taught, ascending, shape (m,)."""
        return np.flatnonzero(self.roles == ROLE_NAMES.index("train"))

    def settings_dict(self) -> dict[str, Any]:
        """Return s and L2 as they were chosen, and how."""
        return {
            "s": self.s,
            "l2": self.l2,
            "scaling": self.scaling.kind,
            "own": self.own,
            "asked": asdict(self.asked),
            "chosen_by": self.path.by,
            "tried": len(self.path),
            "threads": self.threads,
        }

    def reached_nodes(self) -> NDArray[np.bool_]:
        """Return :attr:`reached`."""
        return self.reached

    def path_frame(self) -> pandas.DataFrame:
        """Return a row for all that was tried: the settings, val_accuracy, val_loss, chosen."""
        import pandas

        chosen = np.arange(len(self.path)) == self.path.chosen
        scaling, own = (np.array(column) for column in zip(*self.path.forms, strict=True))
        return pandas.DataFrame(
            {
                "scaling": scaling[self.path.numbers],
                "own": own[self.path.numbers],
                "s": self.path.s,
                "l2": self.path.l2,
                "val_accuracy": self.path.accuracy,
                "val_loss": self.path.loss,
                "chosen": chosen,
            }
        )

    # ------------------------------------------------------------------ file

    def _own_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        header = {
            "linear": {
                "asked": asdict(self.asked),
                "s": self.s,
                "l2": self.l2,
                "own": self.own,
                "threads": self.threads,
                "by": self.path.by,
                "chosen": self.path.chosen,
                "forms": self.path.forms,
                "scaling": self.scaling.kind,
            }
        }
        tensors = {
            "weights": torch.tensor(self.weights),
            "bias": torch.tensor(self.bias),
            "duals": torch.tensor(self.duals),
            "reached": torch.tensor(self.reached),
            **{f"input/{name}": tensor for name, tensor in self.scaling.tensors().items()},
            **{
                f"path/{name}": torch.tensor(getattr(self.path, name))
                for name in ("s", "l2", "accuracy", "loss", "sharpness")
            },
        }
        return header, tensors

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LinearRun:
        """Read a run that :meth:`save` wrote."""
        header, tensors = checkpoint.read(path)
        try:
            own = header["linear"]
            columns = {name: t.numpy() for name, t in with_prefix(tensors, "path/").items()}
            return cls(
                **cls.shared_parts(header, tensors),
                asked=LinearSettings(**own["asked"]),
                s=own["s"],
                l2=own["l2"],
                own=own["own"],
                threads=own["threads"],
                weights=tensors["weights"].numpy(),
                bias=tensors["bias"].numpy(),
                duals=tensors["duals"].numpy(),
                scaling=Scaling.from_tensors(own["scaling"], with_prefix(tensors, "input/")),
                reached=tensors["reached"].numpy(),
                path=Path(
                    **columns,
                    forms=tuple(Form(*form) for form in own["forms"]),
                    by=own["by"],
                    chosen=own["chosen"],
                ),
            )
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"The checkpoint lacks {error}; it is damaged.") from error

    @classmethod
    def load_matching(
        cls, path: str | os.PathLike[str], graph: Graph, seed: int, asked: LinearSettings
    ) -> LinearRun:
        """Read a run that must be the one described, or raise with what differs."""
        header, _ = checkpoint.read(path)
        if "linear" not in header:
            raise CheckpointError(
                f"{path} holds a run of another recipe than 'linear'. Start anew with --force."
            )
        run = cls.load(path)
        if run.fingerprint != graph.fingerprint:
            raise CheckpointError(f"{path} belongs to another graph than {graph.name}.")
        wanted = {"seed": seed, **asdict(asked)}
        found = {"seed": run.seed, **asdict(run.asked)}
        for name, value in wanted.items():
            if found[name] != value:
                raise CheckpointError(
                    f"{path} was made with {name}={found[name]!r}, not {value!r}. "
                    "Resume with the same settings, or start anew with --force."
                )
        return run
