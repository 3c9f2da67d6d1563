"""Whether the label server keeps what it acknowledged: killed at random moments, and two tabs.

A script labels random nodes as fast as it can; the server is killed (SIGKILL) after a random time
and started again with --resume. Each acknowledged label must then be in the journal, once; the one
that was under way may be there or not, and is sent again with its id. Then two tabs at once send
500 labels each.

python benchmarks/label_kills.py [--kills 50] [--labels 500]
"""

from __future__ import annotations

import argparse
import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from interleave import report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from helpers.label_client import Client

NODES, CLASSES = 200, 3


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--labels", type=int, default=500)
    arguments = options.parse_args()
    folder = Path(tempfile.mkdtemp())
    edges = folder / "edges.csv"
    random = np.random.default_rng(0)
    pairs = random.integers(0, NODES, (4 * NODES, 2))
    unique = {(min(a, b), max(a, b)) for a, b in pairs if a != b}
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in sorted(unique)))
    rows = [killed(edges, folder / "killed", arguments.kills, random)]
    rows.append(tabs(edges, folder / "tabs", arguments.labels))
    report("label_kills", rows, whole=arguments.kills >= 50 and arguments.labels >= 500)


def started(edges: Path, out: Path, *, resume: bool) -> tuple[subprocess.Popen[str], Client]:
    """Start a server and return it with a client, when it answers."""
    command = [sys.executable, "-m", "graphheat", "label", str(edges), "--out", str(out), "--json"]
    command += ["--classes", "a,b,c", "--no-networks", *(["--resume"] if resume else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    text = ""
    assert server.stdout is not None
    while not text.rstrip().endswith("}"):
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(f"The server ended with {server.wait()}.")
        text += line
    return server, Client(json.loads(text)["address"])


def killed(edges: Path, out: Path, kills: int, random: np.random.Generator) -> dict[str, Any]:
    acknowledged: dict[str, tuple[int, int]] = {}
    pending: tuple[str, int, int] | None = None
    found: Counter[str] = Counter()
    for kill in range(kills):
        server, client = started(edges, out, resume=kill > 0)
        moment = float(random.uniform(0.0, 3.0))
        timer = threading.Timer(moment, server.send_signal, [signal.SIGKILL])
        timer.start()
        while True:
            if pending is None:
                node, code = int(random.integers(NODES)), int(random.integers(CLASSES))
                pending = (str(uuid.uuid4()), node, code)
            try:
                client.label(pending[1], pending[2], id=pending[0])
            except (OSError, HTTPException):
                break
            acknowledged[pending[0]] = pending[1:]
            pending = None
        timer.join()
        server.wait()
        found.update(check(out, acknowledged, None if pending is None else pending[0]))
        print(kill + 1, len(acknowledged), dict(found), flush=True)
    return {"what": "killed", "times": kills, "acknowledged": len(acknowledged), **found}


def tabs(edges: Path, out: Path, labels: int) -> dict[str, Any]:
    server, client = started(edges, out, resume=False)
    acknowledged: dict[str, tuple[int, int]] = {}

    def tab(name: int) -> None:
        random = np.random.default_rng(name)
        for _ in range(labels):
            id, node, code = str(uuid.uuid4()), int(random.integers(NODES)), int(random.integers(3))
            client.label(node, code, id=id)
            acknowledged[id] = (node, code)

    began = time.perf_counter()
    threads = [threading.Thread(target=tab, args=(name,)) for name in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    server.send_signal(signal.SIGKILL)
    server.wait()
    return {
        "what": "two tabs",
        "times": 1,
        "acknowledged": len(acknowledged),
        **check(out, acknowledged, None),
        "milliseconds per label": round(1000 * seconds / len(acknowledged), 1),
    }


def check(out: Path, acknowledged: dict[str, tuple[int, int]], pending: str | None) -> Counter[str]:
    """Count what the journal lacks of what was acknowledged, has twice, or was never sent so."""
    file = sqlite3.connect(out / "labels.sqlite")
    held = file.execute("SELECT id, node, class FROM entries").fetchall()
    file.close()
    ids = Counter(id for id, _, _ in held)
    found: Counter[str] = Counter()
    found["lost"] = len(acknowledged.keys() - ids.keys())
    found["twice"] = sum(count - 1 for count in ids.values())
    found["never sent so"] = sum(
        id != pending and acknowledged.get(id) != (node, code) for id, node, code in held
    )
    return found


if __name__ == "__main__":
    main()
