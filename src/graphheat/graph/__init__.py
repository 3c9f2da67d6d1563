"""The graph: adjacency, features, labels, titles and split, validated once."""

from graphheat.graph.graph import Graph
from graphheat.graph.labels import Labels, encode_labels
from graphheat.graph.split import Split
from graphheat.graph.summary import Summary

__all__ = ["Graph", "Labels", "Split", "Summary", "encode_labels"]
