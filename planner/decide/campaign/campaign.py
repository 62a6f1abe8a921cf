"""Many trainings on one option: how long, how much, and whether the limits hold."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

from planner.cost.cloud.allocation import allocation_reasons
from planner.cost.cloud.bill import Billed, Work, rented_bill
from planner.cost.cloud.credits import with_credits
from planner.cost.cloud.hosted_bill import hosted_bill
from planner.cost.cloud.price import beyond_commitment
from planner.cost.ownership.owned_bill import owned_bill
from planner.decide.options.option import EstimatedOption
from planner.duration.duration import last_day
from planner.model.answer.documents import CampaignOption, OptionEstimate
from planner.model.answer.reason import text_of
from planner.model.catalog import Catalog
from planner.model.plan.plan import CampaignLimits, Owning
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.quantity.interval import sum_of
from planner.quantity.time_units import HOURS_PER_DAY


def campaign_option(
    estimated: EstimatedOption,
    limits: CampaignLimits,
    catalog: Catalog,
    *,
    today: date,
    owning: Owning = Owning.MARGINAL,
) -> CampaignOption:
    """Run the plan's campaign on this option alone.

    campaign_hours = ceil(runs / at_once) x (wall-clock hours of a training + startup hours, where it is rented)
    campaign_usd   = total of the campaign's bill (planner/cost/cloud/bill.py); of an owned machine runs x usd_marginal,
                     or under `owning: full` runs x usd_total

    `at_once` trainings run side by side, each on machines of its own: a cloud is taken to have enough of them,
    a site runs no more than floor(its nodes / nodes per training). The hours leave out queueing. The campaign starts
    on `limits.start`, else today; it meets the deadline if it ends by that day's end.
    """
    estimate = estimated.option
    at_once = _at_once(estimate, limits, catalog)
    work = Work(trainings=limits.runs, at_once=at_once)
    hours = _campaign_hours(estimate, work.waves, limits.runs)
    counted = owning if estimate.site is not None else None
    billed = _billed(estimated, work, counted)
    usd = billed.usd if billed else None
    finish = last_day(start=limits.start or today, hours=hours.value) if hours else None
    notes = estimate.notes
    if at_once < limits.at_once:
        notes += (f"{limits.at_once} at once are asked for; the site has nodes for {at_once}",)
    bill = billed.bill if billed else None
    if bill is not None and estimate.offer is not None:
        bill = with_credits(bill, catalog.credits, provider=estimate.offer.partition("/")[0], finish=finish)
    of_allocation = allocation_reasons(estimated.price, bill=bill, start=limits.start or today, finish=finish)
    reasons = (*estimated.limit_reasons, *of_allocation)
    of_campaign = {
        "notes": notes,
        "bill": bill,
        "smallest_purchase_usd": billed.bought if billed else None,
        "not_allowed": text_of(reasons),
        "not_allowed_reasons": reasons,
    }
    return CampaignOption(
        **(dict(estimate) | of_campaign),
        owning=counted,
        at_once=at_once,
        campaign_hours=hours,
        campaign_usd=usd,
        finish=finish,
        meets_deadline=_meets_deadline(hours, usd, limits, today=today),
        within_budget=None if usd is None else limits.budget_usd is None or usd.value <= limits.budget_usd,
    )


def hours_to(limits: CampaignLimits, *, today: date) -> float:
    """Hours from the start to the end of the deadline's day; infinite without a deadline."""
    if limits.deadline is None:
        return math.inf
    return ((limits.deadline - (limits.start or today)).days + 1) * HOURS_PER_DAY


def _meets_deadline(
    hours: Quantity | None, usd: Quantity | None, limits: CampaignLimits, *, today: date
) -> bool | None:
    """Return whether it ends in time; where only the money is known, no deadline is one that it keeps."""
    if hours is None:
        return True if usd is not None and limits.deadline is None else None
    return limits.deadline is None or hours.value <= hours_to(limits, today=today)


def _at_once(estimate: OptionEstimate, limits: CampaignLimits, catalog: Catalog) -> int:
    site = catalog.sites.get(estimate.site or "")
    if site is None:
        return 1 if estimate.site is not None else limits.at_once
    assert estimate.nodes is not None, "a site has machines"
    return max(1, min(limits.at_once, site.nodes // estimate.nodes))


def _campaign_hours(estimate: OptionEstimate, waves: int, runs: int) -> Quantity | None:
    wall, startup = estimate.wall_hours, estimate.time.launch_hours if estimate.time else None
    if wall is None:
        return None
    hours, each, parts = interval(wall, Unit.HOURS), f"{wall.value:.5g} h", [wall]
    if startup is not None and startup.value > 0:
        hours = sum_of([hours, interval(startup, Unit.HOURS)])
        each, parts = f"({wall.value:.5g} + {startup.value:.3g} of its launch) h", [wall, startup]
    repeated = f"{waves} one after another x {each} ({_trainings(runs)}); " if runs > 1 or len(parts) > 1 else ""
    source = "; ".join([f"{repeated}{wall.source}", *(part.source for part in parts[1:])])
    heavy = [part for part in parts if part.value >= MATERIAL_FRACTION * hours.value]
    return derived(hours.scaled(waves), Unit.HOURS, *heavy, source=source)


def _billed(estimated: EstimatedOption, work: Work, owning: Owning | None) -> Billed | None:
    """Bill the campaign: a term is bought once for all of it, everything else training by training."""
    if estimated.hosted is not None:
        return hosted_bill(estimated.hosted, trainings=work.trainings)
    training, time = estimated.option.training_hours, estimated.option.time
    if estimated.rates is not None:
        if training is None or time is None:
            return None
        rates, nodes = estimated.rates, estimated.rates.nodes * work.sets
        mean = beyond_commitment(estimated.price, nodes=nodes)
        return rented_bill(training, replace(rates, price=mean) if mean else rates, work, lost=time.lost_hours)
    option = estimated.option
    if owning is None or (owning is Owning.FULL and option.usd_total is None):
        return None
    return owned_bill(
        option.usd_marginal,
        trainings=work.trainings,
        currency=estimated.currency,
        paid_in=estimated.tariff_currency,
        full=option.usd_total if owning is Owning.FULL else None,
    )


def _trainings(runs: int) -> str:
    return "1 training" if runs == 1 else f"{runs} trainings"
