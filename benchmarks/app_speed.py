"""Times the app: first page, an interaction with 200 options, five users. Needs Chromium.

`python -m benchmarks.app_speed`
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Page, sync_playwright

from planner.ui.ask.link import packed
from planner.use_cases.catalogs import open_catalog
from scripts.served_app import BROWSER_FLAGS, served

OPTIONS, USERS, CHANGES = 200, 5, 9
READY = ".tp .options"


def plan_text(options: int) -> str:
    """Return a plan with a number of offers."""
    catalog = open_catalog()
    priced = {(row.node, row.region, row.price_kind) for row in catalog.prices if row.usd_per_hour}
    rows = sorted(
        row for row in priced if row[0] in catalog.nodes and row[2].value in ("on_demand", "spot", "marketplace")
    )
    wanted = [{"offer": node, "region": region, "price": kind.value} for node, region, kind in rows][:options]
    plan = {
        "schema_version": 1, "name": f"{len(wanted)} options", "workload": {"ref": "llama3-8b", "seq_len": 2048},
        "work": {"tokens": 1e9}, "training": {"precision": "bf16"}, "campaign": {"runs": 3}, "options": wanted,
    }  # fmt: skip
    return yaml.safe_dump(plan)


def change(page: Page, value: int) -> float:
    """Enter a number of trainings, and return the seconds until the answer changes."""
    box = page.get_by_role("spinbutton", name="Trainings", exact=True)
    before = page.locator(".tp .figures").inner_text()
    started = time.perf_counter()
    box.fill(str(value))
    box.press("Enter")
    page.wait_for_function("before => document.querySelector('.tp .figures').innerText !== before", arg=before)
    page.wait_for_function("document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    return time.perf_counter() - started


def first_page(browser: Any, url: str) -> tuple[Page, float]:
    """Open a page in a fresh context, and return it with the seconds until the answer appears."""
    page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    started = time.perf_counter()
    page.goto(url)
    page.locator(READY).wait_for()
    return page, time.perf_counter() - started


def user(url: str, chromium: str, times: list[float], start: threading.Barrier, number: int) -> None:
    """Change the answer of an own page at the same time as the other users."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_FLAGS)
        page, _ = first_page(browser, f"{url}/?start=plan&example=dgx_station_v100")
        start.wait()
        times += [change(page, 10 * number + place + 2) for place in range(3)]
        browser.close()


def main() -> None:
    """Print the figures."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium is not None, "Chromium is not installed"
    command: Callable[[int], list[str]] = lambda port: [  # noqa: E731
        sys.executable, "-m", "planner.cli.main", "ui", "--port", str(port)
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as home, served(command, Path(home)) as port:
        url = f"http://127.0.0.1:{port}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_FLAGS)
            _, cold = first_page(browser, url)
            _, warm = first_page(browser, url)
            page, many = first_page(browser, f"{url}/?start=plan&plan={packed(plan_text(OPTIONS))}")
            changes = [change(page, value) for value in range(4, 4 + CHANGES)]
            small, _ = first_page(browser, f"{url}/?start=plan&example=dgx_station_v100")
            few = [change(small, value) for value in range(4, 4 + CHANGES)]
            browser.close()
        times: list[float] = []
        barrier = threading.Barrier(USERS)
        users = [threading.Thread(target=user, args=(url, chromium, times, barrier, number)) for number in range(USERS)]
        for thread in users:
            thread.start()
        for thread in users:
            thread.join()
    print(f"first page, just started server: {cold:.2f} s; again: {warm:.2f} s; {OPTIONS} options: {many:.2f} s")
    print(f"a change, {OPTIONS} options: median {statistics.median(changes):.2f} s, most {max(changes):.2f} s")
    print(f"a change, 13 options: median {statistics.median(few):.2f} s, most {max(few):.2f} s")
    print(f"{USERS} users at once: median {statistics.median(times):.2f} s, most {max(times):.2f} s")


if __name__ == "__main__":
    main()
