"""Defines the columns of "own or rent", which shows the cost of a year's trainings on each machine.

To add a column, add one `YearColumn` here. It appears in every table, or only in the tables of `YEAR_LAYOUTS` that name
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from planner.decide.recommend.wording import share_text, short_amount
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import BreakEven, PlannedYear, YearOption
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.present.columns.table_column import TableColumn, Value
from planner.present.page.words import MoneyFormat, Words
from planner.present.table import NOT_KNOWN

RECOMMENDED, OLD = "<-", "*"
MAY_BE_TAKEN = {PriceKind.SPOT: "s", PriceKind.MARKETPLACE: "m"}


@dataclass(frozen=True)
class YearEntry:
    """One way to do the year's trainings, as a row of a table."""

    option: YearOption
    year: PlannedYear
    currency: Currency | None

    @property
    def is_owning(self) -> bool:
        """True for the machine in question."""
        return self.option.id == self.year.owning

    @property
    def is_recommended(self) -> bool:
        """True for the way that the answer recommends."""
        return self.option.id == self.year.recommended

    @property
    def is_compared(self) -> bool:
        """True if it has a cost and nothing rules it out."""
        return self.option in self.year.compared

    @property
    def break_even(self) -> BreakEven | None:
        """Amount of work from which owning costs no more than this; None for machines, or if it never does."""
        return self.option.break_even


YearColumn = TableColumn[YearEntry]


class YearTable(StrEnum):
    """A kind of table with the machines of a year as rows."""

    ROWS = "rows"
    """Table for programs: TSV, CSV and Markdown of a command."""
    SCREEN = "screen"
    PAGE = "page"
    """The app."""


ROWS, SCREEN, PAGE = YearTable.ROWS, YearTable.SCREEN, YearTable.PAGE


def year_entries(document: OwnOrRentDocument) -> list[YearEntry]:
    """Return the rows of an answer, cheapest first."""
    year = document.by_plan
    assert year is not None, "every answer is given on a year"
    return [YearEntry(option, year, document.currency) for option in year.options]


def year_columns(table: YearTable, *, local: bool = True) -> list[YearColumn]:
    """Return a table's columns. `local` includes the column in the plan's own currency."""
    named = {key for layout in YEAR_LAYOUTS.values() for key in layout}
    others = [key for key in YEAR_COLUMNS if key not in named]
    keys = [key for name in YEAR_LAYOUTS[table] for key in (others if name == OTHERS else (name,))]
    return [YEAR_COLUMNS[key] for key in keys if local or key != LOCAL]


def signs(option: YearOption) -> list[str]:
    """Return the marks of a doubtful price."""
    kind = MAY_BE_TAKEN.get(option.price_kind) if option.price_kind else None
    return [sign for sign in (kind, OLD if option.price_stale else None) if sign]


def _number(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else ""


def _end(key: str) -> YearColumn:
    """Return the column of an end of the yearly cost's range."""

    def value(entry: YearEntry) -> Value:
        usd = entry.option.usd_per_year
        return None if usd is None else getattr(usd, key)

    return YearColumn(key=f"usd_{key}", title=key, value=value, text=lambda entry: _number(value(entry)))


def _cost(entry: YearEntry) -> float | None:
    return None if entry.option.usd_per_year is None else entry.option.usd_per_year.value


def _local(entry: YearEntry) -> float | None:
    return None if entry.option.local_per_year is None else entry.option.local_per_year.value


def _local_translated(entry: YearEntry, words: Words) -> str:
    cost = _cost(entry)
    return NOT_KNOWN if cost is None else MoneyFormat(words, entry.currency).text(cost)


def _against(entry: YearEntry) -> str:
    """Write the cost above that of the machine in question, in the plan's currency; "owning" for that machine."""
    usd = entry.option.above_owning_usd_per_year
    rate = 1.0 if entry.currency is None else entry.currency.per_usd
    return "owning" if usd is None else f"{'+' if usd > 0 else ''}{short_amount(usd * rate)}"


def _trainings(entry: YearEntry) -> int | None:
    return entry.break_even.trainings_per_year if entry.break_even else None


def _pays_from(entry: YearEntry) -> str:
    """Write the number of trainings from which owning costs less than renting or using this machine."""
    break_even, trainings = entry.break_even, _trainings(entry)
    if entry.option.hold not in (Hold.RENT, Hold.USE) or entry.is_owning:
        return ""
    if break_even is None:
        return "never"
    if trainings == 1:
        return "always"
    return f"{share_text(break_even.busy_fraction)} busy" if trainings is None else f"{trainings:,}"


def _pays_from_translated(entry: YearEntry, words: Words) -> str:
    trainings = _trainings(entry)
    return words.trainings(trainings) if trainings else NOT_KNOWN


def _at_once_translated(entry: YearEntry, words: Words) -> str:
    usd = entry.option.usd_at_once
    return MoneyFormat(words, entry.currency).text(usd) if usd else NOT_KNOWN


def _three_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


OTHERS = "+"
"""Position in a layout of the columns that no layout names."""
LOCAL = "local"
WRITTEN_OF_YEARS = (
    YearColumn(
        key="hold", title="hold", drop=0, titles={SCREEN: ""}, value=lambda entry: entry.option.hold,
        shown=lambda entry: entry.option.hold.value.upper(),
    ),
    YearColumn(
        key="machine", title="machine", titles={PAGE: "Way"}, drop=0, wrap=28,
        value=lambda entry: entry.option.display_name,
    ),
    YearColumn(key="option", title="option", value=lambda entry: entry.option.id),
    YearColumn(
        key="usd", title="USD a year", quantity=True, drop=0, range_drop=4,
        value=lambda entry: entry.option.usd_per_year, text=lambda entry: _number(_cost(entry)),
    ),
    _end("low"),
    _end("high"),
    YearColumn(
        key=LOCAL, title="{code} a year", right=True, drop=3, value=_local, text=lambda entry: _number(_local(entry)),
        translated=_local_translated, shown=lambda entry: short_amount(local) if (local := _local(entry)) else "",
    ),
    YearColumn(
        key="against", title="against owning, USD", titles={SCREEN: "vs owning"}, right=True, drop=2,
        value=lambda entry: entry.option.above_owning_usd_per_year,
        text=lambda entry: _number(entry.option.above_owning_usd_per_year), shown=_against,
    ),
    YearColumn(
        key="owning_cheaper", title="chance owning is cheaper", share=True,
        value=lambda entry: entry.option.chance_owning_cheaper,
        text=lambda entry: _three_decimals(entry.option.chance_owning_cheaper),
    ),
    YearColumn(
        key="costs_less", title="chance it costs less", titles={SCREEN: "costs less", PAGE: "Costs less"}, share=True,
        drop=1, value=lambda entry: entry.option.chance_costs_less,
        text=lambda entry: _three_decimals(entry.option.chance_costs_less),
    ),
    YearColumn(
        key="costs_less_than", title="less than", value=lambda entry: entry.option.costs_less_than,
        text=lambda entry: entry.option.costs_less_than or "",
    ),
    YearColumn(
        key="trainings", title="owning pays from, trainings a year",
        titles={SCREEN: "pays from", PAGE: "Owning pays from"}, right=True, drop=0, value=_trainings,
        text=lambda entry: str(_trainings(entry) or ""), translated=_pays_from_translated, shown=_pays_from,
    ),
    YearColumn(
        key="busy", title="owning pays from, busy share", titles={SCREEN: "busy"}, share=True, drop=5,
        value=lambda entry: entry.break_even.busy_fraction if entry.break_even else None,
        text=lambda entry: f"{entry.break_even.busy_fraction:.4f}" if entry.break_even else "",
        shown=lambda entry: (
            share_text(entry.break_even.busy_fraction) if entry.break_even and _trainings(entry) != 1 else ""
        ),
    ),
    YearColumn(
        key="hours", title="owning pays from, hours a year", titles={SCREEN: "hours"}, right=True, drop=6,
        value=lambda entry: entry.break_even.busy_hours_per_year if entry.break_even else None,
        text=lambda entry: f"{entry.break_even.busy_hours_per_year:.1f}" if entry.break_even else "",
        shown=lambda entry: f"{entry.break_even.busy_hours_per_year:,.0f}" if entry.break_even else "",
    ),
    YearColumn(
        key="at_once", title="USD at once", titles={PAGE: "At once"}, right=True,
        value=lambda entry: entry.option.usd_at_once, text=lambda entry: _number(entry.option.usd_at_once),
        translated=_at_once_translated,
    ),
    YearColumn(key="price_stale", title="price stale", value=lambda entry: entry.option.price_stale),
    YearColumn(
        key="why_not", title="why not", value=lambda entry: entry.option.why_not,
        text=lambda entry: entry.option.why_not or "",
    ),
    YearColumn(
        key="marks", title="", drop=0,
        value=lambda entry: " ".join([*signs(entry.option), *([RECOMMENDED] if entry.is_recommended else [])]),
    ),
)  # fmt: skip
YEAR_COLUMNS: dict[str, YearColumn] = {column.key: column for column in WRITTEN_OF_YEARS}
"""All columns by key."""
YEAR_LAYOUTS: dict[YearTable, tuple[str, ...]] = {
    ROWS: (
        "hold", "machine", "option", "usd", "usd_low", "usd_high", "against", "owning_cheaper", "costs_less",
        "costs_less_than", "trainings", "busy", "hours", "at_once", "price_stale", "why_not", LOCAL, OTHERS,
    ),
    SCREEN: (
        "hold", "machine", "usd", LOCAL, "against", "costs_less", "trainings", "busy", "hours", OTHERS, "marks",
    ),
    PAGE: ("machine", "usd", LOCAL, "at_once", "trainings", "costs_less", OTHERS),
}  # fmt: skip
"""Keys of the columns of each table, in order."""
