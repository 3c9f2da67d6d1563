"""A real Chromium, where one is found; the tests here are skipped by name where none is."""

from contextlib import contextmanager

import numpy as np
import pytest
from helpers.chromium import CHROMIUM, launch

from graphheat import datasets, fit
from graphheat.datasets import block_model
from graphheat.explorer import write_page
from graphheat.graph import Graph

NO_WEBGL = """
const plain = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.includes("webgl") ? null : plain.call(this, kind, ...rest);
};
"""
WAIT = 60_000  # milliseconds; a busy machine draws slowly


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.path.parts and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="no Chromium here: `make chromium`"))


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Open a page as a context manager; what it logs, throws or asks for fails the test."""

    @contextmanager
    def opened(path, hash_="", *, webgl=None, ready=True, quiet=True, **options):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
        context.set_default_timeout(WAIT)
        page = context.new_page()
        trouble, asked = [], []

        def hear(message):
            if message.type in ("error", "warning"):
                trouble.append(message.text)

        page.on("console", hear)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        if webgl is False:
            page.add_init_script(NO_WEBGL)
        elif webgl:  # in software, where the page would rather take a plain canvas
            hash_ = f"{hash_ or '#'}&draw=webgl"
        address = path.as_uri()
        page.goto(address + hash_)
        if ready:
            page.wait_for_selector("html[data-ready]")
        yield page
        context.close()
        assert not quiet or not trouble
        outside = [url for url in asked if not url.startswith((address, "data:", "blob:"))]
        assert not outside

    return opened


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def cora(pages):
    path = pages / "cora.html"
    write_page(datasets.load("cora"), path, s=3.5, eps=1e-4)
    return path


@pytest.fixture(scope="session")
def blocks():
    return block_model(150, 3, degree=5, features=8, labels_per_class=4, val=30, seed=0)


@pytest.fixture(scope="session")
def run(blocks):
    return fit(blocks, "paper", max_epochs=20)


@pytest.fixture(scope="session")
def fitted(pages, blocks, run):
    path = pages / "fitted.html"
    write_page(run, path, graph=blocks)
    return path


@pytest.fixture(scope="session")
def star(pages):
    """Return the page of a hub with seven leaves: every node is easy to hit."""
    matrix = np.zeros((8, 8))
    matrix[0, 1:] = matrix[1:, 0] = 1
    path = pages / "star.html"
    write_page(Graph.from_scipy(matrix, name="star"), path)
    return path
