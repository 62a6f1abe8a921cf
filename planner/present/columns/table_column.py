"""A column of a table: its title, its value for a row, and its priority on narrow screens.

Also the columns of tables of options, and the kinds of these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Generic, TypeVar

from planner.model.quantity import Quantity
from planner.present.columns.entry import Entry
from planner.present.facts import interval_text, value_text
from planner.present.page.words import Words
from planner.present.table import NOT_KNOWN, quantity_text
from planner.text.number_text import percent_text

RowT = TypeVar("RowT")
"""Type of a row: an option of an answer, or a year of a machine."""
Value = object
"""A quantity, a day, a text, a number or a bool; None if unknown."""


@dataclass(frozen=True, kw_only=True)
class TableColumn(Generic[RowT]):
    """A column of a table. Each kind of table writes `value` in its own way, by its type."""

    key: str
    """Name for `--columns` and frames."""
    title: str
    value: Callable[[RowT], Value]
    words: str = ""
    """Description for the list of columns."""
    also: str = ""
    """A second, shorter key."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles by kind of table, if other than `title`."""
    quantity: bool = False
    """True if the values are quantities. A sheet then has seven columns for it, a frame four, a screen two."""
    share: bool = False
    """True if the values are shares of 1, which are shown in percent."""
    right: bool = False
    """True for right-aligned cells. Quantities and shares always are."""
    text: Callable[[RowT], str] | None = None
    """Writer for programs, if they get more than the value."""
    translated: Callable[[RowT, Words], str] | None = None
    """Writer for pages and reports, if the cell contains translated words."""
    shown: Callable[[RowT], str] | None = None
    """Writer for screens, if they show more than the value."""
    drop: int = 1
    """Order of removal on narrow screens: the highest number first. 0 is never removed."""
    range_drop: int = 10
    """Order of removal for the range. 0 means that screens show no range."""
    wrap: int = 0
    gap: int = 2
    """`wrap` and `gap` of `planner.present.screen.Column`."""
    stated_by: str = ""
    """Key of a plan that must be stated for the value to be known."""

    def head(self, table: str) -> str:
        """Return the title in a kind of table."""
        return self.titles.get(table, self.title)

    def cell(self, row: RowT) -> str:
        """Write the cell of a row for programs."""
        return plain_text(self.value(row)) if self.text is None else self.text(row)

    def cell_short(self, row: RowT) -> str:
        """Write the cell of a row for agents: shares in percent, empty if unknown."""
        value = self.value(row)
        return short_plain_text(self, value) if self.share or value is None else self.cell(row)

    def cell_translated(self, row: RowT, words: Words) -> str:
        """Write the cell of a row for a report, in its language."""
        value = self.value(row)
        if self.translated is not None:
            return self.translated(row, words)
        if self.quantity:
            return translated_quantity(value if isinstance(value, Quantity) else None, words)
        return short_plain_text(self, value) if value is not None or self.share else NOT_KNOWN


def plain_text(value: Value) -> str:
    """Write a value with its range and basis if it has them; "-" if unknown."""
    if value is None:
        return NOT_KNOWN
    if isinstance(value, Quantity):
        return quantity_text(value)
    if isinstance(value, bool):
        return "yes" if value else ""
    return str(value.value if isinstance(value, Enum) else value)


def short_plain_text(column: TableColumn[RowT], value: Value) -> str:
    """Write a value that is not a quantity: shares in percent, other numbers with four digits; empty for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return percent_text(value) if column.share else f"{value:,.4g}"
    return plain_text(value)


def translated_quantity(value: Quantity | None, words: Words) -> str:
    """Write a quantity with range and basis for a report, in its language."""
    if value is None:
        return words("not known")
    return f"{value_text(value)} ({words(interval_text(value))}), {words(value.basis.value)}"


OptionColumn = TableColumn[Entry]


class OptionTable(StrEnum):
    """A kind of table with options as rows."""

    ESTIMATE = "estimate"
    """One training per option, for programs: TSV, CSV and Markdown of a command."""
    CAMPAIGN = "campaign"
    COMPARISON = "comparison"
    SCREEN = "screen"
    """Table of a command on a terminal, and of a notebook."""
    PAGE = "page"
    """The app, and the report in HTML and PDF."""
    REPORT = "report"
    """The report in Markdown."""
    SHEET = "sheet"
    """The report as CSV and as a workbook, with all digits."""
    AGENT = "agent"
    """Short rows for agents."""
