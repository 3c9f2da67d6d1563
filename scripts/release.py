"""Make a release, up to the upload: ``make release VERSION=0.2.0``.

Checks the tree, the version and the changelog, runs the tests, the site and the environments,
builds sdist and wheel, and makes a tag. It publishes nothing, and prints the commands that do.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


class ReleaseError(Exception):
    """What stands against a release."""


def output(*words: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def check_version(
    version: str, package: str, citation: str, changelog: str, tags: list[str]
) -> str:
    """Return the changelog's section of the version, or raise with what is wrong.

    Parameters
    ----------
    package, citation, changelog
        The texts of ``__init__.py``, ``CITATION.cff`` and ``CHANGELOG.md``.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise ReleaseError(f"{version!r} is no version such as 0.2.0 or 0.2.0rc1.")
    if f'__version__ = "{version}"' not in package:
        raise ReleaseError(f"src/graphheat/__init__.py does not say {version}.")
    if f"\nversion: {version}\n" not in citation:
        raise ReleaseError(f"CITATION.cff does not say {version}.")
    if f"v{version}" in tags:
        raise ReleaseError(f"There is a tag v{version} already.")
    match = re.search(
        rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if match is None or not match[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no section '## {version}' with anything in it.")
    return match[1].strip()


def check_tree() -> None:
    """Raise unless everything is committed, on main."""
    if output("git", "status", "--porcelain"):
        raise ReleaseError("There are changes that are not committed.")
    if output("git", "rev-parse", "--abbrev-ref", "HEAD") != "main":
        raise ReleaseError("A release is made on main.")


def release(version: str) -> None:
    """Do all of it but the upload."""
    package, citation, changelog = (
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("src/graphheat/__init__.py", "CITATION.cff", "CHANGELOG.md")
    )
    notes = check_version(version, package, citation, changelog, output("git", "tag").split())
    check_tree()
    for target in ("test", "lint", "docs", "ci-full"):
        subprocess.run(["make", target], cwd=ROOT, check=True)
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)], check=True)
    key = subprocess.run(
        ["git", "config", "user.signingkey"], cwd=ROOT, capture_output=True, check=False
    ).stdout.strip()
    message = f"graphheat {version}\n\n{notes}\n"
    tag = ["git", "tag", "-s" if key else "-a", f"v{version}", "-m", message]
    subprocess.run(tag, cwd=ROOT, check=True)
    if not key:
        print("The tag is not signed: git config user.signingkey names no key.")
    print("Built and tagged; nothing is published. To publish:")
    print(f"  git push origin main v{version}")
    print("  python -m twine upload dist/*")


def main() -> int:
    """Make a release, or say in a sentence why not."""
    parser = argparse.ArgumentParser(description="Make a release, up to the upload.")
    parser.add_argument("version")
    try:
        release(parser.parse_args().version)
    except (ReleaseError, subprocess.CalledProcessError) as error:
        print(f"No release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
