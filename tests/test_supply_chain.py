"""What is pinned, what has hashes and what has a licence listed are the same packages."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)


def pins(name, pattern=PINS):
    """Return a set of packages with their versions."""
    return set(pattern.findall((ROOT / name).read_text(encoding="utf-8")))


def test_every_pinned_package_has_hashes_but_torch():
    without = {pin for pin in pins("constraints.txt") if pin[0] != "torch"}
    assert pins("requirements.lock") == without
    for entry in re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text())[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry


def test_every_pinned_package_has_its_licence_listed():
    row = re.compile(r"^\| ([\w.-]+) \| (\d\S*) \| [^( ].* \|$", re.MULTILINE)
    assert pins("docs/licences.md", row) == pins("constraints.txt")
