"""Decide again after a measurement which one option comes first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from planner.decide.advice.case import Case
from planner.decide.advice.sample_value import Action
from planner.decide.campaign.budget import budget_of
from planner.decide.campaign.chances import hours_to
from planner.decide.limits import refusals
from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.learnt import Learnt
from planner.decide.outcomes.option_outcomes import outcomes_of
from planner.decide.outcomes.outcomes import Outcomes, drawn_budget
from planner.decide.recommend.rank import is_comparable
from planner.model.answer.option_estimate import CampaignOption
from planner.model.quantity import Basis, Quantity


@dataclass(frozen=True)
class OptionRule:
    """Rule of a single option: the options to choose from, each with the outcomes of the campaign on it."""

    case: Case
    options: tuple[CampaignOption, ...]
    paced: tuple[Paced, ...]
    outcomes: tuple[Outcomes, ...]
    first: str
    actions: Mapping[str, Action]
    slices: int = 25

    @classmethod
    def of(cls, case: Case, options: Sequence[CampaignOption]) -> Self | None:
        """Return the rule over the comparable options of machines; None if there is nothing to choose."""
        by_id = {pace.candidate.id: pace for pace in case.paced}
        kept = [
            option
            for option in options
            if option.id in by_id and option.throughput is not None and is_comparable(option, case.limits)
            and option.not_allowed is None and not refusals(option)
        ]  # fmt: skip
        first = case.decide(kept).id
        if first is None or len(kept) < 2:
            return None
        outcomes = tuple(outcomes_of(option, case.limits, today=case.today) for option in kept)
        actions = {option.id: _action(case, option, its) for option, its in zip(kept, outcomes, strict=True)}
        return cls(case, tuple(kept), tuple(by_id[option.id] for option in kept), outcomes, first, actions)

    def measurable(self) -> Iterable[tuple[CampaignOption, Paced]]:
        """Return the options with their machines."""
        return zip(self.options, self.paced, strict=True)

    def after(self, learnt: Learnt, *, speed: bool) -> str:
        """Return the id of the option that is chosen after a result."""
        options = [self._after(*each, learnt, speed) for each in zip(self.options, self.outcomes, strict=True)]
        return self.case.decide(options).id or self.first

    def _after(self, option: CampaignOption, before: Outcomes, learnt: Learnt, speed: bool) -> CampaignOption:
        if not learnt.measurement.shares_a_cause(option.id, option.error_causes):
            return option
        after = outcomes_of(option, self.case.limits, today=self.case.today, learnt=learnt)
        moved = _moved(option, before, after)
        if speed and option.id == learnt.measurement.name:
            moved |= {"throughput": _with_basis(option.throughput), "doubts": ()}
        return self.case.again(option.model_copy(update=moved), after)


def _action(case: Case, option: CampaignOption, outcomes: Outcomes) -> Action:
    """Return the cost of an option in each sample, less what a resale returns, and whether it keeps the limits."""
    limits, usd = case.limits, outcomes.usd
    assert usd is not None, "it is comparable"
    back = option.taken_off_usd.low if option.taken_off_usd else 0.0
    hours = 0.0 if outcomes.hours is None else outcomes.hours
    keeps = outcomes.keeps(
        hours=hours_to(limits, today=case.today),
        budget=drawn_budget(budget_of(case.plan.campaign, case.plan.currency)),
    )
    whole = np.maximum(0.0, usd - back) + (limits.waiting_usd_per_hour or 0.0) * hours
    return Action(frozenset({option.id}), whole, keeps)


def _moved(option: CampaignOption, before: Outcomes, after: Outcomes) -> dict[str, object]:
    """Return an option's likely hours and cost, scaled as the medians of its outcomes change."""
    moved: dict[str, object] = {}
    if before.hours is not None and before.usd is not None:
        wait = option.wait_hours
        longer = (after.hours_at(0.5) - wait) / max(before.hours_at(0.5) - wait, 1e-9)
        moved["campaign_hours"] = _times(option.campaign_hours, longer)
    if before.usd is not None and (usd := before.usd_at(0.5)) > 0:
        dearer = after.usd_at(0.5) / usd
        moved |= {name: _times(getattr(option, name), dearer) for name in ("campaign_usd", "cash_usd", "to_pay_usd")}
    return moved


def _times(quantity: Quantity | None, factor: float) -> Quantity | None:
    if quantity is None:
        return None
    ends = {name: getattr(quantity, name) * factor for name in ("value", "low", "high")}
    return quantity.model_copy(update=ends)


def _with_basis(speed: Quantity | None) -> Quantity | None:
    return None if speed is None else speed.model_copy(update={"basis": Basis.MEASURED})
