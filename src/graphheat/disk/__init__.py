"""Graphs larger than memory: ingestion, and a graph whose edges and features stay on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphheat.disk.disk_graph import DiskGraph

if TYPE_CHECKING:
    from graphheat.disk.ingestion import ingest

__all__ = ["DiskGraph", "ingest"]


def __getattr__(name: str) -> object:
    if name == "ingest":  # with all that reads files, which graphs in memory do not ask for
        from graphheat.disk.ingestion import ingest

        return ingest
    raise AttributeError(f"module 'graphheat.disk' has no attribute {name!r}")
