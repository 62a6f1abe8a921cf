"""The table of options on a screen: one line an option, in groups of how the machine is held, with marks for doubts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.decide.recommend.wording import percent_text
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.answer.reason import ReasonCode
from planner.model.currency import Currency
from planner.model.owning.hold import Hold
from planner.model.quantity import Quantity
from planner.present.facts import name_text
from planner.present.option_marks import fit_text, marks
from planner.present.screen import NO_BREAK, Column, shown_columns, table_lines
from planner.present.short_figures import Scale, money_scale, time_scale

RECOMMENDED = "<-"
"""Also of the nearest, where none is recommended."""
NO = "no"
"""In place of a group: the option misses the limits, or something of it is not known."""
NARROWEST_NAME = 20
KNOWN = "known"
ALONE_TOO_SMALL = "too small alone"
"""Of an allocation that does some of the trainings."""
CARRIED = re.compile(r"\d+x .+?(?=,|$)")
"""What a machine carries: `8x H200` stays on one line."""
SHORT_REASONS = {
    ReasonCode.MISSES_DEADLINE: "late",
    ReasonCode.OVER_BUDGET: "over budget",
    ReasonCode.LIMITS_TOGETHER: "late or over budget",
    ReasonCode.MEMORY_TOO_SMALL: "does not fit",
    ReasonCode.NO_SPLIT_FITS: "does not fit",
    ReasonCode.SPOT_TOO_MUCH: "too much spot",
    ReasonCode.PRICE_TOO_OLD: "price too old",
    ReasonCode.NEEDS_REPLACEMENT: "beyond its life",
    ReasonCode.TIME_NOT_STATED: "time not known",
    ReasonCode.TIME_OR_COST_NOT_KNOWN: "not known",
    ReasonCode.PLACE_NOT_ALLOWED: "not allowed",
    ReasonCode.DATA_LEAVES_REGION: "not allowed",
    ReasonCode.SPOT_NOT_ALLOWED: "not allowed",
    ReasonCode.PROVIDER_NOT_ALLOWED: "not allowed",
    ReasonCode.QUOTA_TOO_SMALL: "over quota",
    ReasonCode.CLUSTER_TOO_SMALL: "sold in larger clusters",
    ReasonCode.NOT_AVAILABLE: "not to be had",
    ReasonCode.NOT_LISTED: "not listed any more",
    ReasonCode.ASK_FOR_QUOTE: "ask for a quote",
    ReasonCode.NODE_NETWORK_NOT_KNOWN: "network not known",
    ReasonCode.OFFLOAD_NOT_KNOWN: "speed with offload not known",
}
"""The others are written as their codes, with blanks."""
Row = dict[str, str]


@dataclass(frozen=True)
class Entry:
    """One option as the table shows it."""

    number: int | None
    """Of its row, by which `planner explain` knows it; None in the plan's order."""
    option: OptionEstimate
    hours: Quantity | None
    usd: Quantity | None
    done_by: str = ""
    chance: float | None = None
    no: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Scales:
    """In what the columns of one table are written."""

    time: Scale
    usd: Scale
    local: Scale | None
    per_usd: float

    @property
    def money(self) -> Scale:
        """That of the column with the range: the plan's own currency, where it has one."""
        return self.local or self.usd

    def amount(self, usd: Quantity) -> Quantity:
        """Return an amount as the column with the range counts it, at the plan's rate."""
        if self.local is None:
            return usd
        scaled = {name: getattr(usd, name) * self.per_usd for name in ("value", "low", "high")}
        return usd.model_copy(update=scaled)

    def money_text(self, usd: Quantity) -> str:
        """Write an amount as that column does, with the currency."""
        return f"{self.money.value(self.amount(usd))} {self.money.title}"


def scales(entries: Sequence[Entry], currency: Currency | None) -> Scales:
    """Return the units of a table: one for all times, one for all amounts."""
    usd = [quantity.value for entry in entries for quantity in (entry.usd, pay_now(entry.option)) if quantity]
    rate = currency.per_usd if currency else 1.0
    local = money_scale([value * rate for value in usd], currency.code) if currency else None
    hours = [entry.hours.value for entry in entries if entry.hours is not None]
    return Scales(time_scale(hours), money_scale(usd, "USD"), local, rate)


def option_lines(entries: Sequence[Entry], units: Scales, *, width: int) -> list[str]:
    """Return the table in lines of at most `width`.

    What is left of purchases is said where no column falls away for it; where `known from` falls away, the reason
    against an option stands beside its name.
    """
    table, written = _columns(units), _rows(entries, units)
    shown = shown_columns(table, written, width)
    left = len(shown_columns(table, _rows(entries, units, left=True), width)) == len(shown)
    beside = all(column.key != KNOWN for column in shown)
    return table_lines(table, _rows(entries, units, left=left, beside_name=beside), width=width)


def option_cells(entries: Sequence[Entry], units: Scales) -> tuple[list[Column], list[Row]]:
    """Return all columns that have cells, and the rows, where a page and not a screen has room for them."""
    rows = _rows(entries, units)
    return [column for column in _columns(units) if any(row.get(column.key) for row in rows)], rows


def _columns(units: Scales) -> tuple[Column, ...]:
    """Return the columns; what a person can do without falls away first."""
    return (
        Column(key="number", title="#", right=True),
        Column(key="hold", gap=1),
        Column(key="machine", title="machine", wrap=NARROWEST_NAME),
        Column(key="done", title="done by", drop=3),
        Column(key="time", title=units.time.title, right=True, drop=7),
        Column(key="time range", title="(90 %)", gap=1, drop=9),
        Column(key="money", title=units.money.title, right=True),
        Column(key="money range", title="(90 %)", gap=1, drop=5),
        Column(key="usd", title="USD", right=True, drop=8),
        Column(key="chance", title="chance", right=True, drop=2),
        Column(key=KNOWN, title="known from", drop=6),
        Column(key="mark"),
    )


def _rows(entries: Iterable[Entry], units: Scales, *, left: bool = False, beside_name: bool = False) -> list[Row]:
    """Return one row an option; how it is held stands where that changes, and above purchases what is paid when.

    `left`: and what is left of them; `beside_name`: the reason against an option stands there.
    """
    entries = list(entries)
    left = left and any(left_of(entry.option) is not None for entry in entries)
    written: list[Row] = []
    held: Hold | None = None
    for entry in entries:
        hold = entry.option.hold
        word = hold.value.upper() if hold is not None and hold is not held else ""
        held = hold
        bought = pay_now(entry.option) is not None
        if word and (entry.no or bought):
            when = {"money": "pay now", "money range": "+ running - left" if left else "+ running"}
            written.append({"hold": word} | (when if bought else {}))
            word = ""
        row = _row(entry, units, left=left, beside_name=beside_name)
        written.append(row | {"hold": NO if entry.no else word})
    return written


def pay_now(option: OptionEstimate) -> Quantity | None:
    """Return what must be paid at once for a machine to be bought; None of all others."""
    return option.pay_now_usd if isinstance(option, CampaignOption) else None


def left_of(option: OptionEstimate) -> Quantity | None:
    """Return what a machine to be bought still fetches at the campaign's end; None where that is not known."""
    return option.left_usd if isinstance(option, CampaignOption) else None


def short_reason(option: OptionEstimate) -> str:
    """Return the first thing that speaks against an option, in two or three words."""
    codes = option.why_not_codes or (ReasonCode.TIME_OR_COST_NOT_KNOWN,)
    return SHORT_REASONS.get(codes[0], codes[0].value.replace("_", " "))


def _row(entry: Entry, units: Scales, *, left: bool, beside_name: bool) -> Row:
    option = entry.option
    beside_name = entry.no and (beside_name or entry.usd is None)
    row = {"number": str(entry.number or ""), "machine": _unbroken(name_text(option)), "done": entry.done_by}
    row["mark"] = " ".join(filter(None, (entry.mark, marks(option), fit_text(option))))
    if beside_name:  # which no screen leaves out
        row["machine"] += f": {short_reason(option).replace(' ', NO_BREAK)}"
    elif entry.no:
        row[KNOWN] = ALONE_TOO_SMALL if entry.mark and _is_too_small(option) else short_reason(option)
    else:
        row[KNOWN] = _known_from(option)
    if entry.hours is not None:
        row |= {"time": units.time.value(entry.hours), "time range": units.time.interval(entry.hours)}
    if entry.usd is not None:
        row |= {"money": units.money.value(units.amount(entry.usd))}
        row["money range"] = units.money.interval(units.amount(entry.usd))
        row["usd"] = "" if units.local is None else units.usd.value(entry.usd)
    now = pay_now(option)
    if now is not None:
        running = f"+ {row['money']}" if entry.usd is not None else ""
        then = left_of(option)
        if left and then is not None:
            running += f" - {units.money.value(units.amount(then))}"
        row |= {"money": units.money.value(units.amount(now)), "money range": running}
        row["usd"] = "" if units.local is None else units.usd.value(now)
    if entry.chance is not None:
        row["chance"] = percent_text(entry.chance)
    return row


def _is_too_small(option: OptionEstimate) -> bool:
    return option.why_not_codes[:1] == (ReasonCode.ALLOCATION_TOO_SMALL,)


def _unbroken(name: str) -> str:
    """Return the name so that a narrow column breaks it before what the machine carries: `8x H200` stays together."""
    return CARRIED.sub(lambda carried: carried.group().replace(" ", NO_BREAK), name)


def _known_from(option: OptionEstimate) -> str:
    known = option.throughput or option.training_hours
    return known.basis.value if known is not None else ""
