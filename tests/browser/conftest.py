"""The app, served to a real Chromium; both see nothing but this machine."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
START_TRIES = 240


@dataclass
class Visit:
    """What the browser did besides what it shows."""

    url: str
    page: object
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(autouse=True)
def _day() -> None:
    """The app runs in a process of its own, on the day it is; so do these tests."""


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
    folder = tmp_path_factory.mktemp("app")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"PLANNER_HOME": str(folder / "planner-home")}
    with (folder / "log.txt").open("w") as log:
        command = [sys.executable, "-m", "planner.cli.main", "ui", "--port", str(port)]
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
        try:
            wait_until_healthy(port, server, folder / "log.txt")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=30)
            with socket.socket() as gone:  # the process that was ended was the app itself, not its parent
                assert gone.connect_ex(("127.0.0.1", port)) != 0


def wait_until_healthy(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    pause = threading.Event()
    for _ in range(START_TRIES):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        if server.poll() is not None:
            break
        pause.wait(0.25)
    pytest.fail(f"the app did not start:\n{log.read_text()}")


@pytest.fixture
def visit(app_url: str, chromium: str) -> Iterator[Visit]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_context(viewport={"width": 1280, "height": 1250}, accept_downloads=True).new_page()
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
        page.goto(app_url)
        page.get_by_role("button", name="CSV of all numbers").wait_for()
        page.locator("svg.marks").first.wait_for()
        yield seen
        browser.close()
    assert seen.outside == []
    assert seen.errors == []
