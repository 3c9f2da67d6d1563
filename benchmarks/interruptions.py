"""Kill commands, and let disks fill up: every file must be whole, and nothing left behind.

python benchmarks/interruptions.py kills --count 200
python benchmarks/interruptions.py full --count 100 --disk FOLDER

FOLDER is on a small file system that may be filled, such as a tmpfs of 8 MB. Each writing command
is run undisturbed first. Then a child that does the same is killed (SIGKILL) at a random moment, or
finds room for a random number of bytes only. Afterwards every file must be as it was before or as
the undisturbed command leaves it, and the same command, run again to its end, must leave what the
undisturbed one did, and nothing else.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

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
# What holds times: whole where it can be read; the rest is compared byte by byte.
TIMED = ("metrics.json", "checkpoint.safetensors")


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
    """Return what is in the files of a folder, by name; of timed ones, whether they are whole."""
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


def reference(words, folder, source):
    start(folder, source)
    before = contents(folder)
    began = time.monotonic()
    code = finish(child(words, folder))
    assert code == 0, (words, code)
    return before, contents(folder), time.monotonic() - began


def kills(count, seed, work, source):
    rng = np.random.default_rng(seed)
    done: collections.Counter[str] = collections.Counter()
    wrong = []
    known = {name: reference(words, work, source) for name, words in COMMANDS.items()}
    turn = 0
    while done["killed"] < count:
        turn += 1
        name = list(COMMANDS)[turn % len(COMMANDS)]
        words, (before, after, seconds) = COMMANDS[name], known[name]
        start(work, source)
        number = child(words, work)
        time.sleep(rng.uniform(0.0, 0.9 * seconds))
        os.kill(number, signal.SIGKILL)
        done["killed" if finish(number) == -signal.SIGKILL else "too late"] += 1
        done["left aside"] += sum(".part" in path.name for path in work.rglob("*"))
        wrong += check(name, words, work, before, after)
        wrong += again(name, words, work, after)
    return done, wrong


def full(count, seed, disk, source):
    rng = np.random.default_rng(seed)
    done: collections.Counter[str] = collections.Counter()
    wrong = []
    work, filler = disk / "work", disk / "disk.filler"
    known = {name: reference(words, work, source) for name, words in COMMANDS.items()}
    for turn in range(count):
        name = list(COMMANDS)[turn % len(COMMANDS)]
        words, (before, after, _) = COMMANDS[name], known[name]
        start(work, source)
        size = sum(len(data) for data in after.values()) - sum(
            len(data) for data in before.values()
        )
        free = shutil.disk_usage(disk).free
        room = int(rng.uniform(0, 1.2 * max(size, 20_000)))
        filler.write_bytes(b"\0" * max(0, free - room))
        code = finish(child(words, work))
        done[f"exit {code}"] += 1
        if code not in (0, 1):
            wrong.append(f"{name}: exit {code} on a full disk")
        wrong += check(name, words, work, before, after)
        left = [path.name for path in work.rglob("*") if ".part" in path.name]
        wrong += [f"{name}: left aside {each}" for each in left]
        filler.unlink()
        wrong += again(name, words, work, after)
    return done, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["kills", "full"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--disk", type=Path, default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        write_npz(GRAPH, source / "g.npz")
        for name, words in COMMANDS.items():  # everything is compiled and imported once
            target = Path(folder) / "warm"
            if name == "fit auto":
                made = finish(child((*LINEAR[:-1], "fitted"), source))
                assert made == 0
            start(target, source)
            here = Path.cwd()
            os.chdir(target)
            try:
                graphheat(list(words), standalone_mode=False)
            finally:
                os.chdir(here)
        if given.what == "kills":
            done, wrong = kills(given.count, given.seed, Path(folder) / "work", source)
        else:
            done, wrong = full(given.count, given.seed, given.disk, source)
    for line in wrong:
        print(line)
    print(dict(done), f"{len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
