"""Damaged files of every format: what they hold, or one of our errors; never a signal or a hang.

``make fuzz`` tries 10,000 (``python tests/hostile/test_hostile_fuzz.py 10000 --seed 1``). Files are
read in children with limits on time and memory, so that what ends a process ends a child. Each turn
depends on the seed and its own number alone: ``--start 4000`` goes on after 4,000, and
``17 --start 16`` tries turn 16 again.
"""

import argparse
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

import warnings

import numpy as np
from helpers.corpus import places
from helpers.mutations import mutated, mutated_arrays
from helpers.sentences import checked

from graphheat.errors import GraphHeatError

SECONDS = 10
BYTES = 10**9
IN_ONE_CHILD = 50


def damage(place, whole, rng):
    """Change a file in place: its bytes or, where it is made of arrays, one of them."""
    if place.parts is not None and rng.random() < 0.6:
        place.path.write_bytes(whole)
        load, save = place.parts
        try:
            save(place.path, mutated_arrays(load(place.path), rng))
        except Exception:  # no file can hold that
            place.path.write_bytes(mutated(whole, rng))
    else:
        place.path.write_bytes(mutated(whole, rng))


def outcome_of(place):
    """Return "read", "refused", or what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            place.read()
        except GraphHeatError as error:
            checked(error)
            return "refused"
    return "read"


def child(corpus, wholes, turns, seed, pipe):
    """Try some turns; tell before and after each what comes of it."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
    for turn in turns:
        place = corpus[turn % len(corpus)]
        os.write(pipe, json.dumps(["try", turn]).encode() + b"\n")
        rng = np.random.default_rng([seed, turn])
        damage(place, wholes[place.path], rng)
        try:
            result = outcome_of(place)
        except BaseException as error:
            result = f"{type(error).__name__}: {str(error)[:200]}"
        finally:
            place.path.write_bytes(wholes[place.path])
        os.write(pipe, json.dumps(["done", turn, result]).encode() + b"\n")


def fuzz(folder, count, seed, report=print, start=0, progress=None):
    """Damage files from turn start to count; return how many were read, refused and wrong."""
    corpus = places(folder)
    for place in corpus:  # all can be read as they are
        assert outcome_of(place) == "read", place.path
    wholes = {place.path: place.path.read_bytes() for place in corpus}
    counts = {"read": 0, "refused": 0, "wrong": 0}
    turn = start
    while turn < count:
        turns = range(turn, min(turn + IN_ONE_CHILD, count))
        last, results, ending = run_child(corpus, wholes, turns, seed)
        for done, result in results.items():
            counts[result if result in counts else "wrong"] += 1
            if result not in counts:
                report(f"{done} {corpus[done % len(corpus)].path.name}: {result}")
        if ending is not None:
            counts["wrong"] += 1
            place = corpus[last % len(corpus)]
            report(f"{last} {place.path.name}: {ending}")
            place.path.write_bytes(wholes[place.path])
        turn = turns.stop if ending is None else last + 1
        if progress is not None:
            progress(turn, counts)
    return counts


def run_child(corpus, wholes, turns, seed):
    """Return the last turn that was begun, results by turn, and how the child ended if badly."""
    ours, theirs = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(ours)
        with open(os.devnull, "w") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        try:
            child(corpus, wholes, turns, seed, theirs)
        finally:
            os._exit(0)
    os.close(theirs)
    last, results, text, since, ending = turns.start, {}, b"", time.monotonic(), None
    while True:
        ready, _, _ = select.select([ours], [], [], max(0.0, since + SECONDS - time.monotonic()))
        if not ready:
            os.kill(number, signal.SIGKILL)
            ending = f"more than {SECONDS} s"
            break
        got = os.read(ours, 65536)
        if not got:
            break
        *lines, text = (text + got).split(b"\n")
        for line in lines:
            kind, *rest = json.loads(line)
            since = time.monotonic()
            if kind == "try":
                last = rest[0]
            else:
                results[rest[0]] = rest[1]
    os.close(ours)
    _, status = os.waitpid(number, 0)
    if ending is None and os.WIFSIGNALED(status):
        ending = f"signal {os.WTERMSIG(status)}"
    return last, results, ending


def test_damaged_files_are_read_or_refused(tmp_path):
    wrong: list[str] = []
    counts = fuzz(tmp_path, 250, 0, wrong.append)
    assert not wrong
    assert counts["wrong"] == 0
    assert min(counts["read"], counts["refused"]) > 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the first turn")
    given = parser.parse_args()
    # A line per child, so that a run that is stopped tells where to go on.
    with tempfile.TemporaryDirectory() as folder:
        counts = fuzz(
            Path(folder),
            given.count,
            given.seed,
            report=lambda line: print(line, flush=True),
            start=given.start,
            progress=lambda turn, counts: print(f"before turn {turn}: {counts}", flush=True),
        )
    print(counts)
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
