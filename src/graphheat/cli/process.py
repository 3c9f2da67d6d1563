"""The command as a process: its streams, its signals, and the environment that it was given."""

from __future__ import annotations

import codecs
import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from graphheat.cli.app import main

# What a terminal of plain ASCII shows in place of the signs that our sentences use.
PLAIN = {"±": "+/-", "…": "...", "–": "-", "−": "-", "×": "x", "’": "'", "≥": ">=", "≤": "<="}


def command() -> NoReturn:
    """Run the command line and end the process."""
    # Loading modules makes hundreds of thousands of objects, none of them garbage: looking through
    # them over and over took a tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; any other word could be misspelt
    codecs.register_error("graphheat", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and "utf" not in (stream.encoding or "").lower():
            stream.reconfigure(errors="graphheat")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _ended)
    code = 1
    try:
        main()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    finally:
        # Nothing is left to save: another Ctrl-C ends the process without a word.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # a full disk, a closed pipe: what follows would complain
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            code = code or 1
    gc.freeze()  # what ends with the process need not be looked through once more
    sys.exit(code)


def _ended(number: int, frame: FrameType | None) -> NoReturn:
    """End as a signal asks, with what is half-written removed; a second one ends at once."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    shown = "".join(PLAIN.get(sign, ascii(sign)[1:-1]) for sign in text)
    return shown, error.end
