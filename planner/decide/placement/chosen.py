"""A solution as a plan with dates, ranges and chances."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from planner.cost.cloud.bill import Work
from planner.decide.campaign.campaign import campaign_bill
from planner.decide.campaign.campaign_plan import CampaignPlan, Lane, PlacedRuns, Placement
from planner.decide.placement.instance import Placed, Solution, option_usd
from planner.decide.placement.question import Candidate, Question, decided_hours, run_hours
from planner.duration.runtime_inputs import is_preempted
from planner.model.plan.plan import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.chance import chance_below, doubted
from planner.quantity.conversion import derived
from planner.quantity.interval import Interval, sum_of


@dataclass(frozen=True)
class Chosen:
    """A plan, with the chances that it keeps the limits; None without that limit."""

    plan: CampaignPlan
    chance_deadline: float | None
    chance_budget: float | None

    def keeps(self, confidence: float) -> bool:
        """Return whether it keeps both limits with this confidence."""
        return all(chance is None or chance >= confidence for chance in (self.chance_deadline, self.chance_budget))


def chosen_plan(question: Question, placed: tuple[Placed, ...], solution: Solution, limits: CampaignLimits,
                budget: Quantity | None) -> Chosen:  # fmt: skip
    """Return the plan of a solution by the middle values.

    chance of the deadline = product over the options of the chance that the last of its lanes ends in time: hours of
    one option err together, those of unlike options apart. Of the budget: that of the sum, whose ranges add end to end.
    """
    instance, calendar = solution.instance, question.calendar
    spent = option_usd(instance, placed)
    by_option: dict[int, dict[tuple[int, int], list[Placed]]] = {}
    for one in placed:
        way = instance.ways[one.way]
        by_option.setdefault(way.option, {}).setdefault((way.bin, one.lane), []).append(one)
    placements, chances = [], []
    last, ends = 0.0, _phase_ends(question, solution, placed)
    for number, lanes in sorted(by_option.items()):
        candidate = question.candidates[number]
        made = []
        for (place, _), of_lane in sorted(lanes.items()):
            opens = question.instance.bins[_origin(question, solution, place)].opens
            load, done = _lane_end(question, solution, of_lane, opens, ends)
            last = max(last, done)
            chances.append((number, _in_time(question, solution, candidate, of_lane, opens, done, load)))
            closes = instance.bins[place].closes
            runs = tuple(
                _placed_runs(question, solution, candidate, one) for one in _ordered(question, solution, of_lane)
            )
            made.append(
                Lane(calendar.moment(opens), None if closes == float("inf") else calendar.moment(closes), runs,
                     calendar.moment(done))
            )  # fmt: skip
        placements.append(_placement(candidate, tuple(made), spent[number]))
    usd = sum_of([Interval(one.usd.value, one.usd.low, one.usd.high) for one in placements])
    total = derived(usd, Unit.USD, *(one.usd for one in placements), source="sum over the placements")
    late = _widest(question, solution, placed, last)
    parts = [run_hours(question.candidates[number], 1.0) for number in by_option]
    hours = derived(late, Unit.HOURS, *parts, source="until the end of the last run")
    in_time = None
    if limits.deadline is not None:
        worst: dict[int, float] = {}
        for number, chance in chances:
            worst[number] = min(worst.get(number, 1.0), chance)
        in_time = prod(worst.values())
    held = sum(min(one, instance.credits.get(payer, 0.0)) for payer, one in _by_payer(solution, spent).items()) if (
        instance.credits) else 0.0  # fmt: skip
    decided = sum_of([doubted(one.usd) for one in placements])
    in_budget = None if budget is None else chance_below(decided, budget.value + held)
    deadline = None if limits.deadline is None else calendar.moment(question.instance.deadline)
    plan = CampaignPlan(
        calendar.moment(0.0), deadline, budget, limits.confidence, tuple(placements), total, hours, solution.gap
    )
    return Chosen(plan, in_time, in_budget)


def _by_payer(solution: Solution, spent: dict[int, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for number, usd in spent.items():
        payer = solution.instance.options[number].credits
        if payer is not None:
            found[payer] = found.get(payer, 0.0) + usd
    return found


def _origin(question: Question, solution: Solution, place: int) -> int:
    """Return the bin of the question that a bin of the solution was taken from."""
    spot = solution.instance.bins[place]
    bins = question.instance.bins
    wanted = (spot.pool, spot.nodes, spot.closes)
    ways = {way.option for way in solution.instance.ways if way.bin == place}
    for way in question.instance.ways:
        one = bins[way.bin]
        if way.option in ways and (one.pool, one.nodes, one.closes) == wanted:
            return way.bin
    raise AssertionError("every bin comes from the question")


def _hours(question: Question, solution: Solution, one: Placed) -> float:
    way = solution.instance.ways[one.way]
    return run_hours(question.candidates[way.option], question.groups[way.group].work).value * one.runs


def _lane_end(
    question: Question, solution: Solution, of_lane: list[Placed], opens: float, ends: list[float]
) -> tuple[float, float]:
    load, done = 0.0, opens
    for phase in range(len(ends)):
        of_phase = [
            _hours(question, solution, one) for one in of_lane
            if question.groups[solution.instance.ways[one.way].group].phase == phase
        ]  # fmt: skip
        if of_phase:
            done = max(done, ends[phase - 1] if phase else 0.0) + sum(of_phase)
            load += sum(of_phase)
    return load, done


def _phase_ends(question: Question, solution: Solution, placed: tuple[Placed, ...]) -> list[float]:
    lanes: dict[tuple[int, int], list[Placed]] = {}
    for one in placed:
        lanes.setdefault((solution.instance.ways[one.way].bin, one.lane), []).append(one)
    ends: list[float] = []
    for phase in range(question.instance.phases):
        known = [*ends, 0.0]
        in_phase = []
        for (place, _), of_lane in lanes.items():
            now = [one for one in of_lane if question.groups[solution.instance.ways[one.way].group].phase == phase]
            if now:
                opens = max(question.instance.bins[_origin(question, solution, place)].opens, known[phase - 1] if phase
                            else 0.0)  # fmt: skip
                in_phase.append(opens + sum(_hours(question, solution, one) for one in now))
        ends.append(max(in_phase, default=known[phase - 1] if phase else 0.0))
    return ends


def _in_time(
    question: Question, solution: Solution, candidate: Candidate, of_lane: list[Placed], opens: float, done: float,
    load: float,
) -> float:  # fmt: skip
    """Return the chance that a lane ends by the deadline, and by the end of its window."""
    place = solution.instance.ways[of_lane[0].way].bin
    until = min(question.instance.deadline, solution.instance.bins[place].closes)
    if until == float("inf"):
        return 1.0
    work = decided_hours(candidate, 1.0)
    busy = Interval(load, load * work.low / work.value, load * work.high / work.value)
    wait = candidate.earliest
    moved = doubted(wait) if wait is not None and wait.value > 0 and opens <= wait.value * (1 + 1e-9) else None
    before = moved if moved is not None else Interval.exact(opens)
    idle = Interval.exact(max(0.0, done - load - opens))
    return chance_below(sum_of([before, idle, busy]), until)


def _widest(question: Question, solution: Solution, placed: tuple[Placed, ...], last: float) -> Interval:
    """Return the end of the last run with the range of the widest option in the plan."""
    bands = [
        decided_hours(question.candidates[solution.instance.ways[one.way].option], 1.0) for one in placed
    ]  # fmt: skip
    low, high = min(band.low / band.value for band in bands), max(band.high / band.value for band in bands)
    return Interval(last, last * low, last * high)


def _ordered(question: Question, solution: Solution, of_lane: list[Placed]) -> list[Placed]:
    return sorted(of_lane, key=lambda one: (question.groups[solution.instance.ways[one.way].group].phase,
                                            solution.instance.ways[one.way].group))  # fmt: skip


def _placed_runs(question: Question, solution: Solution, candidate: Candidate, one: Placed) -> PlacedRuns:
    group = question.groups[solution.instance.ways[one.way].group]
    return PlacedRuns(group.name, one.runs, group.work, run_hours(candidate, group.work), group.phase)


def _placement(candidate: Candidate, lanes: tuple[Lane, ...], usd: float) -> Placement:
    """Return the runs of an option; the range of its cost is that of the bill of as many equal runs."""
    option, estimated = candidate.alone, candidate.estimated
    runs = sum(lane.count for lane in lanes)
    work = sum(one.runs * one.work for lane in lanes for one in lane.runs) / runs
    billed = campaign_bill(estimated, Work(runs, len(lanes)), (), share=work)
    low, high, basis = usd, usd, Basis.MODELLED
    if billed is not None and billed.usd.value > 0:
        low, high = (usd * end / billed.usd.value for end in (billed.usd.low, billed.usd.high))
        basis = billed.usd.basis
    source = f"{runs} runs on {len(lanes)} sets of machines of {option.id}"
    cost = Quantity(value=usd, low=min(usd, low), high=max(usd, high), unit=Unit.USD, basis=basis, source=source)
    costs = next(iter(candidate.costs.values()))
    of_runs = sum(candidate.costs[one.work].run_usd * one.runs for lane in lanes for one in lane.runs)
    together = max(sum(1 for other in lanes if other.opens <= lane.opens < other.end) for lane in lanes)
    each = option.usd_marginal
    assert each is not None, "its cost is known"
    machine = estimated.candidate
    return Placement(
        option=option.id,
        name=option.display_name or option.id,
        lanes=lanes,
        nodes=together * (option.nodes or 0),
        start=min(lane.opens for lane in lanes),
        end=max(lane.end for lane in lanes),
        usd=cost,
        usd_per_run=each,
        fixed_usd=max(0.0, usd - of_runs),
        paid_by_hour=costs.lane_usd_per_hour == 0 and machine is not None and machine.option.window is None,
        throughput=option.throughput,
        time=option.time,
        preempted=machine is not None and is_preempted(machine),
        earliest_start=candidate.earliest,
        measured=option.throughput is not None and option.throughput.basis is Basis.MEASURED,
        doubtful=bool(option.doubts),
        price_stale=bool(option.price_stale),
    )  # fmt: skip
