"""Defines the columns of tables of options.

To add a column, add one `OptionColumn` here. `--columns +KEY` then shows it in every table. `LAYOUTS` in `registry.py`
lists the columns that a table always has.
"""

from __future__ import annotations

from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption
from planner.model.answer.reason import text_of
from planner.model.quantity import Quantity
from planner.present.bills import bill_text, local_text
from planner.present.columns.entry import Entry
from planner.present.columns.short_reasons import short_reason
from planner.present.columns.table_column import OptionColumn, OptionTable, Value, plain_text, translated_quantity
from planner.present.facts import QUANTITIES, machine_text, name_text, price_date_text, quantity_of, terms_text
from planner.present.option_marks import fit_text, marks
from planner.present.page.words import terms_of
from planner.present.table import NOT_KNOWN, accelerators_text, price_text

KNOWN = "known"
REPORT, SCREEN, AGENT = OptionTable.REPORT, OptionTable.SCREEN, OptionTable.AGENT
NARROWEST_NAME = 20


def value_of_field(option: OptionEstimate, name: str) -> Value:
    """Return the value of a field of an answer's option, with texts joined; None if this kind of option lacks it."""
    if name in QUANTITIES:
        return quantity_of(option, name)
    value = getattr(option, name, None)
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


def _quantity(key: str, title: str, *, local: bool = False, on_screen: str = "") -> OptionColumn:
    """Return the column of one of an option's quantities. `local` adds the amount in the plan's own currency."""
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
        chance = value_of_field(entry.option, key)
        return NOT_KNOWN if chance is None else f"{chance:.3f}"

    return OptionColumn(
        key=key, title=title, share=True, value=lambda entry: value_of_field(entry.option, key), text=text
    )


def _limit(key: str, title: str) -> OptionColumn:
    words = {None: NOT_KNOWN, True: "kept", False: "missed"}
    return OptionColumn(
        key=key,
        title=title,
        value=lambda entry: value_of_field(entry.option, key),
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
    """Write the reasons against the option. A stored answer has only its sentence."""
    if isinstance(option, RankedOption) or not option.reasons:
        return option.why_not or ""
    return text_of(option.blocking_reasons) or ""


def _notes(option: OptionEstimate) -> str:
    bill = (bill_text(option.bill),) if option.bill and option.offer else ()
    not_allowed = (f"not allowed: {option.not_allowed}",) if option.not_allowed else ()
    return "; ".join((*option.doubts, *not_allowed, *bill, *option.notes))


WRITTEN = (
    OptionColumn(key="number", title="#", right=True, drop=0, titles={AGENT: "row"}, value=lambda entry: entry.number),
    OptionColumn(key="option", title="option", value=lambda entry: entry.option.id),
    OptionColumn(
        key="machine", title="machine", drop=0, wrap=NARROWEST_NAME, titles={REPORT: "option"},
        value=lambda entry: name_text(entry.option),
    ),
    OptionColumn(
        key="hold", title="hold", drop=0, gap=1, titles={SCREEN: "", OptionTable.PAGE: ""},
        value=lambda entry: entry.option.hold,
        translated=lambda entry, words: "" if entry.option.hold is None else words(entry.option.hold.value),
    ),
    OptionColumn(
        key="accelerators", title="accelerators", right=True, value=lambda entry: entry.option.accelerators,
        text=lambda entry: accelerators_text(entry.option), translated=lambda entry, _: machine_text(entry.option),
    ),
    OptionColumn(
        key="terms", title="terms", value=lambda entry: terms_text(entry.option),
        translated=lambda entry, words: terms_of(entry.option, words),
    ),
    OptionColumn(
        key="price", title="price", quantity=True, value=lambda entry: entry.option.price,
        text=lambda entry: price_text(entry.option),
    ),
    OptionColumn(key="price_of", title="price of", value=lambda entry: price_date_text(entry.option)),
    OptionColumn(
        key="time", title="time", quantity=True, drop=7, range_drop=9,
        titles={SCREEN: "", REPORT: "campaign time", AGENT: "hours"},
        value=lambda entry: entry.hours,
    ),
    OptionColumn(
        key="money", title="cost", quantity=True, drop=0, range_drop=5, titles={SCREEN: "", AGENT: "usd"},
        value=lambda entry: entry.usd,
    ),
    OptionColumn(
        key="usd", title="USD", quantity=True, drop=8, range_drop=0, titles={SCREEN: ""},
        value=lambda entry: entry.usd,
    ),
    OptionColumn(
        key="to_pay", title="to pay", quantity=True, value=_to_pay,
        translated=lambda entry, words: translated_quantity(_to_pay(entry), words) + local_text(entry.option),
    ),
    OptionColumn(key="done_by", title="likely end", drop=3, value=lambda entry: entry.done_by),
    OptionColumn(
        key="chance", title="chance", share=True, drop=2, titles={AGENT: "chance to keep the limits"},
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
        translated=lambda entry, words: words("no") if entry.no else words("yes"),
    ),
    OptionColumn(
        key="verdict", title="why, or why not", value=_verdict,
        translated=lambda entry, words: words(_verdict(entry)) if entry.recommended else _verdict(entry),
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
    OptionColumn(key="finish", title="ends", value=lambda entry: value_of_field(entry.option, "finish")),
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
"""Columns with their own title or writer."""
