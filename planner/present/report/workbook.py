"""Writes the answer as a workbook of four plain sheets: answer, inputs, options, bill lines. No cell is a formula.

Also writes the options as CSV. Every quantity has value, range, unit, basis, source and date.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from planner.model.answer.documents import ComparisonDocument
from planner.present.columns.entry import entries_of
from planner.present.columns.registry import columns_of
from planner.present.columns.table_column import OptionColumn, OptionTable
from planner.present.facts import name_text
from planner.present.report.report import Report
from planner.text.visible_text import table_text, visible_text

if TYPE_CHECKING:
    from xlsxwriter.worksheet import Worksheet

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


LONGEST_CELL = 32_767
"""Largest number of characters that a spreadsheet keeps in a cell."""
WIDEST_COLUMN = 60
"""Largest number of characters to which a column is widened."""
DAY_EXAMPLE = "2026-01-01"
"""Text as wide as a day."""
BILL_COLUMNS = (
    "option", "machine", "trainings", "line", "quantity", "quantity_unit", "hours", "usd_per_unit", "usd", "usd_low",
    "usd_high", "basis", "local", "local_currency", "source",
)  # fmt: skip
INPUT_COLUMNS = ("input", *QUANTITY_COLUMNS)
Row = Sequence[object]


def as_workbook(report: Report) -> bytes:
    """Write four sheets, each with a header, one row per item, and numbers as numbers."""
    import xlsxwriter

    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as book:
        day = report.written_on
        book.set_properties({"title": report.document.plan[:250], "created": datetime(day.year, day.month, day.day)})
        formats = {
            "head": book.add_format({"bold": True, "bottom": 1}),
            "day": book.add_format({"num_format": "yyyy-mm-dd"}),
        }
        words = report.words
        sheets = (
            (words("Answer"), _answer(report)),
            (words("Inputs"), _inputs(report)),
            (words("Options"), sheet_rows(report.document, report.more)),
            (words("Bill lines"), _bill_lines(report)),
        )
        for name, rows in sheets:
            _fill(book.add_worksheet(name), rows, formats)
    return file.getvalue()


def _answer(report: Report) -> Iterator[Row]:
    words, document = report.words, report.document
    yield words("Question"), document.plan
    for sentence in report.sentences():
        yield words("Answer"), sentence
    for figure in report.page.figures():
        yield figure.name, figure.value, figure.below
    for turn in report.changes():
        yield words("What would change this"), turn.sentence, turn.command
    yield words("Day"), report.written_on
    if document.answer_id is not None:
        yield words("Answer"), document.answer_id, f"planner show {document.answer_id}"


def _inputs(report: Report) -> Iterator[Row]:
    yield INPUT_COLUMNS
    document = report.document
    plan = "the plan"
    yield "trainings", document.runs, None, None, None, None, plan, None
    yield "deadline", document.deadline, None, None, None, None, plan, None
    yield "budget", document.budget_usd, None, None, "USD", None, plan, None
    yield "confidence", document.confidence, None, None, None, None, plan, None
    if document.currency is not None:
        rate = document.currency
        unit = f"{rate.code} a USD"
        yield "exchange rate", rate.per_usd, rate.lowest, rate.highest, unit, None, rate.source, rate.as_of
    for item in document.assumptions:
        yield item.name, *(getattr(item.quantity, column) for column in QUANTITY_COLUMNS)


def _bill_lines(report: Report) -> Iterator[Row]:
    yield BILL_COLUMNS
    for option in report.document.options:
        if option.bill is None:
            continue
        code = option.bill.local_total.code if option.bill.local_total else None
        for line in option.bill.lines:
            usd = line.usd
            yield (
                option.id, name_text(option), option.bill.trainings, line.what, line.quantity, line.quantity_unit,
                line.hours, line.usd_per_unit, usd.value, usd.low, usd.high, usd.basis, line.local,
                code, usd.source,
            )  # fmt: skip
        for credit in option.bill.credits:
            name = f"credits: {credit.name}"
            amount = (-credit.usd, -credit.usd, -credit.usd)
            yield (
                option.id, name_text(option), option.bill.trainings, name, None, None, None, None, *amount, None, None,
                None, credit.source,
            )  # fmt: skip


def _fill(sheet: Worksheet, rows: Iterable[Row], formats: dict[str, Any]) -> None:
    widths: dict[int, int] = {}
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            text = _write(sheet, number, column, value, formats, head=number == 0)
            widths[column] = max(widths.get(column, 8), min(len(text) + 1, WIDEST_COLUMN))
    for column, width in widths.items():
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)


def _write(sheet: Worksheet, row: int, column: int, value: object, formats: dict[str, Any], *, head: bool) -> str:
    """Write a cell by its type. Return a text as wide as the cell's."""
    if isinstance(value, Enum):
        value = value.value
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value)
        return f"{value:.6g}"
    elif isinstance(value, date):
        sheet.write_datetime(row, column, datetime(value.year, value.month, value.day), formats["day"])
        return DAY_EXAMPLE
    else:
        text = visible_text(str(value))[:LONGEST_CELL]
        sheet.write_string(row, column, text, formats["head"] if head else None)
        return text
    return str(value)
