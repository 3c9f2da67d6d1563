"""The errors graphheat raises on purpose.

Each is a :class:`GraphHeatError` and also the builtin that a caller would expect, so that both
``except GraphHeatError`` and ``except ValueError`` do what they should. A message is one sentence
that names the thing, the rule and the value, followed by the next step where there is one.
"""

from __future__ import annotations


class GraphHeatError(Exception):
    """Base of every error that graphheat raises on purpose."""


class GraphError(GraphHeatError, ValueError):
    """The graph, its features, its labels or its split break a rule."""


class ParameterError(GraphHeatError, ValueError):
    """A parameter is outside its range."""


class FileFormatError(GraphHeatError, ValueError):
    """A file cannot be read as what it claims to be."""


class FileSizeError(FileFormatError):
    """Reading a file would take more memory than it may; raised before it does."""


class MissingPathError(GraphHeatError, FileNotFoundError):
    """A path that was named does not exist, or is a folder where a file is needed."""


class OutputError(GraphHeatError, OSError):
    """A result cannot be written where it was asked for."""


class WriteError(OutputError):
    """Writing failed half-way: a full disk, a quota; what was there before is still there."""


class BusyError(OutputError):
    """Another process is writing there."""


class NodeNotFoundError(GraphHeatError, KeyError):
    """A node id is not in the graph."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the repr


class KernelMemoryError(GraphHeatError, MemoryError):
    """A kernel would not fit in memory; raised before anything is computed."""


class CheckpointError(GraphHeatError, ValueError):
    """A checkpoint is damaged, of a newer schema, or of another run."""


class MissingDependencyError(GraphHeatError, ImportError):
    """An optional package is needed for what was asked."""


class UnsupportedError(GraphHeatError, NotImplementedError):
    """What was asked for is not done here, and the message says what is."""
