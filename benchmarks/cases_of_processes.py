"""Odd environments, signals, second writers, and workers whose parent ends."""

import csv
import functools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from cases_of_files import GRAPH
from cases_of_runs import fitted, store
from hostile_cases import DONE, Case

from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.runs import load_run

COMMAND = (sys.executable, "-m", "graphheat")
ASCII = {
    "LANG": "C",
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
    "PYTHONCOERCECLOCALE": "0",
}
LINEAR = ("fit", "g.npz", "--recipe", "linear", "--out", "run")
# A command to which permissions apply, as they do not to root.
CAPABILITIES = "-dac_override,-dac_read_search"
HELD = ("setpriv", f"--bounding-set={CAPABILITIES}", f"--inh-caps={CAPABILITIES}")
KEPT = ("row", "graph", "settings", "seed", "test_accuracy", "val_accuracy", "test_predicted")
HELPERS = Path(__file__).parents[1] / "tests"


def cases():
    """Yield all cases of processes."""
    yield from environments()
    yield from signals()
    yield from workers()


def run(*words, want=0, env=(), before=(), **options):
    """Run the command; it must end with a wanted code, and one sentence unless that is 0."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    done = subprocess.run(
        [*before, *COMMAND, *words], env={**os.environ, **dict(env)}, timeout=300, **streams
    )
    return judged(done.returncode, done.stderr, want)


def judged(code, stderr, want=0):
    message = (stderr or b"").decode(errors="replace")
    wanted = want if isinstance(want, tuple) else (want,)
    assert code in wanted, (code, message[-300:])
    for sign in ("Traceback", "--debug", "Exception ignored"):
        assert sign not in message, message[-300:]
    return message


def graph():
    write_npz(GRAPH, "g.npz")


def environments():
    def case(name, call, make=graph):
        return Case("e_env", name, call, make, (DONE,))

    fit = functools.partial(run, *LINEAR, "--seeds", "2", env=ASCII)
    yield case("the same, fit (± and … in text)", fit)

    def beyond_ascii():
        Path("e.csv").write_text("source,target\nça,b\nb,Ж\n", encoding="utf-8")

    names = functools.partial(run, "neighbors", "e.csv", "b", env=ASCII)
    yield case("ascii stdout: names beyond ascii", names, beyond_ascii)
    table = functools.partial(run, "paper", "table2", "--rows", "graphheat", env=ASCII)
    yield case("ascii: paper table2 --rows graphheat", table)
    yield case("ascii: datasets", functools.partial(run, "datasets", env=ASCII))
    odd = functools.partial(run, *LINEAR, env={"MPLBACKEND": "nonsense"})
    yield case("MPLBACKEND=nonsense", odd)

    def full(*words, stream, want):
        with Path("/dev/full").open("wb") as nowhere:
            run(*words, want=want, **{stream: nowhere})

    for name, words, stream, want in (
        ("stdout to /dev/full", ("datasets", "--json"), "stdout", 1),
        ("stdout to /dev/full, table", ("datasets",), "stdout", 1),
        ("stderr to /dev/full", ("info", "nowhere.csv"), "stderr", 2),
    ):
        yield case(name, functools.partial(full, *words, stream=stream, want=want))

    def odd_name():
        shutil.copy(fitted("linear") / "g.npz", "g.npz")
        shutil.copytree(fitted("linear") / "run", os.fsdecode(b"r\xfe"))

    for name, words in (("predict", ("--out", "p.csv")), ("explore", ("--out", "p.html"))):
        call = functools.partial(run, name, b"r\xfe", *words)
        yield case(f"run name not UTF-8: {name}", call, odd_name)

    def limited(kind, size, want):
        run(*LINEAR, want=want, preexec_fn=lambda: resource.setrlimit(kind, (size, size)))

    yield case(
        "ulimit -f 4 kB (file too large)",
        functools.partial(limited, resource.RLIMIT_FSIZE, 4096, 1),
    )
    yield case(
        "ulimit -v 1 GB, fit", functools.partial(limited, resource.RLIMIT_AS, 10**9, (0, 1, 2))
    )

    def hidden(name):
        def make():
            Path().chmod(0o755)
            shutil.copy(fitted("linear") / "g.npz", "g.npz")
            shutil.copytree(fitted("linear") / "run", "run")
            Path("sub").mkdir()
            shutil.copy("g.npz", "sub/g.npz")
            for path in Path(name).iterdir():
                path.chmod(0)
            Path(name).chmod(0)

        return make

    stranger = {"before": HELD if os.geteuid() == 0 else ()}
    yield case(
        "run folder without permission",
        functools.partial(run, "predict", "run", want=2, **stranger),
        hidden("run"),
    )
    yield case(
        "graph in a folder without permission",
        functools.partial(run, "info", "sub/g.npz", want=2, **stranger),
        hidden("sub"),
    )

    def only_read():
        store()()
        Path("r.sqlite").chmod(0o444)
        Path().chmod(0o555)

    read = functools.partial(run, "paper", "table2", "--results", "r.sqlite", **stranger)
    yield case("store that may only be read: paper table2", read, only_read)


# ---------------------------------------------------------------------- signals


def large():
    write_npz(block_model(3000, 3, features=200, labels_per_class=20, seed=0), "g.npz")


def signals():
    def case(name, call, make=large):
        return Case("e2_signals", name, call, make, (DONE,))

    def interrupted_twice():
        for wait in (0.01, 0.05, 0.1, 0.2, 0.4, 0.8):
            words = [*COMMAND, "fit", "g.npz", "--recipe", "paper", "--out", f"run-{wait}"]
            process = subprocess.Popen(words, stderr=subprocess.PIPE)
            wait_for(Path(f"run-{wait}/.graphheat.lock"))
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                time.sleep(wait)
            judged(0, process.communicate(timeout=120)[1])

    yield case("SIGINT twice #3", interrupted_twice)
    for more in ([], ["--resume"], ["--force"]):
        name = f"the folder is of one run {more}"
        yield case(name, functools.partial(two_fits, more))

    yield case("four explores into one page", four_explores)
    yield case("two sweeps into one store", two_sweeps)
    yield case("two `paper all` into one folder", two_reports)

    def full_disk():
        os.mkdir("disk")  # noqa: PTH102
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "disk"])
        if done.returncode:
            return  # not allowed here
        try:
            run(*LINEAR[:-1], "disk/run", want=1)
        finally:
            subprocess.run(["umount", "disk"], check=True)

    yield case("disk full at the checkpoint", full_disk)


def wait_for(path):
    for _ in range(2000):
        if path.exists():
            return
        time.sleep(0.03)
    raise TimeoutError(path)


def two_fits(more):
    both = [
        subprocess.Popen([*COMMAND, *LINEAR, *more, "--seed", seed], stderr=subprocess.PIPE)
        for seed in ("0", "1")
    ]
    texts = [each.communicate(timeout=300)[1] for each in both]
    codes = [each.returncode for each in both]
    for code, text in zip(codes, texts, strict=True):
        judged(code, text, (0, 1, 2))
    kept = load_run("run/checkpoint.safetensors").seed
    assert json.loads(Path("run/metrics.json").read_text())["runs"][0]["seed"] == kept
    if codes == [0, 0]:  # one after the other: what was asked for, with --force or --resume
        assert more, texts
    else:
        assert codes[kept] == 0, (codes, kept, texts)


def four_explores():
    commands = [("explore", "g.npz", "--around", str(node), "--out") for node in range(4)]
    for number, words in enumerate(commands):  # first alone, so that pages can be compared
        run(*words, f"{number}.html")
    codes = at_once(*((*words, "page.html") for words in commands))
    won = [f"{number}.html" for number, code in enumerate(codes) if code == 0]
    assert Path("page.html").read_bytes() in [Path(name).read_bytes() for name in won], codes
    assert 1 in codes, codes  # they take seconds each: some have met


def two_sweeps():
    """Two sweeps on one store share its runs: each is made once."""
    script = (
        "import sys\n"
        "from graphheat.paper import profile\n"
        "from graphheat.paper.store import Store\n"
        "from graphheat.paper.sweep import sweep\n"
        "sweep(Store(sys.argv[1]), profile.short(['lp', 'mlp', 'ica'], ['cora'])[0])\n"
    )
    for names in (["alone"], ["both", "both"]):
        words = [[sys.executable, "-c", script, f"{name}.sqlite"] for name in names]
        started = [subprocess.Popen(each, stderr=subprocess.PIPE) for each in words]
        for each in started:
            judged(0, each.communicate(timeout=300)[1])
            assert each.returncode == 0
        run("paper", "runs", "--results", f"{names[0]}.sqlite", "--export", f"{names[0]}.csv")
    alone, both = (sorted(runs_of(name)) for name in ("alone.csv", "both.csv"))
    assert len(alone) >= 3, alone
    assert alone == both, (alone, both)
    assert not list(Path().glob("*.lock"))


def two_reports():
    """Of two `paper all` into one folder the second learns who is at it, and ends."""
    words = [*COMMAND, "paper", "all", "--short", "--rows", "lp", "--graphs", "cora", "--out", "r"]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    while not (ended := [each for each in both if each.poll() is not None]):
        time.sleep(0.05)
    assert ended[0].returncode == 1
    assert "r is being written by process" in judged(1, ended[0].communicate()[1], 1)
    (other,) = (each for each in both if each is not ended[0])
    assert other.poll() is None
    other.terminate()
    other.communicate(timeout=60)


def runs_of(path):
    """Return what runs have in common that were made at different times."""
    with Path(path).open(newline="", encoding="utf-8") as lines:
        return [[run[key] for key in KEPT] for run in csv.DictReader(lines)]


def at_once(*commands):
    """Run commands at the same time; return how each ended: with 0, or 1 and who is at it."""
    started = [
        subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for words in commands
    ]
    texts = [each.communicate(timeout=300)[1] for each in started]
    for each, text in zip(started, texts, strict=True):
        message = judged(each.returncode, text, (0, 1))
        assert each.returncode == 0 or "is being written by process" in message, message[-300:]
    return [each.returncode for each in started]


# ---------------------------------------------------------------------- workers


def workers():
    for name in ("SIGTERM", "SIGKILL", "SIGHUP"):
        call = functools.partial(ended, getattr(signal, name))
        yield Case("e3_workers", f"{name}: workers end with the parent", call, want=(DONE,))


def ended(number):
    Path("parent.py").write_text(
        "from graphheat.paper.store import Store\n"
        "from graphheat.paper.sweep import sweep\n"
        "from helpers.endless import Endless\n"
        "if __name__ == '__main__':\n"
        "    sweep(Store('runs.sqlite'), [Endless(1), Endless(2)], jobs=2)\n"
    )
    paths = [str(HELPERS), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    parent = subprocess.Popen([sys.executable, "parent.py"], env=env)
    children = []
    for _ in range(2000):
        children = [int(path.name.split(".")[1]) for path in Path().glob("worker.*")]
        if len(children) == 2:
            break
        time.sleep(0.05)
    parent.send_signal(number)
    parent.wait(timeout=60)
    for _ in range(600):
        if not any(alive(child) for child in children):
            break
        time.sleep(0.05)
    assert len(children) == 2
    assert not any(alive(child) for child in children)


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
