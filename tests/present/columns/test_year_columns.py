"""One entry is a column of every table of "own or rent": on the screen, in files and in the app."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.columns.year_columns import (
    OTHERS,
    WRITTEN_OF_YEARS,
    YEAR_COLUMNS,
    YEAR_LAYOUTS,
    YearColumn,
    YearTable,
    year_columns,
)
from planner.present.own_or_rent_screen import screen_lines, year_rows
from planner.present.page.words import Words
from planner.present.page.year import YearPage
from planner.present.table import WRITERS
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.owning import own_or_rent
from planner.use_cases.plans import read_plan

AMOUNT = Quantity(value=7321, low=6000, high=9000, unit=Unit.KWH, basis=Basis.MODELLED, source="a toy's formula")
TOYS = {
    "quantity": YearColumn(key="toy", title="toy kWh", quantity=True, value=lambda _: AMOUNT),
    "text": YearColumn(key="toy", title="toy kWh", value=lambda entry: f"7321 of {entry.option.id}"),
    "share": YearColumn(key="toy", title="toy kWh", share=True, value=lambda _: 0.7321),
}
WRITTEN_AS = {
    "quantity": ("7,321", "7,320"),
    "text": ("7321 of dgx-station-v100",),
    "share": ("73 %", "0.7321"),
}


def _rows_as(form: str) -> Callable[[OwnOrRentDocument], str]:
    return lambda document: WRITERS[form](year_rows(document))


FORMATS: dict[str, Callable[[OwnOrRentDocument], str]] = {
    "screen": lambda document: "\n".join(screen_lines(document, width=200, every=True)),
    "tsv": _rows_as("tsv"),
    "csv": _rows_as("csv"),
    "markdown": _rows_as("md"),
    "app": lambda document: YearPage(document, Words()).ways_html(),
}


@pytest.fixture(scope="module")
def document() -> OwnOrRentDocument:
    plan = read_plan(examples_dir() / "station_own_or_rent.yaml")
    return own_or_rent(plan, open_catalog(), today=date(2026, 11, 27))


@pytest.mark.parametrize("kind", list(TOYS))
@pytest.mark.parametrize("form", list(FORMATS))
def test_one_entry_is_a_column_in_every_table(
    form: str, kind: str, document: OwnOrRentDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = FORMATS[form](document)
    monkeypatch.setitem(YEAR_COLUMNS, "toy", TOYS[kind])
    text = FORMATS[form](document)
    assert "toy kWh" not in without
    assert "toy kWh" in text
    assert any(written in text for written in WRITTEN_AS[kind])
    assert not any(written in without for written in WRITTEN_AS[kind])


def test_a_page_and_a_screen_have_a_column_for_its_range(
    document: OwnOrRentDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(YEAR_COLUMNS, "toy", TOYS["quantity"])
    assert "(6,000-9,000)" in FORMATS["screen"](document)
    assert '<td class="number">6,000-9,000</td>' in FORMATS["app"](document)


def test_every_layout_names_columns_once_and_says_where_others_stand() -> None:
    assert len(YEAR_COLUMNS) == len(WRITTEN_OF_YEARS)
    for layout in YEAR_LAYOUTS.values():
        assert layout.count(OTHERS) == 1
        assert len(set(layout)) == len(layout)
        assert set(layout) - {OTHERS} <= set(YEAR_COLUMNS)


def test_the_plans_own_currency_has_a_column_where_it_is_stated() -> None:
    for table in YearTable:
        both = [column.key for column in year_columns(table)]
        assert [key for key in both if key != "local"] == [column.key for column in year_columns(table, local=False)]
        assert "local" in both
