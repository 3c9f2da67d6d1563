"""The smooth end of a graph's spectrum: the eigenvectors of L with the smallest eigenvalues."""

from __future__ import annotations

import hashlib
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphheat.errors import KernelMemoryError, OutputError
from graphheat.graph import Graph
from graphheat.heat import normalized_adjacency
from graphheat.heat.engines.strips import WIDTH
from graphheat.io import replacing
from graphheat.memory import available_memory

SPARE = 0.2  # vectors carried along beyond those asked for: the gap to the others is the speed
DEGREE = 60  # of the polynomial between two orthogonalisations
RESIDUAL = 1e-6  # ‖Su − μu‖ at which an eigenvector is exact for float32
MOST_PASSES = 40


def lowest_eigenvectors(graph: Graph, count: int) -> NDArray[np.float32]:
    """Return the ``count`` eigenvectors of L with the smallest eigenvalues, shape (n, count).

    Computed once per graph and kept as a file in the folder that ``GRAPHHEAT_CACHE`` names (default
    ``~/.cache/graphheat``). A file that is damaged is computed again; a folder that cannot be
    written to costs only the time.

    Notes
    -----
    *Accuracy*: ‖Lu − λu‖ ≤ 1e-6 for each. *Cost*: half of the spectrum or more by a dense
    decomposition, O(n³); fewer by products with S on 1.2 × count vectors, a few passes of 60
    products and an orthogonalisation, O(n · count²). *Deterministic*: yes, but which basis spans a
    multiple eigenvalue, and each sign, is up to the libraries. *Isolated nodes*: λ = 1.
    """
    count = min(count, graph.n)
    path = _folder() / f"eigenvectors-{edges_digest(graph)[:32]}-{count}.npy"
    vectors = _read(path, (graph.n, count))
    if vectors is None:
        S = normalized_adjacency(graph.adjacency)
        vectors = (_dense if 2 * count >= graph.n else _filtered)(S, count).astype(np.float32)
        _write(path, vectors)
    return vectors


def edges_digest(graph: Graph) -> str:
    """Return the SHA-256 of the edges alone: what other labels and splits do not change."""
    digest = hashlib.sha256(str(graph.n).encode())
    for array, kind in zip(
        (graph.adjacency.indptr, graph.adjacency.indices, graph.adjacency.data),
        (np.int64, np.int64, np.float64),
        strict=True,
    ):
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()


# ---------------------------------------------------------------------- computing


def _dense(S: sp.csr_array, count: int) -> NDArray[np.float64]:
    _check_memory(3 * S.shape[0] ** 2)
    _, vectors = np.linalg.eigh(S.toarray())
    return np.ascontiguousarray(vectors[:, ::-1][:, :count])


def _filtered(S: sp.csr_array, count: int) -> NDArray[np.float64]:
    """Subspace iteration: a Chebyshev polynomial in S that grows beyond ``cut`` and not below.

    ARPACK orthogonalises vector by vector, which for a thousand of them takes ten times as long;
    and a block has no trouble with multiple eigenvalues.
    """
    n = S.shape[0]
    size = min(n, count + max(16, math.ceil(SPARE * count)))
    _check_memory(4 * n * size)
    block = np.random.default_rng(0).standard_normal((n, size))
    cut = 0.5
    for _ in range(MOST_PASSES):
        block, _ = np.linalg.qr(_amplify(S, block, cut))
        values, rotation = np.linalg.eigh(block.T @ (S @ block))
        block = block @ rotation[:, ::-1]
        values = values[::-1]
        wanted = block[:, :count]
        residual = np.linalg.norm(S @ wanted - wanted * values[:count], axis=0).max()
        if residual <= RESIDUAL:
            break
        cut = min(values[-1], values[count - 1] - 1e-3)
    return block[:, :count]


def _amplify(S: sp.csr_array, block: NDArray[np.float64], cut: float) -> NDArray[np.float64]:
    """Return T(S) block with the Chebyshev polynomial T of [−1, cut], which it writes over."""
    centre, radius = (cut - 1) / 2, (cut + 1) / 2
    moved = sp.csr_array((S - centre * sp.eye_array(S.shape[0], format="csr")) / radius)
    for first in range(0, block.shape[1], WIDTH):  # strips that stay in cache
        before = np.ascontiguousarray(block[:, first : first + WIDTH])
        now = np.asarray(moved @ before)
        for _ in range(DEGREE - 1):
            after = np.asarray(moved @ now)
            after *= 2
            after -= before
            before, now = now, after
        block[:, first : first + WIDTH] = now / np.linalg.norm(now, axis=0)
    return block


def _check_memory(numbers: int) -> None:
    room = available_memory()
    if room is not None and 8 * numbers > room:
        raise KernelMemoryError(
            f"The eigenvectors need about {8 * numbers / 1e9:.1f} GB, and {room / 1e9:.1f} GB are "
            "free. Ask for fewer eigenvectors."
        )


# ---------------------------------------------------------------------- keeping


def _folder() -> Path:
    return Path(os.environ.get("GRAPHHEAT_CACHE") or Path("~/.cache/graphheat").expanduser())


def _read(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    try:
        vectors: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if vectors.dtype != np.float32 or vectors.shape != shape:
        return None
    lengths = np.einsum("ij,ij->j", vectors, vectors)  # a damaged number shows in its column
    return vectors if np.allclose(lengths, 1.0, atol=1e-3) else None


def _write(path: Path, vectors: NDArray[np.float32]) -> None:
    with suppress(OSError, OutputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as aside:
            np.save(aside, vectors, allow_pickle=False)
