"""Evidence and Prices, run without a browser."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from html import unescape

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner import clock
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.present.page.evidence import worst_first
from planner.ui.ask.form import STARTS, Start
from planner.ui.ask.link import form_of, parameters_of
from planner.ui.ask.question import answer_form, book_of
from planner.ui.catalogs import known_catalog
from planner.ui.evidence_page import _checked
from planner.ui.prices_page import book_of_rows
from planner.use_cases.prices import show

TODAY = date(2026, 7, 1)


def evidence_page() -> None:
    from planner.ui import evidence_page as page

    page.render()


def prices_page() -> None:
    from planner.ui import prices_page as page

    page.render()


def opened(function: object, **parameters: str) -> AppTest:
    page = AppTest.from_function(function, default_timeout=60)
    for name, value in parameters.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def said(page: AppTest) -> str:
    return unescape("\n".join(element.value for element in page.html))


def test_the_worst_miss_stands_first_and_what_is_not_predicted_last() -> None:
    runs = worst_first(_checked(known_catalog((), clock.today())))
    misses = [abs(math.log(run.ratio)) for run in runs if run.ratio]
    assert misses == sorted(misses, reverse=True)
    assert [run.ratio is None for run in runs] == sorted(run.ratio is None for run in runs)


def test_evidence_shows_every_run_with_its_verdict() -> None:
    known, text = known_catalog((), clock.today()), said(opened(evidence_page))
    for run in known.catalog.runs:
        assert run in text
    for verdict in ("impossible", "doubtful", "credible"):
        assert verdict in text


def test_an_uploaded_run_is_shown_and_a_bad_one_is_named() -> None:
    page = opened(evidence_page)
    (uploader,) = page.file_uploader
    record = next(iter(known_catalog((), clock.today()).catalog.runs.values())).model_copy(update={"id": "my-own-run"})
    files = [("mine.json", record.model_dump_json().encode(), "x"), ("bad.json", b"{", "x")]
    uploader.set_value(files)
    page.run()
    assert not page.exception
    assert "my-own-run" in said(page)
    assert "bad.json" in said(page)


def test_prices_are_those_in_use_cheapest_card_first() -> None:
    page = opened(prices_page, card="H100-SXM", kind="on_demand")
    now = datetime(clock.today().year, clock.today().month, clock.today().day, 12, tzinfo=UTC)
    rows = [
        row
        for row in show(home=None, now=now).prices
        if row.accelerator == "H100-SXM" and row.price_kind == "on_demand"
    ]
    assert [heading.value for heading in page.subheader] == [f"{len(rows)} prices"]
    text = said(page)
    assert all(row.item in text for row in rows[:60])
    assert "stale" in text


def test_a_filter_that_nothing_passes_says_so() -> None:
    page = opened(prices_page, card="P100-PCIe-16GB", provider_is="lambda")
    assert page.info[0].value == "No price passes the filter."


def test_a_filter_of_the_address_that_is_none_is_left_out() -> None:
    assert int(opened(prices_page, card="<b>x").subheader[0].value.split()[0]) > 400


BOOK = book_of_rows(
    [{"provider": "aws", "percent": 10.0}, {"provider": None, "percent": 5}],
    [{"provider": "lambda", "usd": 500.0, "until": None}],
    today=TODAY,
)


def test_rows_become_a_price_book() -> None:
    assert BOOK is not None
    assert [(discount.provider, discount.discount_fraction) for discount in BOOK.discounts] == [("aws", 0.1)]
    assert [(credit.provider, credit.usd, credit.expires) for credit in BOOK.credits] == [
        ("lambda", 500.0, date(2027, 7, 1))
    ]
    assert book_of_rows([], [], today=TODAY) is None


@pytest.mark.parametrize("percent", [100.0, 250.0, -1.0])
def test_a_discount_that_is_none_is_refused(percent: float) -> None:
    with pytest.raises(InputError, match="the price book"):
        book_of_rows([{"provider": "aws", "percent": percent}], [], today=TODAY)


def test_the_book_of_a_visit_is_in_its_answers_and_in_its_link() -> None:
    assert BOOK is not None
    form = STARTS[Start.OFFERS].changed(book=BOOK.model_dump_json(), discount=0.0)
    assert form_of(parameters_of(form)) == form
    assert book_of(form, today=TODAY) == BOOK
    known = known_catalog((), clock.today())
    listed = {
        option.id: option.usd_per_hour.value
        for option in answer_form(STARTS[Start.OFFERS], known, now=clock.now()).document.options
    }
    net = {
        option.id: option.usd_per_hour.value for option in answer_form(form, known, now=clock.now()).document.options
    }
    changed = {name for name, usd in net.items() if usd == pytest.approx(0.9 * listed[name])}
    assert {name for name in listed if name.startswith("aws/")} == changed


def test_a_formula_in_a_price_file_is_text() -> None:
    prices = workspace_dir() / "prices"
    prices.mkdir(parents=True)
    (prices / "mine.csv").write_text("provider,=cmd()\n", encoding="utf-8")
    assert "mine.csv" in said(opened(prices_page))
