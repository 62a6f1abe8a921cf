"""Writes the table of options on a screen: one line per option, grouped by hold, with marks for doubts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Quantity, Unit
from planner.present.columns.entry import Entry
from planner.present.columns.registry import columns_of
from planner.present.columns.table_column import OptionColumn, OptionTable, short_plain_text
from planner.present.columns.written_columns import KNOWN
from planner.present.facts import short_reason
from planner.present.screen import NO_BREAK, Column, shown_columns, table_lines
from planner.present.short_figures import Scale, money_scale, time_scale

NO = "no"
"""Word in the group column for an option that misses the limits or has unknown values."""
CARRIED = re.compile(r"\d+x .+?(?=,|$)")
"""Accelerators of a machine. `8x H200` is never broken over two lines."""
RANGE = " range"
"""Suffix that turns the key of a quantity's column into that of its range."""
Row = dict[str, str]


@dataclass(frozen=True)
class Scales:
    """Units of the columns of one table."""

    time: Scale
    usd: Scale
    local: Scale | None
    per_usd: float

    @property
    def money(self) -> Scale:
        """Scale of the money column: the plan's own currency if it has one, else USD."""
        return self.local or self.usd

    def amount(self, usd: Quantity) -> Quantity:
        """Convert an amount to the currency of the money column, at the plan's rate."""
        if self.local is None:
            return usd
        scaled = {name: getattr(usd, name) * self.per_usd for name in ("value", "low", "high")}
        return usd.model_copy(update=scaled)

    def scale_of(self, column: OptionColumn, unit: Unit) -> Scale:
        """Return the scale in which a column writes quantities of a unit."""
        if unit is Unit.HOURS:
            return self.time
        if unit is Unit.USD:
            return self.usd if column.key == "usd" else self.money
        return Scale("", 1.0)

    def money_text(self, usd: Quantity) -> str:
        """Write an amount as the money column does, with the currency."""
        return f"{self.money.value(self.amount(usd))} {self.money.title}"


def scales(entries: Sequence[Entry], currency: Currency | None) -> Scales:
    """Return the scales of a table: one for all times, one for all amounts."""
    usd = [quantity.value for entry in entries for quantity in (entry.usd, pay_now(entry.option)) if quantity]
    rate = currency.per_usd if currency else 1.0
    local = money_scale([value * rate for value in usd], currency.code) if currency else None
    hours = [entry.hours.value for entry in entries if entry.hours is not None]
    return Scales(time_scale(hours), money_scale(usd, "USD"), local, rate)


def option_lines(entries: Sequence[Entry], units: Scales, *, width: int, more: Sequence[str] = ()) -> list[str]:
    """Return the table in lines of at most `width`, with the columns whose keys are in `more`.

    The remaining value of purchases is shown only if no column is removed for it. If `known from` is removed, the
    reason against an option follows its name.
    """
    asked = columns_of(OptionTable.SCREEN, more)
    table, written = _columns(asked, entries, units), _rows(asked, entries, units)
    shown = shown_columns(table, written, width)
    left = len(shown_columns(table, _rows(asked, entries, units, left=True), width)) == len(shown)
    reason_beside_name = all(column.key != KNOWN for column in shown)
    return table_lines(table, _rows(asked, entries, units, left=left, beside_name=reason_beside_name), width=width)


def option_cells(entries: Sequence[Entry], units: Scales, more: Sequence[str] = ()) -> tuple[list[Column], list[Row]]:
    """Return all columns with cells, and the rows, for a page without a width limit."""
    asked = columns_of(OptionTable.SCREEN, more)
    rows = _rows(asked, entries, units)
    return [column for column in _columns(asked, entries, units) if any(row.get(column.key) for row in rows)], rows


def _columns(columns: Sequence[OptionColumn], entries: Sequence[Entry], units: Scales) -> list[Column]:
    """Return the screen's columns, each quantity followed by its range."""
    table: list[Column] = []
    for column in columns:
        values = [value for entry in entries if isinstance(value := column.value(entry), Quantity)]
        unit = units.scale_of(column, values[0].unit).title if values else ""
        table.append(
            Column(
                key=column.key, title=", ".join(filter(None, (column.head(OptionTable.SCREEN), unit))),
                right=column.right or column.quantity or column.share, drop=column.drop, wrap=column.wrap,
                gap=column.gap,
            )
        )  # fmt: skip
        if column.quantity and column.range_drop:
            table.append(Column(key=column.key + RANGE, title="(90 %)", gap=1, drop=column.range_drop))
    return table


def _rows(
    columns: Sequence[OptionColumn],
    entries: Sequence[Entry],
    units: Scales,
    *,
    left: bool = False,
    beside_name: bool = False,
) -> list[Row]:
    """Return one row per option. The hold is written where it changes, with a line above purchases about payments.

    `left` adds the remaining value of purchases. `beside_name` adds the reason against an option to its name.
    """
    left = left and any(left_of(entry.option) is not None for entry in entries)
    written: list[Row] = []
    previous_hold: Hold | None = None
    for entry in entries:
        hold = entry.option.hold
        word = hold.value.upper() if hold is not None and hold is not previous_hold else ""
        previous_hold = hold
        bought = pay_now(entry.option) is not None
        if word and (entry.no or bought):
            when = {"money": "pay now", "money" + RANGE: "+ running - left" if left else "+ running"}
            written.append({"hold": word} | (when if bought else {}))
            word = ""
        row = _row(columns, entry, units, left=left, beside_name=beside_name)
        written.append(row | {"hold": NO if entry.no else word})
    return written


def pay_now(option: OptionEstimate) -> Quantity | None:
    """Return the payment at once for a machine to be bought; None for other machines."""
    return option.pay_now_usd if isinstance(option, CampaignOption) else None


def left_of(option: OptionEstimate) -> Quantity | None:
    """Return the resale value of a machine to be bought at the campaign's end; None if unknown."""
    return option.left_usd if isinstance(option, CampaignOption) else None


def _row(columns: Sequence[OptionColumn], entry: Entry, units: Scales, *, left: bool, beside_name: bool) -> Row:
    row: Row = {}
    for column in columns:
        value = column.value(entry)
        if isinstance(value, Quantity):
            scale = units.scale_of(column, value.unit)
            counted = units.amount(value) if scale is units.local else value
            row |= {column.key: scale.value(counted), column.key + RANGE: scale.interval(counted)}
        else:
            row[column.key] = short_plain_text(column, value)
    row["machine"] = _unbroken(row["machine"])
    if entry.no and (beside_name or entry.usd is None):
        row["machine"] += f": {short_reason(entry.option).replace(' ', NO_BREAK)}"  # no screen removes this column
        row[KNOWN] = ""
    now, then = pay_now(entry.option), left_of(entry.option)
    if now is not None:
        running = f"+ {row['money']}" if entry.usd is not None else ""
        if left and then is not None:
            running += f" - {units.money.value(units.amount(then))}"
        row |= {"money": units.money.value(units.amount(now)), "money" + RANGE: running, "usd": units.usd.value(now)}
    return row if units.local is not None else row | {"usd": ""}


def _unbroken(name: str) -> str:
    """Return the name with unbreakable blanks in the accelerators, so that `8x H200` stays together."""
    return CARRIED.sub(lambda carried: carried.group().replace(" ", NO_BREAK), name)
