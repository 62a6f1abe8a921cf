"""Compare options sample by sample, because they share causes of error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from planner.decide.campaign.chances import ranking_usd
from planner.decide.options.display_name import name_of
from planner.decide.recommend.rank import is_feasible
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits, Prefer

CLOSE = 1.25
"""Factor up to which two costs at the confidence are close, so that a note compares them."""
UNSURE = (5, 95)
"""Samples of 100; outside these it is clear which option costs less."""
LOW, HIGH = 0.05, 0.95


def surer_than(
    first: CampaignOption | None, order: Sequence[CampaignOption], limits: CampaignLimits, *, today: date
) -> Iterator[str]:
    """Yield in how many of 100 samples the first option costs less than the next one, where both cost about as much."""
    rivals = [option for option in order if option is not first and is_feasible(option)]
    if first is None or not rivals or limits.prefer is Prefer.TIME:
        return
    rival = rivals[0]
    usd, other = sorted((ranking_usd(first), ranking_usd(rival)))
    if other > CLOSE * usd or usd <= 0:
        return
    import numpy as np

    from planner.decide.outcomes.option_outcomes import outcomes_of

    ours, theirs = (outcomes_of(option, limits, today=today) for option in (first, rival))
    if ours.usd is not None and theirs.usd is not None:
        less = ((ours.usd < theirs.usd) | ~theirs.in_windows) & ours.in_windows  # what ends too early is paid for again
        share = round(100 * float(np.mean(less)))
        if not UNSURE[0] <= share <= UNSURE[1]:
            return
        yield f"{name_of(first)} costs less than {name_of(rival)} in {share} of 100 simulated campaigns"


def ranges_apart(
    options: Sequence[CampaignOption], limits: CampaignLimits, *, today: date
) -> dict[str, tuple[float, float]]:
    """Return each option's 90 % range of cost without the causes of error that all options share; none if none are."""
    known = [option for option in options if option.campaign_hours is not None and option.payable_usd is not None]
    causes = [{name for name, _ in option.error_causes} for option in known]
    shared = set.intersection(*causes) if len(causes) > 1 else set()
    if not shared:
        return {}
    from planner.decide.outcomes.option_outcomes import outcomes_of

    found = {}
    for option in known:
        outcomes = outcomes_of(option, limits, today=today, without=shared)
        found[option.id] = (outcomes.usd_at(LOW), outcomes.usd_at(HIGH))
    return found
