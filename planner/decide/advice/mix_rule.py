"""Divide the runs over several options again after a measurement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from planner.decide.advice.mix_inputs import with_hours_times
from planner.decide.advice.mixed import MixedCase
from planner.decide.advice.sample_value import Action
from planner.decide.campaign.budget import budget_of
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.learnt import Learnt
from planner.decide.outcomes.option_outcomes import TimedOption
from planner.decide.outcomes.outcomes import drawn_budget
from planner.decide.placement.candidate import PlacementCandidate, run_hours
from planner.decide.placement.chosen import chosen_plan
from planner.decide.placement.instance import Instance, Solution
from planner.decide.placement.question import at_confidence
from planner.model.answer.option_estimate import CampaignOption

MOST_MEASURED = 10
"""Largest number of options whose measurement is valued."""


@dataclass(frozen=True)
class MixRule:
    """Rule of a mix: the best plan without a measurement, and the best plans after each result."""

    mixed: MixedCase
    instance: Instance
    """Instance whose hours are long enough for the plan's confidence."""
    actions: dict[str, Action] = field(default_factory=dict)
    """Plans by name; the first one is best without a result."""
    slices: int = 9
    """Number of results to distinguish. Each takes one run of the solver."""

    @classmethod
    def of(cls, mixed: MixedCase) -> Self | None:
        """Return the rule of a mix; None if its solution takes too much effort."""
        rule = cls(mixed, at_confidence(mixed.question, hours=mixed.case.limits.confidence, usd=None))
        plan = mixed.solved(rule.instance)
        if plan is None:
            return None
        rule._stored_name(plan)
        return rule

    @property
    def first(self) -> str:
        """Return the name of the plan that is best without a result."""
        return next(iter(self.actions))

    def after(self, learnt: Learnt, *, speed: bool) -> str:  # noqa: ARG002 - unused by this rule
        """Return the name of the best plan after a result; the first plan if none keeps the limits then."""
        instance = self.instance
        for option_number, candidate in enumerate(self.mixed.question.candidates):
            if learnt.measurement.shares_a_cause(candidate.alone.id, candidate.alone.error_causes):
                sure = _lengthening(candidate, learnt, self.mixed.case.limits.confidence)
                instance = with_hours_times(
                    instance, option_number, hours_factor=sure, usd_factor=_lengthening(candidate, learnt, 0.5)
                )
        solution = self.mixed.solved(instance)
        return self.first if solution is None else self._stored_name(solution)

    def measurable(self) -> Iterator[tuple[CampaignOption, Paced]]:
        """Yield the options of known speed: first those in the plan, then the others by cost."""
        question, used = self.mixed.question, self.actions[self.first].options
        costs = {way.option: way.usd for way in self.instance.ways if way.group == 0}
        paced = {pace.candidate.id: pace for pace in self.mixed.paced}
        options = [candidate.alone for candidate in question.candidates]
        order = sorted(
            range(len(options)), key=lambda number: (options[number].id not in used, costs.get(number, math.inf))
        )
        for option in (options[number] for number in order[:MOST_MEASURED]):
            if option.id in paced:
                yield option, paced[option.id]

    def _stored_name(self, solution: Solution) -> str:
        """Return a plan's name, and store the plan as an action. Equal plans have the same name."""
        instance, question, case = solution.instance, self.mixed.question, self.mixed.case
        placements = []
        for placed in solution.placed:
            way, bin_ = instance.ways[placed.way], instance.bins[instance.ways[placed.way].bin]
            block = way.billed_hours if bin_.blocks else 0.0
            placements.append((way.option, way.group, bin_.origin, way.bin, placed.lane, placed.runs, block))
        name = str(sorted(placements))
        if name not in self.actions:
            limits, budget = case.limits, budget_of(case.plan.campaign, case.plan.currency)
            outcomes_of_plan = chosen_plan(question, solution, limits, budget, asked=self.instance).played
            assert outcomes_of_plan.usd is not None, "a placed run has a price"
            assert outcomes_of_plan.hours is not None, "a placed run has a duration"
            waiting = (limits.waiting_usd_per_hour or 0.0) * outcomes_of_plan.hours
            keeps = outcomes_of_plan.keeps(hours=question.instance.deadline, budget=drawn_budget(budget))
            options = frozenset(question.candidates[number].alone.id for number, *_ in placements)
            self.actions[name] = Action(options, outcomes_of_plan.usd + waiting, keeps)
        return name


def _lengthening(candidate: PlacementCandidate, learnt: Learnt, chance: float) -> float:
    """Return the factor by which a result changes a quantile of a run's hours. `chance` is the quantile."""
    timed, hours = TimedOption.of(candidate.alone), run_hours(candidate, 1.0)
    return timed.hours_at(hours, chance, learnt=learnt) / timed.hours_at(hours, chance)
