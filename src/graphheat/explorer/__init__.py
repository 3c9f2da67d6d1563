"""The explorer: a graph and its heat on one page, in a browser, with nothing to install."""

from graphheat.explorer.layout import lay_out
from graphheat.explorer.page import Page, page_text, write_page
from graphheat.explorer.part import MAX_EDGES, MAX_NODES

__all__ = ["MAX_EDGES", "MAX_NODES", "Page", "lay_out", "page_text", "write_page"]
