"""A column of a table: its name, what it says of a row, and what falls away before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, TypeVar

from planner.decide.recommend.wording import percent_text
from planner.model.quantity import Quantity
from planner.present.facts import interval_text, value_text
from planner.present.page.words import Words
from planner.present.table import NOT_KNOWN, quantity_text

RowT = TypeVar("RowT")
"""What a row is of: an option of an answer, a year of a machine."""
Value = object
"""A quantity, a day, a text, a number or a bool; None where it is not known."""


@dataclass(frozen=True, kw_only=True)
class TableColumn(Generic[RowT]):
    """What a table may say of a row. Every table writes `value` in its own way, by what kind of value it is."""

    key: str
    """By which `--columns` and frames know it."""
    title: str
    value: Callable[[RowT], Value]
    words: str = ""
    """What it is, for the list of columns."""
    also: str = ""
    """A second, shorter key."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Of tables that call it otherwise."""
    quantity: bool = False
    """Its values are quantities: a sheet has seven columns for it, a frame four, a screen two."""
    share: bool = False
    """Its values are shares of 1, which people read in percent."""
    right: bool = False
    """It stands at the right of its column, as quantities and shares do anyhow."""
    text: Callable[[RowT], str] | None = None
    """How tables for programs write it, where they say more than the value."""
    told: Callable[[RowT, Words], str] | None = None
    """How pages and reports write it, where its words are translated."""
    shown: Callable[[RowT], str] | None = None
    """How screens write it, where they say more than the value."""
    drop: int = 1
    """On a narrow screen the column with the highest number falls away first; 0: it always stays."""
    range_drop: int = 10
    """The same of its range; 0: screens show none."""
    wrap: int = 0
    gap: int = 2
    """Of the screen's table: `planner.present.screen.Column`."""
    stated_by: str = ""
    """What a plan must state for it to be known."""

    def head(self, table: str) -> str:
        """Return its title in a table."""
        return self.titles.get(table, self.title)

    def cell(self, row: RowT) -> str:
        """Write it for programs."""
        return plain_text(self.value(row)) if self.text is None else self.text(row)

    def cell_short(self, row: RowT) -> str:
        """Write it for agents: shares in percent, and nothing of what is not known."""
        value = self.value(row)
        return short_plain_text(self, value) if self.share or value is None else self.cell(row)

    def cell_told(self, row: RowT, words: Words) -> str:
        """Write it for a report, in its language."""
        value = self.value(row)
        if self.told is not None:
            return self.told(row, words)
        if self.quantity:
            return told_quantity(value if isinstance(value, Quantity) else None, words)
        return short_plain_text(self, value) if value is not None or self.share else NOT_KNOWN


def plain_text(value: Value) -> str:
    """Write a value with range and basis where it has them; "-" where it is not known."""
    if value is None:
        return NOT_KNOWN
    if isinstance(value, Quantity):
        return quantity_text(value)
    if isinstance(value, bool):
        return "yes" if value else ""
    return str(value.value if isinstance(value, Enum) else value)


def short_plain_text(column: TableColumn[RowT], value: Value) -> str:
    """Write for people what is no quantity: shares in percent, other numbers with four digits; nothing of None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return percent_text(value) if column.share else f"{value:,.4g}"
    return plain_text(value)


def told_quantity(value: Quantity | None, words: Words) -> str:
    """Write a quantity with range and basis for a report, in its language."""
    if value is None:
        return words("not known")
    return f"{value_text(value)} ({words(interval_text(value))}), {words(value.basis.value)}"
