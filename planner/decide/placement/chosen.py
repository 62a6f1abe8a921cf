"""Turn a solution into a plan with dates, ranges and chances."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from planner.decide.campaign.campaign_plan import CampaignPlan, Lane, LaneRuns, Placement
from planner.decide.campaign.chances import reaches
from planner.decide.campaign.side_by_side import with_at_once
from planner.decide.outcomes.option_outcomes import price_cause
from planner.decide.outcomes.outcomes import ROUNDING_HOURS, Outcomes, drawn_budget
from planner.decide.placement.candidate import PlacementCandidate, run_hours
from planner.decide.placement.instance import Instance, RunsOnLane, Solution, by_lane, option_usd
from planner.decide.placement.middle_values import by_middle_values
from planner.decide.placement.placed_cost import placed_cost
from planner.decide.placement.plan_figures import figures_of_row, figures_of_samples, row_of
from planner.decide.placement.played_plan import played_plan
from planner.decide.placement.question import PlacementQuestion
from planner.decide.placement.shared_commitments import at_shared_commitments
from planner.duration.calendar import Calendar
from planner.model.answer.campaign import BetweenTurns, SimulatedCampaign
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived
from planner.quantity.interval import Interval, sum_of

AS_LATE = timedelta(minutes=1)
"""Time within which two plans end together."""


@dataclass(frozen=True)
class Chosen:
    """A plan with its chances to stay within the limits. The chance of a limit that the plan lacks is None."""

    plan: CampaignPlan
    asked: Instance
    """Instance that was solved: the question, perhaps with tighter hours and costs."""
    solution: Solution
    """Runs on lanes that are the plan."""
    calendar: Calendar
    played: Outcomes
    """Outcomes of the plan in each sample."""
    chance_deadline: float | None
    """Chance that every run ends by the deadline, and before its machines are taken away."""
    chance_windows: float | None
    """Chance that every run ends before its machines are taken away."""
    chance_budget: float | None
    chance_both: float | None
    """Chance that the plan stays within all limits at once, including its windows."""
    row: CampaignOption | None = None
    """Option whose row in `compare` is this plan. Its figures replace those of the simulation."""
    beyond_row: str | None = None
    """Sentence on what a plan on one option counts and its row in `compare` does not."""
    currency: Currency | None = None
    """Currency of the plan."""

    @property
    def options(self) -> frozenset[str]:
        """Return the ids of the options that take part."""
        return frozenset(placed.option for placed in self.plan.placements)

    @property
    def kept(self) -> bool:
        """Return whether the plan stays within all limits at once, with its own confidence."""
        return self.keeps(self.plan.confidence)

    def keeps(self, confidence: float) -> bool:
        """Return whether the plan stays within all limits at once, with this confidence."""
        return (self.row is None or keeps_each(self.row)) and reaches(self.least_chance, confidence)

    @property
    def usd_confident(self) -> float:
        """Return the USD that remain to pay at most, with the plan's confidence."""
        if self.row is not None and self.row.usd_confident is not None:
            return self.row.usd_confident
        return self.played.usd_at(self.plan.confidence)

    def ranking_usd(self, limits: CampaignLimits) -> float:
        """Return what plans are ranked by: `usd_confident`, and the stated value of the hours until the end."""
        waiting = limits.waiting_usd_per_hour
        return self.usd_confident + (waiting * self.hours_confident if waiting else 0.0)

    @property
    def local_confident(self) -> float | None:
        """Return `usd_confident` in the plan's currency, with the uncertainty of its rate; None without a currency."""
        if self.currency is None:
            return None
        if self.row is not None and self.row.local_confident is not None:
            return self.row.local_confident
        return self.played.local_at(self.currency, self.plan.confidence)

    @property
    def hours_confident(self) -> float:
        """Return the hours after the campaign's start in which it ends, with the plan's confidence."""
        return self.played.done_within(self.plan.confidence)

    @property
    def done_by_confident(self) -> date | None:
        """Return the day by which it ends with the plan's confidence; None if its windows do not allow that."""
        if self.row is not None:
            return self.row.done_by_confident
        return None if math.isinf(self.hours_confident) else self._day(self.hours_confident)

    def _day(self, hours: float) -> date:
        return self.calendar.last_day(hours - ROUNDING_HOURS)

    def summary(self) -> SimulatedCampaign:
        """Return chances and quantiles, with the last days in the plan's zone."""
        deadline, budget = self.plan.deadline, self.plan.budget_usd
        until = None if deadline is None else self.calendar.hours(deadline)
        return self.played.summary(until=until, budget=budget, day=self._day)

    @property
    def least_chance(self) -> float:
        """Return the chance that the plan stays within all limits at once; 1 without limits."""
        return 1.0 if self.chance_both is None else self.chance_both


def keeps_each(row: CampaignOption) -> bool:
    """Return whether an option is allowed and keeps each limit with the plan's confidence, if it does all runs."""
    return row.not_allowed is None and bool(row.meets_deadline) and bool(row.within_budget)


def chosen_plan(
    question: PlacementQuestion, solution: Solution, limits: CampaignLimits, budget: Quantity | None,
    *, asked: Instance,
) -> Chosen:  # fmt: skip
    """Return the plan of a solution at the likely hours and costs, with its simulated chances (`played_plan.py`)."""
    plan = _plan(question, by_middle_values(question, solution), limits, budget)
    row, beyond = row_of(plan, [candidate.alone for candidate in question.candidates], limits)
    closed = any(placement.closed for placement in plan.placements)
    if row is not None:
        played = next(candidate.outcomes for candidate in question.candidates if candidate.alone is row)
        windows = played.chance_held() if closed else None
        chances = (row.chance_deadline, windows, row.chance_budget, row.chance_both)
        return Chosen(
            figures_of_row(plan, row), asked, solution, question.calendar, played, *chances, row,
            currency=question.currency,
        )  # fmt: skip
    played = played_plan(plan)
    limit, until = drawn_budget(budget), question.instance.deadline
    limited = closed or budget is not None or limits.deadline is not None
    return Chosen(
        figures_of_samples(plan, played), asked, solution, question.calendar, played,
        chance_deadline=None if limits.deadline is None else played.chance_by(until),
        chance_windows=played.chance_held() if closed else None,
        chance_budget=None if budget is None else played.chance_within(limit),
        chance_both=played.chance_of_both(hours=until, budget=limit) if limited else None,
        beyond_row=beyond, currency=question.currency,
    )  # fmt: skip


def _plan(
    question: PlacementQuestion, solution: Solution, limits: CampaignLimits, budget: Quantity | None
) -> CampaignPlan:
    instance, calendar = solution.instance, question.calendar
    lanes_by_option: defaultdict[int, list[Lane]] = defaultdict(list)
    for (place, lane), on_lane in sorted(by_lane(instance, solution.placed).items()):
        bin_, end = instance.bins[place], calendar.moment(solution.lane_ends[place, lane])
        billed = sum(instance.ways[each.way].billed_hours * each.runs for each in on_lane)
        usable = bin_.block_for(billed).usable_hours if bin_.blocks else None
        for number in sorted({instance.ways[each.way].option for each in on_lane}):
            candidate = question.candidates[number]
            closes = calendar.moment(bin_.closes) if bin_.closes < candidate.planned_until else None
            of_option = [each for each in on_lane if instance.ways[each.way].option == number]
            runs = _runs_in_order(question, instance, of_option)
            counted = sum_of([candidate.costs[each.work].billed.scaled(each.runs) for each in runs])
            lanes_by_option[number].append(Lane(calendar.moment(bin_.opens), closes, runs, end, counted, usable))
    spent = option_usd(instance, solution.placed)
    placements = tuple(
        _placement(candidate, tuple(lanes), spent[number], limits.confidence, calendar)
        for number, candidate, lanes in at_shared_commitments(question, lanes_by_option)
    )
    usd = sum_of([Interval(each.usd.value, each.usd.low, each.usd.high) for each in placements])
    return CampaignPlan(
        start=calendar.moment(0.0),
        deadline=None if limits.deadline is None else calendar.moment(question.instance.deadline),
        budget_usd=budget,
        confidence=limits.confidence,
        placements=placements,
        usd=derived(usd, Unit.USD, *(each.usd for each in placements), source="sum over the placements"),
        credits=question.credits,
        hours=_hours(question, solution, sorted(lanes_by_option)),
        gap=solution.gap,
    )


def _runs_in_order(
    question: PlacementQuestion, instance: Instance, on_lane: Sequence[RunsOnLane]
) -> tuple[LaneRuns, ...]:
    """Return the runs of an option on a lane by phase, and within a phase by the order of the groups (priority)."""
    runs = []
    ways = [(instance.ways[each.way], each.runs) for each in on_lane]
    for way, count in sorted(ways, key=lambda pair: (instance.groups[pair[0].group].phase, pair[0].group)):
        group = question.groups[way.group]
        hours = run_hours(question.candidates[way.option], group.work)
        runs.append(LaneRuns(group.name, count, group.work, hours, group.phase))
    return tuple(runs)


def _hours(question: PlacementQuestion, solution: Solution, options: Sequence[int]) -> Quantity:
    """Return the likely end of the last run. Its range is that of the row or of the samples (`plan_figures.py`)."""
    parts = [run_hours(question.candidates[number], 1.0) for number in options]
    return derived(Interval.exact(solution.hours), Unit.HOURS, *parts, source="until the end of the last run")


def _placement(
    candidate: PlacementCandidate, lanes: tuple[Lane, ...], usd: float, confidence: float, calendar: Calendar
) -> Placement:
    """Return the runs of an option, given the solver's cost."""
    option, cost = candidate.alone, placed_cost(candidate, lanes, usd, confidence=confidence)
    opens, ends = sorted(lane.opens for lane in lanes), sorted(lane.end for lane in lanes)
    at_once = max(bisect_right(opens, moment) - bisect_right(ends, moment) for moment in opens)
    return Placement(
        option=option.id,
        name=_name(candidate, at_once),
        lanes=lanes,
        nodes=at_once * (option.nodes or 0),
        start=min(lane.opens for lane in lanes),
        end=max(lane.end for lane in lanes),
        usd=cost.usd,
        hourly_share=cost.hourly_share,
        rent=cost.rent,
        payer=candidate.payer,
        time=option.time,
        earliest_start=candidate.earliest,
        queued=candidate.queued,
        most_hours=None if math.isinf(candidate.most_node_hours) else candidate.most_node_hours / (option.nodes or 1),
        doubtful=bool(option.doubts),
        price_stale=bool(option.price_stale),
        price_refreshed=option.price_refreshed,
        causes=option.error_causes,
        price_cause=price_cause(option),
        between=_between(candidate, lanes, calendar),
    )


def _name(candidate: PlacementCandidate, at_once: int) -> str:
    """Return the option's name, with how many runs the plan has at once there."""
    bare = candidate.estimated.option.display_name or candidate.alone.id
    return bare if at_once < 2 else with_at_once(bare, at_once)


def _between(candidate: PlacementCandidate, lanes: tuple[Lane, ...], calendar: Calendar) -> BetweenTurns | None:
    """Return when the machines are free of others' turns, if the plan does what the option's row does; else None.

    The row deals its equal runs, which are all runs of the campaign, to the gaps in which they end first. A plan that
    likely ends later deals them differently.
    """
    row, between = candidate.alone, candidate.alone.between_turns
    if between is None or row.campaign_hours is None or sum(lane.count for lane in lanes) != between.runs:
        return None
    row_end = calendar.moment(row.wait_hours + row.campaign_hours.value) + AS_LATE
    is_equal = len({runs.work for lane in lanes for runs in lane.runs}) == 1
    return between if is_equal and max(lane.end for lane in lanes) <= row_end else None
