"""Why a node got its label: what each source node gave to a logit of the two-layer network.

At the ReLU pattern that is active for a graph, the network is linear in its input, so that a logit
is a sum over source nodes w of what w's features gave to it:

    z_vc = constant + Σ_w C_w,
    C_w  = Σ_j ⟨x_w Θ¹_j, [H_j G]_w⟩,   G_u = 1[pre_u > 0] ⊙ Σ_k [H_k]_vu Θ²_k[:, c],

with H_k = e^{-ksL} as the network has it (thresholded, where it is). The constant is what biases
give; the paper's network has none, and it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import GraphError, ParameterError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.neighborhood import hop_distances
from graphheat.nn import SparseFeatures
from graphheat.training import Run
from graphheat.training.run import ROLE_NAMES

if TYPE_CHECKING:
    import pandas

TRAIN = ROLE_NAMES.index("train")


@dataclass(frozen=True, eq=False)
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

    def by_hop(self) -> dict[int, float]:
        """Return what the sources at each distance gave together; −1 holds those without a path."""
        return {
            int(hop): float(self.contributions[self.hops == hop].sum())
            for hop in np.unique(self.hops)
        }

    def table(self) -> pandas.DataFrame:
        """Return node, contribution, hops and training, one row a source."""
        import pandas

        return pandas.DataFrame(
            {
                "node": [self.nodes[index] for index in self.sources],
                "contribution": self.contributions,
                "hops": self.hops,
                "training": self.training,
            }
        )

    def text(self, limit: int = 5) -> str:
        """Return the explanation in a few lines, naming the ``limit`` largest sources."""
        lines = [
            f"Node {self.node}: {self.label} with probability {self.probability:.3f} "
            f"(logit {self.logit:+.3f} = {self.constant:+.3f} constant "
            f"{self.contributions.sum():+.3f} from {len(self.sources):,} sources)"
        ]
        for index, given, hops, known in zip(
            self.sources[:limit], self.contributions, self.hops, self.training, strict=False
        ):
            mark = ", training node" if known else ""
            far = "itself" if hops == 0 else f"{hops} hop{'s' if hops != 1 else ''} away"
            lines.append(f"  {given:+.4f}  from {self.nodes[index]} ({far}{mark})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def explain(run: Run, graph: Graph, node: Any, *, label: Any = None) -> Explanation:
    """Return what each source node gave to a logit of ``node``.

    Parameters
    ----------
    run, graph
        A finished run and the graph that it was fitted on.
    node
        The node's id.
    label
        The class to explain; default: the predicted one.

    Notes
    -----
    *Accuracy*: constant and contributions sum to the logit within 1e-4. *Cost*: that of the kernel
    once, then a few products; :class:`Explainer` shares the kernel between nodes. *Deterministic*:
    yes. *Isolated nodes*: are their own and only source.
    """
    return Explainer(run, graph).explain(node, label=label)


class Explainer:
    """Explains node after node of one run, with one kernel.

    Parameters
    ----------
    run, graph
        As for :func:`explain`.
    threads
        For the kernel.
    """

    def __init__(self, run: Run, graph: Graph, *, threads: int | None = None) -> None:
        if graph.fingerprint != run.fingerprint:
            raise GraphError(
                f"{graph.name} is not the graph that this run was fitted on; its edges, features, "
                "labels, ids or split differ. Give that graph."
            )
        self.run, self.graph = run, graph
        self._first = run.weights["first.weight"].double().numpy()  # (K, f, hidden)
        self._second = run.weights["second.weight"].double().numpy()  # (K, hidden, c)
        biases = [run.weights.get(f"{layer}.bias") for layer in ("first", "second")]
        self._biases = [None if b is None else b.double().numpy() for b in biases]
        self._kernels = _kernels(run, graph, threads)
        self._inputs = _inputs(run, graph, self._first)
        before = sum(
            self._spread(k, inputs) for k, inputs in enumerate(self._inputs)
        )  # (n, hidden)
        if self._biases[0] is not None:
            before = before + self._biases[0]
        self._active = before > 0
        hidden = np.where(self._active, before, 0.0)
        self.logits: NDArray[np.float64] = sum(
            self._spread(k, hidden @ weight) for k, weight in enumerate(self._second)
        )
        if self._biases[1] is not None:
            self.logits = self.logits + self._biases[1]

    def explain(self, node: Any, *, label: Any = None) -> Explanation:
        """Return what each source gave to a logit of ``node``, as :func:`explain` does."""
        index = self.graph.index_of(node)
        code = int(self.run.predicted[index])
        if label is not None:
            if label not in self.run.classes:
                raise ParameterError(
                    f"The 'label' parameter of explain must be a class of the run. "
                    f"Got {label!r} instead."
                )
            code = self.run.classes.index(label)
        given, constants = self.contributions(index, [code])
        sources = np.flatnonzero(given[:, 0])
        # The largest first; ties by row number.
        sources = sources[np.lexsort((sources, -np.abs(given[sources, 0])))]
        return Explanation(
            node=self.run.nodes[index],
            index=index,
            label=self.run.classes[code],
            logit=float(self.logits[index, code]),
            probability=float(self.run.probabilities[index, code]),
            constant=float(constants[0]),
            sources=sources,
            contributions=given[sources, 0],
            hops=hop_distances(self.graph, index)[sources],
            training=self.run.roles[sources] == TRAIN,
            nodes=self.run.nodes,
        )

    def contributions(
        self, index: int, codes: list[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what every node gave to logits of ``index``, and the constants.

        Returns
        -------
        tuple
            Contributions, shape (n, len(codes)), and constants, shape (len(codes),).
        """
        rows = [self._row(k, index) for k in range(len(self._second))]
        # What each logit gains from one unit of each node's hidden layer, shape (n, codes, hidden).
        gain: Any = sum(
            row[:, None, None] * weight[:, codes].T[None]
            for row, weight in zip(rows, self._second, strict=True)
        )
        gain = np.where(self._active[:, None, :], gain, 0.0)
        given = np.zeros((self.graph.n, len(codes)))
        flat = gain.reshape(self.graph.n, -1)
        for k, inputs in enumerate(self._inputs):
            felt = self._gather(k, flat).reshape(gain.shape)
            given += np.einsum("nh,nch->nc", inputs, felt)
        constants = np.zeros(len(codes))
        if self._biases[0] is not None:
            constants += gain.sum(axis=0) @ self._biases[0]
        if self._biases[1] is not None:
            constants += self._biases[1][codes]
        return given, constants

    # --------------------------------------------------------------- e^{-ksL}

    def _spread(self, k: int, block: NDArray[np.float64]) -> NDArray[np.float64]:
        if k == 0:
            return block
        kernel = self._kernels[k - 1]
        product: NDArray[np.float64] = (
            kernel.apply(block) if isinstance(kernel, HeatKernel) else kernel @ block
        )
        return product

    def _gather(self, k: int, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return H_k block for a block most of whose rows are 0: only the others are multiplied."""
        if k == 0 or isinstance(self._kernels[k - 1], HeatKernel):
            return self._spread(k, block)
        held = np.flatnonzero(block.any(axis=1))
        product: NDArray[np.float64] = self._kernels[k - 1][held].T @ block[held]
        return product

    def _row(self, k: int, index: int) -> NDArray[np.float64]:
        unit = np.zeros(self.graph.n)
        unit[index] = 1.0
        if k == 0:
            return unit
        kernel = self._kernels[k - 1]
        if isinstance(kernel, HeatKernel):
            return np.asarray(kernel.apply(unit), dtype=np.float64)
        return np.asarray(kernel[[index]].toarray(), dtype=np.float64).ravel()


def _kernels(run: Run, graph: Graph, threads: int | None) -> list[Any]:
    """Return e^{-ksL} for k = 1 … K − 1 as the network has them: matrices, or products."""
    settings = run.settings
    found: list[Any] = []
    for k in range(1, settings.K):
        kernel = HeatKernel(graph, k * settings.s, threads=threads)
        if settings.eps is None:
            found.append(kernel)
            continue
        matrix = kernel.matrix(settings.eps).astype(np.float64)
        if settings.zero_diagonal:
            matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal(), format="csr"))
        found.append(matrix)
    return found


def _inputs(run: Run, graph: Graph, first: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return X Θ_k of the first layer, one a term, shape (n, hidden)."""
    x = run.scaling.apply(graph.features)
    if isinstance(x, SparseFeatures):
        p = x.pattern
        matrix: Any = sp.csr_array(
            (x.values.double().numpy(), p.col.numpy(), p.crow.numpy()), shape=p.shape
        )
    else:
        matrix = x.double().numpy()
    return [np.asarray(matrix @ weight) for weight in first]
