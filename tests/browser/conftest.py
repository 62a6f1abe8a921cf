"""Serves the app to a real Chromium. Neither uses the network."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from scripts.served_app import BROWSER_FLAGS, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 20_000


@dataclass
class Visit:
    """Requests and messages of the browser."""

    url: str
    page: object
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(autouse=True)
def _day() -> None:
    """Keep the real date, because the app runs with it in a process of its own."""


@pytest.fixture(scope="session", autouse=True)
def _patience() -> None:
    """Wait longer, because pages appear later while the coverage of two workers is measured."""
    try:
        from playwright.sync_api import expect
    except ImportError:
        return
    expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        missing("Chromium is not installed")
    assert found is not None
    return found


def missing(reason: str) -> None:
    """Skip on a developer's machine; in CI a missing browser is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    def command(port: int) -> list[str]:
        return [sys.executable, "-m", "planner.cli.main", "ui", "--port", str(port)]

    with served(command, tmp_path_factory.mktemp("app")) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Yield one browser for the tests of a file. Each test has a context of its own.

    Not of the session: while playwright lives, no other test can run an event loop in this thread.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(app_url: str, browser: Browser) -> Iterator[Visit]:
    """Yield a visitor who has not opened a page yet."""
    with browser.new_context(viewport={"width": 1280, "height": 1250}, accept_downloads=True) as context:
        page = context.new_page()
        seen = Visit(url=app_url, page=page)
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith((app_url, "data:", "blob:")) else seen.outside.append(request.url)
            ),
        )
        page.on(
            "websocket",
            lambda socket: (
                None if socket.url.startswith(app_url.replace("http", "ws")) else seen.outside.append(socket.url)
            ),
        )
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        yield seen
    assert seen.outside == []
    assert seen.errors == []


@pytest.fixture
def first_page(visit: Visit) -> Page:
    """Return the completely drawn page at the app's bare address."""
    from playwright.sync_api import Page

    from tests.browser.settled import settle

    page = visit.page
    assert isinstance(page, Page)
    page.goto(visit.url)
    page.locator(".tp .options").wait_for()
    settle(page)
    return page
