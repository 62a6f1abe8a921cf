"""Find the Pareto front: the options that no other option dominates in time and money."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.model.answer.option_estimate import CampaignOption


def is_known(option: CampaignOption) -> bool:
    """Return whether time and money are both known and the model is not known to be too large."""
    return option.fits is not False and option.campaign_hours is not None and option.campaign_usd is not None


def is_priced(option: CampaignOption) -> bool:
    """Return whether the money is known but not the time: services billed by the token may not state their time."""
    return option.fits is not False and option.campaign_hours is None and option.campaign_usd is not None


def hours_and_usd(option: CampaignOption) -> tuple[float, float]:
    """Return the hours from the campaign's start until it is done, and its likely cost."""
    return hours_of(option), likely_usd(option)


def hours_of(option: CampaignOption) -> float:
    """Return the most likely hours from the campaign's first day until it is done; infinite where not known."""
    if option.end_hours is not None:
        return option.end_hours
    return math.inf if option.campaign_hours is None else option.wait_hours + option.campaign_hours.value


def likely_usd(option: CampaignOption) -> float:
    """Return the likely cost in USD: what is still to pay, less the resale value of a purchase that is sold."""
    owed, back = option.payable_usd, option.taken_off_usd
    assert owed is not None, "its cost is known"
    return max(0.0, owed.value - (back.value if back is not None else 0.0))


def dominates(option: CampaignOption, other: CampaignOption) -> bool:
    """Return whether `option` is no slower and no more expensive than `other`, and better in at least one."""
    (hours, usd), (other_hours, other_usd) = hours_and_usd(option), hours_and_usd(other)
    return hours <= other_hours and usd <= other_usd and (hours, usd) != (other_hours, other_usd)


def pareto_front(options: Sequence[CampaignOption]) -> frozenset[str]:
    """Return the ids of the known, allowed options that no other dominates. Of two equal options both are included."""
    known = [option for option in options if is_known(option) and option.not_allowed is None]
    return frozenset(option.id for option in known if not any(dominates(other, option) for other in known))
