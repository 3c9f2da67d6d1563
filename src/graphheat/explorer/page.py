"""One HTML file with everything in it: script, style and data; nothing is fetched, nothing sent."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from graphheat.checks import check_eps, check_s
from graphheat.errors import GraphError, MissingPathError
from graphheat.explorer.data import page_data
from graphheat.explorer.layout import lay_out
from graphheat.explorer.part import MAX_EDGES, MAX_NODES, choose_part
from graphheat.explorer.payload import pack
from graphheat.explorer.schema import Header
from graphheat.graph import Graph
from graphheat.io import check_writable, replacing
from graphheat.progress import Progress
from graphheat.progress_bar import showing
from graphheat.runs import Run

# script-src and style-src name the page's own two by their hashes; no connection of any kind, or
# where a server is meant, to that one alone.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; "
    "connect-src '{connect}'; form-action 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="app"><p class="opening">Opening {title} …</p></main>
<noscript><p class="opening">This page draws a graph and needs JavaScript. It sends nothing
anywhere.</p></noscript>
<script type="application/octet-stream" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """What was written.

    Attributes
    ----------
    path, bytes
        The file and its size.
    nodes, edges
        How many it holds.
    explained
        Of how many nodes it explains the prediction.
    note
        What was left out, in a sentence, or None.
    """

    path: str
    bytes: int
    nodes: int
    edges: int
    explained: int
    note: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the page's figures, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class _Composed:
    """A page that is not written yet."""

    text: str
    header: Header
    explained: int


def write_page(
    source: Graph | Run,
    path: str | os.PathLike[str],
    *,
    graph: Graph | None = None,
    s: float | None = None,
    eps: float | None = None,
    around: Sequence[Any] = (),
    title: str | None = None,
    noun: str | None = None,
    seed: int = 0,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
    progress: Progress | bool | None = None,
) -> Page:
    """Write a page on which a graph can be looked at and labelled, with heat and a run's labels.

    Parameters
    ----------
    source
        A graph, or a finished run of GraphHeat, the linear recipe included.
    path
        The HTML file; it is replaced as a whole.
    graph
        The run's graph, or that one grown (:meth:`~graphheat.Graph.extended`).
    s, eps
        Where the page's sliders start; default: the run's, otherwise 3 and 1e-4.
    around
        Ids of nodes around which to cut a graph that is over the limits; without them around the
        node of the highest degree.
    title
        Heading of the page; default: the graph's name.
    noun
        What the nodes are, in the plural, for the page's sentences: "papers", "people".
    seed
        Of the layout.
    progress
        Called while predictions are explained; True: a bar.

    Notes
    -----
    *Cost*: layout in seconds for Pubmed; explaining 400 predictions of a run takes as long again.
    *Deterministic*: the same file, byte for byte, for the same input on the same machine.
    """
    check_writable(path)
    made = _compose(
        source, graph, s, eps, around, title, noun, seed, (max_nodes, max_edges), progress
    )
    content = made.text.encode("utf-8", "replace")
    with replacing(path) as aside:
        aside.write_bytes(content)
    header = made.header
    return Page(
        path=os.fspath(path),
        bytes=len(content),
        nodes=header["nodes"],
        edges=header["edges"],
        explained=made.explained,
        note=header["note"],
    )


def page_text(
    source: Graph | Run,
    *,
    graph: Graph | None = None,
    s: float | None = None,
    eps: float | None = None,
    around: Sequence[Any] = (),
    title: str | None = None,
    noun: str | None = None,
    seed: int = 0,
    server: bool = False,
    max_nodes: int = MAX_NODES,
    max_edges: int = MAX_EDGES,
    progress: Progress | bool | None = None,
) -> str:
    """Return the HTML that :func:`write_page` writes.

    Parameters
    ----------
    server
        Whether the page may ask the server that it came from, and no other; in a file it may ask
        nobody.

    Examples
    --------
    >>> import graphheat
    >>> text = page_text(graphheat.datasets.load("karate"), server=True)
    >>> "connect-src 'self'" in text
    True
    """
    limits = (max_nodes, max_edges)
    return _compose(
        source, graph, s, eps, around, title, noun, seed, limits, progress, server=server
    ).text


def _compose(
    source: Graph | Run,
    graph: Graph | None,
    s: float | None,
    eps: float | None,
    around: Sequence[Any],
    title: str | None,
    noun: str | None,
    seed: int,
    limits: tuple[int, int],
    progress: Progress | bool | None,
    *,
    server: bool = False,
) -> _Composed:
    run: Run | None = None
    if isinstance(source, Run):
        run = source
        if run.explained_by is None:
            raise GraphError(
                f"A page shows runs with reasons. {run.why_unexplained()} Give its graph to see "
                "the heat alone."
            )
        if graph is None:
            raise GraphError("A run does not hold its edges; give its graph with graph=….")
        run, graph, _ = run.on_grown(graph)
        settings = run.settings_dict()
        s = run.diffusion_time if s is None else s
        eps = settings.get("eps") if eps is None else eps
    elif isinstance(source, Graph):
        graph = source
    else:
        raise GraphError(f"A page shows a Graph or a Run; got {type(source).__name__}.")
    s = check_s(3.0 if s is None else s, "write_page")
    eps = check_eps(1e-4 if eps is None else eps, "write_page")
    part = choose_part(graph, s, around, max_nodes=limits[0], max_edges=limits[1])
    places = lay_out(part.adjacency, seed=seed)
    shown = graph.name if title is None else title
    with showing(progress) as bar:
        header, blocks = page_data(
            *(graph, part, places),
            run=run, title=shown, s=s, eps=eps, noun=noun, server=server, progress=bar,
        )  # fmt: skip
    text = render(shown, pack(header, blocks), server=server)
    return _Composed(text, header, len(blocks.get("why_nodes", ())))


def render(title: str, data: str, *, server: bool = False) -> str:
    """Return the page's HTML around packed data."""
    script, style = asset("explorer.js"), asset("explorer.css")
    policy = POLICY.format(
        script=_hash(script), style=_hash(style), connect="self" if server else "none"
    )
    return TEMPLATE.format(
        policy=html.escape(policy, quote=True).replace("&#x27;", "'"),
        title=html.escape(title),
        style=style,
        data=data,
        script=script,
    )


def asset(name: str) -> str:
    """Return a built file of the page as text."""
    file = files("graphheat.explorer") / "assets" / name
    if not file.is_file():
        raise MissingPathError(f"The page's {name} is missing; run `make frontend` to build it.")
    return file.read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
