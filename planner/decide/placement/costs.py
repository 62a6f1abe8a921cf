"""Split an option's bills into the cost of one more run and the costs that do not depend on the number of runs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.billing_terms import BillingTerms, block_hours, usable_hours
from planner.decide.campaign.campaign_bill import billed_hours, campaign_bill
from planner.decide.campaign.held import bought, kept_entries
from planner.decide.options.option import EstimatedOption
from planner.decide.placement.instance import Block
from planner.model.catalog import Catalog
from planner.model.quantity import Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_DAY, HOURS_PER_YEAR

MONTH_DAYS = 30
MOST_BLOCK_HOURS = 2 * HOURS_PER_YEAR
"""Of blocks one after another on one set of machines: for longer, plans do not buy them."""


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

    def blocks(self, most_hours: float) -> tuple[Block, ...]:
        """Return the blocks that are sold up to the one that holds so many hours; none where hours are not sold so."""
        lengths = block_hours(min(most_hours, MOST_BLOCK_HOURS)) if self.terms.blocks else ()
        return tuple(Block(hours, usable_hours(hours)) for hours in lengths)


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
