"""Prints HTML to PDF with an installed Chromium or Chrome, which sees one local file and no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from planner.errors import InputError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-pdf-header-footer",
)
LONGEST_SECONDS = 120.0
FIX = "Write the report as .html, and print that from a browser."


def printed(html: str) -> bytes:
    """Return a page as PDF. InputError if there is no browser, or if it fails."""
    browser = _browser()
    if browser is None:
        raise InputError(
            "A PDF is printed by Chromium or Chrome, and neither is installed here.",
            fix=f"Install one (Debian: apt-get install chromium). {FIX}",
        )
    with tempfile.TemporaryDirectory(prefix="planner-report-") as folder:
        page, out = Path(folder, "report.html"), Path(folder, "report.pdf")
        page.write_text(html, encoding="utf-8")
        as_root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
        command = [
            browser, *FLAGS, *as_root, f"--user-data-dir={folder}/profile", f"--print-to-pdf={out}",
            page.as_uri(),
        ]  # fmt: skip
        try:
            ended = subprocess.run(command, capture_output=True, timeout=LONGEST_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{browser} printed nothing: {type(error).__name__}.", fix=FIX) from error
        content = out.read_bytes() if out.is_file() else b""
        if not content.startswith(b"%PDF"):
            raise InputError(f"{browser} printed nothing and ended with code {ended.returncode}.", fix=FIX)
        return content


def _browser() -> str | None:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    return found or (str(ON_MACOS) if ON_MACOS.is_file() else None)
