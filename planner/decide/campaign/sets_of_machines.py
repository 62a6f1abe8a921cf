"""Decide how many sets of machines an option uses if no limit asks for more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.cost.cloud.billing_terms import TERM_HOURS
from planner.decide.campaign.run_groups import Runs
from planner.decide.limits import MachineTerms, forbidden, most_sets
from planner.decide.options.option import EstimatedOption
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.scenario.candidate import Candidate


def sets_at_once(estimated: EstimatedOption, limits: CampaignLimits, groups: Sequence[Runs]) -> int:
    """Return how many trainings run side by side: as asked, but no more than the site's nodes and the quota allow.

    If the plan does not ask, they are as many as its quota, or a site that is owned, has machines for: these then cost
    the same and end sooner. A term is bought for each set of machines, so no more sets are taken than its hours ask
    for. Machines beyond those of a commitment cost more, so none are taken (`option_alone` takes more for a limit).
    """
    candidate = estimated.candidate
    if candidate is None:
        return limits.side_by_side
    terms = MachineTerms.of_candidate(candidate)
    rates, wall = estimated.rates, estimated.option.wall_hours
    unasked = 1 if _gets_cheaper(estimated) and limits.prefer is not Prefer.TIME else terms.quota or _own(candidate)
    if rates is not None and rates.terms.once and not (rates.terms.ends or rates.committed) and wall is not None:
        is_term = candidate.option.price in TERM_HOURS  # otherwise hours beyond the minimum are sold one by one
        hours = sum(group.runs * group.work for group in groups) * wall.value
        unasked = min(unasked, math.ceil(hours / rates.terms.minimum_hours) if is_term else 1)
    if limits.prefer is not Prefer.TIME and estimated.price is not None and estimated.price.committed_nodes is not None:
        unasked = min(unasked, max(1, estimated.price.committed_nodes // candidate.nodes))
    wanted = limits.at_once or unasked
    return max(1, most_sets(lambda count: not forbidden(terms, machines=count), width=candidate.nodes, wanted=wanted))


def _own(candidate: Candidate) -> int:
    """Return the machines of a site that is owned, of those behind its queue; 1 of other options."""
    if candidate.site is None or candidate.hold is not Hold.HAVE:
        return 1
    return candidate.site.nodes if candidate.option.queue is None else candidate.option.queue.machines


def _gets_cheaper(estimated: EstimatedOption) -> bool:
    """Return whether a discount begins later, so that machines side by side pay more than one after another."""
    price = estimated.price
    if price is None or price.usd_per_hour is None:
        return False
    return any(row.usd_per_hour < price.usd_per_hour for row in price.later)
