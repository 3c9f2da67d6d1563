"""Heat of a handful of labels, at a fixed diffusion time: what the page computes after each label.

With H = e^{-sL} of the graph with self-loops, s = 20, m_c labels of class c and m in all, of k
classes, node v gets

    p_vc = (F_vc + ε π_c) / Σ_d (F_vd + ε π_d),    F_vc = Σ_{labels l of c} H_vl,
    π_c = (m_c + 1) / (m + k),    ε = 0.01 · mean over labels of H_ll.

That is :mod:`graphheat.linear.spreading` with s and γ = 1 given instead of chosen, so that colours
do not jump when a choice does; with a larger trace ε, so that a node that hardly any heat reaches
is shown as unsure; and with one more label per class in the shares π, so that a class that is named
and not met yet is possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import check_count
from graphheat.errors import ParameterError
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.heat.engines import ONE_OFF
from graphheat.linear.ridge import one_hot

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

S = 20.0
SELF_LOOPS = 1.0
TRACE = 0.01
TOL = 1e-10  # ε is about 1e-4, and probabilities are to be right to 1e-6
TOL_PER_NEIGHBOR = 1e-14  # what float64 allows where a node has a great many
STRIP = 64  # columns of e^{-sL} at a time


def label_kernel(graph: Graph, *, threads: int | None = None) -> HeatKernel:
    """Return the kernel that labels are spread by while one labels."""
    longest = int(np.diff(graph.adjacency.indptr).max(initial=0))
    tol = max(TOL, TOL_PER_NEIGHBOR * (longest + 10))
    return HeatKernel(graph, S, tol=tol, self_loops=SELF_LOOPS, engine=ONE_OFF, threads=threads)


def spread(
    graph: Graph,
    labels: ArrayLike,
    *,
    classes: int | None = None,
    threads: int | None = None,
) -> Array:
    """Spread a handful of labels by heat, as the page does.

    Parameters
    ----------
    graph
        Its own labels are not looked at.
    labels
        Class codes, shape (n,); −1 = unlabelled.
    classes
        How many classes there are, k; default: as many as the codes tell.
    threads
        Threads to use; default: by the size of the job.

    Returns
    -------
    ndarray
        Probabilities, shape (n, k), also of labelled nodes; 1/k everywhere without any label.

    Notes
    -----
    *Accuracy*: heat to 1e-10, probabilities to about 1e-6. *Cost*: a diffusion of k columns, and
    of as many columns as there are labels on the diagonal of the kernel. *Deterministic*: yes.
    *Isolated nodes*: an unlabelled one gets the shares π.

    Examples
    --------
    >>> import graphheat, numpy as np
    >>> karate = graphheat.datasets.load("karate")
    >>> labels = np.full(karate.n, -1)
    >>> labels[[0, 33]] = 0, 1
    >>> p = spread(karate, labels)
    >>> int((p.argmax(axis=1) == karate.labels).sum()), karate.n
    (32, 34)
    """
    codes = checked_codes(graph, labels, classes)
    count = int(codes.max(initial=-1)) + 1 if classes is None else classes
    if not count:
        raise ParameterError("spread needs a label, or classes=…, how many classes there are.")
    known = np.flatnonzero(codes >= 0)
    if not len(known):
        return np.full((graph.n, count), 1.0 / count)
    kernel = label_kernel(graph, threads=threads)
    own = own_heat(kernel, known)
    columns = np.zeros((graph.n, count))
    columns[known] = one_hot(codes[known], count)
    heat = np.maximum(np.asarray(kernel.apply(columns), dtype=np.float64), 0.0)
    return shares(heat, own, np.bincount(codes[known], minlength=count))


def shares(heat: Array, own: Array, counts: NDArray[Any]) -> Array:
    """Return probabilities of heat by class, shape (n, k); ``own`` are H_ll, ``counts`` m_c."""
    prior = (counts + 1.0) / (counts.sum() + len(counts))
    mixed = heat + TRACE * float(own.mean()) * prior
    result: Array = mixed / mixed.sum(axis=1, keepdims=True)
    return result


def own_heat(kernel: HeatKernel, nodes: Codes) -> Array:
    """Return H_ll of some nodes, shape (m,)."""
    own = np.empty(len(nodes))
    for a in range(0, len(nodes), STRIP):
        some = nodes[a : a + STRIP]
        units = np.zeros((kernel.n, len(some)))
        units[some, np.arange(len(some))] = 1.0
        own[a : a + STRIP] = np.asarray(kernel.apply(units))[some, np.arange(len(some))]
    return own


def checked_codes(graph: Graph, labels: ArrayLike, classes: int | None) -> Codes:
    """Return class codes as integers, or raise."""
    given = np.asarray(labels)
    if given.shape != (graph.n,) or not np.issubdtype(given.dtype, np.integer):
        raise ParameterError(
            "The 'labels' parameter of spread must be class codes, one per node and −1 where "
            f"there is none, shape ({graph.n},). Got {given.dtype} of shape {given.shape} instead."
        )
    codes = given.astype(np.int64)
    most = np.iinfo(np.int16).max if classes is None else check_count(classes, "classes", "spread")
    if codes.min(initial=-1) < -1 or codes.max(initial=-1) >= most:
        wrong = int(np.flatnonzero((codes < -1) | (codes >= most))[0])
        raise ParameterError(
            f"The 'labels' parameter of spread must be codes from −1 to {most - 1}; that of row "
            f"{wrong} is {codes[wrong]}."
        )
    return codes
