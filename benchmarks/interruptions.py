"""Kill commands, and let disks fill up: every file must be whole, and nothing left behind.

python benchmarks/interruptions.py kills --count 200 --rows FILE
python benchmarks/interruptions.py full --count 100 --disk FOLDER --rows FILE

FOLDER is on a small file system that may be filled, such as a tmpfs of 8 MB. FILE has a line for
each interruption; a run that was stopped goes on after the last of them. Each writing command
is run undisturbed first. Then a child that does the same is killed (SIGKILL) at a random moment,
every other time just after a random one of the events by which it writes (a file is opened, renamed
or removed); or it finds room for a random number of bytes only. Afterwards every file must be as it
was before or as the undisturbed command leaves it, and the same command, run again to its end, must
leave what the undisturbed one did, and nothing else.
"""

import argparse
import collections
import contextlib
import json
import os
import select
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from interleave import report

from graphheat.cli import main as graphheat
from graphheat.cli import run_folder
from graphheat.cli.label_command import JOURNAL, write_labelled
from graphheat.datasets import block_model
from graphheat.errors import GraphHeatError
from graphheat.graph import Graph
from graphheat.io import write_csv, write_npz
from graphheat.io.file_lock import locked
from graphheat.labeling.journal import Entry, Journal
from graphheat.labeling.session import Session
from graphheat.runs import load_run

GRAPH = block_model(150, 3, features=12, labels_per_class=8, seed=0)
BARE = Graph.from_scipy(GRAPH.adjacency)
LINEAR = ("fit", "g.npz", "--recipe", "linear", "--threads", "1", "--out", "run")
SPREADING = ("fit", "g.npz", "--recipe", "spreading", "--threads", "1", "--out", "run")
FIT = ("fit", "g.npz", "--epochs", "30", "--threads", "1", "--out", "run")
COMMANDS = {
    "fit auto": FIT,
    "fit paper": (*FIT, "--recipe", "paper"),
    "fit linear": LINEAR,
    "fit seeds": (*FIT, "--recipe", "paper", "--seeds", "2"),
    "fit --force": (*SPREADING, "--force"),  # over a run of another recipe
    "kernel": ("kernel", "g.npz", "-s", "3", "--out", "k.npz"),
    "explore": ("explore", "g.npz", "--out", "page.html"),
    "explore run": ("explore", "fitted", "--out", "page.html"),
    "predict": ("predict", "fitted", "--out", "labels.csv"),
    "explain": ("explain", "fitted", "7", "--out", "why.png"),
    "suspects": ("suspects", "g.npz", "--out", "suspects.csv"),
    "suggest": ("suggest", "g.npz", "--out", "next.csv"),
    "compare": (
        *("compare", "g.npz", "--recipes", "spreading,linear", "--splits", "2"),
        *("--per-class", "3", "--val-per-class", "2", "--threads", "1", "--out", "table.csv"),
    ),
    "export": ("export", "fitted", "--out", "model.onnx"),
    "paper runs": ("paper", "runs", "--export", "runs.csv"),
    "ingest": ("ingest", "edges.csv", "--nodes", "nodes.csv", "--threads", "1", "--out", "e.graph"),
    "fit disk": ("fit", "own.graph", "--recipe", "linear", "--threads", "1", "--out", "run"),
    "predict disk": ("predict", "disk-run", "--out", "labels.csv"),
    "label": ("label", "labelled"),  # what `label` does as a person labels, and finishes
    "sweep": ("sweep", "paper/runs.sqlite"),  # what `paper all` begins with
}
SLOW = {  # a minute each: only where they are asked for by name
    "paper figures": ("paper", "figures", "--out", "paper"),
    "paper page": ("paper", "page", "--out", "paper"),
}
INGESTED = (*COMMANDS["ingest"][:-1], "own.graph")
COMMANDS |= SLOW
WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "sqlite3.connect")
UNDER_WAY = ("probabilities.npy", "linear.npy", "heat.npy", "panels.json")
LINGER = 0.003  # seconds that a child may go on after such an event, in the mean
FILLER = "disk.filler"


def child(words, folder, shown=None):
    """Run a command in a child and return its number; a byte goes to ``reported`` at each write."""
    number = os.fork()
    if number:
        return number
    os.chdir(folder)
    if shown is not None:
        sys.addaudithook(lambda event, given: writes(event, given) and os.write(shown, b"."))
    with open(os.devnull, "w") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    code = 70
    try:
        run(words, standalone_mode=True)
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except GraphHeatError:  # of a sweep, which is no command
        code = 1
    finally:
        os._exit(code)


def run(words, **options):
    """Run a command, or a sweep."""
    if words[0] == "sweep":
        from graphheat.paper import profile
        from graphheat.paper.store import Store
        from graphheat.paper.sweep import sweep

        path = Path(words[1])
        path.parent.mkdir(exist_ok=True)
        sweep(Store(path), profile.short(["lp", "mlp"], ["cora"])[0])
    elif words[0] == "label":
        label(Path(words[1]))
    else:
        graphheat(list(words), **options)


def label(folder):
    """Label some nodes and finish; who was interrupted sends the same answers again."""
    folder.mkdir(exist_ok=True)
    with (
        locked(folder / run_folder.LOCK, folder),
        Journal(folder / JOURNAL, BARE.fingerprint, BARE.n, BARE.name, resume=True) as journal,
    ):
        session = Session(BARE, journal, classes=map(str, GRAPH.classes), who="ann")
        try:
            for node in range(20):
                code = int(GRAPH.labels[node])
                session.add(Entry(str(node), "label", node=node, code=code))
            session.finish(lambda labelled: write_labelled(folder, labelled))
        finally:
            session.close()


def writes(event, given):
    """Tell whether an audit event is one of writing."""
    if event == "open":
        return bool(given[2] & (os.O_WRONLY | os.O_RDWR)) and given[0] != os.devnull
    return event in WRITES


def finish(number):
    """Return the exit code of a child, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def start(folder, source, words):
    """Make a folder as it is before a command: graph, fitted run, one to replace with --force."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("g.npz", "edges.csv", "nodes.csv"):
        shutil.copy2(source / name, folder)  # with its time, by which an ingestion knows its files
    for name in ("fitted", "own.graph", "disk-run"):
        shutil.copytree(source / name, folder / name)
    if "--force" in words:
        shutil.copytree(source / "fitted", folder / "run")


def contents(folder):
    """Return what is in the files of a folder, by name; of those with times, if they are whole."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(folder))
        if path.name == "metrics.json":
            found[name] = "json" if isinstance(json.loads(path.read_text()), dict) else "?"
        elif path.name == "checkpoint.safetensors":
            found[name] = checkpoint_of(path)
        elif path.name == JOURNAL:
            found[name] = journal_of(path)
        elif path.suffix == ".sqlite":
            found[name] = store_of(path)
        else:
            found[name] = path.read_bytes()
    return found


def checkpoint_of(path):
    try:
        return load_run(path).probabilities.tobytes()
    except Exception as error:
        return "running" if "was interrupted" in str(error) else f"damaged: {error}"


def store_of(path):
    """Return the runs of a store without their times, as text, or what is wrong with it."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        whole = base.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            return f"damaged: {whole}"
        if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
            return "running"
        columns = "row, graph, seed, test_accuracy"
        rows = base.execute(f"SELECT {columns} FROM runs ORDER BY {columns}").fetchall()
    return f"{len(rows)} runs: {rows}"


def journal_of(path):
    """Return the answers in a journal, without their times, or what is wrong with it."""
    if not path.stat().st_size:
        return "running"
    with contextlib.closing(sqlite3.connect(path)) as base:
        whole = base.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            return f"damaged: {whole}"
        if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone():
            return "running"
        rows = base.execute("SELECT revision, id, node, class FROM entries").fetchall()
    return f"{len(rows)} answers: {rows}"


def resumed(words):
    """Return how a command that was cut short is run again."""
    return (*words, "--resume") if words[0] == "fit" and "--force" not in words else words


def check(name, words, folder, before, after):
    """Return what is wrong with a folder after a command that was cut short."""
    wrong = []
    for file, data in contents(folder).items():
        hidden = any(part.startswith(".") for part in Path(file).parts)
        if hidden or data in (before.get(file), after.get(file)):
            continue
        if Path(file).name == "checkpoint.safetensors" and data == "running":
            continue
        if words[0] == "fit" and Path(file).name == "predictions.csv" and whole_csv(data):
            continue  # of a stage, written as soon as it is there
        base = words[0] == "sweep" or Path(file).name.startswith(JOURNAL)
        if base and not str(data).startswith("damaged"):
            continue  # a store of some of the runs, what SQLite keeps beside it, and a lock
        if name == "fit disk" and Path(file).name in UNDER_WAY and not is_finished(folder):
            continue  # mapped files of a run that says that it is under way
        wrong.append(f"{file} is neither old nor new ({str(data)[:80]!r})")
    return [f"{name}: {each}" for each in wrong]


def is_finished(folder):
    path = folder / "run" / "checkpoint.safetensors"
    return path.exists() and checkpoint_of(path) != "running"


def whole_csv(data):
    lines = data.decode().split("\n")
    return len(lines) == GRAPH.n + 2 and lines[-1] == ""


def again(name, words, folder, after):
    """Run a command to its end; return what is wrong then."""
    there = words[0] == "ingest" and Path(folder, words[-1]).exists()
    code = finish(child(resumed(words), folder))
    found = contents(folder)
    wrong = [] if code == (2 if there else 0) else [f"{name}: exit {code} when run again"]
    wrong += [f"{name}: {file} differs" for file in after if found.get(file) != after[file]]
    return wrong + [f"{name}: left behind {file}" for file in found if file not in after]


def undisturbed(name, folder, source):
    """Return what is there before and after a command, and the seconds it takes once warm."""
    start(folder, source, COMMANDS[name])
    before, here = contents(folder), Path.cwd()
    os.chdir(folder)
    try:  # here, so that children have everything imported and compiled
        with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
            run(COMMANDS[name], standalone_mode=False)
    finally:
        os.chdir(here)
    start(folder, source, COMMANDS[name])
    began = time.monotonic()
    ours, shown = os.pipe()
    number = child(COMMANDS[name], folder, shown)
    os.close(shown)
    events = 0
    while got := os.read(ours, 4096):
        events += len(got)
    os.close(ours)
    code = finish(number)
    assert code == 0, (name, code)
    return before, contents(folder), time.monotonic() - began, events


def killed(name, known, folder, rng):
    """Kill a command; return how it ended, what it left aside and what is wrong."""
    before, after, seconds, events = known
    ours, shown = os.pipe()
    number = child(COMMANDS[name], folder, shown)
    os.close(shown)
    if rng.random() < 0.5:
        left, patience = int(rng.integers(events)) + 1, 100 * seconds
    else:
        left, patience = -1, rng.uniform(0.0, 0.9 * seconds)
    wait_for(ours, left, patience)
    if left > 0:
        time.sleep(rng.exponential(LINGER))
    os.kill(number, signal.SIGKILL)
    os.close(ours)
    ending = "killed" if finish(number) == -signal.SIGKILL else "done before"
    return ending, aside(folder), check(name, COMMANDS[name], folder, before, after)


def wait_for(pipe, events, seconds):
    """Return after so many writes, or so many seconds, or when the child is done."""
    end = time.monotonic() + seconds
    while events and select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
        if not os.read(pipe, 1):
            return
        events -= 1


def filled(name, known, folder, rng):
    """Run a command on a disk with little room; return the same as `killed`."""
    before, after, *_ = known
    filler = folder.parent / FILLER
    size = sum(map(len, after.values())) - sum(map(len, before.values()))
    room = int(rng.uniform(0, 1.2 * max(size, 20_000)))
    filler.write_bytes(b"\0" * max(0, shutil.disk_usage(folder).free - room))
    code = finish(child(COMMANDS[name], folder))
    left = aside(folder)
    wrong = check(name, COMMANDS[name], folder, before, after)
    if COMMANDS[name][0] != "ingest":  # which goes on with what it has made
        wrong += [f"{name}: left aside {each}" for each in left]
    if code not in (0, 1):
        wrong.append(f"{name}: exit {code} on a full disk")
    filler.unlink()
    return ("found room", "disk full")[code != 0], left, wrong


def aside(folder):
    return [path.name for path in folder.rglob("*") if ".part" in path.name]


def turns(given, rows, source, work):
    """Interrupt one command after the other; yield a row for each."""
    way = {"kills": killed, "full": filled}[given.what]
    wanted = {"kills": "killed", "full": "disk full"}[given.what]
    past = [row for row in rows if row["what"] == given.what]
    hits, turn, known = sum(row["ending"] == wanted for row in past), len(past), {}
    while hits < given.count:
        names = given.commands or [name for name in COMMANDS if name not in SLOW]
        name = names[turn % len(names)]
        if name not in known:
            known[name] = undisturbed(name, work, source)
        start(work, source, COMMANDS[name])
        rng = np.random.default_rng([given.seed, turn])
        ending, left, wrong = way(name, known[name], work, rng)
        wrong += again(name, COMMANDS[name], work, known[name][1])
        hits += ending == wanted
        yield {"what": given.what, "turn": turn, "command": name, "ending": ending,
               "left aside": len(left), "wrong": wrong}  # fmt: skip
        turn += 1


def summary(rows):
    """Return a row per kind of interruption and command."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["what"], row["command"]].append(row)
    for (what, name), group in groups.items():
        endings = collections.Counter(row["ending"] for row in group)
        yield {
            "interruption": {"kills": "SIGKILL", "full": "disk full"}[what],
            "command": name,
            "interrupted": endings["killed"] + endings["disk full"],
            "done before": endings["done before"] + endings["found room"],
            "left aside until the next start": sum(row["left aside"] for row in group),
            "wrong": sum(bool(row["wrong"]) for row in group),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["kills", "full"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="+", metavar="NAME", help="such as 'fit linear'")
    parser.add_argument("--disk", type=Path, help="where commands write; may be filled")
    parser.add_argument("--rows", type=Path, required=True, help="JSON lines: read, and added to")
    given = parser.parse_args()
    if given.what == "full" and given.disk is None:
        parser.error("full needs --disk")
    rows = []
    if given.rows.exists():
        rows = [json.loads(line) for line in given.rows.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder, given.rows.open("a") as kept:
        source = Path(folder) / "source"
        source.mkdir()
        write_npz(GRAPH, source / "g.npz")
        write_csv(GRAPH, source / "edges.csv", source / "nodes.csv")
        made = (*LINEAR[:-1], "fitted"), INGESTED, (*COMMANDS["fit disk"][:-1], "disk-run")
        for words in made:
            assert finish(child(words, source)) == 0, words
        disk = given.disk or Path(folder)
        (disk / FILLER).unlink(missing_ok=True)
        for row in turns(given, rows, source, disk / "work"):
            rows.append(row)
            line = json.dumps(row, ensure_ascii=False)
            kept.write(line + "\n")
            kept.flush()
            print(line, flush=True)
    report("interruptions", list(summary(rows)))
    sys.exit(1 if any(row["wrong"] for row in rows) else 0)


if __name__ == "__main__":
    main()
