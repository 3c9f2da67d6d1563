"""Write docs/explorer/*.png in a real Chromium (`make chromium`).

From docs/cora.html, and, as way_*.png, the way of a person with an edge list and no label at all
(examples/people) to the saved labels, on a laptop and on a phone.

python scripts/make_pictures.py [--page docs/cora.html] [--only NAME]
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import graphheat
from graphheat.explorer import write_page

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


FIXED = (  # of classes, paper and panels, light and dark (frontend/src/colours.ts, style.css)
    "e69f00", "56b4e9", "009e73", "d6bd00", "0072b2", "d55e00", "cc79a7", "333333",
    "1fbf92", "f0e442", "4593d8", "e8702a", "dd8fbb", "e5e5e5",
    "ffffff", "f7f8fa", "dde2e8", "e8f1f8", "10151c", "161d26", "1c2530", "2c3743", "1d3040",
)  # fmt: skip
WAY = {"way": (LAPTOP, "light"), "way_phone": (PHONE, "light")}
ANSWERS = "1212121"  # to what is suggested: tea and coffee in turn


def main() -> None:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "cora.html")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "explorer")
    parser.add_argument("--only", choices=[*PICTURES, *WAY])
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = launch(playwright)
        for name, (state, size, scheme) in PICTURES.items():
            if given.only not in (None, name):
                continue
            page = opened(browser, f"{given.page.resolve().as_uri()}{state}", size, scheme)
            for _ in range(10 if name.startswith("label") else 0):
                asked(page)
                page.locator("body").press("l")  # the suggested node's actual class
            if name.startswith("label"):
                asked(page)
            take(page, given.out / f"{name}.png")
        bare = Path(folder) / "people.html"
        edges = graphheat.read_graph(ROOT / "examples" / "people" / "edges.csv")
        write_page(edges, bare, title="people", noun="people")
        for name, (size, scheme) in WAY.items():
            if given.only in (None, name):
                walk(opened(browser, bare.as_uri(), size, scheme), given.out, name)
        browser.close()


def opened(browser: Browser, address: str, size: tuple[int, int], scheme: str) -> Page:
    """Return a page that has been drawn."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # type: ignore[arg-type]
        has_touch=size == PHONE,
        is_mobile=size == PHONE,
    )
    page = context.new_page()
    page.set_default_timeout(180_000)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(1000)
    return page


def asked(page: Page) -> None:
    """Wait for the next suggestion."""
    while page.evaluate("graphheat.explorer.asked === null"):
        page.wait_for_timeout(50)
    page.wait_for_timeout(100)


def walk(page: Page, out: Path, name: str) -> None:
    """Take a picture of the page as it opens, and one when its labels have been saved."""
    asked(page)
    if name == "way":
        picture(page, out / f"{name}_open.png")
    page.get_by_label("Name a class").fill("tea, coffee")
    page.keyboard.press("Enter")
    for key in ANSWERS:
        asked(page)
        page.keyboard.press(key)
    asked(page)
    if name == "way":
        page.get_by_role("button", name="Save labels").click()
    take(page, out / (f"{name}_saved.png" if name == "way" else f"{name}.png"))


def take(page: Page, path: Path) -> None:
    """Write what is in view, and close the page."""
    picture(page, path)
    page.context.close()


def picture(page: Page, path: Path) -> None:
    """Write what is in view; 256 colours are enough, and keep it small."""
    page.wait_for_timeout(300)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    # Classes are few pixels in places, and must not run into one another; paper stays paper.
    most = shot.quantize(256 - len(FIXED), kmeans=3).getpalette()
    palette = Image.new("P", (1, 1))
    fixed = [channel for colour in FIXED for channel in bytes.fromhex(colour)]
    palette.putpalette([*(most or [])[: 3 * (256 - len(FIXED))], *fixed])
    shot.quantize(palette=palette, dither=0).save(path, optimize=True)


if __name__ == "__main__":
    main()
