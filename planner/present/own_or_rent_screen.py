"""Shows "own or rent" on a screen: the headline, a year's cost on each machine, and what the figures count."""

from __future__ import annotations

from planner.decide.owning.owning_sentence import trainings_text
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.wording import share_text, short_amount
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.owning.acquisition import Acquisition
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity
from planner.present.columns.table_column import short_plain_text
from planner.present.columns.year_columns import (
    OLD,
    YearColumn,
    YearEntry,
    YearTable,
    signs,
    year_columns,
    year_entries,
)
from planner.present.option_marks import renewed_by
from planner.present.screen import Column, again, table_lines, wrapped, wrapped_items
from planner.present.table import Row

SHOWN = 10
"""Rows of the table. `--all` shows the others."""
MARKS = {
    "s": "spot: may be taken away",
    "m": "marketplace: may be taken away",
}
RANGE = " range"
"""Suffix that turns the key of a quantity's column into that of its range."""

OWNING = {
    Acquisition.PURCHASE: "Owning: in full, as if bought today.",
    Acquisition.LEASE: "Owning: a year of the lease and all beside it.",
    Acquisition.ALREADY_OWNED: "Owning: in full, with what it would sell for.",
}
AS_IF_BOUGHT = (
    "Owning: from now on, without what yours would sell for (already_owned of its site); as if bought today {usd} a "
    "year."
)
LEASE_OWED = "Owning: electricity alone; the signed lease, its place and its people are owed either way."
NOT_SOLD = "Owning: without what yours would sell for; resale_usd of its option counts it."
NARROW = 80
NARROW_NAME = 16
"""Narrowest name column on a screen narrower than NARROW."""


def screen_lines(document: OwnOrRentDocument, *, width: int, every: bool = False) -> list[str]:
    """Return the whole answer as lines of a screen. `every` shows all rows of the table."""
    year = document.by_plan
    assert year is not None, "every answer is given on a year"
    entries = _shown(document, every=every)
    rows = [entry.option for entry in entries]
    lines = [*wrapped(_title(year), width=width), ""]
    lines += [line for sentence in document.headline for line in wrapped(sentence, width=width)]
    lines += ["", *table_lines(_columns(document, width), [_cells(entry) for entry in entries], width=width)]
    left = len(year.compared) - len(rows)
    notes = [f"and {left} more: --all"] if left > 0 else []
    notes += [document.horizons.text] if document.horizons is not None else []
    notes += _marks(document, year, rows) + _not_compared(year) + _counted(document, year)
    more = ("Costs, break-evens, turning points: --details", "Inputs: --inputs", *again(document.answer_id))
    lines += [line for note in notes if note for line in wrapped(note, width=width, indent="  ")]
    return lines + wrapped_items(more, width=width, separator="   ")


def year_rows(document: OwnOrRentDocument) -> list[Row]:
    """Return one row per machine, cheapest first, in plain numbers for programs."""
    columns, code = year_columns(YearTable.ROWS, local=document.currency is not None), _code(document)
    return [
        {_head(column, YearTable.ROWS, code): column.cell(row) for column in columns} for row in year_entries(document)
    ]


def _title(year: PlannedYear) -> str:
    name = next(option.display_name for option in year.options if option.id == year.owning)
    if year.trainings is None:
        return f"{name}, own or rent: {share_text(year.site_busy_fraction)} busy"
    many = trainings_text(year.trainings)
    verb = "makes" if many == "1 training" else "make"
    return f"{name}, own or rent: {many} a year {verb} it {share_text(year.busy_fraction.value)} busy"


def _columns(document: OwnOrRentDocument, width: int) -> list[Column]:
    """Return the screen's columns, each quantity followed by its range."""
    table: list[Column] = []
    for column in year_columns(YearTable.SCREEN, local=document.currency is not None):
        wrap = column.wrap if width >= NARROW else min(column.wrap, NARROW_NAME)
        right = column.right or column.quantity or column.share
        title = _head(column, YearTable.SCREEN, _code(document))
        table.append(Column(key=column.key, title=title, right=right, drop=column.drop, wrap=wrap))
        if column.quantity:
            table.append(Column(key=column.key + RANGE, title="(90 %)", drop=column.range_drop, gap=1))
    return table


def _cells(row: YearEntry) -> Row:
    cells: Row = {}
    for column in year_columns(YearTable.SCREEN):
        value = column.value(row)
        if isinstance(value, Quantity):
            ends = f"({short_amount(value.low)}-{short_amount(value.high)})".replace("(-", "(0-")
            cells[column.key + RANGE] = "" if value.low == value.high else ends
            cells[column.key] = short_amount(value.value)
        else:
            cells[column.key] = column.shown(row) if column.shown else short_plain_text(column, value)
    return cells


def _head(column: YearColumn, table: YearTable, code: str) -> str:
    return column.head(table).format(code=code)


def _code(document: OwnOrRentDocument) -> str:
    return document.currency.code if document.currency else ""


def _shown(document: OwnOrRentDocument, *, every: bool) -> list[YearEntry]:
    """Return the cheapest rows, with the machine in question."""
    rows = year_entries(document)
    known = [row for row in rows if row.is_compared]
    own = next(row for row in rows if row.is_owning)
    if every:
        return known
    first = known[:SHOWN]
    return first if own in first else [*known[: SHOWN - 1], own]


def _marks(document: OwnOrRentDocument, year: PlannedYear, rows: list[YearOption]) -> list[str]:
    used = {sign for row in rows for sign in signs(row)}
    explained = [f"{sign} {text}." for sign, text in MARKS.items() if sign in used]
    if OLD in used:
        explained.append(f"{OLD} old price: {renewed_by([row.price_refreshed for row in rows if row.price_stale])}.")
    owning = OWNING[document.acquisition]
    if any(row.lease_owed for row in rows):
        owning = LEASE_OWED
    elif bought := next((row.usd_per_year_as_if_bought for row in rows if row.usd_per_year_as_if_bought), None):
        owning = AS_IF_BOUGHT.format(usd=_phrases(document).money(bought.value))
    elif any(row.resale_not_counted for row in rows):
        owning = NOT_SOLD
    return ["  ".join([*explained, owning]), _columns_explained(year, rows)]


def _columns_explained(year: PlannedYear, rows: list[YearOption]) -> str:
    """Explain the columns `costs less` and `pays from`. Owning means the machine in question."""
    names = {option.id: option.display_name for option in year.options}
    own = next(option for option in year.options if option.id == year.owning)
    said = []
    if any(row.chance_costs_less is not None for row in rows):
        its = "" if own.costs_less_than is None else f" (owning: than {names[own.costs_less_than]})"
        said.append(f"costs less: chance of a cheaper year than owning{its}.")
    if any(row.break_even is not None for row in rows):
        said.append("pays from: trainings a year at which owning breaks even.")
    return "  ".join(said)


def _phrases(document: OwnOrRentDocument) -> Phrases:
    return Phrases(CampaignLimits(), document.currency)


def _not_compared(year: PlannedYear) -> list[str]:
    ruled_out = [option for option in year.options if option not in year.compared]
    if not ruled_out:
        return []
    first = "; ".join(f"{option.display_name} ({_why(option)})" for option in ruled_out[:2])
    more = f"; {len(ruled_out) - 2} more: --details" if len(ruled_out) > 2 else ""
    return [f"Not compared: {first}{more}."]


def _why(option: YearOption) -> str:
    """Return the first reason against a row, without its arithmetic."""
    return (option.why_not or "no cost").split(":")[0].split(";")[0]


def _counted(document: OwnOrRentDocument, year: PlannedYear) -> list[str]:
    done, wanted, hours = year.trainings, year.trainings_wanted, year.hours_per_training
    counted = f"Counted: {year.counted}"
    if done is not None and wanted is not None and hours is not None:
        counted += f"; {hours.value:.3g} h each, {_hours(year.busy_hours)} h of the whole machine"
        if done < wanted:
            counted += f", all that it can do: {done:,.3g} of {wanted:,.3g} trainings"
    full, share = document.usd_per_busy_gpu_hour, share_text(year.site_busy_fraction)
    default = any(resolved.name == "busy_fraction" and resolved.default for resolved in document.inputs)
    whose = "the default" if default else "as its site assumes"
    bought = any(row.usd_per_year_as_if_bought for row in year.options)
    start = "Bought today, at" if bought else "At"
    money = _phrases(document)
    site = f"{start} {share} busy, {whose}: {money.full(full.value)} per busy GPU-hour"
    in_full = not bought and not any(row.lease_owed for row in year.options)
    if year.counted_from is not CountedFrom.SITE and in_full:
        usd_per_hour, busy = money.full(year.usd_per_busy_gpu_hour.value), share_text(year.busy_fraction.value)
        site += f", {usd_per_hour} at {busy}" if usd_per_hour != money.full(full.value) and busy != share else ""
    adds = document.marginal_usd_per_training
    electricity = "" if adds is None else f"; electricity of a training {money.money(adds.value)}"
    return [f"{counted}.", f"{site}{electricity}."]


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"
