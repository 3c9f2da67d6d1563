"""The command as a process: odd terminals, odd environments, signals, children."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.command import invoke

from graphheat.cli.display import without_controls
from graphheat.datasets import block_model
from graphheat.io import write_csv, write_npz

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)
COMMAND = [sys.executable, "-m", "graphheat"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(GRAPH, "g.npz")
    return tmp_path


def run(*words, **options):
    return subprocess.run([*COMMAND, *words], capture_output=True, timeout=120, **options)


def test_a_terminal_of_plain_letters_and_a_misspelt_backend():
    odd = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    env = {**os.environ, **odd, "MPLBACKEND": "nonsense", "PYTHONCOERCECLOCALE": "0"}
    done = run("fit", "g.npz", "--recipe", "linear", "--seeds", "2", "--out", "run", env=env)
    assert done.returncode == 0, done.stderr
    assert b" +/- " in done.stdout
    assert Path("run/seed-0/reliability.png").exists()


def test_output_that_nobody_can_take():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, "datasets"], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1
        assert done.stderr == b"Error: The output cannot be written: No space left on device.\n"
        done = subprocess.run([*COMMAND, "info", "nowhere"], stderr=full)
        assert done.returncode == 2


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_command_and_leaves_nothing_half_written(name):
    number = getattr(signal, name)
    write_npz(block_model(2000, 3, features=200, labels_per_class=20, seed=0), "g.npz")
    words = ["fit", "g.npz", "--recipe", "linear", "--out", "run"]
    process = subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE)
    for _ in range(600):
        if Path("run/.graphheat.lock").exists():
            break
        time.sleep(0.05)
    process.send_signal(number)
    text = process.communicate(timeout=60)[1]
    assert process.returncode in (128 + number, -number, 0), text
    assert b"Traceback" not in text
    assert not [path.name for path in Path("run").iterdir() if path.name.startswith(".")]


def test_a_second_ctrl_c_at_exit_ends_without_a_traceback():
    script = (
        "import atexit, os, signal, sys, time\n"
        "from graphheat.cli import process\n"
        "def interrupt(**options):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(5)\n"
        "atexit.register(interrupt)\n"
        "process.main.get_command(None, 'datasets').callback = interrupt\n"
        "sys.argv = ['graphheat', 'datasets']\n"
        "process.command()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGINT
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.split(b"\n")) < 4  # what the first one says


def test_labels_and_titles_do_not_command_the_terminal():
    Path("e.csv").write_text("source,target\na,b\nb,c\n")
    Path("n.csv").write_text("id,label,title\na,\x1b[2Jx,\x1b]0;t\x07\nb,y\u202ez,B\nc,,C\n")
    result = invoke("neighbors", "e.csv", "a", "--nodes", "n.csv")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "\\x1b[2Jx" in result.output
    assert without_controls("a\u202eb\x9bc") == "a\\u202eb\\x9bc"


def test_long_names_are_cut():
    Path("e.csv").write_text(f"source,target\n{'b' * 10**5},{'c' * 10**5}\n")
    Path("n.csv").write_text("id\na\n")
    result = invoke("info", "e.csv", "--nodes", "n.csv")
    assert result.exit_code == 2
    assert len(result.stderr) < 1000
    assert len(invoke("neighbors", "e.csv", "x" * 10**5).stderr) < 1500


@pytest.mark.parametrize("value", ["[" * 100_000, "1e300"])
def test_settings_of_great_depth_or_size(value):
    pytest.importorskip("torch")
    result = invoke("fit", "g.npz", "--recipe", "paper", "--set", f"learning_rate={value}")
    assert result.exit_code == 2
    assert "--debug" not in result.stderr


@pytest.mark.parametrize("node", ["1_0", "\u0661", " 1", "1.0", "+1"])
def test_only_plain_numbers_name_a_node(node):
    assert invoke("neighbors", "g.npz", "--", node).exit_code == 2


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_workers_end_with_their_parent(name):
    script = (
        "import sys, time\n"
        "from graphheat.paper import sweep as s\n"
        "from graphheat.paper.store import Store\n"
        "from helpers.endless import Endless\n"
        "if __name__ == '__main__':\n"
        "    s.sweep(Store('runs.sqlite'), [Endless(1), Endless(2)], jobs=2)\n"
    )
    Path("parent.py").write_text(script)
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    parent = subprocess.Popen([sys.executable, "parent.py"], env=env)
    numbers: list[int] = []
    for _ in range(600):
        numbers = [int(path.name.split(".")[1]) for path in Path().glob("worker.*")]
        if len(numbers) == 2:
            break
        time.sleep(0.1)
    assert len(numbers) == 2
    parent.send_signal(getattr(signal, name))
    parent.wait(timeout=60)
    for _ in range(200):
        if not any(alive(number) for number in numbers):
            break
        time.sleep(0.1)
    assert not any(alive(number) for number in numbers)


def alive(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_cells_that_a_spreadsheet_would_compute():
    Path("e.csv").write_text("source,target\n=1+1,-2x\n-2x,@c\n@c,d\nd,=1+1\n")
    Path("n.csv").write_text("id,label\n=1+1,+a\n-2x,b\n@c,+a\nd,b\n")
    words = ["fit", "e.csv", "--nodes", "n.csv", "--recipe", "spreading", "--out"]
    assert invoke(*words, "plain").exit_code == 0
    assert invoke(*words, "safe", "--safe-csv").exit_code == 0
    plain, safe = (Path(f"{name}/predictions.csv").read_text() for name in ("plain", "safe"))
    assert plain.splitlines()[1].startswith("=1+1,+a,")
    assert safe.splitlines()[1].startswith("'=1+1,'+a,")
    assert invoke("predict", "safe", "--safe-csv", "--out", "p.csv").exit_code == 0
    assert Path("p.csv").read_text() == safe
    write_csv(GRAPH, "edges.csv", "nodes.csv", safe=True)  # numbers are no formulas
    assert "'" not in Path("nodes.csv").read_text()
    assert json.loads(Path("safe/metrics.json").read_text())["recipe"] == "spreading"
