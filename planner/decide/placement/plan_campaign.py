"""`planner campaign`: the best mix of a plan's options under its limits, at its confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from planner.cost.cloud.price_age import renewal
from planner.decide.campaign.alone import Alone
from planner.decide.options.rollout_note import rollout_note
from planner.decide.placement.as_its_row import as_its_row
from planner.decide.placement.chosen import Chosen, chosen_plan
from planner.decide.placement.earliest import earliest_of
from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Instance, Objective
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.question import Question, at_confidence, question_of
from planner.decide.placement.solve import front, solve
from planner.errors import InputError
from planner.model.answer.documents import CampaignDocument, FeasiblePlan, PlacedRuns
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.plan.plan import Prefer

EFFORT = 10.0
"""Of the plan, of what is nearest where none keeps the limits, and of the other plans of a front."""
LEAST_EFFORT = 0.1
"""Of each plan that is tried, however much those before it have spent."""
STEPS = 10
"""Plans that are tried, each tighter than the one before, until the confidence holds."""
CLOSER = 0.7
"""By which factor the chance to miss a limit falls from one to the next."""
MOST_CONFIDENCE = 0.995
MOST_PAIRS = 3_000
"""Of groups and options, each of which is priced; these take some five seconds."""


@dataclass(frozen=True)
class Preferred:
    """What `compare` puts first where one option does all runs, and whether a mix is better than it."""

    option: CampaignOption
    keeps_limits: bool
    beaten_by: Callable[[Chosen], bool]
    """Whether a mix is better at the confidence."""
    gives_way_to: Callable[[Chosen], bool]
    """Whether `compare` recommends a mix in its place: it is better by more than two machines are worth the work."""


class Tried(NamedTuple):
    """The best plan that keeps the limits with the confidence, and the surest of those that do not."""

    best: Chosen | None
    unsure: Chosen | None


def planned_campaign(
    document: CampaignDocument, alone: Alone, catalog: Catalog, *, today: date, objective: Objective | None = None,
    preferred: Preferred | None = None,
) -> CampaignDocument:  # fmt: skip
    """Return the document with the best plan, or with the binding limit and the plan without it.

    Solved by the middle values; where a chance is below the confidence, again with hours that are kept with it and a
    smaller budget, until it holds. Without an `objective` the plan is what `compare` recommends (`preferred`): its
    first option with all runs, unless a mix is better at the confidence. InputError where there are more pairs of
    groups and options than are priced.
    """
    pairs = len(alone.groups) * len(alone.options)
    if pairs > MOST_PAIRS:
        raise InputError(
            f"campaign: {len(alone.groups)} groups on {len(alone.options)} options are {pairs:,} pairs to price; at "
            f"most {MOST_PAIRS:,}.",
            fix="List fewer options, or join groups of equal work.",
        )
    asked = objective or (Objective.TIME if alone.limits.prefer is Prefer.TIME else Objective.COST)
    question = question_of(alone, catalog, today=today)
    given = {
        "objective": asked.value,
        "confidence": alone.limits.confidence,
        "notes": document.notes,
        "options": _with_starts(document, question, alone, catalog, today),
    }
    if alone.limits.deadline is not None and alone.limits.deadline < today:
        past = f"the deadline {alone.limits.deadline} has passed"
        return document.model_copy(
            update=given | {"feasible": False, "binding_limits": ("deadline",), "notes": (*document.notes, past)}
        )
    decides = Objective.TIME if asked is Objective.TIME else Objective.COST
    try:
        found = _or_its_row(_at_confidence(question, alone, decides, Effort(EFFORT)), question, alone, decides)
        (best, unsure), said = _agreed(found, alone, preferred, decides, catalog, today=today, follow=objective is None)
        if best is None:
            return document.model_copy(update=given | _nothing(question, alone, unsure))
        points: tuple[FeasiblePlan, ...] = ()
        phases = rollout_note([option for option in document.options if option.id in best.options])
        notes = (*document.notes, *filter(None, [phases]), *said, *plan_notes(best))
        if asked is Objective.FRONT:
            points_found, whole = front(question.instance, Effort(EFFORT))
            plans = [
                chosen_plan(question, one, alone.limits, alone.budget, asked=question.instance) for one in points_found
            ]
            kept = [one for one in plans if one.keeps(alone.limits.confidence)]
            points = tuple(feasible_plan(one) for one in _each_faster(kept))
            notes += () if whole else ("the front is not whole: it holds its cheapest plans alone",)
    except SolverStoppedError:
        late = "the solver stopped at its limit: no plan was found, and none was ruled out"
        return document.model_copy(update=given | {"feasible": False, "notes": (*document.notes, late)})
    shown = feasible_plan(best)
    return document.model_copy(
        update=given | {name: getattr(shown, name) for name in FeasiblePlan.model_fields}
        | {"feasible": True, "front": points, "notes": notes}
    )  # fmt: skip


def _or_its_row(tried: Tried, question: Question, alone: Alone, decides: Objective) -> Tried:
    """Return what was tried, with a plan on one option shared out as its row in `compare` does where that is no worse.

    The solver counts in hours that single runs stay under; at the confidence of the whole plan, more sets of machines
    may cost less.
    """
    best = tried.best
    if best is None or best.row is not None or len(best.plan.placements) > 1:
        return tried
    name = best.plan.placements[0].option
    shared = as_its_row(question, name)
    if shared is None:
        return tried
    row = chosen_plan(question, shared, alone.limits, alone.budget, asked=best.asked)
    if row.row is None or not row.keeps(alone.limits.confidence):
        return tried
    waiting = 0.0 if decides is Objective.TIME else alone.limits.waiting_usd_per_hour or 0.0
    worth = [
        each.hours_confident if decides is Objective.TIME else each.usd_confident + waiting * each.hours_confident
        for each in (row, best)
    ]
    return Tried(row, tried.unsure) if worth[0] <= worth[1] else tried


def _agreed(
    found: Tried, alone: Alone, preferred: Preferred | None, decides: Objective, catalog: Catalog, *, today: date,
    follow: bool,
) -> tuple[Tried, tuple[str, ...]]:  # fmt: skip
    """Return the plan that `compare` recommends too, and a note where it is another one."""
    best = found.best
    if preferred is None:
        return found, ()
    first = preferred.option
    if best is not None and len(best.plan.placements) > 1 and preferred.beaten_by(best):
        return found, () if preferred.gives_way_to(best) else (_alone_instead(first),)
    if best is not None and [one.option for one in best.plan.placements] == [first.id]:
        return found, ()
    name = first.display_name or first.id
    if not follow or (best is not None and not preferred.keeps_limits):
        other = preferred.keeps_limits and best is not None
        note = f"compare recommends {name} for all runs, by its rule of ties and the cost at the confidence"
        return found, (note,) if other else ()
    rows = tuple(first if one.id == first.id else one for one in alone.options)
    question = question_of(replace(alone, options=rows), catalog, today=today)
    number = next((n for n, one in enumerate(question.candidates) if one.alone.id == first.id), None)
    ways = tuple(way for way in question.instance.ways if way.option == number)
    if not ways:
        return found, ()
    there = replace(question, instance=replace(question.instance, ways=ways))
    only = _or_its_row(_at_confidence(there, alone, decides, Effort(EFFORT)), there, alone, decides)
    if only.best is not None:
        return only, ()
    if best is None:
        surest = [one for one in (found.unsure, only.unsure) if one is not None]
        return Tried(None, max(surest, key=lambda one: one.least_chance, default=None)), ()
    return found, (
        f"compare recommends {name} for all runs: turns, windows or waits of the plan leave no room for them",
    )


def _alone_instead(option: CampaignOption) -> str:
    name = option.display_name or option.id
    return f"compare recommends {name} for all runs: a mix must cost 5 % less, and not be over five times slower"


def _each_faster(plans: Sequence[Chosen]) -> Iterator[Chosen]:
    """Yield the plans of a front, the cheapest first, that are faster than all before them by their medians too."""
    least = math.inf
    for one in plans:
        if one.plan.hours.value < least:
            least = one.plan.hours.value
            yield one


def _with_starts(
    document: CampaignDocument, question: Question, alone: Alone, catalog: Catalog, today: date
) -> tuple[CampaignOption, ...]:
    """Return the options with their earliest start and quota."""
    return tuple(
        option.model_copy(
            update={
                "earliest_start_hours": earliest_of(each, alone.limits, catalog, question.calendar, today=today),
                "quota": each.candidate.quota if each.candidate is not None else None,
            }
        )
        for option, each in zip(document.options, alone.estimated.options, strict=True)
    )


def surest_plan(alone: Alone, catalog: Catalog, objective: Objective, *, today: date, effort: Effort) -> Chosen | None:
    """Return the best plan that keeps the limits with the confidence, else the surest of those that were tried.

    None: no plan keeps them in the middle, or the effort found none. A deadline that has passed is kept by none.
    """
    if alone.limits.deadline is not None and alone.limits.deadline < today:
        return None
    try:
        best, unsure = _at_confidence(question_of(alone, catalog, today=today), alone, objective, effort)
        return best or unsure
    except SolverStoppedError:
        return None


def _at_confidence(question: Question, alone: Alone, objective: Objective, effort: Effort) -> Tried:
    """Return the best plan that keeps the limits with the confidence, and the surest of those that do not."""
    confidence = alone.limits.confidence
    surest, hours, usd = None, None, None
    for _ in range(STEPS):
        asked = at_confidence(question, hours=hours, usd=usd)
        found = solve(asked, objective, effort.at_least(LEAST_EFFORT))
        if found is None:
            return Tried(None, surest)
        chosen = chosen_plan(question, found, alone.limits, alone.budget, asked=asked)
        if chosen.keeps(confidence):
            return Tried(chosen, surest)
        surest = chosen if surest is None or chosen.least_chance > surest.least_chance else surest
        in_time = min(chance for chance in (chosen.chance_deadline, chosen.chance_windows, 1.0) if chance is not None)
        in_budget = 1.0 if chosen.chance_budget is None else chosen.chance_budget
        each = (
            in_time >= confidence and in_budget >= confidence
        )  # and both together are not: the less sure is tightened
        if in_time < confidence or (each and in_time <= in_budget):
            hours = confidence if hours is None else _surer(hours)
        if in_budget < confidence or (each and in_budget <= in_time):
            usd = (1 + confidence) / 3 if usd is None else _surer(usd)
    return Tried(None, surest)


def _surer(chance: float) -> float:
    return min(MOST_CONFIDENCE, 1 - (1 - chance) * CLOSER)


def _nothing(question: Question, alone: Alone, unsure: Chosen | None) -> dict[str, object]:
    """Return which limits bind, and the plan without them."""
    if unsure is not None:
        return {"feasible": False, "binding_limits": ("confidence",), "nearest_feasible": feasible_plan(unsure)}
    free = question.instance
    ways: list[tuple[tuple[str, ...], Instance]] = [
        (("deadline",), replace(free, deadline=math.inf)),
        (("budget",), replace(free, budget=math.inf)),
        (("deadline", "budget"), replace(free, deadline=math.inf, budget=math.inf)),
    ]
    found: list[tuple[float, tuple[str, ...], Chosen]] = []
    for names, loose in ways:
        late, dear = "deadline" in names, "budget" in names
        if (late and math.isinf(free.deadline)) or (dear and math.isinf(free.budget)):
            continue
        if len(names) == 2 and found:
            break
        near = solve(loose, Objective.TIME if late and not dear else Objective.COST, Effort(EFFORT / 3))
        if near is not None:
            over = near.hours / free.deadline if late else near.to_pay / max(free.budget, 1e-9)
            found.append((over, names, chosen_plan(question, near, alone.limits, alone.budget, asked=loose)))
    if found:
        found.sort(key=lambda one: one[0])
        names, chosen = tuple(name for _, one, _ in found for name in one), found[0][2]
        return {"feasible": False, "binding_limits": names, "nearest_feasible": feasible_plan(chosen)}
    codes = tuple(dict.fromkeys(reason.code.value for _, reason in question.left_out)) or ("capacity",)
    return {"feasible": False, "binding_limits": codes}


def feasible_plan(chosen: Chosen) -> FeasiblePlan:
    """Return a plan as the answers hold it."""
    plan = chosen.plan
    placements = []
    for one in plan.placements:
        groups: dict[str, int] = {}
        for lane in one.lanes:
            for runs in lane.runs:
                groups[runs.group] = groups.get(runs.group, 0) + runs.runs
        placements.append(
            PlacedRuns(
                option=one.option, name=one.name, runs=one.runs, nodes=one.nodes, start=one.start.isoformat(),
                end=one.end.isoformat(), usd=one.usd.value, groups=groups, earliest_start_hours=one.earliest_start,
            )
        )  # fmt: skip
    return FeasiblePlan(
        campaign_usd=plan.usd, campaign_hours=plan.hours, chance_deadline=chosen.chance_deadline,
        chance_budget=chosen.chance_budget, chance_both=chosen.chance_both,
        chance_windows=chosen.chance_windows, usd_confident=chosen.usd_confident,
        local_confident=chosen.local_confident, credits_usd=plan.credits_usd,
        done_by_confident=chosen.done_by_confident, simulated=chosen.summary(), optimality_gap_pct=100 * plan.gap,
        placements=tuple(placements),
    )  # fmt: skip


def plan_notes(chosen: Chosen, *, evidence: bool = True) -> tuple[str, ...]:
    """Return what the plan rests on that a person must know: its evidence and prices, and what nobody knows."""
    notes, unknown = list[str](), list[str]()
    for one in chosen.plan.placements:
        if one.doubtful and evidence:
            notes.append(f"{one.name}: its measurement is doubtful")
        if one.price_stale and evidence:
            notes.append(f"{one.name}: its price is out of date, {renewal(one.price_refreshed)}")
        if one.earliest_start is None:
            unknown.append(one.name)
    if chosen.beyond_row is not None:
        notes.append(chosen.beyond_row)
    if unknown:
        names = " and ".join([", ".join(unknown[:-1]), unknown[-1]] if len(unknown) > 1 else unknown)
        notes.append(f"when {names} can be had is not known, and no wait is counted")
    return tuple(notes)
