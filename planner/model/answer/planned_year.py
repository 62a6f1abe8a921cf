"""A year of the plan's own trainings: on the machine that is owned or would be, and on everything beside it."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from planner.model.answer.reason import ReasonCode
from planner.model.base import Frozen
from planner.model.currency import LocalAmount
from planner.model.owning.hold import Hold
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity


class CountedFrom(StrEnum):
    """What says how many trainings a year has."""

    RUNS_PER_YEAR = "runs_per_year"
    """The plan's `campaign.runs_per_year`."""
    CAMPAIGN = "campaign"
    """The plan's `campaign.runs`: all of them are one year's work."""
    CAMPAIGN_PACE = "campaign_pace"
    """`campaign.runs` over the years to a deadline that is more than one away."""
    SITE = "site"
    """How busy the site is as it states: the plan names no number of trainings, or their time is not known."""


class BreakEven(Frozen):
    """From how much work in a year on owning costs no more than an option."""

    trainings_per_year: int | None
    """Null where the time of a training is not known."""
    busy_fraction: float
    busy_hours_per_year: float
    """Of the machine: share x hours in which it can be used."""


class YearOption(Frozen):
    """One way to do the year's trainings; what is null has its reason in `why_not`."""

    id: str
    display_name: str
    hold: Hold
    firm: bool
    """Nobody takes the machine away, nor changes its price: all but spot and marketplace."""
    price_kind: PriceKind | None
    nodes: int | None
    """Owned nodes; null: it is rented as needed."""
    usd_per_year: Quantity | None
    """Owned: in full, as equal yearly amounts over its life, less what a signed lease binds. Rented: the bill of the
    year's trainings."""
    local_per_year: LocalAmount | None
    above_owning_usd_per_year: float | None
    """What it costs more than the machine that is asked about; negative: it is cheaper."""
    error_causes: tuple[tuple[str, float], ...] = Field(default=(), exclude=True)
    """Independent causes of the error of its cost, which rows of one cause share; JSON leaves them out."""
    chance_owning_cheaper: float | None
    chance_costs_less: float | None = None
    """That this row costs less than the option `costs_less_than`: of the machine that is asked about the cheapest
    other one that may be recommended, of all others that machine."""
    costs_less_than: str | None = None
    break_even: BreakEven | None
    """Null of owned machines, and where owning never costs less."""
    usd_at_once: float | None
    """Of a machine that is still to be bought."""
    as_if_bought: bool = False
    """It stands there, and is counted at its price: its site does not say what it would sell for."""
    resale_not_counted: bool = False
    """It stands there, and what it would sell for counts as nothing: the plan does not state it."""
    lease_owed: bool = False
    """It stands there under a signed lease: only the electricity of its trainings counts, as all else is owed."""
    over_budget: bool = False
    """What is spent at once is over the plan's budget: it is not recommended."""
    price_stale: bool
    price_refreshed: bool | None = None
    """Whether `planner prices refresh` can renew it; else one asks for a quote."""
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class PlannedYear(Frozen):
    """Owning against everything else at the hours that the plan's own trainings take."""

    counted_from: CountedFrom
    counted: str
    """The same in words, with its arithmetic."""
    trainings_wanted: float | None
    trainings: float | None
    """As many of them as the machine can do in a year; null where their time is not known."""
    hours_per_training: Quantity | None
    most_trainings: float | None
    """That the machine can do in a year."""
    busy_hours: float
    """Of the machine, in a year."""
    busy_fraction: Quantity
    """Share of the accelerators' available hours in which these trainings keep them at work."""
    site_busy_fraction: float
    """As the site states, or the default."""
    usd_per_busy_gpu_hour: Quantity
    """In full, at `busy_fraction`."""
    owning: str
    """Id of the machine that is asked about."""
    recommended: str | None
    cheapest_firm: str | None
    """Of all that is rented or used at a firm price."""
    pay_as_you_go: str | None = None
    """The cheapest firm one without a term, which a person would rent otherwise; where the plan has none, the cheapest
    firm one. From how much work on owning pays is told against it."""
    cheapest_rent: str | None
    """Of all that is rented or used: where it is not firm, a spot or marketplace price."""
    options: tuple[YearOption, ...]
    """Cheapest first; what has no cost comes last."""

    @property
    def compared(self) -> list[YearOption]:
        """Return the options that have a cost, and that nothing rules out."""
        return [option for option in self.options if option.usd_per_year is not None and option.why_not is None]
