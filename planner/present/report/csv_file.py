"""Writes the options of an answer as CSV. Every quantity has value, range, unit, basis, source and date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.model.answer.documents import ComparisonDocument
from planner.present.columns.entry import entries_of
from planner.present.columns.option_column import OptionColumn, OptionTable
from planner.present.columns.registry import columns_of
from planner.text.visible_text import table_text

QUANTITY_COLUMNS = ("value", "low", "high", "unit", "basis", "source", "as_of")


def as_csv(comparison: ComparisonDocument, more: Sequence[str] = ()) -> str:
    """Write one row per option. Every quantity takes seven columns."""
    return table_text([[_cell(value) for value in row] for row in sheet_rows(comparison, more)], ",")


def sheet_rows(comparison: ComparisonDocument, more: Sequence[str] = ()) -> Iterator[list[object]]:
    """Yield the names of the columns, then one row per option, with None for unknown values."""
    columns = columns_of(OptionTable.SHEET, more)
    yield ["plan", *(name for column in columns for name in _names(column))]
    for entry in entries_of(comparison):
        yield [comparison.plan, *(cell for column in columns for cell in _cells(column, column.value(entry)))]


def _names(column: OptionColumn) -> list[str]:
    return [f"{column.key}_{part}" for part in QUANTITY_COLUMNS] if column.quantity else [column.key]


def _cells(column: OptionColumn, value: object) -> list[object]:
    return [getattr(value, part, None) for part in QUANTITY_COLUMNS] if column.quantity else [value]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
