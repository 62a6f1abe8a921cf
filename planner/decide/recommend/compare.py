"""A campaign of options in, a recommendation out."""

from __future__ import annotations

from datetime import date

from planner.decide.campaign.campaign import hours_to
from planner.decide.recommend.pareto import pareto_front
from planner.decide.recommend.rank import is_feasible, ranked
from planner.decide.recommend.sentence import nothing_feasible, take
from planner.decide.recommend.switching import switching_rates
from planner.decide.recommend.why_not import reasons_against
from planner.model.answer.documents import CampaignDocument, CampaignOption, ComparisonDocument, RankedOption
from planner.model.answer.reason import codes_of, text_of
from planner.model.plan.plan import CampaignLimits


def compare(campaign: CampaignDocument, limits: CampaignLimits, *, today: date) -> ComparisonDocument:
    """Rank the options under the limits, mark the Pareto front, recommend one and say why not the others."""
    deadline_hours = hours_to(limits, today=today)
    order = ranked(campaign.options, limits, deadline_hours=deadline_hours)
    feasible = [option for option in order if is_feasible(option)]
    recommended = feasible[0] if feasible else None
    nearest = order[0] if order and recommended is None else None
    switches = switching_rates(recommended, order, limits, campaign.currency)
    if feasible:
        clauses = take(feasible, limits, deadline_hours=deadline_hours, today=today, switches=switches)
    else:
        clauses = nothing_feasible(nearest, limits, deadline_hours=deadline_hours)
    front = pareto_front(campaign.options)
    places = {option.id: place for place, option in enumerate(order, start=1)}

    def with_rank(option: CampaignOption) -> RankedOption:
        reasons = reasons_against(option, recommended, order, limits)
        against = {"why_not": text_of(reasons), "why_not_codes": codes_of(reasons), "reasons": reasons}
        return RankedOption(**(dict(option) | against), rank=places.get(option.id), pareto=option.id in front)

    by_rank = sorted(campaign.options, key=lambda option: places.get(option.id, len(places) + 1))
    return ComparisonDocument(
        plan=campaign.plan,
        currency=campaign.currency,
        assumptions=campaign.assumptions,
        runs=campaign.runs,
        deadline=limits.deadline,
        deadline_hours=deadline_hours if limits.deadline is not None else None,
        budget_usd=limits.budget_usd,
        recommended=recommended.id if recommended else None,
        nearest=nearest.id if nearest else None,
        sentence="; ".join(clauses) + ".",
        headline=clauses,
        switching_rates=switches,
        options=tuple(with_rank(option) for option in by_rank),
    )
