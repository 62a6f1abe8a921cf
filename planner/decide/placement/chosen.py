"""A solution as a plan with dates, ranges and chances."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.cloud.bill import BilledTrainings
from planner.decide.campaign.bills_by_hours import cost_by_hours
from planner.decide.campaign.calendar import Calendar
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.campaign.campaign_plan import CampaignPlan, Lane, PlacedRuns, Placement
from planner.decide.campaign.side_by_side import with_at_once
from planner.decide.outcomes.option_outcomes import TimedOption, price_cause
from planner.decide.outcomes.outcomes import ROUNDING_HOURS, Outcomes, drawn_budget
from planner.decide.placement.instance import Instance, Placed, Solution, measured, option_usd
from planner.decide.placement.plan_figures import billed_as, row_of, with_median
from planner.decide.placement.played_plan import played_plan
from planner.decide.placement.question import STANDARD_ERROR, Candidate, Question, run_hours
from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.simulated import SimulatedCampaign
from planner.model.currency import Currency
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived
from planner.quantity.interval import Interval, sum_of

LIKELY = Quantity(value=1.0, low=1.0, high=1.0, unit=Unit.HOURS, basis=Basis.MODELLED, source="the likely hours")
"""Lengths of a plan are multiples of its likely one."""


@dataclass(frozen=True)
class Chosen:
    """A plan, with the chances that it keeps the limits; None without that limit."""

    plan: CampaignPlan
    asked: Instance
    """What was solved: the question, perhaps with tighter hours and costs."""
    calendar: Calendar
    played: Outcomes
    chance_deadline: float | None
    """That every run ends by the deadline, and before its machines are taken away."""
    chance_windows: float | None
    """The latter alone; None where none are."""
    chance_budget: float | None
    chance_both: float | None
    """That it keeps every limit at once, its windows too; None without any."""
    row: CampaignOption | None = None
    """The option whose row in `compare` is this plan: its figures count. None: the simulation's do."""
    beyond_row: str | None = None
    """What a plan on one option counts, and its row in `compare` does not."""
    currency: Currency | None = None
    """The plan's own."""

    @property
    def kept(self) -> bool:
        """Return whether it keeps all limits, at once, with the plan's confidence."""
        return self.keeps(self.plan.confidence)

    def keeps(self, confidence: float) -> bool:
        """Return whether it keeps all limits, at once, with this confidence."""
        row = self.row
        each = row is None or (row.not_allowed is None and bool(row.meets_deadline) and bool(row.within_budget))
        return each and self.least_chance >= confidence - STANDARD_ERROR

    @property
    def usd_confident(self) -> float:
        """Return the USD that remain to pay, which it stays under with the plan's confidence."""
        if self.row is not None and self.row.usd_confident is not None:
            return self.row.usd_confident
        return self.played.usd_at(self.plan.confidence)

    @property
    def local_confident(self) -> float | None:
        """Return the same in the plan's own currency, with the doubt of its rate; None without one."""
        if self.currency is None:
            return None
        if self.row is not None and self.row.local_confident is not None:
            return self.row.local_confident
        return self.played.local_at(self.currency, self.plan.confidence)

    @property
    def hours_confident(self) -> float:
        """Return the hours from the campaign's start within which it is done with the plan's confidence."""
        return self.played.done_within(self.plan.confidence)

    @property
    def done_by_confident(self) -> date | None:
        """Return the day by which it is done with the plan's confidence; None: its windows do not hold it so surely."""
        if self.row is not None:
            return self.row.done_by_confident
        return None if math.isinf(self.hours_confident) else self._day(self.hours_confident)

    def _day(self, hours: float) -> date:
        return self.calendar.moment(max(0.0, hours - ROUNDING_HOURS)).date()

    def summary(self) -> SimulatedCampaign:
        """Return chances and spreads, with the last days in the plan's zone."""
        deadline, budget = self.plan.deadline, self.plan.budget_usd
        until = None if deadline is None else self.calendar.hours(deadline)
        return self.played.summary(until=until, budget=budget, day=self._day)

    @property
    def least_chance(self) -> float:
        """Return the chance that it keeps all limits at once; 1 without any."""
        return 1.0 if self.chance_both is None else self.chance_both


def chosen_plan(
    question: Question, solution: Solution, limits: CampaignLimits, budget: Quantity | None, *, asked: Instance
) -> Chosen:
    """Return the plan of a solution by the middle values, and its chances by simulation (`played_plan.py`)."""
    plan = _plan(question, by_middle_values(question, solution), limits, budget)
    options = [candidate.alone for candidate in question.candidates]
    row, beyond = row_of(plan, options, limits)
    closed = any(each.closed for each in plan.placements)
    if row is not None:
        played = next(candidate.outcomes for candidate in question.candidates if candidate.alone is row)
        windows = played.chance_held() if closed else None
        chances = (row.chance_deadline, windows, row.chance_budget, row.chance_both)
        return Chosen(
            billed_as(plan, row), asked, question.calendar, played, *chances, row, currency=question.currency
        )  # fmt: skip
    played = played_plan(plan)
    limit, until = drawn_budget(budget), question.instance.deadline
    limited = closed or budget is not None or limits.deadline is not None
    return Chosen(
        with_median(plan, played), asked, question.calendar, played,
        chance_deadline=None if limits.deadline is None else played.chance_by(until),
        chance_windows=played.chance_held() if closed else None,
        chance_budget=None if budget is None else played.chance_within(limit),
        chance_both=played.chance_of_both(hours=until, budget=limit) if limited else None,
        beyond_row=beyond, currency=question.currency,
    )  # fmt: skip


def by_middle_values(question: Question, solution: Solution) -> Solution:
    """Return a solution of other hours and costs by the question's own, in the blocks that were bought.

    Whether its runs end within their windows is for the samples to say.
    """
    middle = {(way.group, way.option): way for way in question.instance.ways}
    bins = tuple(replace(spot, opens=question.instance.bins[spot.origin].opens) for spot in solution.instance.bins)
    ways = tuple(
        replace(middle[way.group, way.option], bin=way.bin, billed_hours=way.billed_hours)
        if bins[way.bin].blocks else replace(middle[way.group, way.option], bin=way.bin)
        for way in solution.instance.ways
    )  # fmt: skip
    instance = replace(solution.instance, ways=ways, bins=bins)
    endless = replace(instance, bins=tuple(replace(spot, closes=math.inf) for spot in bins))
    taken = measured(endless, solution.placed)
    assert taken is not None, "it has no windows"
    return replace(solution, instance=instance, usd=taken[0], to_pay=taken[1], hours=taken[2][-1], ends=taken[2])


def _plan(question: Question, solution: Solution, limits: CampaignLimits, budget: Quantity | None) -> CampaignPlan:
    instance, calendar = solution.instance, question.calendar
    lanes: dict[tuple[int, int], list[Placed]] = defaultdict(list)
    for one in solution.placed:
        lanes[instance.ways[one.way].bin, one.lane].append(one)
    of_option: dict[int, list[Lane]] = defaultdict(list)
    for (place, _), of_lane in sorted(lanes.items()):
        spot, end = instance.bins[place], _end(solution, place, of_lane)
        for number in sorted({instance.ways[one.way].option for one in of_lane}):
            candidate = question.candidates[number]
            runs = [_runs(question, solution, one) for one in of_lane if instance.ways[one.way].option == number]
            closes = calendar.moment(spot.closes) if spot.closes < candidate.planned_until else None
            billed = sum(instance.ways[one.way].billed_hours * one.runs for one in of_lane)
            usable = spot.block_for(billed).usable_hours if spot.blocks else None
            opens, ends = calendar.moment(spot.opens), calendar.moment(end)
            of_option[number].append(Lane(opens, closes, tuple(_in_order(question, runs)), ends, usable))
    spent = option_usd(instance, solution.placed)
    placements = tuple(
        _placement(question.candidates[number], tuple(of_option[number]), spent[number], limits.confidence)
        for number in sorted(of_option)
    )
    usd = sum_of([Interval(one.usd.value, one.usd.low, one.usd.high) for one in placements])
    return CampaignPlan(
        start=calendar.moment(0.0),
        deadline=None if limits.deadline is None else calendar.moment(question.instance.deadline),
        budget_usd=budget,
        confidence=limits.confidence,
        placements=placements,
        usd=derived(usd, Unit.USD, *(one.usd for one in placements), source="sum over the placements"),
        credits=question.credits,
        hours=_hours(question, solution),
        gap=solution.gap,
    )


def _end(solution: Solution, place: int, of_lane: list[Placed]) -> float:
    """Return when the last run of a lane ends; a phase begins when the one before has ended everywhere."""
    instance, end = solution.instance, solution.instance.bins[place].opens
    for phase, before in enumerate((0.0, *solution.ends[:-1])):
        ways = [(instance.ways[one.way], one.runs) for one in of_lane]
        load = sum(way.hours * runs for way, runs in ways if instance.groups[way.group].phase == phase)
        end = max(end, before) + load if load > 0 else end
    return end


def _runs(question: Question, solution: Solution, one: Placed) -> PlacedRuns:
    way = solution.instance.ways[one.way]
    group = question.groups[way.group]
    hours = run_hours(question.candidates[way.option], group.work)
    return PlacedRuns(group.name, one.runs, group.work, hours, group.phase)


def _in_order(question: Question, runs: list[PlacedRuns]) -> list[PlacedRuns]:
    """Return the runs of a lane by their phase, and in it by the order of the groups: by priority."""
    names = [group.name for group in question.groups]
    return sorted(runs, key=lambda one: (one.phase, names.index(one.group)))


def _hours(question: Question, solution: Solution) -> Quantity:
    """Return the end of the last run, with the range of the widest option in the plan."""
    used = sorted({solution.instance.ways[one.way].option for one in solution.placed})
    candidates = [question.candidates[number] for number in used]
    parts = [run_hours(candidate, 1.0) for candidate in candidates]
    bands = [TimedOption.of(each.alone).decided(hours) for each, hours in zip(candidates, parts, strict=True)]
    low, high = min(band.low / band.value for band in bands), max(band.high / band.value for band in bands)
    late = Interval(solution.hours, solution.hours * low, solution.hours * high)
    return derived(late, Unit.HOURS, *parts, source="until the end of the last run")


def _placement(candidate: Candidate, lanes: tuple[Lane, ...], usd: float, confidence: float) -> Placement:
    """Return the runs of an option; the range of its cost is that of the bill of as many equal runs."""
    option, estimated = candidate.alone, candidate.estimated
    runs = sum(lane.count for lane in lanes)
    work = sum(one.runs * one.work for lane in lanes for one in lane.runs) / runs
    together = BilledTrainings(runs, len(lanes), candidate.longer(1.0, confidence))
    billed = campaign_bill(estimated, together, (), share=work)
    usd_of_bill = billed.usd if billed is not None else None
    by_hours = cost_by_hours(estimated, together, share=work, hours=LIKELY, usd=usd_of_bill, credits=())
    low, high, basis = usd, usd, Basis.MODELLED
    if billed is not None and billed.usd.value > 0:
        low, high = (usd * end / billed.usd.value for end in (billed.usd.low, billed.usd.high))
        basis = billed.usd.basis
    source = f"{runs} runs on {len(lanes)} sets of machines of {option.id}"
    cost = Quantity(value=usd, low=min(usd, low), high=max(usd, high), unit=Unit.USD, basis=basis, source=source)
    opens, ends = sorted(lane.opens for lane in lanes), sorted(lane.end for lane in lanes)
    at_once = max(bisect_right(opens, moment) - bisect_right(ends, moment) for moment in opens)
    return Placement(
        option=option.id,
        name=_name(candidate, at_once),
        lanes=lanes,
        nodes=at_once * (option.nodes or 0),
        start=min(lane.opens for lane in lanes),
        end=max(lane.end for lane in lanes),
        usd=cost,
        hourly_share=_hourly_share(candidate, lanes, usd),
        cost=by_hours,
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
        between=_between(candidate, lanes),
    )


def _name(candidate: Candidate, at_once: int) -> str:
    """Return the option's name; where it says how many run at once, as many as the plan runs there."""
    named, bare = candidate.alone.display_name, candidate.estimated.option.display_name
    if not bare or named == bare:
        return candidate.alone.display_name or candidate.alone.id
    return bare if at_once < 2 else with_at_once(bare, at_once)


def _between(candidate: Candidate, lanes: tuple[Lane, ...]) -> BetweenTurns | None:
    """Return when the machines are free of others' turns, where the option does all runs and they are equal."""
    between = candidate.alone.between_turns
    whole = between is not None and sum(lane.count for lane in lanes) == between.runs
    return between if whole and len({runs.work for lane in lanes for runs in lane.runs}) == 1 else None


def _hourly_share(candidate: Candidate, lanes: tuple[Lane, ...], usd: float) -> float:
    """Return the share of a cost that grows with the hours of its runs.

    By the hour: what its runs add; of a term: all of it where a set is used for longer than the least; of a block, a
    window or a service nothing.
    """
    machine, costs = candidate.estimated.candidate, next(iter(candidate.costs.values()))
    if machine is None or machine.option.window is not None or costs.terms.blocks or usd <= 0:
        return 0.0
    if costs.lane_usd_per_hour > 0:
        busy = max(sum(one.runs * candidate.costs[one.work].billed.value for one in lane.runs) for lane in lanes)
        return 1.0 if busy > costs.terms.minimum_hours else 0.0
    added = sum(candidate.costs[one.work].run_usd * one.runs for lane in lanes for one in lane.runs)
    return min(1.0, added / usd)
