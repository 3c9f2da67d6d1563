"""The jobs of ``make ci-full``: what fails fails, what cannot be had is skipped with a reason."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
jobs = importlib.import_module("ci_jobs")
HERE = f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def no_build(monkeypatch):
    monkeypatch.setattr(jobs, "build", lambda folder: folder / "graphheat.whl")


def ended(names, minutes=25.0):
    return {name: result.split(maxsplit=2)[2] for name, result in jobs.results(names, minutes)}


def test_every_dependency_declares_a_lowest_version():
    assert any(pin.startswith("numpy==") for pin in jobs.lowest_versions())


@pytest.mark.usefixtures("no_build")
def test_a_job_passes_or_fails(monkeypatch):
    def fails(environment, built):
        jobs.run(sys.executable, "-c", "print('three tests failed'); raise SystemExit(1)")

    monkeypatch.setattr(jobs, "REQUIRED", {"good": lambda environment, built: None, "bad": fails})
    found = ended(["good", "bad"])
    assert found["good"] == "passed"
    assert found["bad"].startswith("FAILED") and "exit code 1" in found["bad"]


@pytest.mark.usefixtures("no_build")
def test_a_failed_job_shows_what_it_printed_and_is_the_exit_code(monkeypatch, capsys):
    def fails(environment, built):
        jobs.run(sys.executable, "-c", "print('three tests failed'); raise SystemExit(1)")

    monkeypatch.setattr(jobs, "REQUIRED", {"wheel": fails})
    monkeypatch.setattr(sys, "argv", ["ci_jobs.py", "wheel"])
    assert jobs.main() == 1
    assert "three tests failed" in capsys.readouterr().out


@pytest.mark.usefixtures("no_build")
def test_an_optional_job_is_skipped_with_a_reason(monkeypatch):
    def unreachable(self, *words, tries):
        raise jobs.JobError("no network")

    assert ended(["python3.99"])["python3.99"] == "skipped: there is no python3.99 on this machine"
    assert ended(["python3.99"], minutes=1)["python3.99"] == "skipped: 1 minutes are left"
    monkeypatch.setattr(jobs, "found_interpreter", lambda version: sys.executable)
    monkeypatch.setattr(jobs.Environment, "install", unreachable)
    assert ended(["python3.99"])["python3.99"].startswith("skipped: its packages cannot be")


@pytest.mark.usefixtures("no_build")
def test_a_failed_test_under_another_python_is_a_failure(monkeypatch):
    def fails(self):
        raise jobs.JobError("a test failed")

    monkeypatch.setattr(jobs, "found_interpreter", lambda version: sys.executable)
    monkeypatch.setattr(jobs.Environment, "install", lambda self, *words, tries: None)
    monkeypatch.setattr(jobs.Environment, "try_commands", fails)
    assert ended(["python3.99"])["python3.99"] == "FAILED: a test failed"


def test_an_interpreter_is_one_that_runs_and_is_that_version(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    shim = tmp_path / HERE
    shim.write_text("#!/bin/sh\nexit 127\n")  # as pyenv's for a version that is not chosen
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    folder = tmp_path / "versions" / f"{HERE.removeprefix('python')}.1" / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    assert jobs.found_interpreter(HERE) == str(folder / "python")
    with pytest.raises(jobs.NotHereError):
        jobs.found_interpreter("python3.99")
