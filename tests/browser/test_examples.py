"""Every page of every example: load, change, link, language, colours, a desktop and a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from planner.adapters.workspace import examples_dir
from tests.browser.conftest import Visit
from tests.browser.settled import sentence_of, settle
from tests.browser.test_pages import serious

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DRAWN = {"ask": ".tp .options", "campaign": ".tp .calendar", "own-or-rent": ".tp .ways"}
"""Pages with an example's answer, with a selector of a drawn element."""
DESK, PHONE = 1280, 390
SLOWEST = 30_000


@pytest.fixture
def page(visit: Visit) -> Iterator[Page]:
    assert isinstance(visit.page, Page)
    yield visit.page
    # Streamlit asks for its own files below any page's address first, and finds them above it.
    visit.errors[:] = [error for error in visit.errors if not re.search(r"status of 404", error)]


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("example", sorted(path.stem for path in examples_dir().glob("*.yaml")))
def test_a_page_of_an_example(visit: Visit, page: Page, example: str, name: str) -> None:
    address = f"{visit.url}/{name}?start=plan&example={example}"
    page.goto(address)
    page.locator(DRAWN[name]).first.wait_for()
    fits(page, DESK)
    if name == "ask":
        expect(page.locator(".tp .headline h2")).to_contain_text(sentence_of(examples_dir() / f"{example}.yaml"))
    if name != "own-or-rent":
        budget = page.get_by_role("spinbutton", name="Budget (USD)", exact=True)
        budget.fill("12345")
        budget.press("Enter")
        expect(page).to_have_url(re.compile("budget=12345"), timeout=SLOWEST)
        settle(page)
    headline = page.locator(".tp .headline h2")
    said = headline.inner_text()
    page.reload()
    page.locator(DRAWN[name]).first.wait_for()
    expect(headline).to_have_text(said, timeout=SLOWEST)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": PHONE, "height": 844})
    page.goto(f"{address}&lang=ko")
    page.locator(DRAWN[name]).first.wait_for()
    fits(page, PHONE)
    expect(page.get_by_role("radio", name="한국어")).to_be_checked()
    assert re.search("[가-힣]", headline.inner_text())


def fits(page: Page, width: int) -> None:
    """Check that nothing is wider than the window, no exception is shown, and axe finds nothing serious."""
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = serious(page)
    assert found == [], "\n".join(found)
