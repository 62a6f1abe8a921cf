"""Find the next best option if machines are sold out, and write the request for a quote."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, timedelta

from planner.decide.limits import refusals
from planner.decide.options.display_name import name_of
from planner.decide.recommend.rank import is_feasible, is_firm, ranked
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import ReasonCode, codes_of
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.allowed_offers import provider_of


def next_best(
    recommended: CampaignOption | None,
    order: Sequence[CampaignOption],
    limits: CampaignLimits,
    *,
    deadline_hours: float,
) -> CampaignOption | None:
    """Return the option that the rule recommends if that one is sold out: another machine, or of another provider.

    Of a spot machine also the same one at a firm price. The next in the table would not do: it may be five times
    slower, or a block that likely costs more than firm hours. None if the recommended option is not rented, or nothing
    else may be recommended.
    """
    if recommended is None or recommended.hold is not Hold.RENT:
        return None
    others = [
        option
        for option in order
        if not _same(option, recommended) and is_feasible(option) and option.hold is not Hold.BUY
    ]
    return next(iter(ranked(others, limits, deadline_hours=deadline_hours)), None)


def _same(option: CampaignOption, other: CampaignOption) -> bool:
    """Return whether the first is sold out with the other: of one site, one instance, or one provider's same cards.

    A provider may be out of spot machines and still have them at a firm price.
    """
    if is_firm(option) and not is_firm(other):
        return False
    if option.offer is None or other.offer is None:
        return option.offer is other.offer and option.site == other.site
    cards = [(each.accelerator, (each.accelerators or 0) / (each.nodes or 1)) for each in (option, other)]
    alike = option.accelerator is not None and cards[0] == cards[1]
    return option.offer == other.offer or (alike and provider_of(option.offer) == provider_of(other.offer))


def quote_request(option: CampaignOption, limits: CampaignLimits, *, today: date) -> str | None:
    """Return the request for a quote if no source says that the machines are available; otherwise None.

    The term covers the whole work at the confidence, in whole days.
    """
    if ReasonCode.ASK_FOR_QUOTE not in codes_of(refusals(option)) or option.hours_confident is None:
        return None
    nodes = (option.nodes or 1) * option.at_once
    each = f"{(option.accelerators or 0) // (option.nodes or 1)}x {option.accelerator}" if option.accelerator else ""
    machine = (option.offer or name_of(option)).split("/", 1)[-1]
    days = max(1, math.ceil((option.hours_confident - option.wait_hours) / HOURS_PER_DAY))
    start = max(option.ready_on or today, limits.start or today)
    end = start + timedelta(days=min(days, (date.max - start).days))
    where = f" in {option.region}" if option.region not in (None, "any") else ""
    return (
        f"Please quote {nodes} machines of type {machine}{f' ({each} each)' if each else ''}{where}, all at once and "
        f"in one network, from {start} to {end} ({days} days), firm: never taken away. "
        "State the price per machine and hour, the shortest term, what is due at once, the terms of cancelling, the "
        "network between the machines in Gbit/s, and the nearest dates if these cannot be had."
    )
