"""The command line: parses, calls, prints; computes nothing."""

from graphheat.cli.app import main

__all__ = ["main"]
