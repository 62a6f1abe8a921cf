"""Divide the runs over several options again after a measurement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from planner.decide.advice.mix_inputs import scaled
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


@dataclass(frozen=True)
class MixRule:
    """Rule of a mix: the best plan, and the plans that are best after a result."""

    mixed: MixedCase
    asked: Instance
    """Instance whose hours are long enough for the plan's confidence."""
    actions: dict[str, Action] = field(default_factory=dict)
    slices: int = 9

    @classmethod
    def of(cls, mixed: MixedCase) -> Self | None:
        """Return the rule of a mix; None if its solution takes too much effort."""
        rule = cls(mixed, at_confidence(mixed.question, hours=mixed.case.limits.confidence, usd=None))
        plan = mixed.solved(rule.asked)
        if plan is None:
            return None
        rule._named(plan)
        return rule

    @property
    def first(self) -> str:
        """Return the name of the plan that is best without a result."""
        return next(iter(self.actions))

    def after(self, learnt: Learnt, *, speed: bool) -> str:  # noqa: ARG002 - a plan does not depend on who was measured
        """Return the name of the best plan after a result; the first plan if none keeps the limits then."""
        asked = self.asked
        for number, candidate in enumerate(self.mixed.question.candidates):
            if learnt.measurement.tells_of(candidate.alone.id, candidate.alone.error_causes):
                sure = _longer(candidate, learnt, self.mixed.case.limits.confidence)
                asked = scaled(asked, number, hours=sure, usd=_longer(candidate, learnt, 0.5))
        best = self.mixed.solved(asked)
        return self.first if best is None else self._named(best)

    def measurable(self) -> Iterator[tuple[CampaignOption, Paced]]:
        """Yield the options of known speed: first those in the plan, then the others by cost."""
        question, used = self.mixed.question, self.actions[self.first].options
        costs = {way.option: way.usd for way in self.asked.ways if way.group == 0}
        paced = {pace.candidate.id: pace for pace in self.mixed.paced}
        options = [candidate.alone for candidate in question.candidates]
        order = sorted(
            range(len(options)), key=lambda number: (options[number].id not in used, costs.get(number, math.inf))
        )
        for option in (options[number] for number in order[:MOST_MEASURED]):
            if option.id in paced:
                yield option, paced[option.id]

    def _named(self, plan: Solution) -> str:
        """Return a plan's name, and store the plan as an action. Equal plans have the same name."""
        instance, question, case = plan.instance, self.mixed.question, self.mixed.case
        parts = []
        for placed in plan.placed:
            way, spot = instance.ways[placed.way], instance.bins[instance.ways[placed.way].bin]
            block = way.billed_hours if spot.blocks else 0.0
            parts.append((way.option, way.group, spot.origin, way.bin, placed.lane, placed.runs, block))
        name = str(sorted(parts))
        if name not in self.actions:
            limits, budget = case.limits, budget_of(case.plan.campaign, case.plan.currency)
            played = chosen_plan(question, plan, limits, budget, asked=self.asked).played
            assert played.usd is not None, "a placed run has a price"
            assert played.hours is not None, "a placed run has a duration"
            waiting = (limits.waiting_usd_per_hour or 0.0) * played.hours
            keeps = played.keeps(hours=question.instance.deadline, budget=drawn_budget(budget))
            options = frozenset(question.candidates[number].alone.id for number, *_ in parts)
            self.actions[name] = Action(options, played.usd + waiting, keeps)
        return name


def _longer(candidate: PlacementCandidate, learnt: Learnt, chance: float) -> float:
    """Return the factor by which a result lengthens a run, at a quantile of its hours."""
    timed, hours = TimedOption.of(candidate.alone), run_hours(candidate, 1.0)
    return timed.hours_at(hours, chance, learnt=learnt) / timed.hours_at(hours, chance)
