"""Where commands may write: regular files that they do not read, one writer at a time, whole."""

import json
import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from helpers.command import call, invoke
from helpers.sentences import refusal

from graphheat.datasets import block_model
from graphheat.errors import BusyError, WriteError
from graphheat.io import read_graph, replacing, write_csv, write_npz
from graphheat.io.atomic import claimed
from graphheat.io.file_lock import locked

GRAPH = block_model(60, 3, features=8, labels_per_class=4, seed=0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(GRAPH, "g.npz")
    write_csv(GRAPH, "e.csv")
    return tmp_path


def message(result, code):
    assert result.exit_code == code, result.output
    return result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        ("explore", "e.csv", "--out", "e.csv"),
        ("kernel", "g.npz", "-s", "1", "--out", "g.npz"),
        ("suspects", "g.npz", "--out", "g.npz"),
        ("explore", "link.npz", "--out", "g.npz"),
    ],
)
def test_no_command_replaces_what_it_reads(words):
    Path("link.npz").symlink_to("g.npz")
    before = {name: Path(name).read_bytes() for name in ("e.csv", "g.npz")}
    assert "is what the command reads; name another file" in message(invoke(*words), 2)
    assert before == {name: Path(name).read_bytes() for name in before}


def test_predict_does_not_replace_its_run():
    call("fit", "g.npz", "--recipe", "linear", "--out", "run")
    result = invoke("predict", "run", "--out", "run/checkpoint.safetensors")
    assert "is what the command reads" in message(result, 2)


def test_pipes_and_devices_are_left_as_they_are():
    os.mkfifo("pipe.html")
    assert "pipe, socket or device" in message(invoke("explore", "g.npz", "--out", "pipe.html"), 2)
    assert stat.S_ISFIFO(Path("pipe.html").stat().st_mode)
    if os.geteuid() == 0:
        os.mknod("null.html", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        assert "pipe, socket or device" in message(
            invoke("explore", "g.npz", "--out", "null.html"), 2
        )
        assert stat.S_ISCHR(Path("null.html").stat().st_mode)


def test_a_link_stays_a_link_and_what_it_names_is_written():
    Path("there").mkdir()
    Path("there/page.html").write_text("old")
    Path("page.html").symlink_to("there/page.html")
    call("explore", "g.npz", "--out", "page.html")
    assert Path("page.html").is_symlink()
    assert Path("there/page.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "."])
def test_names_that_no_file_can_have(name):
    refusal(write_npz, GRAPH, name)
    refusal(write_csv, GRAPH, name)
    refusal(read_graph, name)


def test_names_that_are_too_long_for_a_command():
    name = "x" * 300
    for words in (
        ("info", name),
        ("info", "e.csv", "--nodes", name),
        ("predict", name, "--out", "p.csv"),
        ("fit", "g.npz", "--recipe", "linear", "--out", name),
        ("kernel", "g.npz", "-s", "1", "--out", f"{name}.npz"),
    ):
        assert len(message(invoke(*words), 2)) < 600


def test_a_second_writer_is_told_who_holds_the_place():
    who = f"is being written by process {os.getpid()} on "
    with claimed("page.html"):
        assert who in message(invoke("explore", "g.npz", "--out", "page.html"), 1)
    Path("run").mkdir()
    with locked(Path("run/.graphheat.lock"), "run"):
        for more in ((), ("--resume",), ("--force",)):
            result = invoke("fit", "g.npz", "--recipe", "linear", "--out", "run", *more)
            assert who in message(result, 1)
        assert who in message(invoke("paper", "all", "--short", "--out", "run"), 1)
    call("fit", "g.npz", "--recipe", "linear", "--out", "run")
    assert not Path("run/.graphheat.lock").exists()
    with claimed("x"), pytest.raises(BusyError), claimed("x"):
        pass


def test_two_fits_at_once_one_wins_and_nothing_is_mixed():
    words = [sys.executable, "-m", "graphheat", "fit", "g.npz", "--recipe", "linear", "--out", "r"]
    both = [
        subprocess.Popen([*words, "--seed", str(seed)], stderr=subprocess.PIPE, text=True)
        for seed in (0, 1)
    ]
    texts = [each.communicate(timeout=120)[1] for each in both]
    codes = [each.returncode for each in both]
    # One may have ended before the other began: then that one says that there is a run.
    assert sorted(codes) in ([0, 1], [0, 2]), texts
    seed = json.loads(Path("r/metrics.json").read_text())["runs"][0]["seed"]
    assert seed == codes.index(0)


def at_once(*commands):
    """Run commands at the same time; return the exit code and the message of each."""
    context = multiprocessing.get_context("fork")
    ready, answers = context.Barrier(len(commands)), context.SimpleQueue()

    def run(number, words):
        ready.wait()
        result = invoke(*words)
        answers.put((number, result.exit_code, result.stderr))

    processes = [context.Process(target=run, args=each) for each in enumerate(commands)]
    for process in processes:
        process.start()
    found = sorted(answers.get() for _ in processes)
    for process in processes:
        process.join()
    return [(code, text) for _, code, text in found]


def test_four_explores_at_once_leave_the_page_of_one_that_won():
    commands = [("explore", "g.npz", "--around", node, "--out") for node in range(4)]
    for number, words in enumerate(commands):  # first alone, so that pages can be compared
        call(*words, f"{number}.html")
    endings = at_once(*((*words, "page.html") for words in commands))
    won = [number for number, (code, _) in enumerate(endings) if code == 0]
    assert won
    for code, text in endings:
        assert code == 0 or (code == 1 and "page.html is being written by process" in text), text
    page = Path("page.html").read_bytes()
    assert page in [Path(f"{number}.html").read_bytes() for number in won]
    assert not list(Path().glob(".*"))


def test_what_a_killed_process_left_is_swept_and_what_is_being_written_is_not():
    Path(".k.123.part.npz").write_bytes(b"half")
    with replacing("k.npz") as aside:
        aside.write_bytes(b"mine")
        with replacing("k.npz") as other:  # the same process: the same name
            other.write_bytes(b"mine")
        assert not Path(".k.123.part.npz").exists()
        aside.write_bytes(b"mine")
    assert sorted(path.name for path in Path().iterdir() if "k." in path.name) == ["k.npz"]


def test_a_full_disk_leaves_the_old_file(monkeypatch):
    Path("k.npz").write_bytes(b"old")

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scipy.sparse.save_npz", full)
    assert "No space left" in message(invoke("kernel", "g.npz", "-s", "1", "--out", "k.npz"), 1)
    assert Path("k.npz").read_bytes() == b"old"
    with pytest.raises(WriteError), replacing("k.npz"):
        full()
    assert not [path for path in Path().iterdir() if ".part" in path.name]


def test_labels_are_there_when_a_picture_cannot_be_drawn(monkeypatch):
    def broken(*args, **options):
        raise RuntimeError("no fonts")

    monkeypatch.setattr("graphheat.plot.save", broken)
    assert invoke("fit", "g.npz", "--recipe", "linear", "--out", "run").exit_code == 1
    assert len(pandas.read_csv("run/predictions.csv")) == 60
    assert json.loads(Path("run/metrics.json").read_text())["recipe"] == "linear"
