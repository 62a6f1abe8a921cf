"""Page "Prices": known prices with their age, and a price book for this visit."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from functools import lru_cache

import streamlit as st

from planner import clock
from planner.errors import InputError
from planner.model.answer.price_answer import PriceHistoryDocument, PriceRow, PricesDocument
from planner.model.prices.offer import PriceKind
from planner.model.prices.price_book import PriceBook
from planner.present.page.prices import history_html, prices_html
from planner.present.page.words import Words
from planner.ui.answer import parts
from planner.ui.ask.form import Form
from planner.ui.ask.names import cards, providers, regions
from planner.ui.ask.question import StampedCatalog, book_of
from planner.ui.catalogs import visited_catalog
from planner.ui.prices.book import edit_book
from planner.ui.state import chosen_words, current_form, remember
from planner.use_cases.prices import history, show

FILTERS = ("card", "provider_is", "region_is", "kind")
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
