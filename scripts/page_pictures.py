"""Takes pictures of the app's pages for docs/images: `python -m scripts.page_pictures`. Needs Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from scripts.served_app import BROWSER_FLAGS, ROOT, served

REPORTED = "examples/dgx_station_v100.yaml"
OPTIONS = ".tp .options"
PICTURES = {
    "ask": ("", OPTIONS, 1280, 1000, "light"),
    "ask-buy-dark": ("?start=buy&currency=KRW", OPTIONS, 1280, 1000, "dark"),
    "ask-offers-ko": ("?start=offers&discount=10&credits=2000&lang=ko", OPTIONS, 1280, 1000, "light"),
    "ask-phone": ("?start=offers", OPTIONS, 390, 844, "light"),
    "own-or-rent": ("own-or-rent?start=buy&currency=KRW", ".tp .ways", 1280, 900, "light"),
    "campaign": ("campaign?start=plan&example=campaign_mix&budget=4000", ".tp .calendar", 1280, 900, "light"),
    "evidence": ("evidence", ".tp .runs", 1280, 900, "light"),
    "prices": ("prices?card=H100-SXM", ".tp .prices", 1280, 900, "dark"),
}
"""Address, selector of a drawn element, width, height and colour scheme of each picture."""


def main(folder: Path = ROOT / "docs" / "images") -> None:
    """Serve the app with an empty workspace, and write one picture per page."""

    def command(port: int) -> list[str]:
        return [sys.executable, "-m", "planner.cli.main", "ui", "--port", str(port)]

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as home, served(command, Path(home)) as port, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_FLAGS)
        for name, (address, drawn, width, height, scheme) in PICTURES.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{port}/{address}")
            page.locator(drawn).first.wait_for()
            page.get_by_text("Running...").wait_for(state="hidden")
            page.wait_for_timeout(1500)  # until fonts and the last element are drawn
            page.screenshot(path=folder / f"{name}.png")
            print(folder / f"{name}.png")
        _report(browser, Path(home), folder / "report.png")
        browser.close()


def _report(browser: Browser, home: Path, picture: Path) -> None:
    """Write a picture of a report's first page in print."""
    report = home / "report.html"
    command = [sys.executable, "-m", "planner.cli.main", "report", str(ROOT / REPORTED), "--out", str(report)]
    subprocess.run(command, check=True)
    page = browser.new_context(viewport={"width": 740, "height": 960}, device_scale_factor=1.5).new_page()
    page.emulate_media(media="print")
    page.goto(report.as_uri())
    page.add_style_tag(content=".first { padding: 2rem; }")
    page.locator(".first").screenshot(path=picture)
    print(picture)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
