"""The report is read by people who sign: it is compared word by word, and its promises one by one."""

from __future__ import annotations

import re
from datetime import date
from html.parser import HTMLParser

import pytest

from planner.model.answer.documents import ComparisonDocument
from planner.model.currency import Currency
from planner.present.report import report
from planner.present.report.markdown_file import as_markdown
from planner.present.report.report import CHANGES, ROWS, Report, as_html, reading_notes
from tests.present.conftest import advice, report_of

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>chart</title></svg>'


@pytest.fixture(autouse=True)
def _chart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the chart, which has tests of its own."""
    monkeypatch.setattr(report, "chart_svg", lambda _: SVG)


@pytest.mark.parametrize(("language", "ending"), [("en", ""), ("ko", ".ko")])
def test_the_report(comparison: ComparisonDocument, golden, language: str, ending: str) -> None:
    golden.check(f"report{ending}.md", as_markdown(report_of(comparison, language)))
    page = as_html(report_of(comparison, language))
    golden.check(f"report{ending}.html", re.sub(r"(?s)<style>.*?</style>", "<style></style>", page))


class Outside(HTMLParser):
    """Collects tags, and every address that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        wanted = [value or "" for name, value in attrs if name in {"src", "href", "xlink:href", "data"}]
        self.fetched += [address for address in wanted if not address.startswith("#option-")]


def test_html_fetches_nothing_and_runs_nothing(comparison: ComparisonDocument) -> None:
    page = Outside()
    text = as_html(report_of(comparison))
    page.feed(text)
    assert page.fetched == []
    assert "script" not in page.tags
    assert "url(" not in text
    assert "@import" not in text


def test_html_shows_markup_in_names_as_text(comparison: ComparisonDocument) -> None:
    text = as_html(report_of(comparison))
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
    text = as_html(report_of(comparison.model_copy(update=texts)))
    page.feed(text)
    assert "img" not in page.tags
    assert text.count("&lt;img src=x") >= 13


def test_html_without_a_chart_has_no_empty_heading(comparison, monkeypatch) -> None:
    assert SVG in as_html(report_of(comparison))
    monkeypatch.setattr(report, "chart_svg", lambda _: None)
    assert "Cost against time" not in as_html(report_of(comparison))


def test_markdown_tables_keep_their_columns_when_a_source_holds_a_bar(comparison: ComparisonDocument) -> None:
    line = next(line for line in as_markdown(report_of(comparison)).splitlines() if line.startswith("| Campaign cost"))
    assert len(re.findall(r"(?<!\\)\|", line)) == 7


@pytest.mark.parametrize("write", [as_markdown, as_html])
def test_every_number_shows_range_basis_and_date(comparison: ComparisonDocument, write) -> None:
    text = write(report_of(comparison))
    for expected in ("95.00-105.0", "10.00-15.00", "983.20-3,933", "measured", "assumed", "modelled", "quoted"):
        assert expected in text
    assert "2026-11-01" in text
    assert "one that you must buy first counts its purchase" in text
    assert "egress" in text


@pytest.mark.parametrize("write", [as_markdown, as_html])
def test_a_stale_price_is_marked_where_it_ranks(comparison, write):
    rented = next(option for option in comparison.options if option.usd_per_hour is not None)
    others = [option for option in comparison.options if option is not rented]
    stale = rented.model_copy(update={"price_stale": True, "price_age_days": 99})
    marked = write(report_of(comparison.model_copy(update={"options": (stale, *others)})))
    assert "stale" not in write(report_of(comparison))
    assert "stale" in marked


def first_page(text: str) -> str:
    return text[text.index('<section class="sheet first">') : text.index('<section class="sheet">')]


def test_the_first_page_has_all_that_is_signed(comparison: ComparisonDocument) -> None:
    text = first_page(as_html(report_of(comparison, advice=advice())))
    for part in ("headline", "figures", "bars", "ranked", "turns", "sign"):
        assert f'class="{part}"' in text
    assert "Measure Cloud 8x, 8x H100 with one 20-minute run" in text
    assert "planner launch cpu-smoke" in text
    assert "Formula and source" not in text


def test_many_options_leave_the_first_page_to_the_best_and_the_recommended(comparison: ComparisonDocument) -> None:
    owned, rented, _ = comparison.options
    many = (*(rented.model_copy(update={"id": f"cloud/{n}"}) for n in range(30)), owned)
    report = report_of(comparison.model_copy(update={"options": many}))
    assert [entry.number for entry in report.first_entries()] == [*range(1, ROWS), 31]
    assert f"And {31 - ROWS} more, in the appendix." in first_page(as_html(report))


def test_what_would_change_the_answer_is_bounded_and_runs_come_first(comparison: ComparisonDocument) -> None:
    said = advice()
    many = said.model_copy(update={"turning_points": said.turning_points * 20})
    changes = report_of(comparison, advice=many).changes()
    assert len(changes) == CHANGES
    assert changes[0].command == "planner launch cpu-smoke"


def test_without_advice_the_report_says_that_nobody_looked(comparison: ComparisonDocument) -> None:
    report = report_of(comparison.model_copy(update={"options": comparison.options[:1]}))
    assert "Not looked at." in as_html(report)
    assert "Not looked at." in as_markdown(report)


def test_advice_in_which_nothing_turns_is_said(comparison: ComparisonDocument) -> None:
    nothing = advice().model_copy(update={"turning_points": (), "measurements": ()})
    report = report_of(comparison.model_copy(update={"options": comparison.options[:1]}), advice=nothing)
    for text in (as_html(report), as_markdown(report)):
        assert "Nothing that was tried within a factor of 5 turns the answer" in text


@pytest.mark.parametrize("unfolded", [True, False])
def test_the_appendix_is_open_where_that_is_asked(comparison: ComparisonDocument, unfolded: bool) -> None:
    text = as_html(report_of(comparison), unfolded=unfolded)
    assert ('<details class="appendix" open>' in text) is unfolded
    assert text.count("<details") == 1


def test_a_report_in_korean_names_its_parts_in_korean(comparison: ComparisonDocument) -> None:
    text = first_page(as_html(report_of(comparison, "ko", advice=advice())))
    for english in ("What would change this", "Options", "likely end", "Decision", "wins", "Measure "):
        assert english not in text
    assert "추천이 바뀝니다" in text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        pytest.param("on_demand in us-east-1: a list of prices", "a list of prices", id="terms"),
        pytest.param("1 x (1,100 USD); site pc: purchase.server_usd: a card", "a card", id="purchase"),
        pytest.param("read from https://example.org/prices?x=1, twice", "read from example.org, twice", id="address"),
        pytest.param("x" * 67, "x" * 65 + "…", id="long"),
        pytest.param("x" * 66, "x" * 66, id="as long as may be"),
    ],
)
def test_a_source_fits_a_line(source: str, said: str) -> None:
    assert Report.short_source(source) == said


def test_list_and_net_stand_beside_each_other(comparison: ComparisonDocument) -> None:
    options = [
        option.model_copy(update={"list_usd_per_hour": 120.0} if option.usd_per_hour else {})
        for option in comparison.options
    ]
    (line,) = report_of(comparison.model_copy(update={"options": tuple(options)})).prices()
    assert (line.price, line.listed, line.day) == ("98.32 USD/h", "120", "Nov 1, 2026")


def test_a_purchase_is_a_price(comparison: ComparisonDocument) -> None:
    owned = comparison.options[0]
    bought = owned.model_copy(update={"pay_now_usd": owned.campaign_usd.model_copy(update={"value": 14.0})})
    (line,) = report_of(comparison.model_copy(update={"options": (bought,)})).prices()
    assert (line.name, line.terms, line.price) == ("Our <b>DGX</b>, 4x V100", "purchase", "14 USD")


def test_a_rate_is_said_with_its_range_and_source(comparison: ComparisonDocument) -> None:
    won = Currency(code="KRW", per_usd=1400, low=1300, high=1500, as_of=date(2026, 11, 20), source="a bank")
    text = as_markdown(report_of(comparison.model_copy(update={"currency": won})))
    assert "KRW counted with 1,400 a USD (1,300 to 1,500) of 2026-11-20, a bank." in text
    assert "budget 1,400,000 KRW" in text


def test_every_reading_note_is_in_the_report(comparison: ComparisonDocument) -> None:
    text = as_markdown(report_of(comparison))
    assert all(note.split(":")[0] in text for note in reading_notes())
