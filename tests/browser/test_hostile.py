"""Hostile acts of a visitor: each is refused or shown as text, the server stays up, and others are not affected."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import openpyxl
import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from planner.adapters.workspace import examples_dir
from tests.browser.conftest import Visit
from tests.browser.settled import PLAN_FILE, download, upload, yaml_file

pytestmark = [pytest.mark.browser, pytest.mark.slow]

GOOD = (examples_dir() / "campaign_mix.yaml").read_text(encoding="utf-8")
MARKUP = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"
NAMES = {
    "markup": MARKUP,
    "a formula": '=HYPERLINK("http://evil.example","x")',
    "a path": "../../etc/passwd",
    "Markdown": "[x](javascript:window.pwned=1) ![y](http://evil.example/y)",
    "a direction": "abc\u202eexe",
}
HALF_A_GIGABYTE = 500_000_000


@pytest.fixture
def page(visit: Visit) -> Iterator[Page]:
    assert isinstance(visit.page, Page)
    visit.page.goto(f"{visit.url}/?start=plan&example=campaign_mix")
    expect(visit.page.locator(".tp .headline h2")).to_contain_text("Mix 2 options")
    yield visit.page
    # Streamlit asks for its own files below any page's address first; what is too large it refuses with 413.
    visit.errors[:] = [error for error in visit.errors if not re.search(r"status of (404|413)", error)]


def saved(page: Page, button: str, to: Path) -> Path:
    download(page, button).save_as(to)
    return to


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_is_text_on_every_page_and_in_what_is_downloaded(page: Page, visit: Visit, tmp_path, kind: str) -> None:
    name = NAMES[kind]
    quoted = "'" + name.replace("'", "''") + "'"
    plan = re.sub(r"(?m)^name: .*$", lambda _: f"name: {quoted}", GOOD)
    plan = re.sub(r"name: short\b", lambda _: f"name: {quoted}", plan)
    assert plan.count(quoted) == 2
    upload(page, PLAN_FILE, yaml_file("mine.yaml", plan.encode()))
    expect(page).to_have_url(re.compile("plan="))
    report = saved(page, "Report (HTML)", tmp_path / "report.html")
    book = openpyxl.load_workbook(saved(page, "Workbook (XLSX)", tmp_path / "report.xlsx"))
    assert {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row} <= {"s", "n", "d", "b"}
    for link, drawn in (("Campaign", ".calendar"), ("Own or rent", ".ways")):
        page.get_by_role("link", name=link, exact=True).click()
        page.locator(f".tp {drawn}").first.wait_for()
        if link == "Campaign" and kind != "a direction":
            expect(page.get_by_text(name, exact=False).first).to_be_visible()
    assert page.evaluate("window.pwned") is None
    alone = page.context.new_page()
    fetched: list[str] = []
    alone.on("request", lambda request: fetched.append(request.url))
    alone.goto(report.as_uri())
    expect(alone.locator(".sheet.first")).to_be_visible()
    assert alone.evaluate("window.pwned") is None
    assert fetched == [report.as_uri()]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        pytest.param("bomb.yaml", gzip.compress(b"\0" * 100_000_000), "is not UTF-8", id="a packed bomb"),
        pytest.param("../../etc/passwd.yaml", b"options: [", "is not YAML", id="a path in the file's name"),
        pytest.param("<b>x</b>.yaml", b"options: [", "<b>x</b>.yaml", id="markup in the file's name"),
    ],
)
def test_a_bad_file_is_named_and_the_answer_stays(page: Page, name: str, data: bytes, said: str) -> None:
    upload(page, PLAN_FILE, yaml_file(name, data))
    problem = page.get_by_role("alert").filter(has_text="The answer shown is the one before this.")
    expect(problem).to_contain_text(said)
    expect(page.locator(".tp .headline h2")).to_contain_text("Mix 2 options")


def test_half_a_gigabyte_is_refused_before_it_is_sent(page: Page, visit: Visit, tmp_path) -> None:
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(HALF_A_GIGABYTE)
    upload(page, PLAN_FILE, large)
    expect(page.get_by_text("File must be 20.0MB or smaller.")).to_be_visible()
    expect(page.locator(".tp .headline h2")).to_contain_text("Mix 2 options")
    others_notice_nothing(page, visit)


def test_who_sends_half_a_gigabyte_past_the_page_is_refused(page: Page, visit: Visit) -> None:
    with page.expect_request(re.compile("upload_file")) as started:
        upload(page, PLAN_FILE, yaml_file("mine.yaml", GOOD.encode()))
    address = urlsplit(started.value.url)
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in page.context.cookies())
    token = started.value.headers.get("x-xsrftoken", "")
    head = {"Cookie": cookies, "X-Xsrftoken": token, "Content-Type": "multipart/form-data; boundary=b"}
    announced = sent_to(address.netloc, address.path, head | {"Content-Length": str(HALF_A_GIGABYTE)})
    assert announced == 413

    def pieces() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
        for _ in range(HALF_A_GIGABYTE // 1_000_000):
            yield b"#" * 1_000_000

    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    try:
        connection.request("PUT", address.path, body=pieces(), headers=head, encode_chunked=True)
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # cut off while it was still sending
    finally:
        connection.close()
    others_notice_nothing(page, visit)


def sent_to(host: str, path: str, head: dict[str, str]) -> int:
    """Announce a body and send none of it; return the status."""
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.putrequest("PUT", path)
        for name, value in head.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def others_notice_nothing(page: Page, visit: Visit) -> None:
    """Check that another visit gets an answer, and that the server is healthy."""
    assert page.context.browser is not None
    other = page.context.browser.new_context().new_page()
    other.goto(visit.url)
    expect(other.locator(".tp .headline h2")).to_contain_text("Keep your 2x RTX 3090", timeout=30_000)
    other.context.close()
    connection = http.client.HTTPConnection(urlsplit(visit.url).netloc, timeout=30)
    connection.request("GET", "/_stcore/health")
    assert connection.getresponse().status == 200
    connection.close()
