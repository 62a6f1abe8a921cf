"""Count a year's trainings: how many the plan wants, how many the machine can do, and how busy they keep it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from planner.cost.ownership.owed_anyway import share_of_year
from planner.cost.ownership.owned_cost import OwnedInputs
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.planned_year import CountedFrom
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.time_units import DAYS_PER_YEAR, HOURS_PER_YEAR


@dataclass(frozen=True)
class WantedWork:
    """A number of trainings a year, and its source."""

    trainings: float
    counted_from: CountedFrom
    text: str
    mean_work: float = 1.0
    """Mean work of a run, as a share of the plan's whole `work`."""


@dataclass(frozen=True)
class YearlyWork:
    """A year of trainings on a site with a known time of one training."""

    wanted: WantedWork
    hours: Quantity
    """Hours of one training, interruptions included."""
    accelerators: int
    """Accelerators of one training."""
    most: float
    """Largest number of trainings that the whole site can do in a year, in the hours that others leave."""
    other_use: float = 0.0
    """Share of the machine's busy hours that others use."""

    @property
    def trainings(self) -> float:
        """Return the trainings that the site does: those wanted, at most `most`."""
        return min(self.wanted.trainings, self.most)

    def gpu_hours(self, hours: float | None = None) -> float:
        """Return the accelerator-hours of the year's trainings: trainings x hours of one x its accelerators."""
        return self.trainings * (self.hours.value if hours is None else hours) * self.accelerators


def wanted_work(limits: CampaignLimits, *, today: date, mean_work: float = 1.0) -> WantedWork | None:
    """Return how many trainings a year has; None if the plan states neither `runs_per_year` nor `runs`.

    `runs_per_year` counts first. Else `runs` are one year's work, or runs / ((deadline - start in days + 1) / 365.25)
    if the deadline is over a year away. A short campaign never counts as repeated. Runs of groups or of a search count
    in trainings of the plan's whole `work`: runs x `mean_work`.
    """
    if limits.runs_per_year is not None:
        text = f"campaign.runs_per_year {limits.runs_per_year}"
        return WantedWork(float(limits.runs_per_year), CountedFrom.RUNS_PER_YEAR, text)
    if "runs" not in limits.model_fields_set:
        return None
    runs = "1 training" if limits.runs == 1 else f"{limits.runs} trainings"
    trainings = limits.runs * mean_work
    if abs(trainings - limits.runs) > 1e-9:
        runs = f"{runs}, as much as {trainings:.4g} of the plan's work"
    if limits.deadline is not None:
        years = ((limits.deadline - (limits.start or today)).days + 1) / DAYS_PER_YEAR
        if years > 1:
            text = f"the campaign's {runs} over {years:.3g} years"
            return WantedWork(trainings / years, CountedFrom.CAMPAIGN_PACE, text, mean_work)
    text = f"the campaign's {runs}, as one year's work (else: campaign.runs_per_year)"
    return WantedWork(trainings, CountedFrom.CAMPAIGN, text, mean_work)


def yearly_work(
    wanted: WantedWork | None, option: OptionEstimate, resolved: ResolvedSite, *, other_use: float = 0.0
) -> YearlyWork | None:
    """Return the year's work on a site; None if the time of a training is unknown.

    most   = floor(nodes of the site / nodes of a training) x 8,766 x availability x (1 - other use) / hours of a
             training; a signed lease that ends within the year counts until its end
    wanted = if the plan does not say, the number that keeps the site as busy as it states:
             nodes x GPUs x 8,766 x availability x busy share / (hours x accelerators of a training), at most `most`
    """
    hours, nodes, accelerators = option.wall_hours, option.nodes, option.accelerators
    if hours is None or nodes is None or accelerators is None or hours.value <= 0:
        return None
    inputs = resolved.inputs
    at_once = max(1, resolved.site.nodes // nodes)
    site_hours = HOURS_PER_YEAR * share_of_year(resolved, option.hold)
    most = at_once * site_hours * inputs.availability * (1 - other_use) / hours.value
    if wanted is None:
        busy = inputs.busy_fraction * gpu_hours_available(inputs, nodes=resolved.site.nodes)
        text = "as busy as the site is taken to be, as the plan names no trainings (campaign.runs_per_year)"
        wanted = WantedWork(min(most, busy / (hours.value * accelerators)), CountedFrom.SITE, text)
    return YearlyWork(wanted, hours, accelerators, most, other_use)


def gpu_hours_available(inputs: OwnedInputs, *, nodes: int) -> float:
    """Return the accelerator-hours of a year in which a site can be used: nodes x GPUs x 8,766 x availability."""
    return nodes * inputs.gpus * HOURS_PER_YEAR * inputs.availability


def busy_fraction(work: YearlyWork, resolved: ResolvedSite) -> Quantity:
    """Return the share of the accelerators' available hours that the trainings use.

    share = trainings x hours of one x its accelerators / (nodes x GPUs x 8,766 x availability)
    """
    inputs, nodes = resolved.inputs, resolved.site.nodes
    available = gpu_hours_available(inputs, nodes=nodes)
    share = interval(work.hours, Unit.HOURS).scaled(work.trainings * work.accelerators / available)
    source = (
        f"{work.trainings:.4g} trainings x {work.hours.value:.4g} h x {work.accelerators} accelerators / ({nodes} "
        f"node(s) x {inputs.gpus} x 8,766 h x {inputs.availability:g} available); {work.hours.source}"
    )
    return derived(share, Unit.RATIO, work.hours, source=source)
