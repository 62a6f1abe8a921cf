"""Edits the price book of a visit as two small tables, discounts and credits. Writes no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import streamlit as st

from planner.adapters.documents import parse_model
from planner.adapters.mapping_text import parse_mapping
from planner.errors import InputError
from planner.model.prices.price_book import PriceBook
from planner.present.page.words import Words
from planner.ui.answer.parts import note
from planner.ui.ask.form import Form
from planner.ui.ask.names import providers
from planner.ui.ask.question import CREDITS_LAST_DAYS, StampedCatalog

FIX = "Change the table, or empty its row. More kinds of entries: docs/prices.md."
SOURCE = "the visit's own"
Rows = Sequence[Mapping[str, Any]]


def edit_book(form: Form, known: StampedCatalog, words: Words, problems: list[InputError], *, today: date) -> Form:
    """Draw the tables, and return the form with their price book. A wrong row is reported."""
    listed = list(providers(known))
    where = "the price book"
    first = (
        None
        if form.book is None
        else parse_model(PriceBook, parse_mapping(form.book, where=where, fix=FIX), where=where, fix=FIX)
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
    return parse_model(PriceBook, data, where="the price book", fix=FIX)


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
