"""The table of options on a screen: one line an option, in groups of how the machine is held, with marks for doubts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.decide.recommend.wording import percent_text
from planner.model.answer.documents import CampaignOption, OptionEstimate
from planner.model.answer.reason import ReasonCode
from planner.model.currency import Currency
from planner.model.owning.hold import Hold
from planner.model.quantity import Quantity
from planner.present.facts import name_text
from planner.present.screen import NO_BREAK, Column
from planner.present.short_figures import Scale, money_scale, time_scale

STALE, SPOT, UNPRICED = "*", "s", "+"
RECOMMENDED = "<-"
"""Also of the nearest, where none is recommended."""
NO = "no"
"""In place of a group: the option misses the limits, or something of it is not known."""
NARROWEST_NAME = 20
CARRIED = re.compile(r"\d+x .+?(?=,|$)")
"""What a machine carries: `8x H200` stays on one line."""
SHORT_REASONS = {
    ReasonCode.MISSES_DEADLINE: "late",
    ReasonCode.OVER_BUDGET: "over budget",
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
    ReasonCode.NOT_AVAILABLE: "not to be had",
    ReasonCode.ASK_FOR_QUOTE: "ask for a quote",
    ReasonCode.NODE_NETWORK_NOT_KNOWN: "network not known",
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


def scales(entries: Sequence[Entry], currency: Currency | None) -> Scales:
    """Return the units of a table: one for all times, one for all amounts."""
    usd = [quantity.value for entry in entries for quantity in (entry.usd, pay_now(entry.option)) if quantity]
    rate = currency.per_usd if currency else 1.0
    local = money_scale([value * rate for value in usd], currency.code) if currency else None
    hours = [entry.hours.value for entry in entries if entry.hours is not None]
    return Scales(time_scale(hours), money_scale(usd, "USD"), local, rate)


def columns(units: Scales) -> tuple[Column, ...]:
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
        Column(key="known", title="known from", drop=6),
        Column(key="mark"),
    )


def rows(entries: Iterable[Entry], units: Scales) -> list[Row]:
    """Return one row an option; how it is held stands where that changes, and above purchases what is paid when."""
    written: list[Row] = []
    held: Hold | None = None
    for entry in entries:
        hold = entry.option.hold
        word = hold.value.upper() if hold is not None and hold is not held else ""
        held = hold
        bought = pay_now(entry.option) is not None
        if word and (entry.no or bought):
            written.append({"hold": word} | ({"money": "pay now", "money range": "+ running"} if bought else {}))
            word = ""
        written.append(_row(entry, units) | {"hold": NO if entry.no else word})
    return written


def pay_now(option: OptionEstimate) -> Quantity | None:
    """Return what must be paid at once for a machine to be bought; None of all others."""
    return option.pay_now_usd if isinstance(option, CampaignOption) else None


def marks(option: OptionEstimate) -> str:
    """Return the marks of what a person must not overlook in an option's price."""
    spot = SPOT if option.firm is False else ""
    return (STALE if option.price_stale else "") + spot + (UNPRICED if option.unpriced else "")


def marks_explained(options: Sequence[OptionEstimate]) -> list[str]:
    """Return what the marks mean that occur."""
    used = "".join(marks(option) for option in options)
    lacking = list(dict.fromkeys(what for option in options for what in option.unpriced))
    explained = {
        SPOT: "s spot: may be taken away.",
        STALE: "* price out of date: planner prices refresh.",
        UNPRICED: f"+ not in the bill: {', '.join(lacking)}.",
    }
    return [text for mark, text in explained.items() if mark in used]


def short_reason(option: OptionEstimate) -> str:
    """Return the first thing that speaks against an option, in two or three words."""
    codes = option.why_not_codes or (ReasonCode.TIME_OR_COST_NOT_KNOWN,)
    return SHORT_REASONS.get(codes[0], codes[0].value.replace("_", " "))


def _row(entry: Entry, units: Scales) -> Row:
    option = entry.option
    lacking = entry.no and entry.usd is None
    row = {"number": str(entry.number or ""), "machine": _unbroken(name_text(option)), "done": entry.done_by}
    row["mark"] = " ".join(filter(None, (entry.mark, marks(option))))
    if lacking:  # beside the name, which no screen leaves out
        row["machine"] += f": {short_reason(option).replace(' ', NO_BREAK)}"
    elif entry.no:
        row["known"] = short_reason(option)
    else:
        row["known"] = _known_from(option)
    if entry.hours is not None:
        row |= {"time": units.time.value(entry.hours), "time range": units.time.interval(entry.hours)}
    if entry.usd is not None:
        row |= {"money": units.money.value(units.amount(entry.usd))}
        row["money range"] = units.money.interval(units.amount(entry.usd))
        row["usd"] = "" if units.local is None else units.usd.value(entry.usd)
    now = pay_now(option)
    if now is not None:
        running = f"+ {row['money']}" if entry.usd is not None else ""
        row |= {"money": units.money.value(units.amount(now)), "money range": running}
        row["usd"] = "" if units.local is None else units.usd.value(now)
    if entry.chance is not None:
        row["chance"] = percent_text(entry.chance)
    return row


def _unbroken(name: str) -> str:
    """Return the name so that a narrow column breaks it before what the machine carries: `8x H200` stays together."""
    return CARRIED.sub(lambda carried: carried.group().replace(" ", NO_BREAK), name)


def _known_from(option: OptionEstimate) -> str:
    known = option.throughput or option.training_hours
    return known.basis.value if known is not None else ""
