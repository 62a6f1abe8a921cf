"""Limit the machines of an option and the days for which a plan may use them; every part of an answer asks here.

There are two kinds of limits, each with a reason. The plan's own limits (`limits.spot`, a quota) exclude an option.
The others say that it cannot be relied on: spot on many machines or for long, many machines that are not known to be
available, or an old spot price. Such an option is shown with its figures and never comes first.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import OptionLimits, SpotUse
from planner.model.prices.offer import FAST_KINDS, PriceKind
from planner.quantity.time_units import HOURS_PER_DAY
from planner.scenario.candidate import Candidate

MOST_SPOT_MACHINES = 4
MOST_SPOT_DAYS = 14
"""Limits beyond which spot machines are not available, or not kept long enough, to plan with them."""
MOST_SPOT_PRICE_DAYS = 90
"""Age beyond which a spot price says little about today's. A firm price of any age counts with its uncertainty."""
MOST_UNKNOWN_MACHINES = 8
"""Firm machines that count as available if no source says so. For more, the answer is to ask for a quote."""


@dataclass(frozen=True, kw_only=True)
class MachineTerms:
    """State the terms of an option's machines that the limits look at."""

    hold: Hold | None
    price_kind: PriceKind | None = None
    """None: owned."""
    known_available: bool = False
    """The provider says that they are available, the plan states the price, or they are a site's own."""
    price_days: int = 0
    price_stale: bool = False
    """The price is older than its kind allows."""
    quota: int | None = None
    """Machines that may be used at the same time."""
    site_machines: int | None = None
    spot_allowed: bool = True

    @property
    def is_spot(self) -> bool:
        """Return whether the machines may be taken away: spot, or a marketplace."""
        return self.price_kind in FAST_KINDS

    @classmethod
    def of_candidate(cls, candidate: Candidate, limits: OptionLimits | None = None) -> MachineTerms:
        """Return what a plan says of a machine: its quota, its site's machines, and `limits.spot`."""
        kind = None if candidate.site is not None else candidate.option.price or PriceKind.ON_DEMAND
        return cls(
            hold=candidate.hold,
            price_kind=kind,
            quota=candidate.quota,
            site_machines=candidate.site.nodes if candidate.site is not None else None,
            spot_allowed=limits is None or limits.spot is not SpotUse.NEVER,
        )

    @classmethod
    def of_option(cls, option: CampaignOption, candidate: Candidate | None = None) -> MachineTerms:
        """Return the terms of an estimated option; `candidate`: its machine, whose quota and site count as well."""
        stated = option.price is not None and option.price.as_of is None
        return cls(
            hold=option.hold,
            price_kind=option.price_kind,
            known_available=option.availability == "yes" or stated or option.site is not None,
            price_days=option.price_age_days or 0,
            price_stale=bool(option.price_stale),
            quota=candidate.quota if candidate is not None else None,
            site_machines=candidate.site.nodes if candidate is not None and candidate.site is not None else None,
        )


def allowed(terms: MachineTerms, *, machines: int, days: float) -> Reason | None:
    """Return why a plan may not count on this many machines for these days; None if it may."""
    return next(iter(against(terms, machines=machines, days=days)), None)


def against(terms: MachineTerms, *, machines: int, days: float) -> tuple[Reason, ...]:
    """Return every reason why a plan may not count on this many machines for these days."""
    return (*forbidden(terms, machines=machines), *never_first(terms, machines=machines, days=days))


def forbidden(terms: MachineTerms, *, machines: int) -> tuple[Reason, ...]:
    """Return the plan's limits that exclude this many machines: `limits.spot`, the quota, the site."""
    reasons = []
    if terms.is_spot and not terms.spot_allowed and terms.price_kind is not None:
        text = f"its price is {terms.price_kind.value}, and limits.spot is never"
        reasons.append(Reason(code=ReasonCode.SPOT_NOT_ALLOWED, text=text))
    for whose, most in (("quota", terms.quota), ("site", terms.site_machines)):
        if most is not None and machines > most:
            text = f"the {whose} holds {most} nodes, a training has {machines}"
            figures: dict[str, float] = {"quota_nodes": most, "nodes": machines}
            reasons.append(Reason(code=ReasonCode.QUOTA_TOO_SMALL, text=text, figures=figures))
    return tuple(reasons)


def below_least_cluster(candidate: Candidate) -> tuple[Reason, ...]:
    """Return why so few nodes cannot be rented: they are sold as a larger cluster alone."""
    least = 1 if candidate.site is not None else candidate.node.cluster_least_nodes
    if candidate.nodes >= least:
        return ()
    text = f"it is sold as a cluster of {least} nodes or more, a training has {candidate.nodes}"
    figures: dict[str, float] = {"least_nodes": least, "nodes": candidate.nodes}
    return (Reason(code=ReasonCode.CLUSTER_TOO_SMALL, text=text, figures=figures),)


def never_first(terms: MachineTerms, *, machines: int, days: float) -> tuple[Reason, ...]:
    """Return why an option never comes first, although it may keep every limit of the plan."""
    found = (_number_reason(terms, machines, days), _price_reason(terms))
    return tuple(reason for reason in found if reason is not None)


def refusals(option: CampaignOption) -> tuple[Reason, ...]:
    """Return why an option is never recommended for the whole campaign; nothing where it may be."""
    days = option.campaign_hours.value / HOURS_PER_DAY if option.campaign_hours else 0.0
    machines = (option.nodes or 0) * option.at_once
    return never_first(MachineTerms.of_option(option), machines=machines, days=days)


def lasting_refusals(option: CampaignOption) -> tuple[Reason, ...]:
    """Return those that stay however few machines it has, and for however short: of its price."""
    return never_first(MachineTerms.of_option(option), machines=0, days=0.0)


def most_sets(allows: Callable[[int], bool], *, width: int, wanted: int) -> int:
    """Return how many sets of `width` machines, at most `wanted`, a limit allows that allows any smaller number too."""
    return bisect_right(range(1, wanted + 1), False, key=lambda sets: not allows(sets * width))


def most_days(terms: MachineTerms) -> float:
    """Return for how many days one may plan with one of the machines."""
    return MOST_SPOT_DAYS if terms.is_spot else math.inf


def _price_reason(terms: MachineTerms) -> Reason | None:
    if not terms.is_spot or terms.price_days <= MOST_SPOT_PRICE_DAYS or not terms.price_stale:
        return None
    text = f"its price is {terms.price_days} days old, too old to plan with: renew it first"
    return Reason(code=ReasonCode.PRICE_TOO_OLD, text=text, figures={"days": terms.price_days})


def _number_reason(terms: MachineTerms, machines: int, days: float) -> Reason | None:
    if not terms.is_spot:
        if terms.hold is not Hold.RENT or machines <= MOST_UNKNOWN_MACHINES or terms.known_available:
            return None
        text = f"ask for a quote: no source says that {machines} nodes are available on these terms"
        return Reason(code=ReasonCode.ASK_FOR_QUOTE, text=text, figures={"nodes": machines})
    if machines <= MOST_SPOT_MACHINES and days <= most_days(terms):
        return None
    too_many = machines > MOST_SPOT_MACHINES
    what = f"{machines} nodes" if too_many else f"{days:,.0f} days"
    most = f"{MOST_SPOT_MACHINES} nodes" if too_many else f"{MOST_SPOT_DAYS} days"
    text = f"spot for {what}: machines that may be taken away are not planned with beyond {most}"
    return Reason(code=ReasonCode.SPOT_TOO_MUCH, text=text, figures={"nodes": machines, "days": days})
