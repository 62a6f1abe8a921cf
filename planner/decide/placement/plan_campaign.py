"""Answer `planner campaign`: the best mix of a plan's options within its limits, at its confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.decide.campaign.alone import Alone
from planner.decide.campaign.chances import with_chances
from planner.decide.options.display_name import name_of
from planner.decide.options.part_notes import fit_notes, quote_notes
from planner.decide.options.rollout_note import rollout_note
from planner.decide.placement.chosen import Chosen, chosen_plan
from planner.decide.placement.earliest import earliest_start
from planner.decide.placement.effort import Effort
from planner.decide.placement.feasible_plan import feasible_plan, plan_notes
from planner.decide.placement.instance import Objective
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.question import PlacementQuestion, question_of
from planner.decide.placement.search import Tried, best_plan
from planner.decide.placement.solve import front
from planner.errors import InputError
from planner.model.answer.documents import CampaignDocument, FeasiblePlan
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import Prefer

EFFORT = 10.0
"""Effort of the search for the plan, and again of the search for a whole front."""
MOST_PAIRS = 3_000
"""Largest number of pairs of groups and options. Pricing them takes about five seconds."""


@dataclass(frozen=True)
class Preferred:
    """The option that `compare` puts first if one option does all runs, and its comparison with a mix."""

    option: CampaignOption
    keeps_limits: bool
    beaten_by: Callable[[Chosen], bool]
    """Function that returns whether a mix is better than the option, at the confidence."""
    why_not: Callable[[Chosen], str | None]
    """Function that returns why `compare` recommends the option over a better mix; None if it recommends the mix."""


def planned_campaign(
    document: CampaignDocument, alone: Alone, catalog: Catalog, *, today: date, objective: Objective | None = None,
    preferred: Preferred | None = None,
) -> CampaignDocument:  # fmt: skip
    """Return the document with the best plan, or with the binding limits and the best plan without them.

    The solver proposes plans for the likely hours and costs, and for larger ones (`search.py`). Without an `objective`
    the plan is the one that `compare` recommends: all runs on its first option (`preferred`), unless a mix is better at
    the confidence. Raises InputError if there are too many pairs of groups and options.
    """
    pairs = len(alone.groups) * len(alone.options)
    if pairs > MOST_PAIRS:
        raise InputError(
            f"campaign: {len(alone.groups)} groups on {len(alone.options)} options are {pairs:,} pairs to price; at "
            f"most {MOST_PAIRS:,}.",
            fix="List fewer options, or join groups of equal work.",
        )
    goal = objective or (Objective.TIME if alone.limits.prefer is Prefer.TIME else Objective.COST)
    question = question_of(alone, catalog, today=today)
    given = {
        "objective": goal.value,
        "confidence": alone.limits.confidence,
        "notes": document.notes,
        "options": _with_starts(document, question, alone, catalog, today),
    }
    if alone.limits.deadline is not None and alone.limits.deadline < today:
        past_note = f"the deadline {alone.limits.deadline} has passed"
        return document.model_copy(
            update=given | {"feasible": False, "binding_limits": ("deadline",), "notes": (*document.notes, past_note)}
        )
    solver_goal = Objective.TIME if goal is Objective.TIME else Objective.COST
    try:
        found = _best_plan(question, alone, catalog, solver_goal, Effort(EFFORT), today=today)
        (best, unsure), difference = _agreed_with_compare(
            found, alone, preferred, solver_goal, catalog, today=today, may_replace=objective is None
        )
        if best is None:
            return document.model_copy(update=given | _nothing(question, alone, unsure, catalog, today=today))
        points: tuple[FeasiblePlan, ...] = ()
        parts = [option for option in document.options if option.id in best.options]
        quotes = quote_notes(parts, start=alone.limits.start)
        notes = (*fit_notes(parts), *quotes, *document.notes, *filter(None, [rollout_note(parts)]), *difference)
        notes += plan_notes(best)
        if goal is Objective.FRONT:
            solutions, complete = front(question.instance, Effort(EFFORT))
            plans = [
                chosen_plan(question, solution, alone.limits, alone.budget, asked=question.instance)
                for solution in solutions
            ]
            sure_plans = [plan for plan in plans if plan.keeps(alone.limits.confidence)]
            points = tuple(feasible_plan(plan) for plan in _without_slower(sure_plans))
            notes += () if complete else ("the front is incomplete: it has only its cheapest plans",)
    except SolverStoppedError:
        stopped_note = "the solver stopped at its limit: no plan was found, and none was ruled out"
        return document.model_copy(update=given | {"feasible": False, "notes": (*document.notes, stopped_note)})
    feasible = feasible_plan(best)
    return document.model_copy(
        update=given | {name: getattr(feasible, name) for name in FeasiblePlan.model_fields}
        | {"feasible": True, "front": points, "notes": notes}
    )  # fmt: skip


def _best_plan(
    question: PlacementQuestion, alone: Alone, catalog: Catalog, objective: Objective, effort: Effort, *, today: date
) -> Tried:
    """Return the best plan; if none is found within the budget, the best without it that keeps it in the samples.

    The solver counts each option's mean price of all runs. Fewer runs may cost less than that.
    """
    tried = best_plan(question, alone, objective, effort)
    if tried.best is not None or math.isinf(question.instance.budget):
        return tried
    found = _without_limits(question, alone, catalog, Objective.COST, late=False, dear=True, today=today)
    if found is None or not found.keeps(alone.limits.confidence):
        return tried
    return tried._replace(best=replace(found, plan=replace(found.plan, gap=None)))


def surest_plan(alone: Alone, catalog: Catalog, objective: Objective, *, today: date, effort: Effort) -> Chosen | None:
    """Return the best plan that keeps the limits with the confidence, else the surest plan that was tried.

    None if the likely hours and costs break the limits, the deadline has passed, or the effort found no plan.
    """
    if alone.limits.deadline is not None and alone.limits.deadline < today:
        return None
    try:
        question = question_of(alone, catalog, today=today)
        best, unsure = _best_plan(question, alone, catalog, objective, effort, today=today)
        return best or unsure
    except SolverStoppedError:
        return None


def _agreed_with_compare(
    found: Tried, alone: Alone, preferred: Preferred | None, solver_goal: Objective, catalog: Catalog, *, today: date,
    may_replace: bool,
) -> tuple[Tried, tuple[str, ...]]:  # fmt: skip
    """Return a plan that `compare` recommends too, or a different plan with a note on the difference.

    If `may_replace`, a found plan that does not beat the option that `compare` puts first is replaced by a plan that
    uses only that option.
    """
    best = found.best
    if preferred is None:
        return found, ()
    preferred_option = preferred.option
    name = name_of(preferred_option)
    if best is not None and len(best.plan.placements) > 1 and preferred.beaten_by(best):
        why = preferred.why_not(best)
        return found, () if why is None else (f"compare recommends {name} for all runs: {why}",)
    if best is not None and [placement.option for placement in best.plan.placements] == [preferred_option.id]:
        return found, ()
    if not may_replace or (best is not None and not preferred.keeps_limits):
        differs = preferred.keeps_limits and best is not None
        note = f"compare recommends {name} for all runs, by its rule of ties and the cost at the confidence"
        return found, (note,) if differs else ()
    options = tuple(preferred_option if option.id == preferred_option.id else option for option in alone.options)
    question = question_of(replace(alone, options=options), catalog, today=today)
    ways = tuple(
        way for way in question.instance.ways if question.candidates[way.option].alone.id == preferred_option.id
    )
    if not ways:
        return found, ()
    only_preferred = replace(question, instance=replace(question.instance, ways=ways))
    replanned = best_plan(only_preferred, alone, solver_goal, Effort(EFFORT))
    if replanned.best is not None:
        return replanned, ()
    if best is None:
        surest = [plan for plan in (found.unsure, replanned.unsure) if plan is not None]
        return Tried(None, max(surest, key=lambda plan: plan.least_chance, default=None)), ()
    return found, (
        f"compare recommends {name} for all runs, but turns, windows or waits in the plan leave no room for them",
    )


def _without_slower(plans: Sequence[Chosen]) -> Iterator[Chosen]:
    """Yield the plans of a front, the cheapest first, whose likely hours are fewer than those of all cheaper plans."""
    least = math.inf
    for plan in plans:
        if plan.plan.hours.value < least:
            least = plan.plan.hours.value
            yield plan


def _with_starts(
    document: CampaignDocument, question: PlacementQuestion, alone: Alone, catalog: Catalog, today: date
) -> tuple[CampaignOption, ...]:
    """Return the options with their earliest start and quota."""
    return tuple(
        option.model_copy(
            update={
                "earliest_start_hours": earliest_start(estimated, catalog, question.calendar, today=today),
                "quota": estimated.candidate.quota if estimated.candidate is not None else None,
            }
        )
        for option, estimated in zip(document.options, alone.estimated.options, strict=True)
    )


def _nothing(
    question: PlacementQuestion, alone: Alone, unsure: Chosen | None, catalog: Catalog, *, today: date
) -> dict[str, object]:
    """Return the binding limits, and the best plan without them, with its chances to keep them."""
    if unsure is not None:
        unsure = replace(unsure, plan=replace(unsure.plan, gap=None))  # proven is only that none costs less
        return {"feasible": False, "binding_limits": ("confidence",), "nearest_feasible": feasible_plan(unsure)}
    asked = question.instance
    without: list[tuple[float, tuple[str, ...], Chosen]] = []
    for names in (("deadline",), ("budget",), ("deadline", "budget")):
        if any(math.isinf(getattr(asked, name)) for name in names):
            continue
        if len(names) == 2 and without:
            break
        late, dear = "deadline" in names, "budget" in names
        objective = Objective.COST if dear else Objective.TIME
        nearest = _without_limits(question, alone, catalog, objective, late=late, dear=dear, today=today)
        if nearest is not None:
            dearer = nearest.usd_confident / max(asked.budget, 1e-9)
            over = nearest.plan.hours.value / asked.deadline if late else dearer
            without.append((over, names, nearest))
    if without:
        without.sort(key=lambda each: each[0])
        binding = tuple(name for _, names, _ in without for name in names)
        return {"feasible": False, "binding_limits": binding, "nearest_feasible": feasible_plan(without[0][2])}
    codes = tuple(dict.fromkeys(code.value for code in question.left_out)) or ("capacity",)
    return {"feasible": False, "binding_limits": codes}


def _without_limits(
    question: PlacementQuestion, alone: Alone, catalog: Catalog, objective: Objective, *, late: bool, dear: bool,
    today: date,
) -> Chosen | None:  # fmt: skip
    """Return the best plan without the deadline (`late`) or the budget (`dear`), with its chances to keep both."""
    loose = _without(alone, late=late, dear=dear, today=today)
    tried = best_plan(question_of(loose, catalog, today=today), loose, objective, Effort(EFFORT / 3))
    found = tried.best or tried.unsure
    if found is None:
        return None
    judged = chosen_plan(question, found.solution, alone.limits, alone.budget, asked=found.asked)
    return replace(judged, plan=replace(judged.plan, gap=found.plan.gap))


def _without(alone: Alone, *, late: bool, dear: bool, today: date) -> Alone:
    """Return the options and limits without the deadline (`late`) or without the budget (`dear`)."""
    update: dict[str, object] = {"deadline": None} if late else {}
    update |= {"budget_usd": None, "budget_local": None} if dear else {}
    limits, budget = alone.limits.model_copy(update=update), None if dear else alone.budget
    options = tuple(
        with_chances(option, limits, budget=budget, today=today, currency=alone.currency) for option in alone.options
    )
    return replace(alone, limits=limits, budget=budget, options=options)
