"""Describe the options that may do some of a campaign's runs, with the costs of those runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.billing_terms import BillingTerms, block_hours, usable_hours
from planner.decide.campaign.alone import Alone
from planner.decide.campaign.campaign_bill import billed_hours, campaign_bill
from planner.decide.campaign.held import bought, kept_entries
from planner.decide.limits import MachineTerms, allowed, most_days
from planner.decide.options.option import EstimatedOption, begun_after
from planner.decide.outcomes.option_outcomes import TimedOption, outcomes_of
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.outcomes.play import play
from planner.decide.placement.earliest import earliest_start
from planner.decide.placement.instance import SoldBlock
from planner.duration.calendar import Calendar
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval, sum_of
from planner.quantity.time_units import HOURS_PER_DAY, HOURS_PER_YEAR
from planner.scenario.allowed_offers import provider_of

MONTH_DAYS = 30

MOST_BLOCK_HOURS = 2 * HOURS_PER_YEAR
"""Largest number of hours that plans buy as blocks, one after another, on one set of machines."""


@dataclass(frozen=True)
class OptionCosts:
    """Likely costs of an option in USD."""

    run_usd: float
    """Cost of one more run."""
    fixed_usd: float
    """Cost of using the option at all: uploads, and storage after the campaign."""
    lane_usd: float
    """Cost of each set of machines: its purchase, or a block with a window of its own."""
    lane_usd_per_hour: float
    """Cost of each hour of a term or block that is bought for a set."""
    billed: Interval
    """Hours of one run that count towards a term, a block or an allocation."""
    terms: BillingTerms

    def blocks(self, most_hours: float) -> tuple[SoldBlock, ...]:
        """Return the blocks on sale up to the one that holds these hours; empty if hours are not sold in blocks."""
        lengths = block_hours(min(most_hours, MOST_BLOCK_HOURS)) if self.terms.blocks else ()
        return tuple(SoldBlock(hours, usable_hours(hours)) for hours in lengths)


def option_costs(estimated: EstimatedOption, catalog: Catalog, *, work: float, runs: int) -> OptionCosts | None:
    """Return the costs of runs of this work; None if a part of them is unknown.

    run = (bill of all runs - bill of one) / (runs - 1);  fixed = bill of all runs - runs x run, at least 0

    The bill of all `runs` counts free amounts (100 GB of egress a month, say) once. The hours of a term, a block or a
    window are paid for each set of machines and not for each run.
    """
    candidate, rates = estimated.candidate, estimated.rates
    if rates is None:
        return _costs_without_rates(estimated, catalog, work)
    terms, window = rates.terms, candidate.option.window if candidate is not None else None
    by_lane = (terms.once or window is not None) and not rates.committed
    linear = replace(estimated, rates=replace(rates, terms=BillingTerms())) if by_lane else estimated
    most = max(2, runs)
    single, whole = (campaign_bill(linear, BilledTrainings(trainings=count), (), share=work) for count in (1, most))
    if single is None or whole is None:
        return None
    run = min((whole.usd.value - single.usd.value) / (most - 1), whole.usd.value / most)
    fixed, billed = whole.usd.value - most * run, billed_hours(estimated, share=work)
    hourly = rates.price.value * rates.nodes * (1 + rates.support_fraction.value)
    lane_usd = hourly * window.hours if window is not None and by_lane else 0.0
    if by_lane:
        run -= hourly * billed.value
    per_hour = hourly if by_lane and window is None else 0.0
    return OptionCosts(max(0.0, run), max(0.0, fixed), lane_usd, per_hour, billed, terms)


def _costs_without_rates(estimated: EstimatedOption, catalog: Catalog, work: float) -> OptionCosts | None:
    """Return the costs of an owned, bought or leased machine, or of a service."""
    single = campaign_bill(estimated, BilledTrainings(), (), share=work)
    if single is None:
        return None
    run, lane, nodes = single.usd.value, 0.0, estimated.option.nodes or 0
    wall = estimated.option.wall_hours
    if estimated.resolved is not None and wall is not None:
        first, month = (
            sum(entry.usd.value for entry in kept_entries(estimated, nodes=nodes, days=days))
            for days in (1, 1 + MONTH_DAYS)
        )
        run += (month - first) / MONTH_DAYS / HOURS_PER_DAY * wall.value * work
        purchase = bought(estimated, catalog, nodes=nodes, days=None)
        lane = first + (purchase.paid.value if purchase is not None else 0.0)
    billed = interval(wall, Unit.HOURS).scaled(work) if wall is not None else Interval.exact(0.0)
    return OptionCosts(run, 0.0, lane, 0.0, billed, BillingTerms())


@dataclass(frozen=True)
class PlacementCandidate:
    """An option that may do some of the runs."""

    estimated: EstimatedOption
    alone: CampaignOption
    """The option with all runs of the campaign."""
    earliest: Quantity | None
    """Hours from the campaign's start until its machines are available; None if unknown."""
    costs: Mapping[float, OptionCosts]
    """Costs by the work of a run."""
    outcomes: Outcomes
    """Outcomes of the whole campaign on this option alone."""
    before_credits: Outcomes
    """Outcomes on this option alone before credits pay for any of it."""
    _of_runs: dict[float, Outcomes] = field(default_factory=dict, repr=False, compare=False)
    """Outcomes of one run by its work, kept because a search asks for many of their quantiles."""

    @property
    def payer(self) -> str | None:
        """Return the provider whose credits pay its bill."""
        offer = self.estimated.option.offer
        return provider_of(offer) if offer is not None else None

    @property
    def queued(self) -> Queue | Tries | None:
        """Return the plan's statement from which its waits are drawn."""
        machine = self.estimated.candidate
        return None if machine is None else machine.option.queue or machine.option.tries

    @property
    def most_node_hours(self) -> float:
        """Return the node-hours of its allocation; infinite without one."""
        price = self.estimated.price
        return math.inf if price is None or price.node_hours_limit is None else price.node_hours_limit

    def billed_hours(self, work: float, chance: float) -> float:
        """Return the hours of a run that count towards a term, a block or an allocation.

        Blocks and allocations must hold the hours that a run stays below with this chance. Terms are billed as used.
        """
        costs = self.costs[work]
        bounded = costs.terms.blocks or not math.isinf(self.most_node_hours)
        return costs.billed.value * self.longer(work, chance) if bounded else costs.billed.value

    def longer(self, work: float, chance: float) -> float:
        """Return the factor on the likely hours that a run stays below with this chance."""
        hours = run_hours(self, work)
        if hours.value <= 0:
            return 1.0
        if work not in self._of_runs:
            self._of_runs[work] = play([TimedOption.of(self.alone).played(hours, runs=1, at_once=1)])
        return self._of_runs[work].hours_at(chance) / hours.value

    @property
    def opens(self) -> float:
        """Return the hours from the start until its machines are available; 0 if unknown."""
        return self.earliest.value if self.earliest is not None else 0.0

    @property
    def planned_until(self) -> float:
        """Return the hours after the start until which runs are planned on it: spot counts for at most 14 days."""
        return self.opens + most_days(self.terms) * HOURS_PER_DAY

    @property
    def terms(self) -> MachineTerms:
        """Return the terms of its machines that the limits look at."""
        return MachineTerms.of_option(self.alone, self.estimated.candidate)


def run_hours(candidate: PlacementCandidate, work: float) -> Quantity:
    """Return the hours of one run, including its launch on rented machines.

    hours = (work x wall hours + launch hours) / (1 - other use)
    """
    option = candidate.estimated.option
    wall, launch = option.wall_hours, option.time.launch_hours if option.time is not None else None
    assert wall is not None, "its time is known"
    machine = candidate.estimated.candidate
    others = (machine.option.other_use or 0.0) if machine is not None else 0.0
    parts = [interval(wall, Unit.HOURS).scaled(work)]
    if launch is not None:
        parts.append(interval(launch, Unit.HOURS))
    source = f"{work:.4g} x {wall.value:.5g} h" + (f" + {launch.value:.3g} h of its launch" if launch else "")
    return derived(sum_of(parts).scaled(1 / (1 - others)), Unit.HOURS, wall, source=f"{source}; {wall.source}")


def candidate_of(
    estimated: EstimatedOption, option: CampaignOption, alone: Alone, catalog: Catalog, calendar: Calendar,
    *, today: date,
) -> PlacementCandidate | ReasonCode:  # fmt: skip
    """Return the option as a candidate, or the reason why it can do no run at all.

    Limits that only the whole campaign would break do not count here.
    """
    blocking = option.blocking_reasons
    if estimated.limit_reasons:
        return estimated.limit_reasons[0].code
    if option.fits is False:
        return blocking[0].code if blocking else ReasonCode.MEMORY_TOO_SMALL
    if option.wall_hours is None or option.usd_marginal is None:
        return blocking[0].code if blocking else ReasonCode.TIME_OR_COST_NOT_KNOWN
    if option.hold is Hold.BUY and option.pay_now_usd is None:
        return ReasonCode.PURCHASE_NOT_KNOWN
    not_allowed = allowed(
        MachineTerms.of_option(option, estimated.candidate), machines=option.nodes or 0, days=0.0
    )  # fmt: skip
    if not_allowed is not None:
        return not_allowed.code
    earliest = earliest_start(estimated, catalog, calendar, today=today)
    estimated = begun_after(estimated, earliest.value if earliest is not None else 0.0)
    costs: dict[float, OptionCosts] = {}
    for work in {group.work for group in alone.groups}:
        of_work = option_costs(estimated, catalog, work=work, runs=alone.limits.runs)
        if of_work is None:
            return ReasonCode.TIME_OR_COST_NOT_KNOWN
        costs[work] = of_work
    outcomes, cost = outcomes_of(option, alone.limits, today=today), option.cost_by_hours
    before_credits = outcomes
    if cost is not None and cost.credits:
        unpaid = option.model_copy(update={"cost_by_hours": cost.model_copy(update={"credits": ()})})
        before_credits = outcomes_of(unpaid, alone.limits, today=today)
    return PlacementCandidate(estimated, option, earliest, costs, outcomes, before_credits)
