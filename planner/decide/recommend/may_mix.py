"""Check if a mix of options could beat each of them alone, without loading the solver."""

from __future__ import annotations

from planner.decide.campaign.alone import Alone
from planner.decide.campaign.chances import ranking_usd
from planner.decide.recommend.rank import is_feasible, is_paid_ahead
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import Prefer


def may_mix(alone: Alone) -> bool:
    """Return whether a mix could be better: several runs, and an option whose run costs less than the best one's may.

    If every run elsewhere likely costs more than one on the cheapest option costs at the confidence, dividing them
    makes nothing cheaper. Below that it may, because the errors of two options partly cancel. A mix may also save
    waiting that costs money, end before credits or a low price do, or buy a shorter block or a term for fewer machines,
    whose cost falls in steps.
    """
    limits, options = alone.limits, alone.options
    if limits.mix == "never" or limits.runs < 2 or len(options) < 2:
        return False
    able = [option for option in options if is_feasible(option) and option.payable_usd is not None]
    if limits.prefer is Prefer.TIME or limits.waiting_usd_per_hour or not able:
        return True
    if any(option.cost_by_hours is not None or is_paid_ahead(option) for option in options):
        return True
    best = min(able, key=ranking_usd)
    most = ranking_usd(best) / limits.runs
    return any(_least_of_a_run(option, limits.runs) < most for option in options if option is not best)


def _least_of_a_run(option: CampaignOption, runs: int) -> float:
    """Return the lowest cost of one run there: alone, or its share of the whole campaign."""
    known = [option.usd_marginal.value] if option.usd_marginal is not None else []
    known += [option.campaign_usd.value / runs] if option.campaign_usd is not None else []
    return min(known, default=float("inf"))
