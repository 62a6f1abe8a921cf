"""The first page in Chromium, from a starting point to a saved plan, on a desktop and a phone."""

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
from planner.use_cases.catalogs import catalog_for
from planner.use_cases.plans import compare, parse_plan, read_plan
from tests.browser.conftest import Visit
from tests.browser.settled import PLAN_FILE, download, sentence_of, upload, yaml_file

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST = examples_dir() / "dgx_station_v100.yaml"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(visit: Visit) -> Page:
    assert isinstance(visit.page, Page)
    return visit.page


@pytest.fixture
def plan_page(visit: Visit, page: Page) -> Page:
    page.goto(f"{visit.url}/?start=plan&example={FIRST.stem}")
    expect(headline(page)).to_contain_text(sentence_of(FIRST))
    return page


def headline(page: Page):
    return page.locator(".tp .headline h2")


def enter(page: Page, label: str, value: str) -> None:
    box = page.get_by_role("spinbutton", name=label, exact=True)
    box.fill(value)
    box.press("Enter")


def downloaded(page: Page, button: str) -> str:
    return download(page, button).path().read_text(encoding="utf-8")


def test_a_first_visit_has_an_answer_beside_a_filled_form(first_page: Page) -> None:
    page = first_page
    expect(headline(page)).to_contain_text("Keep your 2x RTX 3090")
    expect(page.locator(".tp .figure")).to_have_count(3)
    assert page.locator(".tp .bar-row .whisker").count() >= 8
    expect(page.locator(".tp .option.chosen")).to_have_count(1)


def test_the_answer_follows_every_change(plan_page: Page) -> None:
    enter(plan_page, "Trainings", "7")
    expect(headline(plan_page)).to_contain_text("at most 86 USD")  # 7 of the 50 trainings that take 612
    expect(plan_page).to_have_url(re.compile("runs=7"))
    plan_page.reload()
    expect(headline(plan_page)).to_contain_text("at most 86 USD")


def test_a_row_opens_what_it_rests_on_by_keyboard(plan_page: Page) -> None:
    row = plan_page.locator(".tp .option").first
    row.locator("summary").focus()
    plan_page.keyboard.press("Enter")
    expect(row.locator(".detail")).to_be_visible()
    for heading in ("The bill", "Where the hours of one training go", "Arithmetic and sources"):
        expect(row.get_by_role("heading", name=heading)).to_be_visible()


def test_nothing_feasible_keeps_the_page(plan_page: Page) -> None:
    enter(plan_page, "Budget (USD)", "1")
    expect(headline(plan_page)).to_contain_text("Nothing fits")
    expect(plan_page.locator(".tp .figure")).to_have_count(3)
    assert plan_page.locator(".tp .bar-row").count() > 3
    enter(plan_page, "Budget (USD)", "")
    expect(headline(plan_page)).to_contain_text("Keep DGX Station")


def test_an_uploaded_plan_takes_the_page_and_a_bad_one_does_not(plan_page: Page) -> None:
    good = FIRST.read_bytes().replace(b"budget_usd: 20000", b"budget_usd: 1")
    upload(plan_page, PLAN_FILE, yaml_file("mine.yaml", good))
    expect(headline(plan_page)).to_contain_text("Nothing fits")
    upload(plan_page, PLAN_FILE, yaml_file("bad.yaml", b"options: ["))
    problem = plan_page.get_by_role("alert").filter(has_text="bad.yaml")
    expect(problem).to_contain_text("is not YAML")
    expect(problem).to_contain_text("The answer shown is the one before this.")
    expect(headline(plan_page)).to_contain_text("Nothing fits")


def test_what_is_downloaded_holds_what_the_page_says(plan_page: Page) -> None:
    answer = compare(read_plan(FIRST), catalog_for(read_plan(FIRST)), today=clock.today())
    rows = list(csv.DictReader(io.StringIO(downloaded(plan_page, "All numbers (CSV)"))))
    assert [row["option"] for row in rows] == [option.id for option in answer.options]
    assert parse_plan(downloaded(plan_page, "Plan (YAML)"), where="download") == read_plan(FIRST)
    report = downloaded(plan_page, "Report (HTML)")
    assert report.startswith("<!DOCTYPE html>")


def test_the_html_report_opens_alone(plan_page: Page, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    report.write_text(downloaded(plan_page, "Report (HTML)"), encoding="utf-8")
    alone = plan_page.context.new_page()
    fetched: list[str] = []
    alone.on("request", lambda request: fetched.append(request.url))
    alone.goto(report.as_uri())
    expect(alone.locator("body")).to_contain_text("Keep DGX Station")
    assert fetched == [report.as_uri()]


@pytest.mark.parametrize("start", ["train", "buy", "offers", "plan"])
def test_on_a_phone_the_form_is_the_page_and_options_are_cards(visit: Visit, page: Page, start: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{visit.url}/?start={start}")
    page.locator(".tp .options").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.get_by_role("spinbutton", name="Trainings")).to_be_visible()
    expect(page.locator(".tp .option-head")).to_be_hidden()
    wide = [
        box["width"]
        for box in page.locator(".tp .option").evaluate_all("all => all.map(e => e.getBoundingClientRect())")
    ]
    assert max(wide) <= PHONE["width"]


def test_no_summary_is_cut_off(first_page: Page) -> None:
    assert first_page.locator(".tp .option summary").evaluate_all(
        "all => all.every(e => e.scrollWidth <= e.clientWidth + 1)"
    )


def test_ask_has_an_address_of_its_own(visit: Visit, page: Page) -> None:
    page.goto(f"{visit.url}/ask?start=plan&example={FIRST.stem}")
    expect(headline(page)).to_contain_text(sentence_of(FIRST))
    expect(page.get_by_text("Page not found")).to_have_count(0)
    # Streamlit asks for its own files below any page's address first, and finds them above it.
    visit.errors[:] = [error for error in visit.errors if not re.search(r"status of 404", error)]
