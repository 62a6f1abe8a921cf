"""Page "Prices": known prices with their age, and a price book for this visit. Writes no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

import streamlit as st

from planner import clock
from planner.adapters.documents import parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.errors import InputError
from planner.model.answer.price_answer import PriceHistoryDocument, PriceRow, PricesDocument
from planner.model.prices.offer import PriceKind
from planner.model.prices.price_book import PriceBook
from planner.present.page.prices import history_html, prices_html
from planner.present.page.words import Words
from planner.ui import parts
from planner.ui.ask.form import Form
from planner.ui.ask.question import CREDITS_LAST_DAYS, StampedCatalog, book_of, cards, providers, regions
from planner.ui.catalogs import visited_catalog
from planner.ui.parts import note
from planner.ui.state import chosen_words, current_form, remember
from planner.use_cases.prices import history, show

ANY = ""


def render() -> None:
    """Draw the page."""
    words, today = chosen_words(), clock.today()
    problems: list[InputError] = []
    known = visited_catalog(problems, today)
    form = current_form(problems)
    left, right = st.columns([4, 9], gap="large")
    with left:
        with st.container(border=True):
            chosen = _filters(known, words)
        with st.container(border=True):
            st.markdown(f"**{words('Your price book, for this visit')}**")
            form = edit_book(form, known, words, problems, today=today)
    with right:
        _list(form, known, chosen, problems, words, today)
        parts.problems(problems, words, stands=False)
    if not problems:
        remember(form, words, **{name: value or None for name, value in chosen.items()})


def _filters(known: StampedCatalog, words: Words) -> dict[str, str]:
    kinds = {kind.value: kind.value.replace("_", " ") for kind in PriceKind}
    lists = {
        "card": (words("Card"), cards(known)),
        "provider_is": (words("Provider"), providers(known)),
        "region_is": (words("Region"), {region: region for region in regions(known)}),
        "kind": (words("Terms"), kinds),
    }
    chosen = {}
    for name, (label, listed) in lists.items():
        options = {ANY: words("any")} | listed
        key = f"prices-{name}"
        given = st.query_params.get(name, ANY)
        st.session_state.setdefault(key, given if given in options else ANY)
        chosen[name] = str(st.selectbox(label, list(options), format_func=options.__getitem__, key=key))
    return chosen


def _list(
    form: Form, known: StampedCatalog, chosen: dict[str, str], problems: list[InputError], words: Words, today: date
) -> None:
    try:
        book = book_of(form, today=today)
        rows = [row for row in _shown(known, book, today).prices if _passes(row, chosen)]
    except InputError as error:
        problems.append(error)
        return
    st.subheader(words("{n} prices", n=len(rows)))
    if not rows:
        st.info(words("No price passes the filter."))
        return
    parts.html(prices_html(rows, known.catalog, words, with_book=book is not None))
    items = {row.item: row.item for row in rows}
    item = st.selectbox(words("History of"), list(items), key=f"history-{'-'.join(chosen.values())}")
    parts.html(history_html(_history(known, str(item), today), words))


def _passes(row: PriceRow, chosen: dict[str, str]) -> bool:
    wanted = (
        (chosen["card"], row.accelerator), (chosen["provider_is"], row.provider), (chosen["region_is"], row.region),
        (chosen["kind"], row.price_kind.value),
    )  # fmt: skip
    return all(asked in (ANY, value) for asked, value in wanted)


def _now(today: date) -> datetime:
    return datetime.combine(today, time(12), tzinfo=UTC)


@lru_cache(maxsize=16)
def _shown(_: StampedCatalog, book: PriceBook | None, today: date) -> PricesDocument:
    return show(home=None, now=_now(today), book=book)


@lru_cache(maxsize=64)
def _history(_: StampedCatalog, item: str, today: date) -> PriceHistoryDocument:
    return history(item, home=None, now=_now(today))


BOOK_FIX = "Change the table, or empty its row. More kinds of entries: docs/prices.md."
SOURCE = "the visit's own"
Rows = Sequence[Mapping[str, Any]]


def edit_book(form: Form, known: StampedCatalog, words: Words, problems: list[InputError], *, today: date) -> Form:
    """Draw the tables, and return the form with their price book. A wrong row is reported."""
    listed = list(providers(known))
    where = "the price book"
    first = (
        None
        if form.book is None
        else parse_model(PriceBook, parse_mapping(form.book, where=where, fix=BOOK_FIX), where=where, fix=BOOK_FIX)
    )
    provider = st.column_config.SelectboxColumn(words("Provider"), options=listed, required=True)
    discounts = _edited(
        "discounts",
        [{"provider": discount.provider, "percent": 100 * discount.discount_fraction} for discount in first.discounts]
        if first
        else [],
        {
            "provider": provider,
            "percent": st.column_config.NumberColumn(words("Discount (%)"), min_value=0.1, max_value=99.0),
        },
    )
    credits = _edited(
        "credits",
        [{"provider": credit.provider, "usd": credit.usd, "until": credit.expires} for credit in first.credits]
        if first
        else [],
        {
            "provider": provider,
            "usd": st.column_config.NumberColumn(words("Credits (USD)"), min_value=1.0),
            "until": st.column_config.DateColumn(words("Until")),
        },
    )
    try:
        book = book_of_rows(discounts, credits, today=today)
    except InputError as error:
        problems.append(error)
        return form
    note(words("Answers and prices of this visit count it; the address carries it."))
    return form.changed(book=None if book is None else book.model_dump_json())


def book_of_rows(discounts: Rows, credits: Rows, *, today: date) -> PriceBook | None:
    """Return the price book of the tables; None if they are empty. Incomplete rows are left out."""
    entries = [
        {
            "name": f"discount-{place}",
            "provider": row["provider"],
            "discount_fraction": float(row["percent"]) / 100,
            "source": SOURCE,
        }
        for place, row in enumerate(discounts, start=1)
        if row.get("provider") and row.get("percent")
    ]
    granted = [
        {
            "name": f"credits-{place}",
            "provider": row["provider"],
            "usd": float(row["usd"]),
            "expires": row.get("until") or today + timedelta(days=CREDITS_LAST_DAYS),
            "source": SOURCE,
        }
        for place, row in enumerate(credits, start=1)
        if row.get("provider") and row.get("usd")
    ]
    if not entries and not granted:
        return None
    data = {"schema_version": 1, "as_of": today, "discounts": entries, "credits": granted}
    return parse_model(PriceBook, data, where="the price book", fix=BOOK_FIX)


def _edited(name: str, rows: list[dict[str, Any]], columns: dict[str, Any]) -> Rows:
    """Draw a table with room for new rows, and return its rows."""
    kept = st.session_state.setdefault(f"book-rows-{name}", rows)
    import pandas as pd

    frame = pd.DataFrame(kept, columns=list(columns))
    edited = st.data_editor(
        frame, column_config=columns, num_rows="dynamic", hide_index=True, key=f"book-{name}", width="stretch"
    )
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in edited.to_dict(orient="records")
    ]
