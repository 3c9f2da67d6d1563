"""Check the links of the built site: files and anchors within it, and the form of all others.

    python scripts/check_links.py docs/_build/html

Links to elsewhere must be https to a full host name, and none may be a placeholder. Whether they
answer needs a network; ``--external`` lists them.
"""

from __future__ import annotations

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}")
PLACEHOLDER = re.compile(r"example\.(com|org|net)|localhost|todo|fixme|your|<|>|%3c|\.\.\.|…", re.I)


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element's link and its anchor."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value:
                self.links.add(value)


def malformed(link: str) -> bool:
    """Tell whether a link to elsewhere cannot be right: no https, no host, or a placeholder."""
    parts = urlsplit(link)
    if parts.scheme == "data":  # a picture in the page itself
        return False
    if parts.scheme == "mailto":
        return "@" not in parts.path or PLACEHOLDER.search(link) is not None
    known = parts.scheme == "https" and HOST.fullmatch(parts.netloc) is not None
    return not known or PLACEHOLDER.search(link) is not None


def check(folder: Path) -> tuple[list[str], set[str]]:
    """Return sentences on links that lead nowhere, and the links to elsewhere."""
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts
    }
    wrong, external = [], set()
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                external.add(link)
                if malformed(link):
                    wrong.append(f"{path.relative_to(folder.resolve())}: {link} is no full address")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{path.relative_to(folder.resolve())}: {link} is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(folder.resolve())}: {link} has no such anchor")
    return wrong, external


def main() -> int:
    """Print what is wrong; the exit code says whether anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--external", action="store_true")
    options = parser.parse_args()
    wrong, external = check(options.folder)
    for sentence in wrong:
        print(sentence)
    if options.external:
        print(*sorted(link for link in external if not link.startswith("data:")), sep="\n")
    print(f"{len(wrong)} dead links within the site, {len(external):,} links to elsewhere.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
