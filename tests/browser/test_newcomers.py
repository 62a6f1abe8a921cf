"""Three newcomers' jobs, done from the first page in at most 15 interactions."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

pytest.importorskip("streamlit")
pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.browser.settled import download

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOST = 15


@dataclass
class Person:
    """A user of the page, with a count of interactions."""

    page: Page
    acts: int = 0

    def click(self, role: str, name: str, *, exact: bool = True) -> None:
        self.acts += 1
        self.page.get_by_role(role, name=name, exact=exact).first.click()

    def enter(self, label: str, value: str) -> None:
        self.acts += 1
        box = self.page.get_by_role("spinbutton", name=label, exact=True)
        box.fill(value)
        box.press("Enter")

    def choose(self, label: str, typed: str) -> None:
        self.acts += 1
        box = self.page.get_by_role("combobox", name=label, exact=False).first
        box.click()
        box.fill(typed)
        self.page.get_by_role("option", name=typed).first.click()
        expect(self.page.get_by_role("listbox")).to_have_count(0)

    def says(self, text: str) -> None:
        expect(self.page.locator(".tp").filter(has_text=text).first).to_be_visible(timeout=15_000)


@pytest.fixture
def person(first_page: Page) -> Person:
    return Person(first_page)


def test_lora_on_two_rtx_3090(person: Person) -> None:
    """20,000 conversations of 900 tokens, twice, within 50 USD: on what I have, or elsewhere?"""
    person.choose("Model", "llama-3.1-8b")
    person.enter("How many", "20000")
    person.enter("Mean tokens", "900")
    person.enter("Epochs", "2")
    person.enter("Budget (USD)", "50")
    person.says("Keep your 2x RTX 3090")
    expect(person.page).to_have_url(re.compile(r"samples=20000.*budget=50\."), timeout=30_000)
    person.acts += 1
    person.page.locator(".tp .option summary").first.click()
    person.says("Arithmetic and sources")
    assert person.acts <= MOST


def test_dgx_station_or_buy_in_won(person: Person) -> None:
    """We have a DGX Station. Buy something better, or rent, in won?"""
    person.click("radio", "Buy or rent")
    person.says("Keep DGX Station")
    person.choose("Currency", "KRW")
    person.says("KRW")
    person.enter("Budget (KRW)", "20000000")
    person.enter("A kWh (KRW)", "180")
    person.says("line: budget 20 million KRW")
    person.click("link", "Own or rent")
    person.says("KRW a year")
    expect(person.page.get_by_role("slider", name="Trainings a year")).to_be_visible()
    assert person.acts <= MOST


def test_offers_for_a_finance_meeting_with_a_discount_and_credits(person: Person) -> None:
    """Five offers, 12 % off at AWS and 3,000 USD of credits there: what do we pay?"""
    person.click("radio", "Compare offers for finance")
    person.says("Rent ")
    person.enter("Discount (%)", "12")
    person.enter("Credits left (USD)", "3000")
    person.says("c after credits")
    table = person.page.locator(".tp .finance table")
    expect(table).to_contain_text("AWS p5")
    expect(table.get_by_role("columnheader", name="Credits")).to_be_visible()
    assert download(person.page, "Report (HTML)").suggested_filename == "training-plan.html"
    assert person.acts + 1 <= MOST
