"""An explanation, and what would be without one node's features: numbers, words and a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.graph.hops import hop_distances
from graphheat.html_table import html_table

if TYPE_CHECKING:
    import pandas

    from graphheat.runs import Run


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The label that a node would get if the features of others were all 0.

    Attributes
    ----------
    node, removed
        The node, and the ids of the nodes whose features are gone.
    label, probability
        The class that the node would be given, and that class's probability.
    logits, probabilities
        Of every class, shape (c,).
    """

    node: Any
    removed: tuple[Any, ...]
    label: Any
    probability: float
    logits: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    @classmethod
    def from_logits(
        cls, run: Run, index: int, removed: NDArray[np.int64], logits: NDArray[np.float64]
    ) -> Counterfactual:
        """Return the label of node ``index`` by its logits without the features of ``removed``."""
        probabilities = softmax(logits)
        code = int(probabilities.argmax())
        return cls(
            node=run.nodes[index],
            removed=tuple(run.nodes[each] for each in removed),
            label=run.classes[code],
            probability=float(probabilities[code]),
            logits=logits,
            probabilities=probabilities,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What the sources gave to one logit of one node, the largest first.

    Attributes
    ----------
    node, index
        The node that is explained: its id and its row number.
    label, logit, probability
        The class whose logit is explained, that logit, and the class's probability.
    constant
        What no source gave: the biases' part.
    sources, contributions, hops
        Row numbers, what each gave, and its distance in edges (−1: no path), shape (k,).
    training
        Which sources are training nodes, shape (k,).
    nodes
        The ids of all nodes.
    predicted
        The class that the node was given; None: ``label``.
    without_largest
        The node's label without the features of the largest source; None where not asked for.
    titles
        Of all nodes, or None.
    by_feature, feature_names
        What each feature gave, over all sources, shape (f,), and what it is called; None where no
        features played a part.
    labelled, heat, classes
        The training nodes, rising, the heat that arrives from each, shape (m,), and its class.
    """

    node: Any
    index: int
    label: Any
    logit: float
    probability: float
    constant: float
    sources: NDArray[np.int64]
    contributions: NDArray[np.float64]
    hops: NDArray[np.int64]
    training: NDArray[np.bool_]
    nodes: tuple[Any, ...]
    predicted: Any = None
    without_largest: Counterfactual | None = None
    titles: tuple[str, ...] | None = None
    by_feature: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] | None = None
    labelled: NDArray[np.int64] | None = None
    heat: NDArray[np.float64] | None = None
    classes: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        run: Run,
        graph: Graph,
        index: int,
        code: int,
        given: NDArray[np.float64],
        constant: float,
        *,
        logit: float | None = None,
        without: Callable[[NDArray[np.int64]], Counterfactual] | None = None,
        by_feature: NDArray[np.float64] | None = None,
        heat: NDArray[np.float64] | None = None,
    ) -> Explanation:
        """Return the explanation of a logit of row ``index`` from what every node gave, (n,).

        ``logit`` is by default their sum with the constant; ``without`` says what the label would
        be without the features of some rows; ``by_feature`` is what each feature gave, shape (f,),
        and ``heat`` what arrives from every node, shape (n,).
        """
        train = np.sort(run.split.train)
        sources = np.flatnonzero(given)
        # The largest first; ties by row number.
        sources = sources[np.lexsort((sources, -np.abs(given[sources])))]
        return cls(
            node=run.nodes[index],
            index=index,
            label=run.classes[code],
            logit=float(given.sum() + constant) if logit is None else logit,
            probability=float(run.probabilities[index, code]),
            constant=constant,
            sources=sources,
            contributions=given[sources],
            hops=hop_distances(graph.adjacency, index)[sources],
            training=np.isin(sources, run.split.train),
            nodes=run.nodes,
            predicted=run.classes[run.predicted[index]],
            without_largest=without(sources[:1]) if without is not None and len(sources) else None,
            titles=graph.titles,
            by_feature=by_feature,
            feature_names=graph.feature_names,
            labelled=train,
            heat=None if heat is None else heat[train],
            classes=tuple(run.classes[code] for code in run.labels[train]),
        )

    def __repr__(self) -> str:
        return (
            f"Explanation(node={self.node!r}, label={self.label!r}, "
            f"probability={self.probability:.3f}, sources={len(self.sources)})"
        )

    def _repr_html_(self) -> str:
        rows = [
            [self.name_of(int(index)), f"{given:+.4f}", distance(hops), bool(known)]
            for index, given, hops, known in zip(
                self.sources[:10], self.contributions, self.hops, self.training, strict=False
            )
        ]
        columns = ["source", "contribution", "distance", "training"]
        return html_table(self.headline(), rows, columns=columns, notes=self.sentences())

    def name_of(self, index: int) -> str:
        """Return what to call a node: a title that has words with the id behind it, or the id."""
        node, title = self.nodes[index], "" if self.titles is None else self.titles[index]
        worded = title != str(node) and any(letter.isalpha() for letter in title)
        return f"{title} ({node})" if worded else str(node)

    def features(self, limit: int = 10) -> pandas.DataFrame:
        """Return feature and contribution, the largest first; no row where none played a part."""
        import pandas

        return pandas.DataFrame(self._features(limit), columns=["feature", "contribution"])

    def _features(self, limit: int) -> list[tuple[str, float]]:
        given = np.empty(0) if self.by_feature is None else self.by_feature
        order = np.argsort(-np.abs(given), kind="stable")[:limit]
        order = order[given[order] != 0]
        names = self.feature_names
        called = [f"feature {place}" if names is None else names[place] for place in order]
        return list(zip(called, given[order].tolist(), strict=True))

    def labels(self, limit: int = 3) -> pandas.DataFrame:
        """Return, per class, the heat that arrives from its training nodes, and the first of them.

        Columns are class, heat, share and nodes: up to ``limit`` names, the hottest first.
        """
        import pandas

        return pandas.DataFrame(self._labels(limit), columns=["class", "heat", "share", "nodes"])

    def _labels(self, limit: int) -> list[tuple[Any, float, float, list[str]]]:
        rows = []
        if self.heat is not None and self.labelled is not None:
            total = max(float(self.heat.sum()), np.finfo(float).tiny)
            for name in dict.fromkeys(self.classes):
                own = np.array([each == name for each in self.classes])
                order = np.argsort(-np.where(own, self.heat, -1.0), kind="stable")[:limit]
                order = order[own[order] & (self.heat[order] > 0)]
                heat = float(self.heat[own].sum())
                nodes = [self.name_of(int(self.labelled[place])) for place in order]
                rows.append((name, heat, heat / total, nodes))
        return sorted(rows, key=lambda row: -row[1])

    def feature_sentence(self, limit: int = 5) -> str | None:
        """Return the features that mattered most, as a sentence."""
        words = [f"{name} {given:+.3f}" for name, given in self._features(limit)]
        if not words:
            return None
        return f"Features that mattered: {', '.join(words)}."

    def label_sentence(self) -> str | None:
        """Return which labels' heat arrives, by class, as a sentence."""
        words = [
            f"{share:.0%} {name} ({', '.join(nodes)})"
            for name, heat, share, nodes in self._labels(2)
            if heat > 0
        ]
        if not words:
            return None
        return f"Heat from labelled nodes: {'; '.join(words[:4])}{'; …' if words[4:] else ''}."

    def by_hop(self) -> dict[int, float]:
        """Return what the sources at each distance gave together; −1 holds those without a path."""
        return {
            int(hop): float(self.contributions[self.hops == hop].sum())
            for hop in np.unique(self.hops)
        }

    def table(self) -> pandas.DataFrame:
        """Return node (title), contribution, hops and training, one row per source."""
        import pandas

        titles = self.titles
        return pandas.DataFrame(
            {
                "node": [self.nodes[index] for index in self.sources],
                **({} if titles is None else {"title": [titles[row] for row in self.sources]}),
                "contribution": self.contributions,
                "hops": self.hops,
                "training": self.training,
            }
        )

    def headline(self) -> str:
        """Return the first line of :meth:`text`: label, probability, and the logit as a sum."""
        return (
            f"Node {self.name_of(self.index)}: {self.label} with probability "
            f"{self.probability:.3f} (logit {self.logit:+.3f} = {self.constant:+.3f} constant "
            f"{self.contributions.sum():+.3f} from {len(self.sources):,} sources)"
        )

    def counterfactual_sentence(self) -> str | None:
        """Return what would be without the largest source's features, as a sentence."""
        other = self.without_largest
        if other is None:
            return None
        given = self.label if self.predicted is None else self.predicted
        (gone,) = other.removed
        title = gone if self.titles is None else self.name_of(self.nodes.index(gone))
        whose = "its own features" if gone == self.node else f"the features of {title}"
        if other.label != given:
            return (
                f"Without {whose}, it would be {other.label} with probability "
                f"{other.probability:.3f}, not {given}."
            )
        before = f" ({self.probability:.3f} with them)" if given == self.label else ""
        return (
            f"Without {whose}, it would still be {other.label}, with probability "
            f"{other.probability:.3f}{before}."
        )

    def text(self, limit: int = 5) -> str:
        """Return the explanation in a few lines, naming the ``limit`` largest sources."""
        lines = [self.headline()]
        for index, given, hops, known in zip(
            self.sources[:limit], self.contributions, self.hops, self.training, strict=False
        ):
            mark = ", training node" if known else ""
            lines.append(f"  {given:+.4f}  from {self.name_of(index)} ({distance(hops)}{mark})")
        lines += self.sentences()
        return "\n".join(lines)

    def sentences(self) -> list[str]:
        """Return what features, labels and the largest source amount to, a sentence each."""
        found = (self.feature_sentence(), self.label_sentence(), self.counterfactual_sentence())
        return [sentence for sentence in found if sentence is not None]

    def __str__(self) -> str:
        return self.text()


def code_of(run: Run, index: int, label: Any) -> int:
    """Return the code of the class to explain: that of ``label``, or the one that was predicted."""
    if label is None:
        return int(run.predicted[index])
    if label not in run.classes:
        raise ParameterError(
            f"The 'label' parameter of explain must be a class of the run. Got {label!r} instead."
        )
    return run.classes.index(label)


def distance(hops: int) -> str:
    """Return "itself", "1 hop away", "2 hops away" and so on."""
    if hops < 0:
        return "no path"
    return "itself" if hops == 0 else f"{hops} hop{'s' if hops != 1 else ''} away"
