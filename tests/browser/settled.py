"""Waits until a page is completely drawn, because a click on an element that is redrawn gets lost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Download, FilePayload, Page, TimeoutError

from planner import clock
from planner.use_cases.catalogs import catalog_for
from planner.use_cases.plans import compare, dated, read_plan

PLAN_FILE = "Your own plan (YAML or JSON)"
RUN_FILES = "Your run records (JSON)"
SETTLED = "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"


def sentence_of(path: Path) -> str:
    """Return the first sentence of `planner compare` about a plan."""
    asked = dated(read_plan(path), now=clock.now())
    return compare(asked.plan, catalog_for(asked.plan), today=asked.today).headline[0]


def settle(page: Page) -> None:
    page.wait_for_function(SETTLED)


def upload(page: Page, into: str, file: FilePayload | Path) -> None:
    """Upload a file to the uploader of this name. Its position is not stable while the page is drawn."""
    settle(page)
    page.get_by_role("region", name=into).locator("input[type=file]").set_input_files(file)


def yaml_file(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "text/yaml", "buffer": data}


def download(page: Page, button: str) -> Download:
    """Return the file behind a button, and press again if the file belonged to an earlier page.

    Streamlit drops a page's files when it has drawn the page anew, and the click may still name the old one.
    """
    for _ in range(2):
        with suppress(TimeoutError):
            return _pressed_once(page, button, timeout=30_000)
    return _pressed_once(page, button, timeout=60_000)


def _pressed_once(page: Page, button: str, *, timeout: int) -> Download:
    settle(page)
    with page.expect_download(timeout=timeout) as started:
        page.get_by_role("button", name=button).click()
    return started.value
