"""The built script is that of the sources: compared by hashes, without Node."""

import hashlib
import json
import re
from pathlib import Path

from graphheat.explorer.page import asset

FRONTEND = Path(__file__).parents[2] / "frontend"


def test_the_build_is_that_of_the_sources():
    names = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"]
    names += [str(path.relative_to(FRONTEND)) for path in (FRONTEND / "src").rglob("*.*")]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\n".encode())
        digest.update((FRONTEND / name).read_bytes())
    built = json.loads(asset("build.json"))
    assert built["sources"] == digest.hexdigest(), "frontend/ has changed: run `make frontend`"


def test_the_built_files_are_as_they_were_built():
    built = json.loads(asset("build.json"))
    for name in ("explorer.js", "explorer.css"):
        assert built[name] == hashlib.sha256(asset(name).encode()).hexdigest()
        assert not re.search(r"</(script|style)|<!--", asset(name), re.IGNORECASE)


def test_the_page_of_the_docs_is_small_and_of_this_build():
    page = (FRONTEND.parent / "docs" / "cora.html").read_text(encoding="utf-8")
    assert len(page) < 1.5e6
    assert asset("explorer.js") in page, "docs/cora.html is of an older build: write it again"
    assert asset("explorer.css") in page


def test_versions_are_pinned_and_the_lock_names_no_host():
    package = json.loads((FRONTEND / "package.json").read_text())
    for version in {**package["dependencies"], **package["devDependencies"]}.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert "://" not in re.sub(
        r'"url": "[^"]*"', "", (FRONTEND / "package-lock.json").read_text()
    )  # funding pages aside


def test_licences_of_what_is_bundled_go_along():
    text = asset("LICENSES.txt")
    for name in ("sigma", "graphology", "events", "graphology-utils"):
        assert re.search(rf"^{name} \d", text, re.MULTILINE)
    assert text.count("Permission is hereby granted") >= 4
