"""Own or rent on a screen: the headline, a year of the plan's trainings on each machine, and what the figures count."""

from __future__ import annotations

from planner.decide.recommend.wording import percent_text, share_text, short_amount
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.owning.hold import Hold
from planner.model.owning.site import Acquisition
from planner.model.prices.offer import PriceKind
from planner.present.option_marks import renewed_by
from planner.present.screen import Column, again, table_lines, wrapped, wrapped_items
from planner.present.table import Row

SHOWN = 10
"""Rows of the table; `--all` shows the others."""
MARKS = {
    "s": "spot: may be taken away",
    "m": "marketplace: may be taken away",
}
OLD = "*"

OWNING = {
    Acquisition.PURCHASE: "Owning: in full, as if bought today.",
    Acquisition.LEASE: "Owning: the lease and all beside it.",
    Acquisition.ALREADY_OWNED: "Owning: in full, with what it would sell for.",
}
AS_IF_BOUGHT = "Owning: as if bought today; already_owned in its site counts what it would sell for."
LEASE_OWED = "Owning: electricity alone; the signed lease, its place and its people are owed either way."
NOT_SOLD = "Owning: without what yours would sell for; resale_usd of its option counts it."
NARROW = 80


def screen_lines(document: OwnOrRentDocument, *, width: int, every: bool = False) -> list[str]:
    """Return the whole answer as lines of a screen; with `every`, all rows of the table."""
    year = document.by_plan
    assert year is not None, "every answer is given on a year"
    rows = _shown(year, every=every)
    lines = [*wrapped(_title(year), width=width), ""]
    lines += [line for sentence in document.headline for line in wrapped(sentence, width=width)]
    lines += ["", *table_lines(_columns(document, width), [_cells(row, year) for row in rows], width=width)]
    left = len(year.compared) - len(rows)
    notes = [f"and {left} more: --all"] if left > 0 else []
    notes += [document.horizons.text] if document.horizons is not None else []
    notes += _marks(document, year, rows) + _not_compared(year) + _counted(document, year)
    more = ("Costs, break-evens, turning points: --details", "Inputs: --inputs", *again(document.answer_id))
    lines += [line for note in notes if note for line in wrapped(note, width=width, indent="  ")]
    return lines + wrapped_items(more, width=width, separator="   ")


def year_rows(document: OwnOrRentDocument) -> list[Row]:
    """One row per machine, cheapest first, in plain numbers, for programs."""
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
        "chance it costs less": "" if option.chance_costs_less is None else f"{option.chance_costs_less:.3f}",
        "less than": option.costs_less_than or "",
        "owning pays from, trainings a year": str(even.trainings_per_year or "") if even else "",
        "owning pays from, busy share": f"{even.busy_fraction:.4f}" if even else "",
        "owning pays from, hours a year": f"{even.busy_hours_per_year:.1f}" if even else "",
        "USD at once": _number(option.usd_at_once),
        "price stale": "yes" if option.price_stale else "",
        "why not": option.why_not or "",
    }
    return row if code is None else row | {f"{code} a year": "" if local is None else f"{local.value:.2f}"}


def _title(year: PlannedYear) -> str:
    name = next(option.display_name for option in year.options if option.id == year.owning)
    if year.trainings is None:
        return f"{name}, own or rent: {share_text(year.site_busy_fraction)} busy"
    many = "1 training" if year.trainings == 1 else f"{year.trainings:,.3g} trainings"
    return f"{name}, own or rent: {many} a year make it {share_text(year.busy_fraction.value)} busy"


def _columns(document: OwnOrRentDocument, width: int) -> list[Column]:
    code = document.currency.code if document.currency else ""
    return [
        Column(key="hold"),
        Column(key="machine", title="machine", wrap=28 if width >= NARROW else 16),
        Column(key="usd", title="USD a year", right=True),
        Column(key="range", title="(90 %)", drop=4, gap=1),
        Column(key="local", title=f"{code} a year", right=True, drop=3),
        Column(key="against", title="vs owning", right=True, drop=2),
        Column(key="sure", title="costs less", right=True, drop=1),
        Column(key="trainings", title="pays from", right=True),
        Column(key="busy", title="busy", right=True, drop=5),
        Column(key="hours", title="hours", right=True, drop=6),
        Column(key="marks"),
    ]


def _cells(option: YearOption, year: PlannedYear) -> Row:
    usd, even, local = option.usd_per_year, option.break_even, option.local_per_year
    assert usd is not None, "rows without a cost are not shown"
    rented = option.hold in (Hold.RENT, Hold.USE) and option.id != year.owning
    return {
        "hold": option.hold.value.upper(),
        "machine": option.display_name,
        "usd": short_amount(usd.value),
        "range": ""
        if usd.low == usd.high
        else f"({short_amount(usd.low)}-{short_amount(usd.high)})".replace("(-", "(0-"),
        "local": short_amount(local.value) if local else "",
        "against": _against(option.above_owning_usd_per_year),
        "sure": "" if option.chance_costs_less is None else percent_text(option.chance_costs_less),
        "trainings": _pays_from(option) if rented else "",
        "busy": share_text(even.busy_fraction) if even else "",
        "hours": f"{even.busy_hours_per_year:,.0f}" if even else "",
        "marks": " ".join([*_signs(option), *(["<-"] if option.id == year.recommended else [])]),
    }


def _against(usd: float | None) -> str:
    """Write what it costs more than the machine that is asked about, whose own row has no such number."""
    return "owning" if usd is None else f"{'+' if usd > 0 else ''}{short_amount(usd)}"


def _pays_from(option: YearOption) -> str:
    even = option.break_even
    if even is None:
        return "never"
    trainings = even.trainings_per_year
    if trainings == 1:
        return "always"
    return f"{share_text(even.busy_fraction)} busy" if trainings is None else f"{trainings:,}"


def _shown(year: PlannedYear, *, every: bool) -> list[YearOption]:
    """Return the rows that fit: the cheapest, with the machine that is asked about."""
    known = year.compared
    own = next(option for option in year.options if option.id == year.owning)
    if every:
        return known
    first = known[:SHOWN]
    return first if own in first else [*known[: SHOWN - 1], own]


def _signs(option: YearOption) -> list[str]:
    kind = {PriceKind.SPOT: "s", PriceKind.MARKETPLACE: "m"}.get(option.price_kind) if option.price_kind else None
    return [sign for sign in (kind, OLD if option.price_stale else None) if sign]


def _marks(document: OwnOrRentDocument, year: PlannedYear, rows: list[YearOption]) -> list[str]:
    used = {sign for row in rows for sign in _signs(row)}
    explained = [f"{sign} {text}." for sign, text in MARKS.items() if sign in used]
    if OLD in used:
        explained.append(f"{OLD} old price: {renewed_by([row.price_refreshed for row in rows if row.price_stale])}.")
    owning = OWNING[document.acquisition]
    if any(row.lease_owed for row in rows):
        owning = LEASE_OWED
    elif any(row.as_if_bought for row in rows):
        owning = AS_IF_BOUGHT
    elif any(row.resale_not_counted for row in rows):
        owning = NOT_SOLD
    return ["  ".join([*explained, owning]), _columns_explained(year, rows)]


def _columns_explained(year: PlannedYear, rows: list[YearOption]) -> str:
    """Say of what the columns `costs less` and `pays from` are sure; owning is the machine that is asked about."""
    names = {option.id: option.display_name for option in year.options}
    own = next(option for option in year.options if option.id == year.owning)
    said = []
    if any(row.chance_costs_less is not None for row in rows):
        its = "" if own.costs_less_than is None else f" (owning: than {names[own.costs_less_than]})"
        said.append(f"costs less: chance of a cheaper year than owning{its}.")
    if any(row.break_even is not None for row in rows):
        said.append("pays from: trainings a year at which owning breaks even.")
    return "  ".join(said)


def _not_compared(year: PlannedYear) -> list[str]:
    out = [option for option in year.options if option not in year.compared]
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
        counted += f"; {hours.value:.3g} h each, {_hours(year.busy_hours)} h of the whole machine"
        if done < wanted:
            counted += f", all that it can do: {done:,.3g} of {wanted:,.3g} trainings"
    full, share = document.usd_per_busy_gpu_hour, share_text(year.site_busy_fraction)
    default = any(each.name == "busy_fraction" and each.default for each in document.inputs)
    whose = "the default" if default else "as its site assumes"
    site = f"At {share} busy, {whose}: {full.value:.2f} USD per busy GPU-hour"
    if year.counted_from is not CountedFrom.SITE and not any(row.lease_owed for row in year.options):
        site += f", {year.usd_per_busy_gpu_hour.value:,.2f} at {share_text(year.busy_fraction.value)}"
    adds = document.marginal_usd_per_training
    electricity = "" if adds is None else f"; electricity of a training {short_amount(adds.value)} USD"
    return [f"{counted}.", f"{site}{electricity}."]


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
