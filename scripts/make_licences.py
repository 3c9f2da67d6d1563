"""Write docs/licences.md: the licence of every package that constraints.txt pins.

python scripts/make_licences.py
"""

import importlib.metadata
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HEAD = """# Licences of what is installed

graphheat itself is under the Apache License 2.0. This table has every package that
`constraints.txt` pins, for the package and its tests, by what its metadata says;
`scripts/make_licences.py` writes it. gensim (LGPL) is in the extra `paper` alone.

| package | version | licence |
| --- | --- | --- |
"""


def licence(package):
    """Return the licence of an installed package in a few words, or end with what is missing."""
    try:
        facts: Any = importlib.metadata.metadata(package)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(f"{package} is not installed here; install all that constraints.txt pins.")
    text = facts.get("License-Expression")
    if not text:
        classed = [
            each.rsplit("::", 1)[1].strip()
            for each in facts.get_all("Classifier") or []
            if each.startswith("License ::")
        ]
        text = ", ".join(classed) or (facts.get("License") or "").strip().split("\n")[0]
    return text[:80] or "(not stated)"


def main():
    """Write the table."""
    rows = []
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        found = re.fullmatch(r"([A-Za-z0-9_.-]+)==([^ ;]+).*", line)
        if found:
            rows.append(f"| {found[1]} | {found[2]} | {licence(found[1])} |")
    (ROOT / "docs" / "licences.md").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
