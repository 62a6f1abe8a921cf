"""The rule that divides runs over several options, solved again after a measurement."""

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
    """The best plan, and those that are best after a result."""

    mixed: MixedCase
    asked: Instance
    """With hours that are kept with the plan's confidence."""
    actions: dict[str, Action] = field(default_factory=dict)
    slices: int = 9

    @classmethod
    def of(cls, mixed: MixedCase) -> Self | None:
        """Return the rule of a mix; None where its solution takes too much effort."""
        rule = cls(mixed, at_confidence(mixed.question, hours=mixed.case.limits.confidence, usd=None))
        plan = mixed.solved(rule.asked)
        if plan is None:
            return None
        rule._named(plan)
        return rule

    @property
    def first(self) -> str:
        """Return the name of the plan without a result."""
        return next(iter(self.actions))

    def after(self, learnt: Learnt, *, speed: bool) -> str:  # noqa: ARG002 - a plan does not ask who was measured
        """Return the name of the best plan after a result; where none keeps the limits then, the first stands."""
        asked = self.asked
        for number, candidate in enumerate(self.mixed.question.candidates):
            if learnt.measurement.tells_of(candidate.alone.id, candidate.alone.error_causes):
                sure = _longer(candidate, learnt, self.mixed.case.limits.confidence)
                asked = scaled(asked, number, hours=sure, usd=_longer(candidate, learnt, 0.5))
        best = self.mixed.solved(asked)
        return self.first if best is None else self._named(best)

    def measurable(self) -> Iterator[tuple[CampaignOption, Paced]]:
        """Yield the options of known speed: those that take part, then those next in cost."""
        question, used = self.mixed.question, self.actions[self.first].options
        costs = {way.option: way.usd for way in self.asked.ways if way.group == 0}
        places = {one.candidate.id: one for one in self.mixed.paced}
        order = sorted(
            enumerate(question.candidates), key=lambda one: (one[1].alone.id not in used, costs.get(one[0], math.inf))
        )
        for _, candidate in order[:MOST_MEASURED]:
            if candidate.alone.id in places:
                yield candidate.alone, places[candidate.alone.id]

    def _named(self, plan: Solution) -> str:
        """Return a plan's name: what runs where, and in which blocks. Equal plans have one."""
        instance, question, case = plan.instance, self.mixed.question, self.mixed.case
        parts = []
        for one in plan.placed:
            way, spot = instance.ways[one.way], instance.bins[instance.ways[one.way].bin]
            block = way.billed_hours if spot.blocks else 0.0
            parts.append((way.option, way.group, spot.origin, way.bin, one.lane, one.runs, block))
        name = str(sorted(parts))
        if name not in self.actions:
            limits, budget = case.limits, budget_of(case.plan.campaign, case.plan.currency)
            played = chosen_plan(question, plan, limits, budget, asked=self.asked).played
            assert played.usd is not None, "what is placed has a price"
            assert played.hours is not None, "and a time"
            waiting = (limits.waiting_usd_per_hour or 0.0) * played.hours
            keeps = played.keeps(hours=question.instance.deadline, budget=drawn_budget(budget))
            options = frozenset(question.candidates[number].alone.id for number, *_ in parts)
            self.actions[name] = Action(options, played.usd + waiting, keeps)
        return name


def _longer(candidate: PlacementCandidate, learnt: Learnt, chance: float) -> float:
    """Return how many times as long as before a run takes, with a chance, after a result."""
    timed, hours = TimedOption.of(candidate.alone), run_hours(candidate, 1.0)
    return timed.hours_at(hours, chance, learnt=learnt) / timed.hours_at(hours, chance)
