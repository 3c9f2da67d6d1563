"""Readers and writers: graphs from files and arrays, and back."""

from graphheat.io.arrays import from_arrays
from graphheat.io.atomic import check_writable, replacing
from graphheat.io.csv import read_csv, write_csv
from graphheat.io.formats import FORMATS, Format, read_graph
from graphheat.io.mtx import read_mtx, write_mtx
from graphheat.io.npz import read_npz, write_npz

__all__ = [
    "FORMATS",
    "Format",
    "check_writable",
    "from_arrays",
    "read_csv",
    "read_graph",
    "read_mtx",
    "read_npz",
    "replacing",
    "write_csv",
    "write_mtx",
    "write_npz",
]
