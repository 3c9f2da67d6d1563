"""The command as a process of its own: what it loads, what it prints, how it ends."""

import json
import os
import subprocess
import sys

import pytest

import graphheat


def run(*args, **options):
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, timeout=120, **options
    )


def loaded(code):
    """Return the top-level modules that are loaded after running ``code``."""
    script = f"{code}\nimport sys\nprint('loaded:', *{{m.split('.')[0] for m in sys.modules}})"
    done = run("-c", script)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rsplit("loaded:", 1)[1].split())


HEAVY = {"torch", "scipy", "sklearn", "pandas", "matplotlib"}


def test_help_loads_nothing_heavy():
    code = "from graphheat.cli import main\nmain(['--help'], standalone_mode=False)"
    assert not loaded(code) & HEAVY


def test_importing_graphheat_loads_nothing_heavy():
    assert not loaded("import graphheat") & (HEAVY | {"numpy"})


@pytest.mark.parametrize(
    "module",
    ["heat", "graph", "io", "datasets", "features", "calibration", "runs", "linear", "estimators"],
)
def test_what_needs_no_torch_loads_none(module):
    assert "torch" not in loaded(f"import graphheat.{module}")


@pytest.mark.parametrize("command", ["fit", "predict", "demo", "neighbors"])
def test_the_help_of_a_command_loads_no_torch(command):
    code = f"from graphheat.cli import main\nmain(['{command}', '--help'], standalone_mode=False)"
    assert "torch" not in loaded(code)


def test_neighbors_loads_no_torch():
    code = (
        "from graphheat.cli import main\n"
        "main(['neighbors', 'karate', '0', '--json'], standalone_mode=False)"
    )
    assert "torch" not in loaded(code)


def test_labels_and_reasons_of_a_run_load_nothing_that_they_do_not_need(tmp_path):
    graph, out = graphheat.datasets.block_model(60, 2, features=4, seed=0), tmp_path / "run"
    graphheat.write_npz(graph, tmp_path / "graph.npz")
    assert run("-m", "graphheat", "fit", str(tmp_path / "graph.npz"), "--out", str(out),
               "--epochs", "2").returncode == 0  # fmt: skip
    code = (
        "from graphheat.cli import main\n"
        f"main(['explain', {str(out)!r}, '7'], standalone_mode=False)"
    )
    assert not loaded(code) & {"torch", "numba", "pandas", "matplotlib", "sklearn"}


def test_json_is_all_of_standard_output():
    done = run("-m", "graphheat", "info", "karate", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["nodes"] == 34
    assert done.stderr == ""


def test_a_mistake_is_one_line_and_debug_shows_the_traceback(tmp_path):
    plain = run("-m", "graphheat", "info", str(tmp_path))
    assert plain.returncode == 2
    assert plain.stdout == ""
    assert plain.stderr == f"Error: {tmp_path} is a folder; name a file to read.\n"
    debug = run("-m", "graphheat", "info", str(tmp_path), "--debug")
    assert debug.returncode != 0
    assert "Traceback" in debug.stderr
    assert "MissingPathError" in debug.stderr


def test_fit_raises_no_warning_and_speaks_on_standard_error_alone(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    (tmp_path / "n.csv").write_text("id,label,x\na,t,1\nb,u,2\nc,t,3\nd,u,4\n")
    done = run(
        "-W", "error", "-m", "graphheat", "fit", "e.csv", "--nodes", "n.csv", "--epochs", "2",
        "--out", "run", "--json", cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["out"] == "run"
    shown = done.stderr.splitlines()[2:]  # after what was read
    stages = ["spreading", "linear", "ensemble"]
    assert [line.split()[2].rstrip(",") for line in shown] == stages
