"""Arguments of another kind, given to public calls from Python."""

import functools
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from cases_of_files import GRAPH, PATH
from hostile_cases import DONE, REFUSED, Case

import graphheat
from graphheat.errors import GraphHeatError
from graphheat.explorer import write_page
from graphheat.graph import Graph
from graphheat.heat import HeatKernel
from graphheat.io import read_csv, read_npz, write_csv, write_npz

RAGGED = [[0, 1], [1]]
EITHER = (DONE, REFUSED)


class Unequal:
    """Cannot be compared."""

    def __eq__(self, other):
        raise ZeroDivisionError

    def __ne__(self, other):
        raise ZeroDivisionError

    __hash__ = None


def cases():
    """Yield all cases of calls."""
    for name, call, *want in (*graphs(), *readers(), *kernels(), *estimators(), *fits(), *paths()):
        yield Case("f_api", name, call, want=want[0] if want else (REFUSED,))
    for name, nodes, labels in (
        ("ids with spaces around", [" a", "b", "c"], ["x", "y", "y"]),
        ("ids '1','2','3' as words", ["1", "2", "3"], ["x", "y", "y"]),
        ("label 'True'", ["a", "b", "c"], [True, False, True]),
        ("label ' x'", ["a", "b", "c"], [" x", "y", "y"]),
        ("label '1'", ["a", "b", "c"], ["1", "2", "1"]),
    ):
        call = functools.partial(round_trip, nodes, labels)
        yield Case("f_api", f"csv trip {name}", call, want=EITHER)


def scipy(*args, **options):
    return functools.partial(Graph.from_scipy, *args, **options)


def falling():
    matrix = sp.csr_array(PATH)
    matrix.indptr[:] = [0, 9, 2, 4]
    return Graph.from_scipy(matrix)


def beyond():
    features = sp.csr_array(np.eye(3))
    features.indices[:] = [0, 1, 10**6]
    return Graph.from_scipy(PATH, features)


def apart(labels):
    graph = Graph.from_scipy(PATH, labels=labels)
    assert [graph.classes[code] for code in graph.labels] == labels, graph.classes


def graphs():
    yield "adjacency ragged", scipy(RAGGED)
    yield "adjacency longdouble", scipy(PATH.astype(np.longdouble) * np.longdouble("1e400"))
    yield "adjacency csr not canonical (indptr falls)", falling
    yield "features ragged", scipy(PATH, features=[[1], [1, 2], [3]])
    yield "features csr indices out of range", beyond
    yield "labels objects whose == raises", scipy(PATH, labels=[Unequal(), 1, 2]), EITHER
    yield "labels arrays as elements", scipy(PATH, labels=[np.ones(2), 1, 2]), EITHER
    large = [2**63, 2**63 + 1, -5]
    name = "labels ints beyond 2^63 beside negatives keep apart"
    yield name, functools.partial(apart, large), EITHER
    yield "labels 2^53+1 beside a float", functools.partial(apart, [2**53, 2**53 + 1, 0.0]), EITHER
    yield "classes unhashable", scipy(PATH, labels=[0, 1, 0], classes=[[1], [2]])
    yield "titles number", scipy(PATH, titles=7)
    yield "split not a mapping", scipy(PATH, split=[0, 1])
    yield "split ragged", scipy(PATH, split={"train": [[0], [1, 2]]})


def readers():
    edges = functools.partial(Graph.from_edges, [0, 1], [1, 2])
    yield "from_edges weight words", functools.partial(edges, ["heavy", 1])
    yield "from_edges weight complex", functools.partial(edges, [1j, 1])
    index = functools.partial(Graph.from_edge_index, np.array([[0, 1], [1, 0]]))
    yield "from_edge_index num_nodes word", functools.partial(index, num_nodes="three")
    yield "from_edge_index num_nodes 1.5", functools.partial(index, num_nodes=1.5)
    far = np.array([[0, 10**12], [10**12, 0]])
    yield "from_edge_index id 10^12", functools.partial(Graph.from_edge_index, far)
    yield "from_networkx weight word", functools.partial(networkx, weight="x")
    yield "from_networkx features words", functools.partial(networkx, x="a")
    yield "index_of unhashable", functools.partial(GRAPH.index_of, [0])
    yield "index_of True finds node 1?", functools.partial(GRAPH.index_of, True)


def networkx(weight=1.0, x=1.0):
    import networkx

    made = networkx.Graph()
    made.add_edge("a", "b", weight=weight)
    for node in made:
        made.nodes[node]["x"] = [x]
    Graph.from_networkx(made, features="x")


def kernels():
    kernel = HeatKernel(GRAPH, 1.0)
    yield "apply ragged", functools.partial(kernel.apply, RAGGED)
    yield "apply 1e308 signal", functools.partial(kernel.apply, np.full(GRAPH.n, 1e308)), EITHER
    yield "sweep a number", functools.partial(kernel.sweep, np.ones(GRAPH.n), 1.0)


def known(call):
    """Call; scikit-learn's own sentences about X are as good as ours."""
    try:
        call()
    except GraphHeatError:
        raise
    except ValueError as error:
        raise GraphHeatError(str(error).splitlines()[0]) from error


def estimators():
    from graphheat import GraphHeatClassifier, HeatDiffusion

    X, y = np.asarray(GRAPH.features), GRAPH.labels

    def fitted(X, **options):
        known(lambda: GraphHeatClassifier(**options).fit(X, y, adjacency=GRAPH.adjacency))

    holes = np.full((GRAPH.n, 3), np.nan)
    yield "classifier X NaN", functools.partial(fitted, holes)
    yield "classifier X 1-D", functools.partial(fitted, np.ones(GRAPH.n))
    yield "classifier X empty", functools.partial(fitted, np.ones((0, 3)))

    def unfitted():
        known(lambda: GraphHeatClassifier().predict(X))

    yield "classifier predict before fit", unfitted
    yield "classifier random_state word", functools.partial(fitted, X, random_state="x")

    def saved():
        GraphHeatClassifier(recipe="linear").fit(GRAPH).save(".")

    yield "classifier save to a folder", saved

    def diffused():
        known(lambda: HeatDiffusion().fit_transform(holes[:, :1]))

    yield "diffusion no adjacency, one column of NaN", diffused


def fits():
    for name, value in (("a matrix", PATH), ("None", None), ("a path", "g.npz")):
        yield f"fit graph is {name}", functools.partial(graphheat.fit, value)


def paths():
    yield "read_csv None", functools.partial(read_csv, None)
    yield "read_npz bytes path", functools.partial(read_npz, b"g.npz")
    yield "read_csv number", functools.partial(read_csv, 7)
    yield "write_npz to None", functools.partial(write_npz, GRAPH, None)
    yield "write_csv to a folder", functools.partial(write_csv, GRAPH, ".")
    yield "write_npz NUL", functools.partial(write_npz, GRAPH, "a\0b.npz")
    yield "write_page path None", functools.partial(write_page, GRAPH, None)
    yield "write_page graph None", functools.partial(write_page, None, "p.html")


def round_trip(nodes, labels):
    graph = Graph.from_scipy(PATH, nodes=np.array(nodes, dtype=object), labels=labels)
    write_csv(graph, "e.csv", "n.csv")
    back = read_csv("e.csv", "n.csv")
    assert back.nodes.tolist() == graph.nodes.tolist(), (back.nodes, graph.nodes)
    assert back.classes == graph.classes, (back.classes, graph.classes)
    assert Path("n.csv").exists()
