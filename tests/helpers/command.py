"""The graphheat command, called within the process."""

from __future__ import annotations

from inspect import signature

from click.testing import CliRunner, Result

from graphheat.cli import main


def invoke(*words: object) -> Result:
    """Run the command with these words, whatever becomes of it."""
    separate = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    return CliRunner(**separate).invoke(main, [str(word) for word in words])  # click before 8.2


def call(*words: object, code: int = 0) -> Result:
    """Run the command; it must end with ``code``."""
    result = invoke(*words)
    assert result.exit_code == code, result.output + result.stderr
    return result
