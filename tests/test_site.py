"""The site and the project's habits: every public name has a page, releases, links."""

import importlib
import pkgutil
import re
import sys
import tomllib
from pathlib import Path

import pytest

import graphheat

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

api_pages = importlib.import_module("api_pages")
check_links = importlib.import_module("check_links")
inventories = importlib.import_module("inventories")


def packages():
    for module in pkgutil.walk_packages(graphheat.__path__, "graphheat."):
        if module.ispkg and not module.name.startswith(api_pages.INTERNAL):
            yield module.name


def test_every_public_name_is_in_the_reference():
    pytest.importorskip("torch_geometric")
    pages, aliases = api_pages.documented_names()
    shown = {f"{path}.{name}" for path, names in pages.items() for name in names} | set(aliases)
    for path in ("graphheat", *packages()):
        try:
            module = importlib.import_module(path)
        except ImportError:  # what it needs is not installed here
            continue
        for name in getattr(module, "__all__", ()):
            if not isinstance(getattr(module, name), type(sys)):
                assert f"{path}.{name}" in shown, f"{path}.{name} has no page: scripts/api_pages.py"


def test_a_page_lists_an_object_once():
    pytest.importorskip("torch_geometric")
    pages, aliases = api_pages.documented_names()
    assert "HeatKernel" in pages["graphheat"]
    assert "HeatKernel" not in pages["graphheat.heat"]
    assert aliases["graphheat.heat.HeatKernel"] == "graphheat.HeatKernel"


def test_dead_links_and_anchors_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><a href="b.html#gone">b</a><a href="c.html">c</a>'
        '<a href="https://numpy.org">n</a><p id="x"></p><a href="#x">x</a><a href="#y">y</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    wrong, external = check_links.check(tmp_path)
    assert len(wrong) == 3
    assert external == {"https://numpy.org"}


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("https://numpy.org/doc/stable/", False),
        ("data:image/png;base64,AAAA", False),
        ("http://numpy.org", True),
        ("https://numpy", True),
        ("https://github.com/your/repository", True),
        ("https://example.org", True),
        ("mailto:nobody", True),
    ],
)
def test_links_to_elsewhere_have_a_full_address(link, wrong):
    assert check_links.malformed(link) == wrong


def test_inventories_are_sphinxs(tmp_path):
    inventory = pytest.importorskip("sphinx.util.inventory")
    mapping = inventories.write_inventories(tmp_path)
    address, path = mapping["scipy"]
    with Path(path).open("rb") as stream:
        found = inventory.InventoryFile.load(stream, address, lambda base, page: base + page)
    names = found.data["py:class"] if hasattr(found, "data") else found["py:class"]
    assert "scipy.sparse.csr_array" in names


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/graphheat/__init__.py"
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {graphheat.__version__}\n" in citation


release = importlib.import_module("release")
TEXTS = (
    '__version__ = "0.2.0"\n',
    "title: x\nversion: 0.2.0\n",
    "# C\n\n## 0.2.0\n\n- new\n\n## 0.1.0\n",
)


def test_a_release_has_notes():
    assert release.check_version("0.2.0", *TEXTS, ["v0.1.0"]) == "- new"


@pytest.mark.parametrize(
    ("version", "changed", "tags", "words"),
    [
        ("0.2", {}, [], "is no version"),
        ("0.3.0", {}, [], "__init__.py does not say 0.3.0"),
        ("0.2.0", {1: "version: 0.1.0\n"}, [], "CITATION.cff does not say"),
        ("0.2.0", {}, ["v0.2.0"], "There is a tag"),
        ("0.2.0", {2: "## 0.2.0\n\n## 0.1.0\n- old\n"}, [], "no section"),
    ],
)
def test_what_stands_against_a_release(version, changed, tags, words):
    texts = [changed.get(place, text) for place, text in enumerate(TEXTS)]
    with pytest.raises(release.ReleaseError, match=words):
        release.check_version(version, *texts, tags)


def test_a_ratio_that_grew_by_a_fifth_is_a_regression(monkeypatch):
    import pandas

    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    ratios = importlib.import_module("ratios")
    kept = pandas.DataFrame({"what": ["a"] * 3 + ["b"], "ratio": [1.0, 1.1, 5.0, 2.0]})
    rows = ratios.judged({"a": 1.4, "b": 2.3, "c": 1.0}, kept)
    assert [row[""] for row in rows] == ["REGRESSION", "ok", "new"]
    (exactly,) = ratios.judged({"b": 2.4}, kept)
    assert exactly[""] == "REGRESSION"


def test_every_document_is_in_the_sites_contents():
    documents = {path.stem: path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md")}
    listed = {
        line.strip()
        for text in documents.values()
        for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    }
    missing = set(documents) - listed - {"index"}
    assert not missing, "name it in docs/guides.md, or in another page of contents"
