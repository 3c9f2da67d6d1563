"""Heat of a handful of labels: what the page computes itself after each label.

It is the spreading recipe with its default settings (:mod:`graphheat.linear.spreading`): s is
chosen among 1 … 100 by leave-one-out over the labels, and so is how sure the shares are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphheat.checks import check_count
from graphheat.errors import ParameterError
from graphheat.graph import Graph, Split
from graphheat.linear.spreading import SpreadingSettings, fit_spreading

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


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
    See :func:`graphheat.linear.spreading.fit_spreading`, whose answer this is.

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
    split = Split.checked({"train": known}, codes)
    labelled = replace(graph, labels=codes, classes=tuple(range(count)), split=split)
    run = fit_spreading(labelled, split, SpreadingSettings(), threads=threads)
    return np.asarray(run.probabilities, dtype=np.float64)


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
