"""Write requirements.lock: the pins of constraints.txt with the hashes of their files.

python scripts/make_hashes.py [--index URL]

The hashes are those that the package index (by default the one that pip is set up with) says of
every file of a version, so that the list holds for any platform. torch is left out: which build of
a version is at hand, for a processor alone or for a graphics card, differs between machines, and so
do its hashes; it is taken by version, from constraints.txt.
"""

import argparse
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("torch",)
LINK = re.compile(r'<a [^>]*href="[^"]*#sha256=([0-9a-f]{64})"[^>]*>([^<]*)</a>')


def index_of_pip():
    """Return the index that pip is set up with."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("pip has no index of its own here; name one with --index.")
    return done.stdout.strip()


def hashes(index, name, version):
    """Return the SHA-256 of every file of a version."""
    plain = re.sub(r"[-_.]+", "-", name).lower()
    with urllib.request.urlopen(f"{index.rstrip('/')}/{plain}/", timeout=60) as answer:
        files = LINK.findall(answer.read().decode())
    stem = re.escape(plain).replace(r"\-", "[-_.]+")
    wanted = re.compile(rf"{stem}-{re.escape(version)}(-.*\.whl|\.tar\.gz|\.zip)", re.IGNORECASE)
    return sorted({mark for mark, file in files if wanted.fullmatch(file.strip())})


def main():
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index")
    index = parser.parse_args().index or index_of_pip()
    lines = ["# Written by scripts/make_hashes.py; `make locked` installs it."]
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        found = re.fullmatch(r"([A-Za-z0-9_.-]+)==([^ ;]+).*", line)
        if found is None or found[1] in LEFT_OUT:
            continue
        known = hashes(index, found[1], found[2])
        if not known:
            sys.exit(f"The index knows no file of {found[0]}.")
        marks = [f"--hash=sha256:{each}" for each in known]
        lines.append(" \\\n    ".join([f"{found[1]}=={found[2]}", *marks]))
    (ROOT / "requirements.lock").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
