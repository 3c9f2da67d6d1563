"""Inventories of other projects' documentation, for links that need no network while building.

Sphinx's intersphinx usually fetches a list of all names of a project. Here the few that the
reference mentions are listed by hand, with the pages that they have, and written in its format.
"""

from __future__ import annotations

import zlib
from pathlib import Path

_NUMPY = "reference/generated/{}.html"
_SCIPY = "reference/generated/{}.html"
_SKLEARN = "modules/generated/{}.html"
_PANDAS = "reference/api/{}.html"

# Project → address, and (kind, name, page) of each name.
PROJECTS: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "python": (
        "https://docs.python.org/3/",
        [
            ("class", "concurrent.futures.Executor", "library/concurrent.futures.html"),
            ("class", "pathlib.Path", "library/pathlib.html"),
            ("class", "os.PathLike", "library/os.html"),
            ("class", "collections.abc.Sequence", "library/collections.abc.html"),
            ("class", "collections.abc.Mapping", "library/collections.abc.html"),
            ("class", "collections.abc.Iterable", "library/collections.abc.html"),
            ("class", "collections.abc.Iterator", "library/collections.abc.html"),
            ("class", "collections.abc.Callable", "library/collections.abc.html"),
            ("data", "typing.Any", "library/typing.html"),
            ("data", "typing.Literal", "library/typing.html"),
            ("data", "typing.Self", "library/typing.html"),
            *(("class", name, "library/functions.html") for name in ("bool", "float", "int")),
            *(("class", name, "library/stdtypes.html") for name in ("dict", "list", "str")),
            *(("exception", name, "library/exceptions.html") for name in (
                "FileNotFoundError", "ImportError", "KeyError", "MemoryError", "OSError",
                "ValueError",
            )),
        ],
    ),
    "numpy": (
        "https://numpy.org/doc/stable/",
        [
            *(("class", f"numpy.{name}", "reference/arrays.scalars.html") for name in (
                "bool_", "float32", "float64", "int8", "int64", "integer", "floating",
            )),
            ("class", "numpy.ndarray", _NUMPY.format("numpy.ndarray")),
            ("data", "numpy.typing.ArrayLike", "reference/typing.html"),
            ("data", "numpy.typing.NDArray", "reference/typing.html"),
        ],
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        [
            ("class", name, _SCIPY.format(name))
            for name in (
                "scipy.sparse.csr_array", "scipy.sparse.sparray", "scipy.sparse.spmatrix",
                "scipy.sparse.linalg.LinearOperator",
            )
        ],
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/",
        [
            *(("class", name, _SKLEARN.format(name)) for name in (
                "sklearn.base.BaseEstimator", "sklearn.base.ClassifierMixin",
                "sklearn.base.RegressorMixin", "sklearn.base.TransformerMixin",
                "sklearn.model_selection.GridSearchCV", "sklearn.model_selection.StratifiedKFold",
            )),
            ("function", "sklearn.model_selection.cross_val_score",
             _SKLEARN.format("sklearn.model_selection.cross_val_score")),
        ],
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/",
        [("class", "pandas.DataFrame", _PANDAS.format("pandas.DataFrame"))],
    ),
    "torch": (
        "https://docs.pytorch.org/docs/stable/",
        [
            ("class", "torch.Tensor", "tensors.html"),
            ("class", "torch.device", "tensor_attributes.html"),
            ("class", "torch.nn.Module", "generated/torch.nn.Module.html"),
        ],
    ),
    "matplotlib": (
        "https://matplotlib.org/stable/",
        [("class", "matplotlib.axes.Axes", "api/_as_gen/matplotlib.axes.Axes.html")],
    ),
}  # fmt: skip


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write one ``.inv`` file per project; return the mapping for intersphinx."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, names) in PROJECTS.items():
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        body = "".join(f"{name} py:{kind} 1 {page}#{name} -\n" for kind, name, page in names)
        path = folder / f"{project}.inv"
        path.write_bytes(head.encode() + zlib.compress(body.encode()))
        mapping[project] = (address, str(path))
    return mapping
