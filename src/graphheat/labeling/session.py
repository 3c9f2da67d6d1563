"""A graph that is being labelled: journal, models, suggestions, and who is notified of changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphheat.errors import FileFormatError, GraphError, GraphHeatError
from graphheat.graph import Graph
from graphheat.labeling.accuracy_estimate import expected_gain
from graphheat.labeling.answers import Answers
from graphheat.labeling.journal import ConflictError, Entry, Journal
from graphheat.labeling.quick_model import Model, QuickModel
from graphheat.labeling.suggestion import Suggestion
from graphheat.labeling.trainer import Trainer

QUIET = 1.0  # seconds without a label after which networks train
NO_MODEL = "No label yet: classes are named, then a node is labelled."
View = tuple[Graph, NDArray[np.bool_], Model | None]  # what suggestions are made from


class Session:
    """A graph, its journal, and models that follow each label in threads of their own.

    Parameters
    ----------
    graph
        What is labelled.
    journal
        Open; its entries hold.
    classes
        Names of classes to begin with, beside the graph's.
    who
        Whose answers these are.
    networks
        Whether the default recipe trains in a process of its own.
    threads
        For the quick models; default: by the size of the job.
    """

    def __init__(
        self,
        graph: Graph,
        journal: Journal,
        *,
        classes: Iterable[str] = (),
        who: str = "",
        networks: bool = True,
        threads: int | None = None,
    ) -> None:
        if graph.label_sets is not None:
            raise GraphError(f"{graph.name} has several labels per node; label takes one per node.")
        self.graph, self.journal, self.who = graph, journal, who
        self.answers = Answers(graph, classes)
        entries = journal.entries()
        try:
            self.answers.replay(entries)
        except GraphHeatError as error:
            raise FileFormatError(f"{journal.path} is damaged: {error}") from error
        self.revision = entries[-1].revision if entries else 0
        self.models: dict[str, Model] = {}
        self.shown: Model | None = None
        self.verdict = ""  # why networks took over, or did not
        self.suggestions: list[Suggestion] = []
        self.suspects: list[int] = []
        self.training = False
        self._threads = threads
        self._quick = QuickModel(graph, threads=threads)
        self._change = threading.Condition()
        self._finishing = threading.Lock()
        self._ended = False
        self._stirred = True
        self._views: SimpleQueue[View | None] = SimpleQueue()
        self._listeners: set[Callable[[dict[str, Any]], None]] = set()
        self._trainer = Trainer(graph) if networks and self._quick.has_features else None
        work = [self._follow, self._look] + [self._train] * (self._trainer is not None)
        self._workers = [threading.Thread(target=each, daemon=True) for each in work]
        for worker in self._workers:
            worker.start()

    # ------------------------------------------------------------------ answers

    def add(self, entry: Entry) -> int:
        """Write an entry to the journal and let it hold; return its revision."""
        with self._change:
            held = self.journal.of(entry.id)
            if held is not None:
                if held.kind != entry.kind or held.node != entry.node or held.code != entry.code:
                    raise ConflictError(
                        f"The id {entry.id} stands for another entry; take a new one."
                    )
                return held.revision
            checked = self.answers.check(entry)
            self.revision = self.journal.add(checked, who=self.who)
            self.answers.take(checked)
            self._stirred = True
            self._change.notify_all()
            revision = self.revision
        self._tell()
        return revision

    def listen(self, listener: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Call a function on every change, from any thread; returns how to stop that."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def news(self) -> dict[str, Any]:
        """Return what an event tells."""
        name = "spreading" if self.shown is None else self.shown.name
        return {"revision": self.revision, "model": name, "training": self.training}

    def _tell(self) -> None:
        news = self.news()
        for listener in list(self._listeners):
            listener(news)

    # ------------------------------------------------------------------ models

    def _follow(self) -> None:
        """Fit a quick model after every label, then say what to label next."""
        while True:
            with self._change:
                self._change.wait_for(lambda: self._stirred or self._ended)
                if self._ended:
                    return
                self._stirred = False
                revision, labelled = self.revision, self.answers.labelled()
                count, passed = self.answers.count, self.answers.passed()
            model = self._quick.fit(labelled, revision, count) if count else None
            with self._change:
                # Networks that learned from the same labels may have been quicker; they stay.
                held = self.shown
                if held is None or held.name != "auto" or held.revision < revision:
                    self.shown = model
                self.models.pop("linear", None), self.models.pop("spreading", None)
                if model is not None:
                    self.models[model.name] = model
            if model is not None and model.estimate is not None:
                self._note(model)
            self._tell()
            self._views.put((labelled, passed, self.shown))

    def _look(self) -> None:
        """Say what to label next, and which labels look wrong, without keeping a label waiting."""
        while (view := self._views.get()) is not None:
            if not self._views.empty():  # a newer one: it alone counts
                continue
            try:
                self.suggestions, self.suspects = self._quick.look_ahead(*view)
            except (GraphHeatError, MemoryError):
                continue
            self._tell()

    def _train(self) -> None:
        """Train networks on the newest labels whenever there are some and a moment of quiet."""
        assert self._trainer is not None
        done = -1
        while True:
            with self._change:
                self._change.wait_for(partial(self._is_news, done))
                if self._ended:
                    return
                while self._change.wait(QUIET):  # until nothing has changed for a while
                    if self._ended:
                        return
                revision, codes = self.revision, self.answers.codes()
                classes, count = list(self.answers.classes), self.answers.count
                labelled, passed = self.answers.labelled(), self.answers.passed()
                done = revision
                if (np.bincount(codes[codes >= 0], minlength=1) > 1).sum() < 2:
                    self.verdict = "Networks begin when two classes have two labels each."
                    continue
                self.training = True
                self.verdict = f"Networks are training on {count:,} labels."
            self._tell()
            found = self._trainer.train(codes, classes)
            with self._change:
                self.training = False
                self.verdict = found.why(count)
                if found.probabilities is not None:
                    model = Model(
                        "auto", self.verdict, revision, count, found.probabilities, found.estimate
                    )
                    self.models["auto"] = model
                    if found.better and revision == self.revision:
                        self.shown = model
                shown = self.shown
            if shown is not None and shown.name == "auto" and shown.revision == revision:
                if shown.estimate is not None:
                    self._note(shown)
                self._tell()
                self._views.put((labelled, passed, shown))  # what the new model is unsure of
            self._tell()

    def _is_news(self, done: int) -> bool:
        return self._ended or self.revision != done

    def _note(self, model: Model) -> None:
        found = model.estimate
        assert found is not None
        try:
            self.journal.note(model.revision, model.labels, found.accuracy, found.low, found.high)
        except GraphHeatError:  # a full disk: an estimate may be lost, an answer is refused
            return

    # ------------------------------------------------------------------ what is asked

    def state(self) -> dict[str, Any]:
        """Return all that a page shows but the predictions, ready for JSON."""
        with self._change:
            shown, training = self.shown, self.training
            found = {
                "revision": self.revision,
                "classes": self.answers.names,
                "labels": self.answers.rows(),
                "suggestions": [
                    {"node": each.index, "why": each.why}
                    for each in self.suggestions
                    if each.index not in self.answers.of
                ],
                "suspects": [index for index in self.suspects if index in self.answers.of],
                "training": training,
            }
            count, verdict = self.answers.count, self.verdict
        estimate = None if shown is None else shown.estimate
        curve = _by_labels(self.journal.estimates())
        why = NO_MODEL if shown is None else shown.why
        if shown is not None and shown.name != "auto" and verdict:
            why = f"{why} {verdict}"
        found["model"] = {
            "name": "spreading" if shown is None else shown.name,
            "why": why,
            "accuracy": None if estimate is None else round(estimate.accuracy, 4),
        }
        found["progress"] = {
            "labels": count,
            "accuracy": None if estimate is None else round(estimate.accuracy, 4),
            "low": None if estimate is None else round(estimate.low, 4),
            "high": None if estimate is None else round(estimate.high, 4),
            "ten_more": expected_gain(curve),
            "curve": [[m, round(a, 4), round(low, 4), round(high, 4)] for m, a, low, high in curve],
        }
        return found

    def predictions(self, name: str | None = None) -> tuple[int, NDArray[np.float32]]:
        """Return a model's revision and probabilities, a column for every class of now.

        Without any label, or before the model is there, classes are all as likely.
        """
        with self._change:
            model = self.shown if name is None else self.models.get(name)
            count = len(self.answers.classes)
            if model is None:
                even = np.full((self.graph.n, count), 1.0 / max(count, 1), dtype=np.float32)
                return self.revision, even
        missing = count - model.probabilities.shape[1]
        return model.revision, np.pad(model.probabilities, ((0, 0), (0, max(missing, 0))))

    def explain(self, index: int, most: int = 12) -> dict[str, Any]:
        """Return why a node has its label by the quick model: sentences, sources, features."""
        with self._change:
            model = self.models.get("linear") or self.models.get("spreading")
        if not 0 <= index < self.graph.n:
            raise GraphError(f"node must be a row number from 0 to {self.graph.n - 1}.")
        if model is None or model.run is None or model.graph is None:
            raise GraphError("There is no model yet; label a node of two classes each.")
        explainer: Any = model.run.explainer(model.graph, threads=self._threads)
        found = explainer.explain(self.graph.nodes[index : index + 1].tolist()[0])
        total = max(float(np.abs(found.contributions).sum()), 1e-300)
        features = found.features(most).to_dict("records")
        sum_features = max(sum(abs(each["contribution"]) for each in features), 1e-300)
        return {
            "sentences": [found.headline(), *found.sentences()],
            "sources": [
                [int(source), float(given) / total]
                for source, given in zip(found.sources[:most], found.contributions, strict=False)
            ],
            "features": [
                [each["feature"], each["contribution"] / sum_features] for each in features
            ],
        }

    def finish(self, write: Callable[[Graph], dict[str, str]]) -> dict[str, str]:
        """Write what was labelled, with a last fit on all labels; return where."""
        if not self._finishing.acquire(blocking=False):
            raise GraphError("Labels are being written already; wait for that.")
        try:
            with self._change:
                labelled = self.answers.labelled()
            if len(np.unique(labelled.labels[labelled.labels >= 0])) < 2:
                raise GraphError("A run needs labels of two classes; label more nodes first.")
            return write(labelled)
        finally:
            self._finishing.release()

    def close(self) -> None:
        """End the threads and the training process; the journal stays as it is."""
        with self._change:
            self._ended = True
            self._change.notify_all()
        self._views.put(None)
        if self._trainer is not None:
            self._trainer.close()
        for worker in self._workers:
            worker.join(30)


def _by_labels(
    estimates: list[tuple[int, float, float, float]],
) -> list[tuple[int, float, float, float]]:
    """Return the last estimate for each number of labels, by rising numbers."""
    return [last for _, last in sorted({each[0]: each for each in estimates}.items())]
