"""The hours of a campaign on one option: the likely ones, and those that it stays under with a confidence."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.cloud.billing_terms import BLOCK_LAST_HOURS
from planner.decide.campaign.run_groups import Runs, longest_lane
from planner.decide.options.option import EstimatedOption
from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.quantity.formula import named
from planner.quantity.interval import sum_of


def campaign_hours(estimated: EstimatedOption, groups: Sequence[Runs], at_once: int, runs: int) -> Quantity | None:
    """Return the likely hours of a campaign's runs; None where the time of a training is not known.

    hours = runs of the lane that ends last x (hours of a training + its launch, where it is rented) / (1 - other use)
    """
    estimate, others = estimated.option, other_use_of(estimated)
    wall, startup = estimate.wall_hours, estimate.time.launch_hours if estimate.time else None
    if wall is None:
        return None
    launch = startup if startup is not None and startup.value > 0 else None
    work, starts = longest_lane(groups, at_once, hours=wall.value, startup=launch.value if launch else 0.0)
    hours, each, parts = interval(wall, Unit.HOURS).scaled(work), f"{wall.value:.5g} h", [wall]
    if launch is not None:
        hours = sum_of([hours, interval(launch, Unit.HOURS).scaled(starts)])
        each, parts = f"({wall.value:.5g} + {launch.value:.3g} of its launch) h", [wall, launch]
    times = f"{starts:g} one after another" if work == starts else f"{starts:g} one after another, {work:.4g} in work,"
    repeated = f"{times} x {each} ({_trainings(runs)}); " if runs > 1 or len(parts) > 1 else ""
    source = "; ".join([f"{repeated}{wall.source}", *(part.source for part in parts[1:])])
    shares = {id(wall): wall.value * work, id(launch): launch.value * starts if launch else 0.0}
    heavy = [part for part in parts if shares[id(part)] >= MATERIAL_FRACTION * hours.value]
    if others:
        source = f"1 / (1 - {others:g} that others use) x {source}"
    whole = named("campaign_hours", hours.scaled(1 / (1 - others)), "h", "runs one after another, with their launches")
    return derived(whole, Unit.HOURS, *heavy, source=source)


def confident_hours(
    option: OptionEstimate,
    hours: Quantity,
    confidence: float,
    *,
    runs: int,
    at_once: int,
    between: BetweenTurns | None = None,
) -> float:
    """Return the hours that the runs stay under with this confidence: what is paid ahead is bought for them."""
    from planner.decide.outcomes.option_outcomes import TimedOption  # with numpy

    return TimedOption.of(option).hours_at(hours, confidence, runs=runs, at_once=at_once, between=between)


def other_use_of(estimated: EstimatedOption) -> float:
    """Return the share of the machine's busy hours that others use."""
    return (estimated.candidate.option.other_use or 0.0) if estimated.candidate is not None else 0.0


def window_reasons(estimated: EstimatedOption, surely: float) -> tuple[Reason, ...]:
    """Return that the window of a block is too short for the hours that the campaign stays under with the confidence.

    Its runs end half an hour before the window does.
    """
    window = estimated.candidate.option.window if estimated.candidate is not None else None
    if window is None or surely <= window.hours - BLOCK_LAST_HOURS:
        return ()
    ends = window.end.isoformat(timespec="minutes")
    text = f"its window ends at {ends}, {window.hours:.4g} h after it opens; the campaign may take {surely:.4g} h"
    figures = {"window_hours": window.hours, "run_hours": surely}
    return (Reason(code=ReasonCode.WINDOW_TOO_SHORT, text=text, figures=figures),)


def _trainings(runs: int) -> str:
    return "1 training" if runs == 1 else f"{runs} trainings"
