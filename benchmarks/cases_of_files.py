"""Tables and files of other kinds, as strangers may send them."""

import functools
import os
import socket
import stat
import zipfile
from pathlib import Path

import numpy as np
from hostile_cases import DONE, FAILED, REFUSED, Case

from graphheat.datasets import block_model
from graphheat.io import write_npz

INFO = ("info", "e.csv")
NODES = ("--nodes", "n.csv")
GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
PATH = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)


def cases():
    """Yield all cases of files."""
    yield from tables()
    yield from other_kinds()


def texts(**files):
    """Return what writes text files by name; _ stands for a dot."""

    def make():
        for name, text in files.items():
            Path(name.replace("_", ".")).write_text(text, encoding="utf-8")

    return make


EDGES = "source,target\na,b\nb,c\n"


def tables():
    case = functools.partial(Case, "a_csv")
    either = (REFUSED, DONE)
    yield case("50 MB single line", INFO, texts(e_csv="a," * 25_000_000 + "b\n"))
    yield case(
        "50 MB single cell",
        INFO,
        texts(e_csv="source,target\n" + "a" * 50_000_000 + ",b\n"),
        either,
    )
    yield case(
        "5 MB unknown id named in message",
        (*INFO, *NODES),
        texts(e_csv="source,target\n" + "b" * 5_000_000 + ",a\n", n_csv="id\na\n"),
    )
    long = "h" * 200_000
    yield case(
        "header cell of 200 kB (csv limit)",
        (*INFO, *NODES),
        texts(e_csv=EDGES, n_csv=f"id,{long}\na,1\nb,2\nc,3\n"),
        either,
    )
    yield case("edge header cell of 200 kB", INFO, texts(e_csv=f"{long},target\na,b\n"), either)
    yield case(
        "first row of an edge list holds a quoted newline",
        INFO,
        texts(e_csv='"a\nb",c\nc,d\n'),
        either,
    )
    yield case(
        "trailing comma in rows only", INFO, texts(e_csv="source,target\na,b,\nb,c,\n"), either
    )
    yield case(
        "ids NFC and NFD both (no table)",
        INFO,
        texts(e_csv="source,target\n\u00e9,b\ne\u0301,b\n"),
        (DONE,),
    )
    digits = "1" * 5000
    yield case("ids of 5000 digits", INFO, texts(e_csv=f"source,target\n{digits},2\n2,3\n"), either)
    yield case(
        "label of 5000 digits",
        (*INFO, *NODES),
        texts(e_csv=EDGES, n_csv=f"id,label\na,{digits}\nb,2\nc,2\n"),
        either,
    )
    numbers = "source,target\n1,2\n2,10\n"
    yield case("neighbors '1_0' finds 10?", ("neighbors", "e.csv", "1_0"), texts(e_csv=numbers))
    yield case("neighbors Arabic digit", ("neighbors", "e.csv", "\u0661"), texts(e_csv=numbers))
    for name, cell, want in (
        ("weights 1e-400 underflow to 0", "1e-400", (REFUSED,)),
        ("weight 0", "0", (DONE,)),
        ("weight 1_000", "1_000", (REFUSED,)),
        ("weight Arabic digit", "\u0663", (REFUSED,)),
    ):
        yield case(
            name, INFO, texts(e_csv=f"source,target,weight\na,b,{cell}\nb,c,1\nc,d,1\n"), want
        )
    yield case(
        "duplicates sum overflow",
        (*INFO, "--duplicates", "sum"),
        texts(e_csv="source,target,weight\na,b,1e308\na,b,1.5e308\n"),
    )
    yield case(
        "feature int 2^64",
        (*INFO, *NODES),
        texts(e_csv=EDGES, n_csv=f"id,x\na,{2**64}\nb,2\nc,3\n"),
        (DONE,),
    )
    escaped = texts(e_csv=EDGES, n_csv="id,label,title\na,\x1b[31mx,\x1b[2Jt\nb,y,B\nc,,C\n")
    no_escape = lambda o: "an escape on the terminal" if "\x1b" in o.out + o.err else None  # noqa: E731
    yield case("labels with ANSI escapes", (*INFO, *NODES), escaped, (DONE,), no_escape)
    yield case(
        "titles with ANSI in neighbors",
        ("neighbors", "e.csv", "b", *NODES),
        escaped,
        (DONE,),
        no_escape,
    )
    formulas = texts(e_csv=EDGES + "c,d\nd,a\n", n_csv="id,label\na,=1+1\nb,y\nc,=1+1\nd,y\n")
    fit = ("fit", "e.csv", *NODES, "--recipe", "spreading", "--out", "run", "--safe-csv")
    yield case("labels formula", fit, formulas, (DONE,), guarded)
    npz = functools.partial(write_npz, GRAPH, "g.npz")
    for name, recipe, setting in (
        ("set json bomb", "paper", "learning_rate=" + "[" * 100_000),
        ("set learning_rate 1e300", "paper", "learning_rate=1e300"),
        ("set hidden=1e9", "consistent", "hidden=1000000000"),
        ("hidden 10^12", "paper", f"hidden={10**12}"),
        ("hidden 10^30", "paper", f"hidden={10**30}"),
        ("set views=10^9", "consistent", f"views={10**9}"),
        ("set K=10^6", "paper", "K=1000000"),
    ):
        yield case(
            name, ("fit", "g.npz", "--recipe", recipe, "--set", setting), npz, (REFUSED, FAILED)
        )


def guarded(outcome):
    lines = Path("run/predictions.csv").read_text().splitlines()
    bare = [line for line in lines if any(cell.startswith("=") for cell in line.split(","))]
    return f"cells that a spreadsheet would compute: {bare[0]}" if bare else None


# ---------------------------------------------------------------------- files of other kinds


def zeros(*members, byte=b"\0"):
    """Return what writes an archive with members of so many equal bytes, packed."""

    def make():
        block = byte * 2**22
        with zipfile.ZipFile("g.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, size in members:
                with archive.open(name, "w", force_zip64=True) as stream:
                    for _ in range(size // len(block)):
                        stream.write(block)

    return make


def matrix(nodes, entries="", comments="", kind="pattern general", count=None):
    count = len(entries.splitlines()) if count is None else count
    text = f"%%MatrixMarket matrix coordinate {kind}\n{comments}{nodes} {nodes} {count}\n{entries}"
    return lambda: Path("g.mtx").write_text(text)


def other_kinds():
    case = functools.partial(Case, "c_files")
    npz, mtx = ("info", "g.npz"), ("info", "g.mtx")
    array = (
        b"\x93NUMPY\x01\x00v\x00{'descr': '|i1', 'fortran_order': False, 'shape': (10000000000,), }"
    )

    def bomb():
        zeros(("rest", 0))()
        with (
            zipfile.ZipFile("g.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
            archive.open("edge_index.npy", "w", force_zip64=True) as stream,
        ):
            stream.write(array.ljust(127) + b"\n")
            for _ in range(10**10 // 10**8):
                stream.write(b"\0" * 10**8)

    yield case("zip bomb 10 GB, no address limit (cap 2 GB RSS)", npz, bomb)
    yield case(
        "zip of 20 unused members of 512 MB (cap 2 GB RSS)",
        npz,
        zeros(*((f"unused{k}.npy", 2**29) for k in range(20))),
    )
    yield case("zip with a 3 GB text member (cap 2 GB RSS)", npz, zeros(("readme.txt", 3 * 2**30)))
    yield case(
        "own 'words' of 1 GB of spaces deflated (cap 2 GB)",
        npz,
        zeros(("words.npy", 2**30), byte=b" "),
    )
    yield case("mtx 2^31-1 nodes, no entry", mtx, matrix(2**31 - 1))
    yield case("mtx 10^9 nodes, one entry", mtx, matrix(10**9, "2 1\n"))
    yield case("mtx 10^8 nodes, one entry (68 bytes; cap 2 GB)", mtx, matrix(10**8, "2 1\n"))
    yield case(
        "mtx skew with diagonal", mtx, matrix(3, "1 1 1.0\n2 1 1.0\n", kind="real skew-symmetric")
    )
    yield case(
        "mtx 10^6 comment lines (partition loop)",
        mtx,
        matrix(2, "2 1\n", "% heat\n" * 10**6, "pattern symmetric"),
        (DONE,),
    )
    graph = functools.partial(write_npz, GRAPH, "g.npz")
    x = "x" * 300
    edges = texts(e_csv=EDGES)

    def fitted():
        graph()
        import graphheat

        Path("run").mkdir()
        graphheat.fit(GRAPH, "linear", checkpoint="run/checkpoint.safetensors")

    yield case("graph name of 300 characters", ("info", f"{x}.csv"))
    yield case("nodes name of 300 characters", (*INFO, "--nodes", f"{x}.csv"), edges)
    yield case(
        "out name of 300 characters (predict)", ("predict", "run", "--out", f"{x}.csv"), fitted
    )
    yield case("run name of 300 characters", ("predict", x))
    yield case(
        "fit --out of 300 characters", ("fit", "g.npz", "--recipe", "linear", "--out", x), graph
    )
    yield case("graph is a FIFO", ("info", "p.csv"), lambda: os.mkfifo("p.csv"))
    yield case("npz is a FIFO", ("info", "p.npz"), lambda: os.mkfifo("p.npz"))
    yield case("mtx is a FIFO", ("info", "p.mtx"), lambda: os.mkfifo("p.mtx"))

    def fifo_features():
        edges()
        os.mkfifo("x.npy")

    yield case("features is a FIFO", (*INFO, "--features", "x.npy"), fifo_features)
    link = lambda there: lambda: Path("l.csv").symlink_to(there)  # noqa: E731
    yield case(
        "graph is an endless device (a link to /dev/zero, cap 2 GB)",
        ("info", "l.csv"),
        link("/dev/zero"),
    )
    yield case("graph is /proc/self/mem by link", ("info", "l.csv"), link("/proc/self/mem"))

    def bound():
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("s.csv")

    yield case("graph is a unix socket", ("info", "s.csv"), bound)
    yield case(
        "explore overwrites its own input",
        ("explore", "e.csv", "--out", "e.csv"),
        edges,
        check=lambda o: None if Path("e.csv").read_text() == EDGES else "replaced",
    )
    yield case(
        "kernel overwrites its own input",
        ("kernel", "g.npz", "-s", "1", "--out", "g.npz"),
        graph,
        check=lambda o: None if "words" in np.load("g.npz") else "replaced",
    )
    page = ("explore", "g.npz", "--out", "l.html")

    def linked():
        graph()
        Path("other.html").write_text("old")
        Path("l.html").symlink_to("other.html")

    def fifo():
        graph()
        os.mkfifo("l.html")

    yield case("out is a symlink to another file", page, linked, (DONE,), link_kept)
    for name, make, is_kind in (
        ("a device node (a copy of /dev/null)", node(1, 3), stat.S_ISCHR),
        ("a device node (a copy of /dev/full)", node(1, 7), stat.S_ISCHR),
        ("a FIFO", fifo, stat.S_ISFIFO),
    ):
        kept = lambda o, is_kind=is_kind: (  # noqa: E731
            None if is_kind(Path("l.html").stat().st_mode) else "replaced"
        )
        yield case(f"out is {name}", page, make, check=kept)


def node(major, minor):
    def make():
        write_npz(GRAPH, "g.npz")
        os.mknod("l.html", 0o666 | stat.S_IFCHR, os.makedev(major, minor))

    return make


def link_kept(outcome):
    if not Path("l.html").is_symlink():
        return "the link was replaced"
    return None if Path("other.html").read_text().startswith("<!") else "its target was not written"
