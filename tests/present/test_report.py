"""The report is read by people who sign: it is compared word by word, and its promises one by one."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from planner.model.answer.documents import ComparisonDocument
from planner.model.quantity import Basis
from planner.present.facts import QUANTITIES, headline, headline_range
from planner.present.report import CSV_OPTION_COLUMNS, CSV_QUANTITY_COLUMNS, as_csv, as_html, as_markdown
from tests.present.conftest import HOURS, quantity

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>chart</title></svg>'


def test_the_markdown_report(comparison: ComparisonDocument, golden) -> None:
    golden.check("report.md", as_markdown(comparison))


def test_the_html_report(comparison: ComparisonDocument, golden) -> None:
    golden.check("report.html", as_html(comparison, SVG))


def test_the_csv_report(comparison: ComparisonDocument, golden) -> None:
    golden.check("report.csv", as_csv(comparison))


class Outside(HTMLParser):
    """Collects tags, and everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [value or "" for name, value in attrs if name in {"src", "href", "xlink:href", "data"}]


def test_html_fetches_nothing_and_runs_nothing(comparison: ComparisonDocument) -> None:
    page = Outside()
    text = as_html(comparison, None)
    page.feed(text)
    assert page.fetched == []
    assert "script" not in page.tags
    assert "url(" not in text
    assert "@import" not in text


def test_html_shows_markup_in_names_as_text(comparison: ComparisonDocument) -> None:
    text = as_html(comparison, None)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "Our &lt;b&gt;DGX&lt;/b&gt;" in text


def test_markup_in_any_text_of_an_option_is_text(comparison: ComparisonDocument) -> None:
    evil = "<img src=x onerror='alert(1)'>"
    owned, rented, unpriced = comparison.options
    assert rented.bill is not None
    assert rented.campaign_hours is not None
    cost = rented.campaign_hours.model_copy(update={"source": evil})
    bill = rented.bill.model_copy(update={"lines": (rented.bill.lines[0].model_copy(update={"what": evil}),)})
    options = (
        owned.model_copy(update={"id": evil, "display_name": evil, "notes": (evil,), "doubts": (evil,)}),
        rented.model_copy(update={"region": evil, "why_not": evil, "campaign_hours": cost, "bill": bill}),
        unpriced.model_copy(update={"accelerator": evil}),
    )
    assumptions = (comparison.assumptions[0].model_copy(update={"name": evil}),)
    texts = {"plan": evil, "sentence": f"{evil}; {evil}", "options": options, "assumptions": assumptions}
    page = Outside()
    text = as_html(comparison.model_copy(update=texts), None)
    page.feed(text)
    assert "img" not in page.tags
    assert text.count("&lt;img src=x") >= 13


def test_html_without_a_chart_has_no_empty_heading(comparison: ComparisonDocument) -> None:
    assert "Cost against time" not in as_html(comparison, None)
    assert SVG in as_html(comparison, SVG)


def test_markdown_tables_keep_their_columns_when_a_source_holds_a_bar(comparison: ComparisonDocument) -> None:
    line = next(line for line in as_markdown(comparison).splitlines() if line.startswith("| Campaign cost"))
    assert len(re.findall(r"(?<!\\)\|", line)) == 7


@pytest.mark.parametrize("report", [as_markdown, lambda comparison: as_html(comparison, None)])
def test_every_number_shows_range_basis_and_date(comparison: ComparisonDocument, report) -> None:
    text = report(comparison)
    for expected in ("95.00-105.0", "10.00-15.00", "983.20-3,933", "measured", "assumed", "modelled", "quoted"):
        assert expected in text
    assert "2026-11-01" in text
    assert "one that you must buy first counts its purchase" in text
    assert "egress" in text


def test_csv_has_one_row_per_option_and_all_digits(comparison: ComparisonDocument) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    assert [row["option"] for row in rows] == ["our-dgx", "cloud/8x:any:on_demand", "cloud/mystery"]
    assert len(rows[0]) == len(CSV_OPTION_COLUMNS) + len(QUANTITIES) * len(CSV_QUANTITY_COLUMNS)
    assert rows[1]["campaign_usd_value"] == "1966.4"
    assert rows[1]["campaign_usd_low"] == "983.2"
    assert rows[1]["usd_per_hour_as_of"] == "2026-11-01"
    assert rows[0]["recommended"] == "yes"


def test_csv_leaves_unknown_numbers_empty(comparison: ComparisonDocument) -> None:
    mystery = list(csv.DictReader(io.StringIO(as_csv(comparison))))[2]
    assert {mystery[f"campaign_usd_{column}"] for column in CSV_QUANTITY_COLUMNS} == {""}
    assert mystery["rank"] == ""


def test_csv_text_is_never_a_spreadsheet_formula(comparison: ComparisonDocument) -> None:
    assert next(csv.DictReader(io.StringIO(as_csv(comparison))))["notes"].startswith("'=")


@pytest.mark.parametrize(
    ("hours", "low", "high", "value", "interval"),
    [
        pytest.param(100, 95, 105, "4.167 days", "3.958 to 4.375 days", id="days"),
        pytest.param(10, 9.5, 60, "10 hours", "9.5 hours to 2.5 days", id="units differ"),
        pytest.param(10, 10, 10, "10 hours", "exact", id="exact"),
    ],
)
def test_headlines(hours: float, low: float, high: float, value: str, interval: str) -> None:
    written = quantity(hours, HOURS, Basis.MEASURED, "a run", low=low, high=high)
    assert (headline(written), headline_range(written)) == (value, interval)


def test_an_unknown_headline_says_so() -> None:
    assert headline(None) == "not known"


@pytest.mark.parametrize("write", [as_markdown, lambda document: as_html(document, SVG)])
def test_a_stale_price_is_marked_where_it_ranks(comparison, write):
    rented = next(option for option in comparison.options if option.usd_per_hour is not None)
    others = [option for option in comparison.options if option is not rented]
    stale = rented.model_copy(update={"price_stale": True, "price_age_days": 99})
    marked = write(comparison.model_copy(update={"options": (stale, *others)}))
    assert "stale" not in write(comparison)
    assert "stale" in marked
