"""Own or rent on a screen: the headline, a year of the plan's trainings on each machine, and what the figures count."""

from __future__ import annotations

from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import PlannedYear, YearOption
from planner.model.owning.site import Acquisition
from planner.model.plan.plan_option import Hold
from planner.model.prices.offer import PriceKind
from planner.present.bill_text import amount_text
from planner.present.screen import Column, table_lines, wrapped
from planner.present.table import Row

SHOWN = 12
"""Rows of the table; all of them stand in the details."""
MARKS = {
    "s": "spot: may be taken away",
    "m": "marketplace: may be taken away",
    "*": "old price: planner prices refresh",
}

OWNING = {
    Acquisition.PURCHASE: "Owning: in full, as if bought today, in equal yearly amounts.",
    Acquisition.LEASE: "Owning: the lease and all that comes with it.",
    Acquisition.ALREADY_OWNED: "Owning: in full, with what it would sell for, in equal yearly amounts.",
}


def screen_lines(document: OwnOrRentDocument, *, width: int) -> list[str]:
    """Return the whole answer as lines of a screen."""
    year = document.by_plan
    assert year is not None, "every answer is given on a year"
    rows = _shown(year)
    lines = [*wrapped(f"{document.plan}: {_title(document, year)}", width=width), ""]
    lines += [line for sentence in document.headline for line in wrapped(sentence, width=width)]
    lines += ["", *table_lines(_columns(document), [_cells(row, year) for row in rows], width=width)]
    left = sum(row.usd_per_year is not None and row.why_not is None for row in year.options) - len(rows)
    notes = [f"and {left} more: --details"] if left > 0 else []
    notes += _marks(document, rows) + _not_compared(year) + _counted(document, year)
    notes.append("All costs, break-evens and what would turn the answer: --details   Every input: --inputs")
    return lines + [line for note in notes for line in wrapped(note, width=width, indent="  ")]


def year_rows(document: OwnOrRentDocument) -> list[Row]:
    """One row per machine, cheapest first, in plain numbers: for a pipe or a file."""
    year = document.by_plan
    assert year is not None, "every answer is given on a year"
    code = document.currency.code if document.currency else None
    return [_plain(option, code) for option in year.options]


def _plain(option: YearOption, code: str | None) -> Row:
    usd, even, local = option.usd_per_year, option.break_even, option.local_per_year
    chance = option.chance_owning_cheaper
    row = {
        "hold": option.hold.value,
        "machine": option.display_name,
        "option": option.id,
        "USD a year": "" if usd is None else _number(usd.value),
        "low": "" if usd is None else _number(usd.low),
        "high": "" if usd is None else _number(usd.high),
        "against owning, USD": _number(option.above_owning_usd_per_year),
        "chance owning is cheaper": "" if chance is None else f"{chance:.3f}",
        "owning pays from, trainings a year": str(even.trainings_per_year or "") if even else "",
        "owning pays from, busy share": f"{even.busy_fraction:.4f}" if even else "",
        "owning pays from, hours a year": f"{even.busy_hours_per_year:.1f}" if even else "",
        "USD at once": _number(option.usd_at_once),
        "price stale": "yes" if option.price_stale else "",
        "why not": option.why_not or "",
    }
    return row if code is None else row | {f"{code} a year": "" if local is None else f"{local.value:.2f}"}


def _title(document: OwnOrRentDocument, year: PlannedYear) -> str:
    if year.trainings is None:
        return f"{document.name}, own or rent, {_percent(year.site_busy_fraction)} busy"
    many = "1 training" if year.trainings == 1 else f"{year.trainings:,.3g} trainings"
    return f"{document.name}, own or rent, {many} a year, {_percent(year.busy_fraction.value)} busy"


def _columns(document: OwnOrRentDocument) -> list[Column]:
    code = document.currency.code if document.currency else ""
    return [
        Column(key="hold"),
        Column(key="machine", title="machine", wrap=12),
        Column(key="usd", title="USD a year", right=True),
        Column(key="range", title="(90 %)", drop=4, gap=1),
        Column(key="local", title=f"{code} a year", right=True, drop=3),
        Column(key="against", title="vs owning", right=True, drop=1),
        Column(key="sure", title="own cheaper", right=True, drop=6),
        Column(key="trainings", title="owning pays from", right=True),
        Column(key="busy", title="busy", right=True, drop=2),
        Column(key="hours", title="hours", right=True, drop=5),
        Column(key="marks"),
    ]


def _cells(option: YearOption, year: PlannedYear) -> Row:
    usd, even, local = option.usd_per_year, option.break_even, option.local_per_year
    assert usd is not None, "rows without a cost are not shown"
    rented = option.hold in (Hold.RENT, Hold.USE) and option.id != year.owning
    return {
        "hold": option.hold.value.upper(),
        "machine": option.display_name,
        "usd": _short(usd.value),
        "range": "" if usd.low == usd.high else f"({_short(usd.low)}-{_short(usd.high)})".replace("(-", "(0-"),
        "local": amount_text(local).rpartition(" ")[0] if local else "",
        "against": "" if option.above_owning_usd_per_year is None else _signed(option.above_owning_usd_per_year),
        "sure": "" if option.chance_owning_cheaper is None else _percent(option.chance_owning_cheaper),
        "trainings": _pays_from(option) if rented else "",
        "busy": _percent(even.busy_fraction) if even else "",
        "hours": f"{even.busy_hours_per_year:,.0f}" if even else "",
        "marks": " ".join([*_signs(option), *(["<-"] if option.id == year.recommended else [])]),
    }


def _pays_from(option: YearOption) -> str:
    even = option.break_even
    if even is None:
        return "never"
    return f"{_percent(even.busy_fraction)} busy" if even.trainings_per_year is None else f"{even.trainings_per_year:,}"


def _shown(year: PlannedYear) -> list[YearOption]:
    """Return the rows that fit: the cheapest, with the machine that is asked about."""
    known = [option for option in year.options if option.usd_per_year is not None and option.why_not is None]
    own = next(option for option in year.options if option.id == year.owning)
    first = known[:SHOWN]
    return first if own in first else [*known[: SHOWN - 1], own]


def _signs(option: YearOption) -> list[str]:
    kind = {PriceKind.SPOT: "s", PriceKind.MARKETPLACE: "m"}.get(option.price_kind) if option.price_kind else None
    return [sign for sign in (kind, "*" if option.price_stale else None) if sign]


def _marks(document: OwnOrRentDocument, rows: list[YearOption]) -> list[str]:
    used = {sign for row in rows for sign in _signs(row)}
    explained = [f"{sign} {text}." for sign, text in MARKS.items() if sign in used]
    return ["  ".join([*explained, OWNING[document.acquisition]])]


def _not_compared(year: PlannedYear) -> list[str]:
    out = [option for option in year.options if option.why_not is not None or option.usd_per_year is None]
    if not out:
        return []
    first = "; ".join(f"{one.display_name} ({_why(one)})" for one in out[:2])
    more = f"; {len(out) - 2} more: --details" if len(out) > 2 else ""
    return [f"Not compared: {first}{more}."]


def _why(option: YearOption) -> str:
    """Return the first reason against a row, without its arithmetic."""
    return (option.why_not or "no cost").split(":")[0].split(";")[0]


def _counted(document: OwnOrRentDocument, year: PlannedYear) -> list[str]:
    done, wanted, hours = year.trainings, year.trainings_wanted, year.hours_per_training
    counted = f"Counted: {year.counted}"
    if done is not None and wanted is not None and hours is not None:
        counted += f"; {hours.value:.3g} h each, {year.busy_hours:,.0f} h a year"
        if done < wanted:
            counted += f", which is all that the machine can do: {done:,.3g} of {wanted:,.3g} trainings"
    full, share = document.usd_per_busy_gpu_hour, _percent(year.site_busy_fraction)
    default = any(each.name == "busy_fraction" and each.default for each in document.inputs)
    annual = document.annual_usd_per_node.value * document.nodes
    site = f"At {share} busy, {'the default' if default else 'as its site assumes'}: {_short(annual)} USD a year, "
    site += f"{full.value:.2f} USD per busy GPU-hour"
    if done is not None:
        site += f"; at {_percent(year.busy_fraction.value)} {year.usd_per_busy_gpu_hour.value:.2f}"
    adds = document.marginal_usd_per_training
    electricity = "" if adds is None else f"; a training adds {_short(adds.value)} USD of electricity"
    return [f"{counted}.", f"{site}{electricity}."]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _short(usd: float) -> str:
    return f"{usd:.2f}" if abs(usd) < 10 else f"{float(f'{usd:.3g}'):,.0f}"


def _signed(usd: float) -> str:
    return f"{'+' if usd > 0 else ''}{_short(usd)}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
