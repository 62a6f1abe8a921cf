"""The Decide page as a person meets it: in Chromium, from the worked example to a report in hand."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from planner import clock
from planner.adapters.workspace import examples_dir
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import compare, read_plan
from tests.browser.conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST = examples_dir() / "dgx_station_v100.yaml"
PICTURES = Path(__file__).parents[2] / "test-results"


@pytest.fixture
def page(visit: Visit) -> Page:
    assert isinstance(visit.page, Page)
    return visit.page


def sentence_of(path: Path) -> str:
    return compare(read_plan(path), open_catalog(), today=clock.today()).sentence.partition("; ")[0]


def enter(page: Page, label: str, value: str) -> None:
    box = page.get_by_role("spinbutton", name=label)
    box.fill(value)
    box.press("Enter")


def download(page: Page, button: str) -> str:
    with page.expect_download() as started:
        page.get_by_role("button", name=button).click()
    return started.value.path().read_text(encoding="utf-8")


def test_the_worked_example_answers_at_once(page: Page) -> None:
    expect(page.locator(".sentence")).to_contain_text(sentence_of(FIRST))
    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator("tr.recommended").first).to_be_visible()
    expect(page.locator("svg.marks").first).to_be_visible()
    assert page.locator("svg.marks path[aria-label]").count() >= 10
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / "decide.png")


def test_the_page_is_not_wider_than_the_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_changed_limit_changes_the_answer(page: Page) -> None:
    enter(page, "Trainings in the campaign", "7")
    expect(page.locator(".sentence")).to_contain_text("at most 80 USD")  # 7 of the 50 trainings that take 569


def test_an_emptied_budget_is_no_budget(page: Page) -> None:
    enter(page, "Budget (USD)", "1")
    expect(page.locator(".sentence")).to_contain_text("Nothing fits")
    enter(page, "Budget (USD)", "")
    expect(page.locator(".sentence")).to_contain_text("Keep DGX Station")


def test_an_emptied_deadline_is_no_deadline(page: Page) -> None:
    late = page.get_by_text("after the deadline 2027-06-30")
    expect(late.first).to_be_visible()
    page.get_by_role("button", name="Clear date").click()
    expect(late).to_have_count(0)


def test_nothing_feasible_keeps_the_page(page: Page) -> None:
    enter(page, "Budget (USD)", "1")
    expect(page.locator(".sentence")).to_contain_text("Nothing fits")
    expect(page.locator("svg.marks").first).to_be_visible()
    expect(page.locator(".card")).to_have_count(3)


def test_an_uploaded_plan_takes_the_page_and_a_bad_one_does_not(page: Page) -> None:
    good = FIRST.read_bytes().replace(
        b"name: DGX Station against newer servers and the cloud", b"name: My own question"
    )
    chooser = page.locator("input[type=file]").first
    chooser.set_input_files({"name": "mine.yaml", "mimeType": "text/yaml", "buffer": good})
    expect(page.locator(".tp h1")).to_have_text("My own question")
    chooser.set_input_files({"name": "bad.yaml", "mimeType": "text/yaml", "buffer": b"options: ["})
    expect(page.get_by_role("alert").filter(has_text="bad.yaml")).to_contain_text("is not YAML")
    expect(page.locator(".tp h1")).to_have_text("My own question")


def test_the_reports_hold_what_the_page_says(page: Page) -> None:
    answer = compare(read_plan(FIRST), open_catalog(), today=clock.today())
    rows = list(csv.DictReader(io.StringIO(download(page, "CSV of all numbers"))))
    assert [row["option"] for row in rows] == [option.id for option in answer.options]
    assert answer.sentence in download(page, "Markdown report")
    report = download(page, "HTML report")
    assert report.startswith("<!DOCTYPE html>")
    assert "<svg" in report


def test_the_html_report_opens_alone(page: Page, visit: Visit, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(download(page, "HTML report"), encoding="utf-8")
    alone = page.context.new_page()
    fetched: list[str] = []
    alone.on("request", lambda request: fetched.append(request.url))
    alone.goto(report.as_uri())
    expect(alone.locator(".sentence")).to_contain_text("Keep ")
    assert fetched == [report.as_uri()]
    PICTURES.mkdir(exist_ok=True)
    alone.screenshot(path=PICTURES / "report.png", full_page=True)


def test_decide_has_an_address_of_its_own(visit: Visit, page: Page) -> None:
    page.goto(f"{visit.url}/decide")
    expect(page.locator(".sentence")).to_contain_text(sentence_of(FIRST))
    expect(page.get_by_text("Page not found")).to_have_count(0)
    # Streamlit asks for its own files below any page's address first, and finds them above it.
    visit.errors[:] = [error for error in visit.errors if not re.search(r"status of 404", error)]
