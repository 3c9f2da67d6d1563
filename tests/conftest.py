"""Where torch or gensim is not installed, tests of what needs it are skipped, and say why.

Folders of boxes that do without torch have no such grace: a test of theirs that needs torch says
so itself, by ``pytest.importorskip``.
"""

import re
from importlib.util import find_spec

import pytest

# A conftest is a plugin; collected for its doctests too, each would be a module "conftest".
collect_ignore_glob = ["*conftest.py"]

OPTIONAL = ("torch", "torch_geometric", "gensim")
INSTALLED = all(find_spec(name) is not None for name in OPTIONAL)
NO_TORCH = {"calibration", "contract", "datasets", "features", "graph", "heat", "io", "linear"}

NUMBA = find_spec("numba") is not None

# What an import, an error of the package and a command that ended with one say.
MISSING = re.compile(
    rf"No module named '({'|'.join(OPTIONAL)})[^\n]*|[^\n]*\bneeds (torch|gensim)[^\n]*"
)
NO_NUMBA = re.compile(r"No module named '(numba|llvmlite)[^\n]*|[^\n]*\bneeds numba[^\n]*")


def skipped_if_missing(node, report):
    """Make a skip of a report that failed because a library is not installed."""
    box = node.path.relative_to(node.config.rootpath / "tests").parts[0]
    reason = MISSING.search(report.longreprtext) if report.failed else None
    allowed = not INSTALLED and box not in NO_TORCH
    if report.failed and not NUMBA and not (reason and allowed):
        reason = NO_NUMBA.search(report.longreprtext)
        allowed = True
    if reason and allowed:
        report.outcome = "skipped"
        report.longrepr = (str(node.path), 0, reason.group().removeprefix("E").strip())
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a file that imports what is missing."""
    report = yield
    return skipped_if_missing(collector, report) if collector.path.suffix == ".py" else report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Skip a test that turns out to need what is missing."""
    return skipped_if_missing(item, (yield))
