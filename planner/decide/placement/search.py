"""Search for the best plan that keeps its limits with the confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from planner.decide.campaign.alone import Alone
from planner.decide.placement.better import best_of, weighed
from planner.decide.placement.chosen import Chosen, chosen_plan, keeps_each
from planner.decide.placement.effort import Effort
from planner.decide.placement.expiring_credits import closed_at, ends_of_credits, opened_again
from planner.decide.placement.instance import (
    TOLERANCE,
    Instance,
    Objective,
    Solution,
    evaluate,
    in_allocations,
    in_budget,
)
from planner.decide.placement.levels import MOST_CONFIDENCE, Level, halfway, is_looser, tighter
from planner.decide.placement.middle_values import with_values
from planner.decide.placement.milp import SolverStoppedError
from planner.decide.placement.moves import moves
from planner.decide.placement.question import PlacementQuestion, at_confidence
from planner.decide.placement.row_plan import as_its_row
from planner.decide.placement.solve import solve

LEAST_EFFORT = 0.1
"""Effort that each tried level gets at least, whatever was spent before it."""
STEPS = 10
"""Largest number of levels that are tried, each tighter than the one before, until the confidence holds."""
HALVINGS = 4
"""Levels that are tried between the last plan that is not sure enough and the first that is."""
PLAYED = 0.005
"""Effort of playing one plan on the samples."""
MOST_MOVES = 40
"""Plans with moved runs that are played in all."""
MOST_SETS = 4
"""Most sets of machines over which the runs of an option with a term are shared where its row takes more."""
MOST_NEAR = 400
"""Moves up to which a plan's neighbours are listed: that takes at most about 0.1 seconds."""
ABOVE = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98, MOST_CONFIDENCE)
"""Levels of which those above the confidence are tried too. A surer plan may cost less at the confidence."""
SAME_USD, SAME_HOURS = 0.01, 1 / 60


class Tried(NamedTuple):
    """The best plan that keeps the limits with the confidence, and the surest of the plans that do not."""

    best: Chosen | None
    unsure: Chosen | None


class Found(NamedTuple):
    """The solver's plan at a level, and the same plan in the samples."""

    solution: Solution
    chosen: Chosen


def best_plan(question: PlacementQuestion, alone: Alone, objective: Objective, effort: Effort) -> Tried:
    """Return the best plan that keeps the limits with the confidence, and the surest of the plans that do not.

    The solver proposes plans at several levels. All are played on the same samples, together with the best option for
    all runs as its row in `compare` has it. By cost, the best is the one with the least cost at the confidence; by
    time, with the least likely hours. Raises SolverStoppedError if no plan was found and none was ruled out.
    """
    return _Search(question, alone, objective, effort).tried()


@dataclass
class _Search:
    """Plans by the level at which the solver proposed them."""

    question: PlacementQuestion
    alone: Alone
    objective: Objective
    effort: Effort
    found: dict[Level, Found | None] = field(default_factory=dict)
    moved: list[Found] = field(default_factory=list)
    """Plans with moved runs, plans that end before credits expire, and plans that fill their terms."""
    stopped: SolverStoppedError | None = None

    def tried(self) -> Tried:
        """Return the best of the proposed plans and of the best row."""
        confidence = self.alone.limits.confidence
        first = self._at(Level())
        is_limited = first is None or first.chosen.chance_both is not None
        if is_limited:
            self._tighten(confidence)
            for chance in ABOVE if first is not None else ():
                if chance > confidence and not self.effort.spent:
                    self._at(self._both(chance))
        self._use_all_credits(confidence)
        self._ignore_budget(confidence)
        self._fill_terms()
        if is_limited:
            self._move(confidence)
        plans = list({id(each.chosen): each.chosen for each in self._known()}.values())
        unsure = max(
            (plan for plan in plans if not plan.keeps(confidence)), key=lambda plan: plan.least_chance, default=None
        )
        best = self._best([plan for plan in plans if plan.keeps(confidence)])
        if best is None and unsure is None and self.stopped is not None:
            raise self.stopped
        if best is not None and (first is None or not _as_good(best, first.chosen)):
            best = replace(best, plan=replace(best.plan, gap=None))
        return Tried(best, unsure)

    def _use_all_credits(self, confidence: float) -> None:
        """Propose plans whose runs on providers end before their credits expire. The samples count what they pay."""
        for ends, level in product(ends_of_credits(self.question), (Level(), self._both(confidence))):
            asked = self._without_budget(level)
            found = None if self.effort.spent else self._solved(closed_at(ends, self.question, asked))
            if found is not None:
                solution = opened_again(found.solution, asked)
                self._propose(Found(solution, self._chosen(solution, asked)), confidence)

    def _without_budget(self, level: Level) -> Instance:
        """Return the instance at a level without its budget, which the samples hold plans against."""
        return replace(at_confidence(self.question, hours=level.hours, usd=level.usd), budget=math.inf)

    def _ignore_budget(self, confidence: float) -> None:
        """Propose plans that the solver takes to break the budget, because it counts mean prices and lasting credits.

        Each run has its option's mean price of all runs, and credits count that last until all runs are done there.
        """
        if math.isinf(self.question.instance.budget):
            return
        for level in (Level(), Level(confidence)):
            self._propose(None if self.effort.spent else self._solved(self._without_budget(level)), confidence)

    def _propose(self, found: Found | None, confidence: float) -> None:
        """Keep a plan of the solver for an instance without a budget if it keeps the budget in the samples."""
        if found is not None and found.chosen.keeps(confidence):
            self.moved.append(found)

    def _fill_terms(self) -> None:
        """Propose all runs on fewer sets of machines than an option's row takes, whose terms they fill better."""
        asked = self.question.instance
        for number in sorted({way.option for way in asked.ways if asked.bins[way.bin].by_term}):
            for sets in range(1, min(MOST_SETS + 1, self.question.candidates[number].alone.at_once)):
                solution = None if self.effort.spent else as_its_row(self.question, number, most=sets)
                if solution is not None and self._holds_likely(solution):
                    self.effort.spend(PLAYED)
                    self.moved.append(Found(solution, self._chosen(solution, asked)))

    def _holds_likely(self, solution: Solution) -> bool:
        """Return whether a plan keeps the limits at the likely hours and costs, as all plans of the solver do."""
        asked = self.question.instance
        return solution.hours <= asked.deadline * (1 + TOLERANCE) and in_budget(asked, solution.placed)

    def _known(self) -> list[Found]:
        return [*filter(None, self.found.values()), *self.moved]

    def _move(self, confidence: float) -> None:
        """Move runs of the best plan while that makes it better and keeps it sure enough; else of the surest plan.

        The solver counts single runs that are late. In the samples they may make up for each other.
        """
        left = MOST_MOVES

        def rank(found: Found) -> tuple[float, float, float]:
            if not found.chosen.keeps(confidence):
                return (1.0, -found.chosen.least_chance, 0.0)
            return (0.0, *weighed(found.chosen, self.alone, self.objective))

        best = min(self._known(), key=rank, default=None)
        while best is not None and left > 0 and not self.effort.spent and self._has_few_moves(best):
            start = best
            for solution in self._neighbours(start):
                if left == 0 or self.effort.spent:
                    break
                left -= 1
                self.effort.spend(PLAYED)
                near = Found(solution, self._chosen(solution, self.question.instance))
                if rank(near) < rank(best):
                    self.moved.append(near)
                    best = near
                    break
            if best is start:
                return

    def _has_few_moves(self, start: Found) -> bool:
        """Return whether all moves can be looked at. Machines that bins of several widths share cannot be followed."""
        asked = self.question.instance
        return not asked.pools and len(start.solution.placed) * len(asked.ways) <= MOST_NEAR * len(asked.groups)

    def _neighbours(self, start: Found) -> list[Solution]:
        """Return the plans with moved runs, those first that are better at the likely values."""
        instance = with_values(start.solution, self.question.instance)
        near = [found for placed in moves(instance, start.solution.placed) if (found := evaluate(instance, placed))]
        by_time, waiting = self.objective is Objective.TIME, instance.waiting_usd_per_hour
        return sorted(near, key=lambda each: each.hours if by_time else each.to_pay + waiting * each.hours)

    def _best(self, kept: list[Chosen]) -> Chosen | None:
        """Return the best of the plans; the best row with all runs in its place if it is no worse."""
        best = best_of(kept, self.alone, self.objective)
        if best is not None and best.row is not None:
            return best
        row = self._best_row()
        if row is None or best is None:
            return row or best
        return row if best_of([row, best], self.alone, self.objective) is row else best

    def _best_row(self) -> Chosen | None:
        """Return the plan of the best option that keeps the limits as its row in `compare` does; None if none does."""
        question, limits = self.question, self.alone.limits
        numbers = {way.option for way in question.instance.ways}

        def order(number: int) -> tuple[float, ...]:
            row = question.candidates[number].alone
            hours = math.inf if row.campaign_hours is None else row.wait_hours + row.campaign_hours.value
            usd = math.inf if row.usd_confident is None else row.usd_confident + row.waiting_usd
            return (hours, usd, number) if self.objective is Objective.TIME else (usd, hours, number)

        for number in sorted(numbers, key=order):
            shared = as_its_row(question, number) if keeps_each(question.candidates[number].alone) else None
            if shared is not None:
                plan = chosen_plan(question, shared, limits, self.alone.budget, asked=question.instance)
                if plan.row is not None and plan.keeps(limits.confidence):
                    return plan
        return None

    def _tighten(self, confidence: float) -> None:
        """Try tighter levels until a plan is sure enough, then levels between it and the last that is not."""
        unsure, level = None, Level()
        for _ in range(STEPS):
            found = self._at(level)
            if found is None or found.chosen.keeps(confidence):
                break
            unsure, level = level, tighter(level, found.chosen, confidence)
        for _ in range(HALVINGS):
            if unsure is None or self.effort.spent:
                return
            middle = halfway(unsure, level)
            found = self._at(middle)
            if found is None or found.chosen.keeps(confidence):
                level = middle
            else:
                unsure = middle

    def _both(self, chance: float) -> Level:
        asked = self.question.instance
        return Level(chance, None if math.isinf(asked.budget) else chance)

    def _at(self, level: Level) -> Found | None:
        """Return the best plan at a level; None if none keeps the limits there, or the solver found none."""
        if level in self.found:
            return self.found[level]
        asked = at_confidence(self.question, hours=level.hours, usd=level.usd)
        found = None
        looser = [other for other in self.found if is_looser(other, level)]
        if all(self.found[other] is not None for other in looser):
            found = self._still_best(asked, looser) or self._solved(asked)
        self.found[level] = found
        return found

    def _still_best(self, instance: Instance, looser: list[Level]) -> Found | None:
        """Return the cheapest plan of looser levels, if it keeps the limits of this level at the same cost."""
        if self.objective is Objective.TIME or instance.waiting_usd_per_hour:
            return None
        for other in reversed(looser):
            known = self.found[other]
            if known is not None and _holds(with_values(known.solution, instance), known.solution):
                return known
        return None

    def _solved(self, instance: Instance) -> Found | None:
        try:
            solution = solve(instance, self.objective, self.effort.at_least(LEAST_EFFORT))
        except SolverStoppedError as error:
            self.stopped = error
            return None
        if solution is None:
            return None
        return Found(solution, self._chosen(solution, instance))

    def _chosen(self, solution: Solution, instance: Instance) -> Chosen:
        return chosen_plan(self.question, solution, self.alone.limits, self.alone.budget, asked=instance)


def _holds(instance: Instance, known: Solution) -> bool:
    """Return whether a plan keeps the limits of an instance at no more than its cost."""
    moved = evaluate(instance, known.placed)
    if moved is None or moved.hours > instance.deadline * (1 + TOLERANCE):
        return False
    as_cheap = moved.to_pay <= known.to_pay + SAME_USD
    return as_cheap and in_budget(instance, known.placed) and in_allocations(instance, known.placed)


def _as_good(plan: Chosen, likely: Chosen) -> bool:
    """Return whether a plan is as good as the best one at the likely values, so that the solver's bound is its own."""
    usd, hours = plan.plan.usd.value - likely.plan.usd.value, plan.plan.hours.value - likely.plan.hours.value
    return usd <= SAME_USD and hours <= SAME_HOURS
