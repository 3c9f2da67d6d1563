"""A real Chromium without a screen, for tests, pictures and benchmarks (`make chromium`)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",  # WebGL in software: no screen, no graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def launch(playwright: Playwright) -> Browser:
    """Return a new browser; the caller closes it."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
