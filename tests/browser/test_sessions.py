"""No visitor receives what another uploads, pastes or pins; secrets are reported and hidden."""

from __future__ import annotations

import http.server
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Browser, FilePayload, Page, WebSocket, expect

from planner.adapters.workspace import catalogs_dir, examples_dir
from tests.browser.settled import PLAN_FILE, RUN_FILES, download, settle, upload, yaml_file

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLAN = (examples_dir() / "campaign_mix.yaml").read_text(encoding="utf-8")
NAME = "Three machines, two groups"
GROUP = "name: short"
MARK = "Quixotic-Zebra-71"
"""Text in the first visitor's plan, as its name and that of a group, and as the id of a run."""
PRICE = "6.54321"
"""USD per hour in that plan only."""
TOKEN = "hf_" + "QmZrTbYuXoAsNfGhJkLpWcVeDmRwEiTyUn"
PLAN_IN_ADDRESS = re.compile("[?&]plan=")
PAGES = ("ask", "campaign", "own-or-rent", "evidence", "prices")


@dataclass
class Session:
    """A visitor with a browser context of its own, and everything that its browser received."""

    page: Page
    url: str
    received: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("websocket", self._listen)
        self.page.on("response", lambda response: self.received.append(response.url.encode()))
        self.page.on("requestfinished", self._keep)

    def _listen(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived", lambda data: self.received.append(data if isinstance(data, bytes) else data.encode())
        )

    def _keep(self, request) -> None:
        if request.resource_type not in ("script", "stylesheet", "font", "image"):
            response = request.response()
            if response is not None and response.status == 200:
                self.received.append(response.body())

    def open(self, path: str = "") -> None:
        self.page.goto(f"{self.url}/{path}")
        self.page.locator(".tp").first.wait_for()
        settle(self.page)

    def was_sent(self, text: str) -> bool:
        return any(text.encode() in response for response in self.received)


@pytest.fixture
def first(browser: Browser, app_url: str) -> Iterator[Session]:
    with browser.new_context(accept_downloads=True) as context:
        yield Session(context.new_page(), app_url)


@pytest.fixture
def second(browser: Browser, app_url: str) -> Iterator[Session]:
    with browser.new_context(accept_downloads=True) as context:
        yield Session(context.new_page(), app_url)


def run_file(text: str) -> FilePayload:
    return {"name": "run.json", "mimeType": "application/json", "buffer": text.encode()}


def marked_run() -> str:
    record = json.loads((catalogs_dir() / "runs" / "seed-003-rtx3090-ddp-x1.json").read_bytes())
    return json.dumps(record | {"id": MARK, "note": MARK})


def test_two_sessions_never_see_each_others_data(first: Session, second: Session) -> None:
    second.open()
    first.open("?start=plan&example=campaign_mix")
    marked = PLAN.replace(NAME, f"Plan of {MARK}").replace(GROUP, f"name: {MARK}").replace("24.0", PRICE)
    upload(first.page, PLAN_FILE, yaml_file(f"{MARK}.yaml", marked.encode()))
    expect(first.page).to_have_url(PLAN_IN_ADDRESS)
    settle(first.page)
    first.page.get_by_role("button", name="Pin this answer").click()
    settle(first.page)
    text = download(first.page, "Plan (YAML)").path().read_text(encoding="utf-8")
    assert f"Plan of {MARK}" in text
    assert PRICE in text
    first.page.get_by_role("link", name="Campaign").click()
    expect(first.page.locator(".tp .calendar")).to_contain_text(MARK)
    assert first.was_sent(MARK)
    first.received.clear()
    first.page.get_by_role("link", name="Evidence").click()
    first.page.locator(".tp .runs").wait_for()
    upload(first.page, RUN_FILES, run_file(marked_run()))
    expect(first.page.locator(".tp .runs")).to_contain_text(MARK)
    assert first.was_sent(MARK)

    for page in PAGES:  # while the first visit still stands, and its answers are kept by the server
        second.open(page)
    second.open("ask?start=plan&example=campaign_mix")
    second.page.reload()
    settle(second.page)
    for name in ("Plan (YAML)", "All numbers (CSV)", "Report (HTML)"):
        second.received.append(download(second.page, name).path().read_bytes())
    assert second.was_sent(NAME)
    assert not second.was_sent(MARK)
    assert not second.was_sent(PRICE)
    assert MARK not in second.page.content()


def test_a_secret_in_an_upload_is_said_and_hidden(first: Session, second: Session) -> None:
    first.open("?start=plan&example=campaign_mix")
    upload(first.page, PLAN_FILE, yaml_file("mine.yaml", PLAN.replace(NAME, f"Plan {TOKEN}").encode()))
    expect(first.page).to_have_url(PLAN_IN_ADDRESS)
    warning = first.page.get_by_role("alert").filter(has_text="holds a secret")
    expect(warning).to_have_count(1)
    expect(warning).to_contain_text("mine.yaml: holds a secret (name)")
    for name in ("Plan (YAML)", "Report (HTML)", "All numbers (CSV)"):
        first.received.append(download(first.page, name).path().read_bytes())
    workbook = zipfile.ZipFile(io.BytesIO(download(first.page, "Workbook (XLSX)").path().read_bytes()))
    first.received += [workbook.read(part) for part in workbook.namelist()]
    assert sum(b"[hidden]" in response for response in first.received) >= 4
    assert not first.was_sent(TOKEN)

    address = first.page.url
    second.open(re.sub(r"^https?://[^/]+/", "", address))  # the link that is shared holds no secret either
    assert "Plan [hidden]" in download(second.page, "Plan (YAML)").path().read_text(encoding="utf-8")
    expect(second.page.get_by_role("alert")).to_have_count(0)
    assert not second.was_sent(TOKEN)


def test_the_warning_stays_with_its_visit(first: Session, second: Session) -> None:
    first.open("?start=plan&example=campaign_mix")
    upload(first.page, RUN_FILES, run_file(marked_run().replace(f'"note": "{MARK}"', f'"note": "{TOKEN}"')))
    expect(first.page.get_by_role("alert").filter(has_text="run.json: holds a secret (note)")).to_have_count(1)
    first.page.get_by_role("link", name="Prices").click()
    expect(first.page.get_by_role("alert").filter(has_text="run.json: holds a secret (note)")).to_have_count(1)
    second.open()
    expect(second.page.get_by_role("alert")).to_have_count(0)
    assert not first.was_sent(TOKEN)


@pytest.fixture
def other_site(app_url: str, tmp_path: Path) -> Iterator[str]:
    """Serve a site with a page that embeds the app, and one that embeds a page of its own."""
    (tmp_path / "framing.html").write_text(f'<iframe src="{app_url}/" width=900 height=700></iframe>')
    (tmp_path / "own.html").write_text('<iframe src="plain.html" width=900 height=700></iframe>')
    (tmp_path / "plain.html").write_text("<p>a page of the site</p>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **options) -> None:
            super().__init__(*arguments, directory=str(tmp_path), **options)

        def log_message(self, format: str, *arguments: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_no_other_page_shows_the_app_within_itself(browser: Browser, other_site: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"{other_site}/own.html")
    expect(page.frame_locator("iframe").locator("p")).to_have_text("a page of the site")
    page.goto(f"{other_site}/framing.html")
    page.wait_for_load_state("networkidle")
    assert page.frames[1].url == "chrome-error://chromewebdata/"
    assert any("frame-ancestors 'none'" in text for text in said)
    context.close()
