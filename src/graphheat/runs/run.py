"""Run: a finished fit of any recipe."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import CheckpointError, GraphError
from graphheat.graph import Graph, Split
from graphheat.runs import checkpoint, run_file
from graphheat.runs.checkpoint import Arrays, Header
from graphheat.runs.fitted_graph import FittedGraph
from graphheat.runs.other_graph import (
    Answer,
    There,
    labels_by_name,
    old_rows,
    on_graph,
    predict_rows,
)
from graphheat.runs.predictions import Predictions
from graphheat.runs.protocols import Explainer, PlainSettings, Settings
from graphheat.runs.run_file import (
    features_from,
    features_header,
    history_arrays,
    history_from,
    resolve,
    run_from,
)
from graphheat.runs.run_schema import check_nodes, check_titles


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Run(FittedGraph):
    """What a recipe makes of a graph: a label with a confidence for every node.

    Subclasses say what else they hold, and by ``kind`` how a file names them:
    ``class MyRun(Run, kind="mine")``.

    Attributes
    ----------
    recipe, settings, seed
        What, with the graph, decided the run.
    fingerprint, name, classes, nodes, labels
        Of the graph: what identifies it, its name, its classes, its node ids, the known labels.
    split
        The train, validation, calibration and test nodes.
    probabilities
        Shape (n, c).
    reached
        Whether heat from the training nodes arrives, shape (n,); None for recipes without heat.
    history
        ``train_loss``, ``val_loss`` and ``val_accuracy``, one number per epoch; empty for recipes
        that do not learn in epochs. Test labels play no part in it.
    best_epoch, epochs
        The epoch whose weights were kept, and how many were run; epochs count from 1.
    notes
        Sentences the user should read.
    out_of_fold
        Probabilities of the training nodes, in rising order, by fits that had not seen their
        labels, shape (m, c), NaN where there is none; None where the recipe has no such fits.
    schema, feature_names
        How the graph's features were made and what they are called, as far as it knows: by these
        the features of another graph are matched.
    titles
        Of the graph's nodes, where it has some.
    interrupted
        Whether the user ended the fit early: the answer is that of the stages so far.
    base
        The run whose weights these are, where this is what it says :meth:`on` another graph.
    """

    kind: ClassVar[str] = ""
    explained_by: ClassVar[str | None] = None  # "module:class" of its explainer

    @property
    def uses_features(self) -> bool:
        """Whether labels depend on the features of nodes, and not on edges and labels alone."""
        return True

    def __init_subclass__(cls, *, kind: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind is not None:
            cls.kind = kind
            run_file.KINDS[kind] = cls

    def check_graph(self, graph: Graph) -> None:
        """Raise where this is not the graph that the run was fitted on."""
        if graph.fingerprint != self.fingerprint:
            raise GraphError(
                f"{graph.name} is not the graph that this run was fitted on; its edges, features, "
                "labels, ids or split differ. Give that graph."
            )

    def on(self, graph: Graph, *, threads: int | None = None) -> Run:
        """Return the run on another graph, its weights as they are: no new fit.

        Parameters
        ----------
        graph
            The run's own grown by nodes, edges or labels (:meth:`Graph.extended`), or any other
            with the same features. Features are matched by name; ``notes`` tell what was left out
            or had not been seen in fitting.

        Notes
        -----
        The split is the run's, for the nodes that it has; the temperature stays what it was.

        Examples
        --------
        >>> import graphheat
        >>> graph = graphheat.datasets.block_model(200, 3, seed=0)
        >>> run = graphheat.fit(graph, "linear")
        >>> grown = graph.extended([200], [(200, 3)], features=graph.features[:1])
        >>> run.on(grown).predictions_frame().shape[0]
        201
        """
        return on_graph(self, graph, threads=threads).run

    def predict(
        self, graph: Graph, *, nodes: Sequence[Any] | None = None, threads: int | None = None
    ) -> Predictions:
        """Label the nodes of ``graph``, its own, that one grown, or another with the same features.

        Features are matched by name; what was left out, or had not been seen in fitting, is in the
        predictions' ``notes``.

        Parameters
        ----------
        nodes
            Ids of the nodes to label; None: all. Of a large graph, heat models then compute the
            rows of the kernel of these nodes alone where that is accurate enough (a note says how
            accurate), and otherwise the whole graph.
        """
        if nodes is None:
            there = on_graph(self, graph, threads=threads)
            notes = there.run.notes[len(self.notes) :]
            return replace(there.run.predictions(), notes=notes, unlike=there.unlike)
        rows = np.array([graph.index_of(node) for node in nodes], dtype=np.int64)
        if graph.fingerprint == self.fingerprint:
            return self.predictions().rows(rows)
        return predict_rows(self, graph, rows, threads=threads)

    def answer(
        self,
        graph: Graph,
        old: NDArray[np.int64] | None,
        *,
        wanted: NDArray[np.int64] | None = None,
        threads: int | None = None,
    ) -> Answer:
        """Return what the run says of a graph whose features are matched already, or raise.

        Parameters
        ----------
        old
            Rows of the run's nodes there, shape (len(self.nodes),); None: they are not there.
        wanted
            Rows to answer for; None: all.
        """
        found = self.probabilities_on(graph, threads=threads)
        return Answer(found if wanted is None else found[wanted])

    def probabilities_on(
        self, graph: Graph, *, threads: int | None = None
    ) -> NDArray[np.floating[Any]]:
        """Return class probabilities of every node of another graph, shape (n, c), or raise."""
        raise GraphError(
            f"A run of {self.recipe} labels the graph that it was fitted on, and {graph.name} is "
            "another. Fit it there."
        )

    def explainer(self, graph: Graph, *, threads: int | None = None) -> Explainer:
        """Return what explains the run's labels, node after node.

        ``graph`` is the fitted one, or that one grown by nodes, edges or labels.
        """
        if self.explained_by is None:
            raise GraphError(self.why_unexplained())
        there = self.on_grown(graph, threads=threads)
        make: Callable[..., Explainer] = resolve(self.explained_by)
        return make(there.run, there.graph, threads=threads)

    def why_unexplained(self) -> str:
        """Return why there is no explanation, where there is none."""
        return (
            f"Runs of GraphHeat can be explained, and this is one of {self.recipe}. Fit the graph "
            "with a recipe of GraphHeat, such as 'paper'."
        )

    def same_labels(self, graph: Graph, rows: NDArray[np.int64]) -> bool:
        """Tell whether a graph has the training nodes' labels, at these rows of the run's nodes."""
        train = self.split.train
        return bool((labels_by_name(self, graph)[rows[train]] == self.labels[train]).all())

    def on_grown(self, graph: Graph, *, threads: int | None = None) -> There:
        """Return the run on its own graph or that one grown, and raise for any other."""
        if graph.fingerprint != self.fingerprint and old_rows(self, graph) is None:
            raise GraphError(
                f"{graph.name} is not the graph that this run was fitted on, nor that one grown: "
                "nodes or training labels of it are missing. Give that graph."
            )
        return on_graph(self, graph, threads=threads)

    # ------------------------------------------------------------------ file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to one safetensors file, which is replaced as a whole."""
        checkpoint.write(path, *self.file_parts())

    def file_parts(self) -> tuple[Header, Arrays]:
        """Return the header and the arrays that a file of this run holds."""
        own_header, own_arrays = self.own_parts()
        header = {
            "state": "finished",
            "kind": self.kind,
            "recipe": self.recipe,
            "settings": self.settings.as_dict(),
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "name": self.name,
            "classes": list(self.classes),
            "held_out": self.split.held_out,
            "best_epoch": self.best_epoch,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "source": self.source,
            **({"interrupted": True} if self.interrupted else {}),
            **features_header(self),
            **own_header,
        }
        arrays = {
            **history_arrays(self.history),
            "probabilities": self.probabilities,
            "labels": self.labels,
            "roles": self.split.codes(),
            "nodes": checkpoint.pack_text(list(self.nodes)),
            **({} if self.titles is None else {"titles": checkpoint.pack_text(list(self.titles))}),
            **{
                name: array
                for name in ("reached", "out_of_fold")
                if (array := getattr(self, name)) is not None
            },
            **own_arrays,
        }
        return header, arrays

    def own_parts(self) -> tuple[Header, Arrays]:
        """Return what a subclass adds to the file."""
        return {}, {}

    def to_onnx(
        self, path: str | os.PathLike[str], graph: Graph, *, threads: int | None = None
    ) -> None:
        """Write the run as an ONNX model, for onnxruntime and whatever else reads such files.

        Parameters
        ----------
        graph
            The fitted one, or that one grown: its nodes and edges become part of the file.

        Notes
        -----
        Input ``features``: the graph's, dense, shape (n, f), float64; none where the run uses no
        features. Output ``probabilities``: shape (n, c), float64, before temperature scaling. Rows
        are in the order of ``nodes``, columns in that of ``classes``, both in the model's metadata
        as JSON. Needs the extra ``onnx``; baselines have no such form.
        """
        there = self.on_grown(graph, threads=threads)
        write: Callable[..., None] = resolve("graphheat.portable:write_onnx")
        write(there.run, there.graph, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a finished run of whichever kind; called on a subclass, of that kind alone."""
        run = run_from(*checkpoint.read(path), path=path)
        if not isinstance(run, cls):
            raise CheckpointError(
                f"{path} holds a run of {run.recipe!r}, which is not a {cls.__name__}."
            )
        return run

    @classmethod
    def from_parts(cls, header: Header, arrays: Arrays) -> Self:
        """Rebuild a run from what :func:`checkpoint.read` returned; KeyError where it is damaged.

        A subclass that adds to the file overrides this, and passes its own fields to
        :meth:`shared_parts`'.
        """
        return cls(**cls.shared_parts(header, arrays))

    @classmethod
    def shared_parts(cls, header: Header, arrays: Arrays) -> dict[str, Any]:
        """Return the fields that all kinds of runs have."""
        split = Split.from_codes(arrays["roles"])
        return {
            "recipe": header["recipe"],
            "settings": cls.settings_from(header),
            "seed": header["seed"],
            "fingerprint": header["fingerprint"],
            "name": header["name"],
            "classes": tuple(header["classes"]),
            "nodes": check_nodes(arrays, len(arrays["labels"])),
            "titles": check_titles(arrays, len(arrays["labels"])),
            "labels": arrays["labels"],
            "split": Split(split.n, split.parts, held_out=header.get("held_out", False)),
            "probabilities": arrays["probabilities"],
            "reached": arrays.get("reached"),
            "out_of_fold": arrays.get("out_of_fold"),
            "history": history_from(arrays),
            "best_epoch": header["best_epoch"],
            "seconds": header["seconds"],
            "notes": tuple(header["notes"]),
            "source": header["source"],
            "interrupted": header.get("interrupted", False),
            **features_from(header),
        }

    @classmethod
    def settings_from(cls, header: Header) -> Settings:
        """Return the settings that a file's header tells."""
        return PlainSettings(header["settings"])
