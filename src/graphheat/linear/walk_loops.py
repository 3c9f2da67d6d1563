"""The compiled loop of random walks. Importing this module imports numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphheat.heat.engines.push.walk import Edges
from graphheat.jit import compiled

UNIT = 2.0**-53


@compiled
def mixed(number: Any) -> Any:
    """Return 64 bits that look random, of a number that differs in any bit (splitmix64)."""
    z = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def walk(edges: Edges, degrees: Any, start: int, lengths: Any, seed: int, places: Any) -> None:
    """Let walks of falling ``lengths`` go from ``start``; ``places`` is where each one ends.

    All walks take a step before any takes the next: their reads do not wait for each other. A
    number is drawn of walk, step and ``seed`` alone.
    """
    indptr, indices, weights, own = edges.indptr, edges.indices, edges.chances, edges.own
    for j in range(len(lengths)):
        places[j] = start
    active = len(lengths)
    for step in range(lengths[0] if len(lengths) else 0):
        while active and lengths[active - 1] <= step:
            active -= 1
        salt = mixed(np.uint64(seed) ^ (np.uint64(step) << np.uint64(40)))
        for j in range(active):
            v = places[j]
            begin, end = indptr[v], indptr[v + 1]
            drawn = float(mixed(salt + np.uint64(j)) >> np.uint64(11)) * UNIT * degrees[v]
            if len(weights):
                drawn -= own  # the rest of it is the loop's
                e = begin
                while drawn >= 0.0 and e < end:
                    drawn -= weights[e]
                    e += 1
                if e > begin:
                    places[j] = indices[e - 1]
            elif drawn < end - begin:
                places[j] = indices[begin + np.int64(drawn)]
