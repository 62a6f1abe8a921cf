"""A year of the plan's own trainings: on the owned machine, or one to be owned, and on every alternative."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from planner.model.answer.reason import ReasonCode
from planner.model.base import Frozen
from planner.model.currency import LocalAmount
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity


class CountedFrom(StrEnum):
    """Source of the number of trainings a year."""

    RUNS_PER_YEAR = "runs_per_year"
    """`campaign.runs_per_year` of the plan."""
    CAMPAIGN = "campaign"
    """`campaign.runs` of the plan: all of them are one year's work."""
    CAMPAIGN_PACE = "campaign_pace"
    """`campaign.runs` over the years to a deadline that is more than one away."""
    SITE = "site"
    """The site's own stated busy share: the plan names no number of trainings, or their time is unknown."""


class BreakEven(Frozen):
    """Yearly amount of work from which owning costs no more than an option."""

    trainings_per_year: int | None
    """Trainings a year; null if the time of a training is unknown."""
    busy_fraction: float
    busy_hours_per_year: float
    """Busy hours of the machine: share x hours in which it can be used."""


class YearOption(Frozen):
    """One way to do the year's trainings. A null field has its reason in `why_not`."""

    id: str
    display_name: str
    hold: Hold
    firm: bool
    """True if the machine is not taken away and its price does not change: all but spot and marketplace."""
    price_kind: PriceKind | None
    nodes: int | None
    """Owned nodes; null if rented as needed."""
    usd_per_year: Quantity | None
    """Yearly cost. Owned: in full, as equal yearly amounts over its life, minus what a signed lease binds.

    Rented: the bill of the year's trainings.
    """
    local_per_year: LocalAmount | None
    above_owning_usd_per_year: float | None
    """Difference in cost to the machine in question; negative if cheaper."""
    error_causes: tuple[tuple[str, float], ...] = Field(default=(), exclude=True)
    """Independent causes of the error of its cost, which rows of one cause share; JSON leaves them out."""
    chance_owning_cheaper: float | None
    chance_costs_less: float | None = None
    """Chance that this row costs less than the option `costs_less_than`.

    For the machine in question that is the cheapest other one that may be recommended; for all others it is that
    machine.
    """
    costs_less_than: str | None = None
    break_even: BreakEven | None
    """Break-even; null for owned machines, and if owning never costs less."""
    usd_at_once: float | None
    """Price of a machine that is still to be bought."""
    usd_committed: float | None = None
    """Amount that is paid even if the hours are not used: a whole term, or blocks. Null if rented by the hour."""
    usd_per_year_as_if_bought: Quantity | None = None
    """Yearly cost at the price of a machine that exists already. `usd_per_year` counts what keeping it costs from now
    on.
    """
    resale_not_counted: bool = False
    """True if the machine exists and its sale value counts as zero, because the plan does not state it."""
    lease_owed: bool = False
    """True if the machine is under a signed lease: only the electricity of its trainings counts, because all else is
    owed.
    """
    over_budget: bool = False
    """True if the amount spent at once or committed to is over the plan's budget, so it is not recommended."""
    price_stale: bool
    price_refreshed: bool | None = None
    """True if `planner prices refresh` can renew the price, false if a quote is needed."""
    why_not: str | None
    why_not_codes: tuple[ReasonCode, ...] = ()


class PlannedYear(Frozen):
    """Owning against every alternative at the hours of the plan's own trainings."""

    counted_from: CountedFrom
    counted: str
    """Number of trainings in words, with its arithmetic."""
    trainings_wanted: float | None
    trainings: float | None
    """Trainings, at most what the machine can do in a year; null if their time is unknown."""
    hours_per_training: Quantity | None
    most_trainings: float | None
    """Largest number of trainings that the machine can do in a year."""
    busy_hours: float
    """Busy hours of the machine in a year."""
    busy_fraction: Quantity
    """Share of the accelerators' available hours that these trainings use."""
    site_busy_fraction: float
    """Busy share that the site states, or the default."""
    usd_per_busy_gpu_hour: Quantity
    """Full cost at `busy_fraction`."""
    owning: str
    """Id of the machine in question."""
    recommended: str | None
    cheapest_firm: str | None
    """Cheapest option that is rented or used at a firm price."""
    pay_as_you_go: str | None = None
    """Cheapest firm option without a term, the usual way to rent; if the plan has none, the cheapest firm one.

    Break-even work is stated against it.
    """
    cheapest_rent: str | None
    """Cheapest option that is rented or used, including spot and marketplace prices."""
    options: tuple[YearOption, ...]
    """Options, the cheapest first; those without a cost come last."""

    @property
    def compared(self) -> list[YearOption]:
        """Return the options that have a cost and are not ruled out."""
        return [option for option in self.options if option.usd_per_year is not None and option.why_not is None]
