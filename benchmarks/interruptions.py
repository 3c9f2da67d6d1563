"""Kill commands, and let disks fill up: every file must be whole, and nothing left behind.

python benchmarks/interruptions.py kills --count 200 --rows FILE
python benchmarks/interruptions.py full --count 100 --disk FOLDER --rows FILE

FOLDER is on a small file system that may be filled, such as a tmpfs of 8 MB. FILE has a line for
each interruption; a run that was stopped goes on after the last of them. Each writing command
is run undisturbed first. Then a child that does the same is killed (SIGKILL) at a random moment, or
finds room for a random number of bytes only. Afterwards every file must be as it was before or as
the undisturbed command leaves it, and the same command, run again to its end, must leave what the
undisturbed one did, and nothing else.
"""

import argparse
import collections
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from interleave import report

from graphheat.cli import main as graphheat
from graphheat.datasets import block_model
from graphheat.io import write_npz
from graphheat.runs import load_run

GRAPH = block_model(400, 3, features=16, labels_per_class=8, seed=0)
LINEAR = ("fit", "g.npz", "--recipe", "linear", "--threads", "1", "--out", "run")
FIT = ("fit", "g.npz", "--epochs", "30", "--threads", "1", "--out", "run")
COMMANDS = {
    "fit auto": FIT,
    "fit paper": (*FIT, "--recipe", "paper"),
    "fit linear": LINEAR,
    "fit seeds": (*FIT, "--recipe", "paper", "--seeds", "2"),
    "fit --force": (*LINEAR, "--force"),
    "kernel": ("kernel", "g.npz", "-s", "3", "--out", "k.npz"),
    "explore": ("explore", "g.npz", "--out", "page.html"),
    "explore run": ("explore", "fitted", "--out", "page.html"),
    "predict": ("predict", "fitted", "--out", "labels.csv"),
    "explain": ("explain", "fitted", "7", "--out", "why.png"),
    "suspects": ("suspects", "g.npz", "--out", "suspects.csv"),
    "paper runs": ("paper", "runs", "--export", "runs.csv"),
}
FILLER = "disk.filler"


def child(words, folder):
    """Run a command in a child and return its number."""
    number = os.fork()
    if number:
        return number
    os.chdir(folder)
    with open(os.devnull, "w") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    code = 70
    try:
        graphheat(list(words), standalone_mode=True)
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    finally:
        os._exit(code)


def finish(number):
    """Return the exit code of a child, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def start(folder, source):
    """Make a folder as it is before any command: the graph and a fitted run."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(source / "g.npz", folder)
    shutil.copytree(source / "fitted", folder / "fitted")


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
        else:
            found[name] = path.read_bytes()
    return found


def checkpoint_of(path):
    try:
        return load_run(path).probabilities.tobytes()
    except Exception as error:
        return "running" if "was interrupted" in str(error) else f"damaged: {error}"


def resumed(words):
    """Return how a command that was cut short is run again."""
    return (*words, "--resume") if words[0] == "fit" and "--force" not in words else words


def check(name, words, folder, before, after):
    """Return what is wrong with a folder after a command that was cut short."""
    wrong = []
    for file, data in contents(folder).items():
        hidden = Path(file).name.startswith(".")
        if hidden or data in (before.get(file), after.get(file)):
            continue
        if Path(file).name == "checkpoint.safetensors" and data == "running":
            continue
        if words[0] == "fit" and Path(file).name == "predictions.csv" and whole_csv(data):
            continue  # of a stage, written as soon as it is there
        wrong.append(f"{file} is neither old nor new ({str(data)[:80]!r})")
    return [f"{name}: {each}" for each in wrong]


def whole_csv(data):
    lines = data.decode().split("\n")
    return len(lines) == GRAPH.n + 2 and lines[-1] == ""


def again(name, words, folder, after):
    """Run a command to its end; return what is wrong then."""
    code = finish(child(resumed(words), folder))
    found = contents(folder)
    wrong = [] if code == 0 else [f"{name}: exit {code} when run again"]
    wrong += [f"{name}: {file} differs" for file in after if found.get(file) != after[file]]
    return wrong + [f"{name}: left behind {file}" for file in found if file not in after]


def undisturbed(name, folder, source):
    """Return what is there before and after a command, and the seconds it takes once warm."""
    start(folder, source)
    before, here = contents(folder), Path.cwd()
    os.chdir(folder)
    try:  # here, so that children have everything imported and compiled
        with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
            graphheat(list(COMMANDS[name]), standalone_mode=False)
    finally:
        os.chdir(here)
    start(folder, source)
    began = time.monotonic()
    code = finish(child(COMMANDS[name], folder))
    assert code == 0, (name, code)
    return before, contents(folder), time.monotonic() - began


def killed(name, known, folder, rng):
    """Kill a command; return how it ended, what it left aside and what is wrong."""
    before, after, seconds = known
    number = child(COMMANDS[name], folder)
    time.sleep(rng.uniform(0.0, 0.9 * seconds))
    os.kill(number, signal.SIGKILL)
    ending = "killed" if finish(number) == -signal.SIGKILL else "done before"
    return ending, aside(folder), check(name, COMMANDS[name], folder, before, after)


def filled(name, known, folder, rng):
    """Run a command on a disk with little room; return the same as `killed`."""
    before, after, _ = known
    filler = folder.parent / FILLER
    size = sum(map(len, after.values())) - sum(map(len, before.values()))
    room = int(rng.uniform(0, 1.2 * max(size, 20_000)))
    filler.write_bytes(b"\0" * max(0, shutil.disk_usage(folder).free - room))
    code = finish(child(COMMANDS[name], folder))
    left = aside(folder)
    wrong = check(name, COMMANDS[name], folder, before, after)
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
        name = list(COMMANDS)[turn % len(COMMANDS)]
        if name not in known:
            known[name] = undisturbed(name, work, source)
        start(work, source)
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
        made = finish(child((*LINEAR[:-1], "fitted"), source))
        assert made == 0, made
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
