"""What keeps an option from being recommended although it keeps the limits: it cannot be had or kept."""

from __future__ import annotations

from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.owning.hold import Hold
from planner.model.prices.offer import FAST_KINDS
from planner.quantity.time_units import HOURS_PER_DAY

MOST_SPOT_NODES = 4
MOST_SPOT_DAYS = 14
"""Beyond these nobody gets or keeps spot machines long enough to plan with them."""
MOST_SPOT_PRICE_DAYS = 90
MOST_PRICE_DAYS = 365
"""A price that nobody has seen since says little about today's: 90 days of spot, a year of others."""
MOST_UNKNOWN_NODES = 8
"""As many firm nodes count as to be had where nobody says so; beyond, one asks for a quote."""


def is_spot(option: CampaignOption) -> bool:
    """Return whether the machine may be taken away: spot, or a marketplace."""
    return option.price_kind in FAST_KINDS


def refusals(option: CampaignOption) -> tuple[Reason, ...]:
    """Return why an option is never recommended; nothing where it may be."""
    of_number = _of_spot(option) if is_spot(option) else _of_count(option)
    return (*of_number, *_of_price(option))


def lasting_refusals(option: CampaignOption) -> tuple[Reason, ...]:
    """Return those that stay however few nodes it has, and for however short: of its price."""
    return _of_price(option)


def _of_price(option: CampaignOption) -> tuple[Reason, ...]:
    age, most = option.price_age_days or 0, MOST_SPOT_PRICE_DAYS if is_spot(option) else MOST_PRICE_DAYS
    if age <= most or not option.price_stale:
        return ()
    text = f"its price is {age} days old: nobody plans with it before planner prices refresh"
    return (Reason(code=ReasonCode.PRICE_TOO_OLD, text=text, figures={"days": age}),)


def _of_spot(option: CampaignOption) -> tuple[Reason, ...]:
    nodes = (option.nodes or 0) * option.at_once
    days = option.campaign_hours.value / HOURS_PER_DAY if option.campaign_hours else 0.0
    if nodes <= MOST_SPOT_NODES and days <= MOST_SPOT_DAYS:
        return ()
    what = f"{nodes} nodes" if nodes > MOST_SPOT_NODES else f"{days:,.0f} days"
    most = f"{MOST_SPOT_NODES} nodes" if nodes > MOST_SPOT_NODES else f"{MOST_SPOT_DAYS} days"
    text = f"spot for {what}: machines that may be taken away are not planned with beyond {most}"
    return (Reason(code=ReasonCode.SPOT_TOO_MUCH, text=text, figures={"nodes": nodes, "days": days}),)


def _of_count(option: CampaignOption) -> tuple[Reason, ...]:
    nodes = (option.nodes or 0) * option.at_once
    if option.hold is not Hold.RENT or nodes <= MOST_UNKNOWN_NODES or is_agreed(option):
        return ()
    text = f"ask for a quote: nobody says that {nodes} nodes can be had on these terms"
    return (Reason(code=ReasonCode.ASK_FOR_QUOTE, text=text, figures={"nodes": nodes}),)


def is_agreed(option: CampaignOption) -> bool:
    """Return whether the nodes are known to be had: the provider says so, or the price is the plan's own."""
    return option.availability == "yes" or (option.price is not None and option.price.as_of is None)
