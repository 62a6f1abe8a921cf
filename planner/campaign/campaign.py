"""Many trainings on one option: how long, how much, and whether the limits hold."""

from __future__ import annotations

import math
from datetime import date, timedelta

from planner.estimate.border import computed, interval
from planner.model.answer import CampaignOption, OptionEstimate
from planner.model.catalog import Catalog
from planner.model.plan import CampaignLimits, Owning
from planner.model.quantity import Quantity, Unit

HOURS_PER_DAY = 24.0


def campaign_option(
    estimate: OptionEstimate,
    limits: CampaignLimits,
    catalog: Catalog,
    *,
    today: date,
    owning: Owning = Owning.MARGINAL,
) -> CampaignOption:
    """Run the plan's campaign on this option alone.

    campaign_hours = ceil(runs / at_once) x training_hours
    campaign_usd   = runs x usd_marginal, or of an owned machine under `owning: full` runs x usd_total

    `at_once` trainings run side by side, each on machines of its own: a cloud is taken to have enough of them,
    a site runs no more than floor(its nodes / nodes per training). Leaves out set-up and queueing.
    The campaign starts on `limits.start`, else today; it meets the deadline if it ends by the end of that day.
    """
    at_once = _at_once(estimate, limits, catalog)
    waves = math.ceil(limits.runs / at_once)
    hours = _campaign_hours(estimate.training_hours, waves, limits.runs)
    counted = owning if estimate.site is not None else None
    in_full = counted is Owning.FULL
    usd = _campaign_usd(estimate.usd_total if in_full else estimate.usd_marginal, limits.runs)
    finish = _finish(limits.start or today, hours) if hours else None
    notes = estimate.notes
    if at_once < limits.at_once:
        notes += (f"{limits.at_once} at once are asked for; the site has nodes for {at_once}",)
    return CampaignOption(
        **{name: getattr(estimate, name) for name in OptionEstimate.model_fields if name != "notes"},
        notes=notes,
        owning=counted,
        at_once=at_once,
        campaign_hours=hours,
        campaign_usd=usd,
        finish=finish,
        meets_deadline=None
        if hours is None
        else limits.deadline is None or hours.value <= hours_to(limits, today=today),
        within_budget=None if usd is None else limits.budget_usd is None or usd.value <= limits.budget_usd,
    )


def hours_to(limits: CampaignLimits, *, today: date) -> float:
    """Hours from the start to the end of the deadline's day; infinite without a deadline."""
    if limits.deadline is None:
        return math.inf
    return ((limits.deadline - (limits.start or today)).days + 1) * HOURS_PER_DAY


def _finish(start: date, hours: Quantity) -> date:
    """Return the day on which it ends, counting from the morning of the first; at most the calendar's last day."""
    days = max(0, math.ceil(hours.value / HOURS_PER_DAY) - 1)
    return start + timedelta(days=min(days, (date.max - start).days))


def _at_once(estimate: OptionEstimate, limits: CampaignLimits, catalog: Catalog) -> int:
    site = catalog.sites.get(estimate.site or "")
    if site is None:
        return 1 if estimate.site is not None else limits.at_once
    return max(1, min(limits.at_once, site.nodes // estimate.nodes))


def _campaign_hours(training: Quantity | None, waves: int, runs: int) -> Quantity | None:
    if training is None:
        return None
    after = f"{waves} one after another x {training.value:.5g} h ({_trainings(runs)}); " if runs > 1 else ""
    source = f"{after}{training.source}"
    return computed(interval(training, Unit.HOURS).scaled(waves), Unit.HOURS, training, source=source)


def _campaign_usd(one: Quantity | None, runs: int) -> Quantity | None:
    if one is None:
        return None
    source = f"{_trainings(runs)} x {one.value:.5g} USD; {one.source}"
    return computed(interval(one, Unit.USD).scaled(runs), Unit.USD, one, source=source)


def _trainings(runs: int) -> str:
    return "1 training" if runs == 1 else f"{runs} trainings"
