"""GraphHeatClassifier: the network behind fit, predict and score."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from graphheat.calibration import prediction_sets
from graphheat.calibration.conformal import Score
from graphheat.errors import GraphError, ParameterError
from graphheat.estimators.transductive import TransductiveClassifier, class_array
from graphheat.explain import Explanation
from graphheat.graph import Graph
from graphheat.recipes import DEFAULT, fit
from graphheat.recipes.diffusion_time import Time
from graphheat.runs import Explainer, Run

if TYPE_CHECKING:
    import pandas


class GraphHeatClassifier(TransductiveClassifier):
    """Label every node of a graph from a handful of labels.

    Parameters
    ----------
    recipe
        ``"auto"``: label spreading, linear models and networks, weighed by labels that they have
        not seen; or any other that :func:`graphheat.fit` takes.
    s, eps
        Diffusion time and threshold; by default the recipe's. ``s="auto"``, the default of
        ``"auto"`` and ``"consistent"``: chosen by leave-one-out over the training labels.
        ``"paper"`` has its published s and eps on its three data sets, elsewhere s = 3, eps = 1e-4;
        ``eps=None``: products without a kernel matrix, as ``"auto"`` always has them.
    K, hidden, dropout, l2, learning_rate, max_epochs, patience
        None: the recipe's; see :class:`graphheat.training.NetworkSettings`.
    neighbors
        Neighbours in the graph that is made of X when no adjacency is given.
    threads
        Threads to use; default: as :func:`graphheat.fit` chooses.
    random_state
        Seed, RandomState or None.

    Attributes
    ----------
    classes_
        Class names, shape (c,).
    graph_
        The graph that was learned on; None after :meth:`load`.
    run_
        The :class:`~graphheat.runs.Run`: predictions, history, settings, notes.
    reached_
        Whether heat of at least eps arrives from the training nodes, shape (n,). Nodes that it
        does not reach are labelled from their own and their neighbours' features.
    probabilities_
        Shape (n, c).

    Notes
    -----
    ``run_.notes`` says what was assumed, and where heat will probably hurt; ``run_.stages`` what
    each stage of ``"auto"`` brought. Deterministic for an integer
    ``random_state`` and a thread count.

    Examples
    --------
    >>> import graphheat
    >>> graph = graphheat.datasets.block_model(400, 3, seed=0)
    >>> model = GraphHeatClassifier(random_state=0).fit(graph)
    >>> model.predict().shape, bool(model.score() > 0.9)
    ((400,), True)
    """

    def __init__(
        self,
        *,
        recipe: str = DEFAULT,
        s: Time = None,
        eps: float | Literal["recipe"] | None = "recipe",
        K: int | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        l2: float | None = None,
        learning_rate: float | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        neighbors: int = 10,
        threads: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.recipe = recipe
        self.s = s
        self.eps = eps
        self.K = K
        self.hidden = hidden
        self.dropout = dropout
        self.l2 = l2
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.neighbors = neighbors
        self.threads = threads
        self.random_state = random_state

    def _fit_graph(self, graph: Graph) -> None:
        if graph.label_sets is not None:
            raise GraphError(
                f"{graph.name} has several labels per node, and a classifier gives one. Use "
                "graphheat.fit(graph, 'linear'), or HeatLabelSpreading."
            )
        names = ("K", "hidden", "dropout", "l2", "learning_rate", "max_epochs", "patience")
        changes = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if isinstance(self.random_state, (int, np.integer)):
            seed = int(self.random_state)
        else:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.s is not None:
            changes["s"] = self.s
        if self.eps != "recipe":
            changes["eps"] = self.eps
        self._take(fit(graph, self.recipe, seed=seed, threads=self.threads, **changes))

    def _take(self, run: Run) -> None:
        self.run_ = run
        self.reached_ = run.reached
        self.probabilities_ = run.probabilities.astype(np.float64)
        # float32's softmax sums to 1 within 1e-7; callers compare with float64's patience.
        self.probabilities_ /= self.probabilities_.sum(axis=1, keepdims=True)

    def _foreign_proba(self, graph: Graph) -> NDArray[Any]:
        found = self.run_.predict(graph, threads=self.threads)
        for note in found.unlike:
            warnings.warn(note, stacklevel=2)
        return found.probabilities

    def _fitted_fingerprint(self) -> str:
        return self.run_.fingerprint

    def predict_set(
        self, alpha: float = 0.1, score: Score = "diffused", *, graph: Graph | None = None
    ) -> NDArray[np.bool_]:
        """Return for each node the classes that hold its true one, 1 − alpha of the time.

        Split conformal prediction on the calibration nodes; where the split sets none apart, on the
        validation nodes, which also decided when to stop or what to weigh (so the sets may be a
        little small); without those, on the training nodes by fits that had not seen their labels.
        How far one such set of nodes may be from its promise:
        :func:`graphheat.calibration.coverage_interval`.

        Parameters
        ----------
        alpha
            Share of sets that may miss the true class, in (0, 1).
        score
            ``"diffused"`` or ``"plain"``: see :func:`graphheat.calibration.prediction_sets`.
        graph
            That one grown (:meth:`~graphheat.Graph.extended`), to have sets of its nodes; or the
            fitted graph, for diffused scores of a model that was loaded.

        Returns
        -------
        ndarray
            Shape (n, c), True where a class is in a node's set; columns as in ``classes_``, so
            ``model.classes_[sets[i]]`` names those of node i.

        Examples
        --------
        >>> import graphheat
        >>> graph = graphheat.datasets.block_model(400, 3, seed=0)
        >>> model = GraphHeatClassifier(max_epochs=50, random_state=0).fit(graph)
        >>> sets = model.predict_set(alpha=0.1)
        >>> test = graph.split["test"]
        >>> sets.shape, bool(sets[test, graph.labels[test]].mean() > 0.8)
        ((400, 3), True)
        """
        check_is_fitted(self)
        graph = self.graph_ if graph is None else graph
        if score == "diffused" and graph is None:
            raise ParameterError(
                "A loaded model holds no edges to diffuse scores over. "
                "Pass graph=, or score='plain'."
            )
        run, probabilities = self.run_, self.probabilities_
        if graph is not None and graph.fingerprint != run.fingerprint:
            run, graph, _ = run.on_grown(graph, threads=self.threads)
            probabilities = np.asarray(run.probabilities, dtype=np.float64)
        part = run.calibration_part
        nodes = run.members(part or "train")
        if part is None and run.out_of_fold is not None:
            held = np.isfinite(run.out_of_fold).all(axis=1)
            probabilities, nodes = probabilities.copy(), nodes[held]
            probabilities[nodes] = run.out_of_fold[held]
        elif part is None:
            raise ParameterError(
                "predict_set needs labelled nodes that did not train, and this run has none. "
                "Name some in the split: graph.with_split(…, calibration=…)."
            )
        # Validation nodes that are left beside the calibration nodes choose, and these promise.
        beside = run.members("val") if part == "calibration" else None
        return prediction_sets(
            probabilities,
            nodes,
            run.labels,
            alpha,
            score=score,
            graph=graph,
            choosing_nodes=beside if beside is not None and len(beside) else None,
        )

    def predictions_frame(self, graph: Graph | None = None) -> pandas.DataFrame:
        """Return one row per node: node, label, predicted, confidence, reached, split, p_<class>.

        And ``calibrated``, the confidence after temperature scaling, where labels for it are known.

        Parameters
        ----------
        graph
            The fitted graph grown, or another with the same features; None: the fitted one.
        """
        check_is_fitted(self)
        run = self.run_ if graph is None else self.run_.on(graph, threads=self.threads)
        return run.predictions_frame()

    def explain(self, node: Any, *, label: Any = None, graph: Graph | None = None) -> Explanation:
        """Return what each source node gave to a logit of ``node``.

        Parameters
        ----------
        node
            The node's id (its row number, where X and adjacency were fitted).
        label
            The class to explain; default: the predicted one.
        graph
            The fitted graph grown, to explain new nodes; or the fitted one, for a loaded model.
        """
        check_is_fitted(self)
        graph = self.graph_ if graph is None else graph
        if graph is None:
            raise ParameterError("A loaded model does not hold its graph; pass graph= to explain.")
        explanation: Explanation = self._explainer_on(graph).explain(node, label=label)
        return explanation

    def _explainer_on(self, graph: Graph) -> Explainer:
        """Return the explainer of the last call where it is still the right one."""
        last: tuple[Run, Graph, Explainer] | None = self.__dict__.get("_explained")
        if last is None or last[0] is not self.run_ or last[1] is not graph:
            last = self.run_, graph, self.run_.explainer(graph, threads=self.threads)
            self._explained = last
        return last[2]

    def __getstate__(self) -> dict[str, Any]:
        # An explainer holds kernels, which would dwarf the model, and can be made again.
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_explained"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one safetensors file."""
        check_is_fitted(self)
        self.run_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphHeatClassifier:
        """Read a model that :meth:`save` or ``graphheat fit`` wrote; no pickle is involved.

        ``predict()``, ``predict_proba()`` and ``predictions_frame()`` answer for the fitted nodes
        without the graph; other nodes need theirs. Of a network the parameters are those that it
        has, a chosen s included: to have s chosen again on other data, make a new classifier.
        """
        run = Run.load(path)
        known = {name for name in cls._get_param_names() if name not in ("recipe", "random_state")}
        asked = {
            name: value
            for name, value in run.settings.as_dict().items()
            if name in known and value != "auto"
        }
        model = cls(recipe=run.recipe, random_state=run.seed, **asked)
        return model._with(run)

    def _with(self, run: Run) -> GraphHeatClassifier:
        self._take(run)
        self._has_own_adjacency = True
        self.graph_ = None
        self.classes_ = class_array(run.classes)
        return self
