"""Bad input, tampered files, odd environments, limits and signals: what becomes of each case.

python benchmarks/hostile_cases.py [--groups a_csv b_npz …] [--only TEXT]

Every case is made in a folder of its own and run in a child with limits (2 GB of memory beyond what
it begins with, 60 s of the processor). Each is to be *refused* (exit 2, one sentence, nothing
written), to *fail* (exit 1, one sentence) or to be *done*; what ends otherwise is printed, and the
exit code is 1. Groups: tables (a_csv), archives (b_npz), files of other kinds (c_files), runs
(d_ckpt), stores (d2_store), environments (e_env), signals and second writers (e2_signals), workers
(e3_workers), calls from Python (f_api).
"""

import argparse
import collections
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from interleave import report

from graphheat.cli.process import command
from graphheat.errors import GraphHeatError

SECONDS, BYTES = 60, 2 * 10**9
REFUSED, FAILED, DONE = "refused", "failed", "done"
CODES = {2: REFUSED, 1: FAILED, 0: DONE}
LONGEST = 700  # characters of a sentence


@dataclass
class Outcome:
    """How a command or a call ended, and what it wrote."""

    code: int | None = None
    signal: int | None = None
    out: str = ""
    err: str = ""
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """One thing to try.

    Attributes
    ----------
    words
        What follows ``graphheat``, or a function: it must return, or raise a GraphHeatError.
    make
        Makes the files, in the folder that it is called in.
    want
        How it may end.
    check
        Is given the outcome, in the same folder, and returns what is wrong or None.
    """

    group: str
    name: str
    words: tuple[str, ...] | Callable[[], object]
    make: Callable[[], object] = lambda: None
    want: tuple[str, ...] = (REFUSED,)
    check: Callable[[Outcome], str | None] = lambda outcome: None


def tried(case):
    """Run a case in a folder of its own; return its outcome with what is wrong."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            case.make()
            before = set(Path().rglob("*"))
            outcome = in_a_child(case.words)
            outcome.wrong += judged(case, outcome, before)
            found = case.check(outcome)
            outcome.wrong += [found] if found else []
        finally:
            os.chdir(here)
    return outcome


def in_a_child(words):
    """Run a command or a function in a child under limits."""
    out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115
    number = os.fork()
    if number == 0:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os._exit(child(words))
    end = time.monotonic() + 10 * SECONDS
    while True:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(number, signal.SIGKILL)
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(status)
    streams = []
    for stream in (out, err):
        stream.seek(0)
        streams.append(stream.read().decode(errors="replace"))
        stream.close()
    return Outcome(code if code >= 0 else None, -code if code < 0 else None, *streams)


def child(words):
    try:
        if callable(words):
            words()
            return 0
        sys.argv = ["graphheat", *words]
        command()
    except SystemExit as ending:
        return ending.code
    except GraphHeatError as error:
        print(f"Error: {error}", file=sys.stderr, flush=True)
        return 2
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 70


def judged(case, outcome, before):
    """Return what is wrong with an ending, whatever the case."""
    if outcome.signal is not None:
        return [f"signal {outcome.signal}"]
    ending = CODES.get(outcome.code, f"exit {outcome.code}")
    wrong = [] if ending in case.want else [f"{ending}, not {' or '.join(case.want)}"]
    lines = outcome.err.splitlines()
    for sign in ("Traceback", "--debug", "Warning:"):
        wrong += [f"{sign} on stderr"] if sign in outcome.err else []
    if ending in (REFUSED, FAILED):
        last = lines[-1] if lines else ""
        if not last.startswith("Error: ") or len(last) > LONGEST:
            wrong.append(f"not a sentence: {last[:80]!r}")
    if ending == REFUSED and not callable(case.words):
        left = sorted(str(path) for path in set(Path().rglob("*")) - before)
        wrong += [f"left {left}"] if left else []
    return wrong


def all_cases():
    import cases_of_archives
    import cases_of_calls
    import cases_of_files
    import cases_of_processes
    import cases_of_runs

    for module in (
        cases_of_files,
        cases_of_archives,
        cases_of_runs,
        cases_of_processes,
        cases_of_calls,
    ):
        yield from module.cases()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", nargs="+")
    parser.add_argument("--only", default="", help="part of a case's name")
    given = parser.parse_args()
    # What runs in a shell's background, or under nohup, ignores these, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for case in all_cases():
        if (given.groups and case.group not in given.groups) or given.only not in case.name:
            continue
        outcome = tried(case)
        message = (outcome.err.splitlines() or [""])[-1]
        counts[case.group]["cases"] += 1
        if outcome.wrong:
            counts[case.group]["otherwise"] += 1
        else:
            counts[case.group][CODES[outcome.code]] += 1
        mark = "OTHERWISE " + "; ".join(outcome.wrong) if outcome.wrong else CODES[outcome.code]
        print(f"{case.group}: {case.name} | {mark} | {message[:160]}", flush=True)
    rows = [
        {"group": group, **{key: each[key] for key in ("cases", *CODES.values(), "otherwise")}}
        for group, each in counts.items()
    ]
    report("hostile_cases", rows, whole=not (given.groups or given.only))
    sys.exit(1 if any(row["otherwise"] for row in rows) else 0)


if __name__ == "__main__":
    main()
