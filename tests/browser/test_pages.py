"""Every page, light and dark, on a desktop and a phone: it is drawn, fits the window, and passes axe."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.settled import settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = {
    "ask": ("ask?start=plan", ".tp .options"),
    "campaign": ("campaign?start=plan&example=campaign_mix&budget=4000", ".tp .calendar"),
    "own-or-rent": ("own-or-rent?start=buy&currency=KRW", ".tp .ways"),
    "evidence": ("evidence", ".tp .runs"),
    "prices": ("prices?card=H100-SXM", ".tp .prices"),
}
"""Addresses of the pages, with a selector of a drawn element."""
WIDTHS = {"desk": 1280, "phone": 390}
SERIOUS = ("serious", "critical")
NOT_OURS = (
    "stDataFrame",
    "stAlertContainer",
    "gdg-",
    "vega",
    "stFileUploader",
    "react-select",
    "stSidebar",
    "stHeader",
)
"""Parts of Streamlit that the app cannot change."""


@pytest.fixture
def page(visit: Visit) -> Iterator[Page]:
    assert isinstance(visit.page, Page)
    yield visit.page
    # Streamlit asks for its own files below any page's address first, and finds them above it.
    visit.errors[:] = [error for error in visit.errors if not re.search(r"status of 404", error)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_drawn(visit: Visit, page: Page, name: str, width: str, scheme: str) -> None:
    address, drawn = PAGES[name]
    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{visit.url}/{address}")
    page.locator(drawn).first.wait_for()
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    found = serious(page)
    assert found == [], "\n".join(found)


def serious(page: Page) -> list[str]:
    """Return the serious findings of axe-core in the app's own parts."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    violations = axe.Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in violations
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
        if not any(part in str(node["target"]) + node["html"] for part in NOT_OURS)
    ]


@pytest.fixture
def opened(page: Page, first_page: Page) -> Page:
    """Return the first page. Errors of Streamlit's own files are ignored, as in `page`."""
    return first_page


def test_pages_are_reached_by_their_links(opened: Page) -> None:
    page = opened
    for name, title in (
        ("campaign", "Campaign"),
        ("own-or-rent", "Own or rent"),
        ("evidence", "Evidence"),
        ("prices", "Prices"),
    ):
        page.get_by_role("link", name=title, exact=True).click()
        page.locator(PAGES[name][1]).first.wait_for()
        expect(page).to_have_url(re.compile(f"/{name}"))


def test_what_was_asked_goes_along_to_the_other_pages(visit: Visit, page: Page) -> None:
    page.goto(f"{visit.url}/ask?start=buy&runs=77")
    page.locator(".tp .options").wait_for()
    page.get_by_role("link", name="Own or rent", exact=True).click()
    expect(page.locator(".tp .headline h2")).to_contain_text("77 trainings")
    page.get_by_role("link", name="Ask", exact=True).click()
    page.locator(".tp .options").wait_for()
    expect(page.get_by_role("spinbutton", name="Trainings", exact=True)).to_have_value("77")


def test_the_campaign_follows_its_limits_and_says_what_it_is_best_in(visit: Visit, page: Page) -> None:
    page.goto(f"{visit.url}/campaign?start=plan&example=campaign_mix")
    headline = page.locator(".tp .headline h2")
    expect(headline).to_contain_text("9 trainings on 2 options.")
    expect(page.locator(".tp .place-row[role=row]")).to_have_count(3)
    expect(page.get_by_text("Spent by when")).to_be_visible()
    page.get_by_role("radio", name="soonest").click()
    expect(page).to_have_url(re.compile("objective=time"))
    expect(page.get_by_text("planner campaign plan.yaml --objective time")).to_be_visible()
    budget = page.get_by_role("spinbutton", name="Budget (USD)", exact=True)
    budget.fill("1")
    budget.press("Enter")
    expect(headline).to_contain_text("Nothing fits")
    page.get_by_role("link", name="Ask", exact=True).click()
    page.locator(".tp .options").wait_for()
    expect(page.get_by_role("spinbutton", name="Budget (USD)", exact=True)).to_have_value(re.compile(r"1(\.00)?"))


def test_a_slider_moves_the_year(visit: Visit, page: Page) -> None:
    page.goto(f"{visit.url}/own-or-rent?start=buy")
    headline = page.locator(".tp .headline h2")
    expect(headline).to_contain_text("50 trainings")
    slider = page.get_by_role("slider", name="Trainings a year")
    settle(page)
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(headline).to_contain_text("53 trainings")


def test_a_pasted_command_fills_the_form_in(opened: Page) -> None:
    page = opened
    page.get_by_text("Paste a command or a log").click()
    box = page.get_by_role("textbox", name="A trainer's command", exact=False)
    box.fill(
        "torchrun --nproc_per_node 4 sft.py --model_name_or_path Qwen/Qwen2.5-7B --load_in_4bit --num_train_epochs 2"
    )
    page.get_by_role("button", name="Read it").click()
    expect(page).to_have_url(re.compile("model=qwen2.5-7b"))
    expect(page.get_by_text("not in the form: nproc_per_node 4")).to_be_visible()
    expect(page.locator(".tp .headline h2")).to_contain_text("2x RTX 3090")


def test_the_language_is_a_click_and_stays_on_other_pages(opened: Page) -> None:
    page = opened
    page.get_by_role("radio", name="한국어").click()
    expect(page.get_by_role("spinbutton", name="학습 횟수", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("lang=ko"))
    page.get_by_role("link", name="근거 자료", exact=True).click()
    expect(page.get_by_role("heading", name="측정 목록, 오차가 큰 순서")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="측정 목록, 오차가 큰 순서")).to_be_visible()
