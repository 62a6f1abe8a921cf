"""Answer a plan again under changed inputs, with speeds that are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.campaign.chances import hours_to, with_chances
from planner.decide.campaign.run_groups import run_groups
from planner.decide.campaign.side_by_side import option_alone
from planner.decide.options.estimate_plan import Estimated, Paced, estimate_options, paced_candidates
from planner.decide.options.option import estimate_option
from planner.decide.recommend.answer_plan import campaign_document
from planner.decide.recommend.rank import is_feasible, ranked
from planner.model.answer.documents import CampaignDocument
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan
from planner.quantity.interval import Interval
from planner.scenario.job import Job, resolve_job
from planner.speed.throughput.speed import NARROWEST_FRACTION

if TYPE_CHECKING:
    from planner.decide.outcomes.outcomes import Outcomes

CONFIDENCES = (0.5, 0.8, 0.95)
"""Confidences for which the answer is shown beside the plan's own."""


class Decision(NamedTuple):
    """Choice of the ranking: the recommended option, else the nearest."""

    option: CampaignOption | None
    recommended: bool

    @property
    def id(self) -> str | None:
        """Return the option's id."""
        return self.option.id if self.option else None

    @property
    def answer(self) -> str | None:
        """Return the id of the option if it is recommended."""
        return self.id if self.recommended else None


@dataclass(frozen=True)
class Case:
    """A plan, and all inputs of its answer."""

    plan: Plan
    catalog: Catalog
    today: date
    paced: tuple[Paced, ...]
    job: Job
    estimates: Estimated | None = None
    """Estimates of one training on each option, if they exist already."""

    @classmethod
    def of(cls, plan: Plan, catalog: Catalog, *, today: date, paced: Sequence[Paced] | None = None) -> Case:
        """Return the case of a plan with listed options; `paced` gives their machines with speeds, if known."""
        known = paced_candidates(plan, catalog) if paced is None else paced
        return cls(plan, catalog, today, tuple(known), resolve_job(plan, catalog))

    @property
    def limits(self) -> CampaignLimits:
        """Return the limits of the campaign, the budget in USD."""
        return limits_in_usd(self.plan.campaign, self.plan.currency)

    def with_plan(self, **update: object) -> Case:
        """Return the case with keys of the plan changed, at the same speeds."""
        return replace(self, plan=self.plan.model_copy(update=update), estimates=None)

    def with_limits(self, **update: object) -> Case:
        """Return the case with changed limits of its campaign; estimates depend only on its first day."""
        changed_case = self.with_plan(campaign=self.plan.campaign.model_copy(update=update))
        same = changed_case.plan.campaign.start == self.plan.campaign.start
        return replace(changed_case, estimates=self.estimated) if same else changed_case

    @cached_property
    def estimated(self) -> Estimated:
        """The estimates of one training on each option."""
        return self.estimates or estimate_options(self.plan, self.catalog, today=self.today, paced=self.paced)

    def alone(self) -> Alone:
        """Return the whole campaign on each option alone, with the inputs that it is computed from."""
        return each_alone(self.plan, self.catalog, today=self.today, estimated=self.estimated)

    def campaign(self) -> CampaignDocument:
        """Return the whole campaign on each option alone, as an answer."""
        return campaign_document(self.plan, self.alone())

    def decide(self, options: Sequence[CampaignOption]) -> Decision:
        """Choose among options by the rules of the answer."""
        order = ranked(options, self.limits, deadline_hours=hours_to(self.limits, today=self.today))
        return Decision(order[0], is_feasible(order[0])) if order else Decision(None, False)

    def again(self, option: CampaignOption, outcomes: Outcomes) -> CampaignOption:
        """Return an option with the chances of other outcomes."""
        budget, currency = budget_of(self.plan.campaign, self.plan.currency), self.plan.currency
        return with_chances(option, self.limits, budget=budget, today=self.today, currency=currency, outcomes=outcomes)

    def replaced(self, options: Sequence[CampaignOption], number: int, paced: Paced) -> tuple[CampaignOption, ...]:
        """Return the options with one machine replaced; the option keeps its name."""
        old = self.paced[number].candidate.id
        estimated = estimate_option(
            self.plan, self.job, paced.candidate, self.catalog, today=self.today, speed=paced.speed
        )
        groups = run_groups(self.plan, self.catalog)
        budget = budget_of(self.plan.campaign, self.plan.currency)
        changed = option_alone(
            estimated, self.limits, self.catalog, budget=budget, groups=groups, today=self.today,
            currency=self.plan.currency,
        ).option  # fmt: skip
        return tuple(
            changed.model_copy(update={"id": old, "display_name": option.display_name}) if option.id == old else option
            for option in options
        )

    def at_speed(self, number: int, samples_per_s: float, *, known: bool) -> Paced:
        """Return a machine at another speed: with the same relative error, or `known` to 2 %, as nodes differ."""
        candidate, speed = self.paced[number]
        assert speed is not None, "every listed machine has a speed result"
        assert speed.samples_per_s is not None, "only known speeds are moved"
        moved = speed.samples_per_s.scaled(samples_per_s / speed.samples_per_s.value)
        certain = Interval.exact(samples_per_s).widened_to(NARROWEST_FRACTION)
        return Paced(candidate, replace(speed, samples_per_s=certain if known else moved))

    def at_price(self, number: int, factor: float) -> Paced:
        """Return a machine whose price is multiplied by a factor."""
        candidate, speed = self.paced[number]
        option = candidate.option
        own = {name: getattr(option, name) for name in ("usd_per_hour", "local_per_hour") if getattr(option, name)}
        if own:
            changed = option.model_copy(update={name: factor * usd for name, usd in own.items()})
            return Paced(replace(candidate, option=changed), speed)
        assert candidate.price is not None, "a machine without its own price is rented at one"
        dearer: dict[str, object] = {
            name: factor * usd
            for name in ("usd_per_hour", "low_usd_per_hour", "high_usd_per_hour")
            if (usd := getattr(candidate.price, name, None)) is not None
        }
        dearer["seen_usd_per_hour"] = tuple(factor * usd for usd in candidate.price.seen_usd_per_hour)
        return Paced(replace(candidate, price=candidate.price.model_copy(update=dearer)), speed)
