"""Random graphs with everything a graph can have, for readers and writers."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphheat.graph import Graph

# NumPy drops NULs at the end of a string: "a" and "a\0" would be one id.
WITHOUT_NUL = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
# What a text table keeps as it is: no blank at an end, no number, no missing value.
WORDS = st.from_regex(r"[a-zé#,;\"'|=+][ a-zé0-9,;\"'\t]{0,5}é", fullmatch=True)


@st.composite
def graphs(draw, *, table=False):
    """Draw a graph; with ``table`` one that an edge list and a node table can hold."""
    n = draw(st.integers(1, 8))
    weight = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-300, 1e300))
    upper = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=weight)))
    if table and not upper.any():
        upper[0, 0] = 1.0  # a header alone is an empty graph
    features = draw(
        st.none()
        | hnp.arrays(
            np.float32,
            (n, 3),
            elements=st.sampled_from([0, 1]) | st.floats(-9, 9, width=32),
        )
    )
    if features is not None and not table and draw(st.booleans()):
        features = sp.csr_array(features)
    text = WORDS if table else st.text(max_size=5)
    whole = st.integers(0, 2**60) if table else st.integers(-(2**70), 2**70)
    names = draw(
        st.lists(text, min_size=1, max_size=4, unique=True)
        | st.lists(whole, min_size=1, max_size=4, unique=True)
        | (st.nothing() if table else st.just([False, True]) | st.just([0.0, 1.5]))
    )
    labels = draw(st.lists(st.integers(-1, len(names) - 1), min_size=n, max_size=n))
    if table:  # a table has the classes that its nodes have, sorted
        names = sorted({names[code] for code in labels if code >= 0})
        labels = [min(code, len(names) - 1) for code in labels]
        labels[: len(names)] = range(len(names))
    ids = WORDS if table else st.text(WITHOUT_NUL, max_size=5)
    nodes = draw(
        st.none()
        | st.lists(ids, min_size=n, max_size=n, unique=True)
        | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n, unique=True)
    )
    parts = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    titles = st.lists(WORDS if table else st.text(max_size=4), min_size=n, max_size=n)
    split = {"test": np.flatnonzero(parts == 1)}
    if not table:
        split["späť/.."] = np.flatnonzero(parts == 2)
    elif not split["test"].size:
        split = {}
    return Graph.from_scipy(
        upper + np.triu(upper, 1).T,
        features,
        labels,
        classes=names,
        nodes=nodes,
        titles=draw(st.none() | titles),
        split=split,
        name=draw(st.text(max_size=5)),
    )
