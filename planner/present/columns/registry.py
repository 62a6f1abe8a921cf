"""Every column that a table of options can have, in one place: screens, files, pages, sheets and frames read it here.

A new column is one `OptionColumn` in `WRITTEN`. `--columns +KEY` then shows it in every table; `LAYOUTS` says which
columns stand there without being asked for. Every other field of an answer's option is a column too, by its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from planner.errors import NotFoundError
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption
from planner.model.answer.reason import text_of
from planner.model.quantity import Quantity
from planner.present.bill_text import bill_text, local_text
from planner.present.columns.entry import Entry
from planner.present.columns.option_column import OptionColumn, OptionTable, Value, plain_text, told_quantity
from planner.present.columns.short_reasons import short_reason
from planner.present.facts import QUANTITIES, machine_text, name_text, price_date_text, quantity_of, terms_text
from planner.present.option_marks import fit_text, marks
from planner.present.page.terms import terms_of
from planner.present.page.words import Words
from planner.present.table import NOT_KNOWN, accelerators_text, price_text

KNOWN = "known"
ENGLISH = Words()
REPORT, SCREEN = OptionTable.REPORT, OptionTable.SCREEN
NARROWEST_NAME = 20


def _field(name: str) -> OptionColumn:
    """Return the column of a field of an answer's option, as it stands there."""
    kinds = get_args(RankedOption.model_fields[name].annotation) or (RankedOption.model_fields[name].annotation,)
    return OptionColumn(
        key=name,
        title=name.replace("_", " "),
        words=QUANTITIES.get(name, ""),
        quantity=Quantity in kinds,
        right=int in kinds or float in kinds,
        value=lambda entry: _of_field(entry.option, name),
    )


def _of_field(option: OptionEstimate, name: str) -> Value:
    if name in QUANTITIES:
        return quantity_of(option, name)
    value = getattr(option, name, None)
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def _quantity(key: str, title: str, *, local: bool = False, on_screen: str = "") -> OptionColumn:
    """Return the column of one of an option's quantities; `local`: the plan's own currency stands behind it."""
    return OptionColumn(
        key=key,
        title=title,
        titles={SCREEN: on_screen} if on_screen else {},
        words=QUANTITIES.get(key, ""),
        quantity=True,
        value=lambda entry: quantity_of(entry.option, key),
        text=(lambda entry: plain_text(quantity_of(entry.option, key)) + local_text(entry.option)) if local else None,
    )


def _chance(key: str, title: str) -> OptionColumn:
    def text(entry: Entry) -> str:
        chance = _of_field(entry.option, key)
        return NOT_KNOWN if chance is None else f"{chance:.3f}"

    return OptionColumn(key=key, title=title, share=True, value=lambda entry: _of_field(entry.option, key), text=text)


def _limit(key: str, title: str) -> OptionColumn:
    words = {None: NOT_KNOWN, True: "kept", False: "missed"}
    return OptionColumn(
        key=key,
        title=title,
        value=lambda entry: _of_field(entry.option, key),
        text=lambda entry: words[getattr(entry.option, key, None)],
    )


def _to_pay(entry: Entry) -> Quantity | None:
    return entry.option.payable_usd if isinstance(entry.option, CampaignOption) else entry.usd


def _basis(option: OptionEstimate) -> str:
    known = option.throughput or option.training_hours
    return known.basis.value if known is not None else ""


def _verdict(entry: Entry) -> str:
    return "Recommended." if entry.recommended else entry.option.why_not or ""


def _why_not(option: OptionEstimate) -> str:
    """Write what stands against the option; of a stored answer, which has the sentence alone, all of that."""
    if isinstance(option, RankedOption) or not option.reasons:
        return option.why_not or ""
    return text_of(option.blocking_reasons) or ""


def _notes(option: OptionEstimate) -> str:
    bill = (bill_text(option.bill),) if option.bill and option.offer else ()
    not_allowed = (f"not allowed: {option.not_allowed}",) if option.not_allowed else ()
    return "; ".join((*option.doubts, *not_allowed, *bill, *option.notes))


WRITTEN = (
    OptionColumn(key="number", title="#", right=True, drop=0, value=lambda entry: entry.number),
    OptionColumn(key="option", title="option", value=lambda entry: entry.option.id),
    OptionColumn(
        key="machine", title="machine", drop=0, wrap=NARROWEST_NAME, titles={REPORT: "option"},
        value=lambda entry: name_text(entry.option),
    ),
    OptionColumn(
        key="hold", title="hold", drop=0, gap=1, titles={SCREEN: "", OptionTable.PAGE: ""},
        value=lambda entry: entry.option.hold,
        told=lambda entry, words: "" if entry.option.hold is None else words(entry.option.hold.value),
    ),
    OptionColumn(
        key="accelerators", title="accelerators", right=True, value=lambda entry: entry.option.accelerators,
        text=lambda entry: accelerators_text(entry.option), told=lambda entry, _: machine_text(entry.option),
    ),
    OptionColumn(
        key="terms", title="terms", value=lambda entry: terms_text(entry.option),
        told=lambda entry, words: terms_of(entry.option, words),
    ),
    OptionColumn(
        key="price", title="price", quantity=True, value=lambda entry: entry.option.price,
        text=lambda entry: price_text(entry.option),
    ),
    OptionColumn(key="price_of", title="price of", value=lambda entry: price_date_text(entry.option)),
    OptionColumn(
        key="time", title="time", quantity=True, drop=7, range_drop=9, titles={SCREEN: "", REPORT: "campaign time"},
        value=lambda entry: entry.hours,
    ),
    OptionColumn(
        key="money", title="cost", quantity=True, drop=0, range_drop=5, titles={SCREEN: ""},
        value=lambda entry: entry.usd,
    ),
    OptionColumn(
        key="usd", title="USD", quantity=True, drop=8, range_drop=0, titles={SCREEN: ""},
        value=lambda entry: entry.usd,
    ),
    OptionColumn(
        key="to_pay", title="to pay", quantity=True, value=_to_pay,
        told=lambda entry, words: told_quantity(_to_pay(entry), words) + local_text(entry.option),
    ),
    OptionColumn(key="done_by", title="done by", drop=3, value=lambda entry: entry.done_by),
    OptionColumn(
        key="chance", title="chance", share=True, drop=2,
        value=lambda entry: entry.chance,
    ),
    OptionColumn(
        key=KNOWN, title="known from", drop=6,
        value=lambda entry: short_reason(entry.option, marked=bool(entry.mark)) if entry.no else _basis(entry.option),
    ),
    OptionColumn(
        key="mark", title="marks", drop=0, titles={SCREEN: ""},
        value=lambda entry: " ".join(filter(None, (entry.mark, marks(entry.option), fit_text(entry.option)))),
    ),
    OptionColumn(key="recommended", title="recommended", value=lambda entry: entry.recommended),
    OptionColumn(
        key="feasible", title="fits", value=lambda entry: not entry.no,
        told=lambda entry, words: words("no") if entry.no else words("yes"),
    ),
    OptionColumn(
        key="verdict", title="why, or why not", value=_verdict,
        told=lambda entry, words: words(_verdict(entry)) if entry.recommended else _verdict(entry),
    ),
    OptionColumn(
        key="why_not", title="why not", value=lambda entry: entry.option.why_not,
        text=lambda entry: _why_not(entry.option),
    ),
    OptionColumn(
        key="notes", title="notes", value=lambda entry: "; ".join(entry.option.notes),
        text=lambda entry: _notes(entry.option),
    ),
    OptionColumn(key="runs", title="trainings", right=True, value=lambda entry: entry.trainings),
    OptionColumn(key="measured_runs", title="measured runs", value=lambda entry: "; ".join(entry.option.runs)),
    _quantity("epoch_hours", "epoch"),
    _quantity("training_hours", "training"),
    _quantity("wall_hours", "with losses"),
    _quantity("campaign_hours", "campaign"),
    OptionColumn(key="finish", title="ends", value=lambda entry: _of_field(entry.option, "finish")),
    _quantity("campaign_usd", "campaign cost", local=True),
    _quantity("usd_total", "cost"),
    _quantity("usd_marginal", "adds to bills", local=True),
    _quantity("energy_kwh", "energy", on_screen="kWh each"),
    _quantity("pay_now_usd", "pay now"),
    _limit("meets_deadline", "deadline"),
    _limit("within_budget", "budget"),
    _chance("chance_deadline", "chance of deadline"),
    _chance("chance_budget", "chance of budget"),
    _chance("chance_both", "chance of both"),
    OptionColumn(
        key="carbon_kg", also="co2", title="kg CO2 a training", quantity=True,
        titles={SCREEN: "kg CO2 each"},
        words="Emissions of one training: kWh x PUE x the plan's kg of CO2 a kWh",
        stated_by="assumptions.carbon_kg_per_kwh", value=lambda entry: entry.option.carbon_kg,
    ),
)  # fmt: skip
"""Columns whose title or text is their own."""

COLUMNS: dict[str, OptionColumn] = {
    **{name: _field(name) for name in RankedOption.model_fields},
    **{column.key: column for column in WRITTEN},
}
"""All columns by their keys."""

MORE = "+"
"""Where the columns stand that are asked for beside those of a layout."""
_LIMITS_KEPT = ("pay_now_usd", "to_pay", "ready_on", "done_by", "chance_deadline", "chance_budget", "chance_both")
LAYOUTS: dict[OptionTable, tuple[str, ...]] = {
    OptionTable.ESTIMATE: (
        "option", "accelerators", "epoch_hours", "training_hours", "wall_hours", "price", "usd_total", "usd_marginal",
        "energy_kwh", "why_not", "notes", "machine", "hold", MORE,
    ),
    OptionTable.CAMPAIGN: (
        "option", "accelerators", "at_once", "campaign_hours", "finish", "campaign_usd", "meets_deadline",
        "within_budget", "why_not", "notes", "machine", "hold", *_LIMITS_KEPT, MORE,
    ),
    OptionTable.COMPARISON: (
        "rank", "pareto", "option", "accelerators", "campaign_hours", "campaign_usd", "price", "why_not", "notes",
        "machine", "hold", *_LIMITS_KEPT, MORE,
    ),
    OptionTable.SCREEN: (
        "number", "hold", "machine", "done_by", "time", "money", "usd", "chance", MORE, KNOWN, "mark",
    ),
    OptionTable.PAGE: ("number", "hold", "machine", "done_by", "time", "to_pay", "chance", MORE, KNOWN),
    OptionTable.REPORT: (
        "number", "machine", "accelerators", "terms", "time", "done_by", "to_pay", "chance", "price_of", MORE,
        "feasible", "verdict",
    ),
    OptionTable.SHEET: (
        "rank", "recommended", "pareto", "option", "name", "site", "offer", "region", "price_kind", "price_age_days",
        "price_stale", "nodes", "accelerators", "accelerator", "strategy", "split", "micro_batch", "checkpointing",
        "fits", "runs", "at_once", "finish", "meets_deadline", "within_budget", "why_not", "measured_runs", "doubts",
        "notes", "display_name", "hold", "ready_on", "done_by", "chance_deadline", "chance_budget", "chance_both",
        *QUANTITIES, MORE,
    ),
}  # fmt: skip


def columns_of(table: OptionTable, more: Sequence[str] = ()) -> list[OptionColumn]:
    """Return a table's columns, with the others that are asked for by their keys; each stands there once."""
    layout = LAYOUTS[table]
    asked = [key for key in dict.fromkeys(more) if key not in layout]
    return [COLUMNS[key] for one in layout for key in (asked if one == MORE else (one,))]


def offered_columns() -> list[OptionColumn]:
    """Return the columns that a page offers beside its own: those that have words of their own."""
    written = {column.key for column in WRITTEN}
    return [
        one for key, one in COLUMNS.items() if one.words and key not in LAYOUTS[OptionTable.PAGE] and key in written
    ]


def asked_columns(text: str | None) -> tuple[str, ...]:
    """Return the keys of `+co2,+energy_kwh`; NotFoundError for a name that no column has."""
    names = [part.strip().removeprefix("+").strip() for part in (text or "").split(",")]
    return tuple(_key_of(name) for name in names if name)


def _key_of(name: str) -> str:
    shorter = {column.also: key for key, column in COLUMNS.items() if column.also}
    key = shorter.get(name, name.replace("-", "_").replace(" ", "_"))
    if key not in COLUMNS:
        raise NotFoundError(
            "column", name, [*COLUMNS, *shorter], where="--columns", fix=f"Known: {', '.join(COLUMNS)}."
        )
    return key


def not_known(entries: Sequence[Entry], more: Sequence[str], words: Words = ENGLISH) -> Iterator[str]:
    """Yield a line for each column asked for of which no option has a value: what would have to be stated."""
    for column in (COLUMNS[key] for key in more):
        if any(column.value(entry) not in (None, "") for entry in entries):
            continue
        title = words(column.title)
        if column.stated_by:
            yield words("No option has '{title}': the plan states no {key}.", title=title, key=column.stated_by)
        else:
            yield words("No option has '{title}'.", title=title)
