"""Write docs/explorer/*.png from docs/cora.html, in a real Chromium (`make chromium`).

python scripts/make_pictures.py [--page docs/cora.html] [--only NAME]
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))
from helpers.chromium import launch  # noqa: E402

LAPTOP, PHONE = (1280, 800), (390, 844)
HEAT = "eps=1e-4&colour=heat"
PICTURES = {
    "start": ("", LAPTOP, "light"),
    "s1": (f"#node=2027&s=1&{HEAT}", LAPTOP, "light"),
    "s5": (f"#node=2027&s=5&{HEAT}", LAPTOP, "light"),
    "case": (f"#node=2027&s=3.5&{HEAT}", LAPTOP, "light"),
    "why": ("#node=2027&s=3.5&eps=1e-4&colour=predicted&tab=why", LAPTOP, "light"),
    "mistakes": ("#s=3.5&eps=1e-4&colour=right&tab=nodes&filter=3-4-test", LAPTOP, "light"),
    "dark": (f"#node=2027&s=3.5&{HEAT}&ball=1", LAPTOP, "dark"),
    "label": ("#tab=label", LAPTOP, "light"),
    "label_phone": ("#tab=label", PHONE, "dark"),
    "phone": (f"#node=2027&s=3.5&{HEAT}", PHONE, "light"),
}


def main() -> None:
    """Take the pictures; 256 colours are enough, and keep them small."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "cora.html")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "explorer")
    parser.add_argument("--only", choices=PICTURES)
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, (state, (width, height), scheme) in PICTURES.items():
            if given.only not in (None, name):
                continue
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page = context.new_page()
            page.set_default_timeout(180_000)
            page.goto(f"{given.page.resolve().as_uri()}{state}")
            page.wait_for_selector("html[data-ready]")
            page.wait_for_timeout(1000)
            for _ in range(10 if name.startswith("label") else 0):
                page.locator("body").press("l")  # the suggested node's actual class
                page.wait_for_timeout(300)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            # Paper keeps its colour when the palette is refined towards what there is much of.
            picture = picture.quantize(256, kmeans=3, dither=0)
            picture.save(given.out / f"{name}.png", optimize=True)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
