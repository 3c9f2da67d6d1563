"""Graphs larger than memory: ingestion, and a graph whose edges and features stay on disk."""

from graphheat.disk.disk_graph import DiskGraph
from graphheat.disk.ingestion import ingest

__all__ = ["DiskGraph", "ingest"]
