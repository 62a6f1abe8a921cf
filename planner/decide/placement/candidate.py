"""Describe the options that may do some of a campaign's runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from planner.decide.campaign.alone import Alone
from planner.decide.campaign.calendar import Calendar
from planner.decide.limits import MachineTerms, allowed, most_days
from planner.decide.options.option import EstimatedOption
from planner.decide.outcomes.option_outcomes import TimedOption, outcomes_of
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.placement.costs import OptionCosts, option_costs
from planner.decide.placement.earliest import earliest_start
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.plan.option_times import Queue, Tries
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import sum_of
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import provider_of


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
        return TimedOption.of(self.alone).hours_at(hours, chance) / hours.value if hours.value > 0 else 1.0

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
    earliest = earliest_start(estimated, alone.limits, catalog, calendar, today=today)
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
