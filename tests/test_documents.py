"""Every code block of the README and the docs, and every example, runs."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from helpers.command import call

ROOT = Path(__file__).parents[1]
PEOPLE = ROOT / "examples" / "people"
BLOCK = re.compile(r"^( *)```(python|sh)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)  # in lists, too
DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, match in enumerate(BLOCK.finditer(document.read_text(encoding="utf-8"))):
            if match[2] == language:
                code = textwrap.dedent(match[3])
                yield pytest.param(code, id=f"{document.name}-{number}")


@pytest.fixture
def people(tmp_path, monkeypatch):
    for name in (
        "edges.csv",
        "nodes.csv",
        "new_edges.csv",
        "new_nodes.csv",
    ):  # not what a reader made
        (tmp_path / name).write_bytes((PEOPLE / name).read_bytes())
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("code", list(blocks("python")))
def test_every_python_block_runs(code):
    shorter = code.replace("seeds=range(3)", "seeds=range(1)")
    exec(compile(shorter, "block", "exec"), {"__name__": "__main__"})


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("script", list(blocks("sh")))
def test_every_graphheat_command_of_a_shell_block_runs(script):
    for line in script.splitlines():
        words = line.split("#")[0].split()
        if words[:1] != ["graphheat"] or "pubmed" in words:
            continue  # make targets, pip, and runs of an hour
        shorter = ["--epochs", "20"] if words[1] == "fit" and "linear" not in words else []
        call(*words[1:], *shorter)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_every_example_runs(example, tmp_path):
    # PyG calls what torch has deprecated.
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", str(example)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_diffs_of_the_guide_are_those_of_the_sources():
    guide = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    diffs = DIFF.findall(guide)
    assert len(diffs) == 5  # a recipe, an engine, a reader, a command, a panel
    for diff in diffs:
        lines = []
        for line in diff.splitlines():
            if line.startswith("+++ b/"):
                lines = (ROOT / line.removeprefix("+++ b/")).read_text("utf-8").splitlines()
            elif not line.startswith(("--- ", "@@")):
                assert line[1:] in lines, line
                lines = lines[lines.index(line[1:]) + 1 :]  # in the order of the file


def test_relative_links_of_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
