"""Names and order of the numbers of an option on pages and in reports, and texts for them.

Reasons against an option are also written in two or three words, for a cell of a table.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.decide.recommend.rank import chance_of
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate, RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity
from planner.present.table import NOT_KNOWN, accelerators_text, number_text, range_text

QUANTITIES: dict[str, str] = {
    "campaign_hours": "Campaign time",
    "campaign_usd": "Campaign cost",
    "to_pay_usd": "To pay, after credits",
    "pay_now_usd": "Purchase: at once",
    "cash_usd": "Purchase: paid or owed by the end",
    "left_usd": "Purchase: value left at the end",
    "full_usd": "Campaign cost, owning in full",
    "wall_hours": "One training: wall-clock time",
    "training_hours": "One training: its steps alone",
    "usd_marginal": "One training: cost (adds to the bills)",
    "usd_total": "One training: whole cost, rented or owned in full",
    "epoch_hours": "One epoch: time",
    "usd_per_epoch": "One epoch: rent, or owning in full",
    "usd_per_hour": "One node: rent per hour",
    "throughput": "Throughput",
    "energy_kwh": "One training: energy at the machine",
    "power_kw": "One node: power in training",
    "rated_kw": "One node: power by its data sheet",
    "carbon_kg": "One training: emissions",
    "usd_per_million_tokens": "A million tokens: price of the service",
}
"""Names of the answer's fields for readers, in reading order."""

ONLY_SERVICES_HAVE = ("usd_per_million_tokens",)
ONLY_MACHINES_HAVE = (
    "training_hours", "epoch_hours", "usd_per_epoch", "usd_per_hour", "throughput", "energy_kwh", "power_kw",
    "rated_kw", "carbon_kg",
)  # fmt: skip
ONLY_RENTED_MACHINES_HAVE = ("usd_per_hour",)
ON_REQUEST = ("carbon_kg", "pay_now_usd", "cash_usd", "left_usd", "to_pay_usd", "full_usd")
"""Fields that exist only if the plan asks for them, or for a machine that is bought or owned."""
AS_THE_BILL = ("to_pay_usd", "cash_usd")
"""Fields that are shown only if they differ from the campaign's bill."""

WHAT_OWNED_COUNTS = (
    "A machine that you have counts the electricity that the campaign adds; one that you must buy first counts its "
    "purchase and what keeping it costs. What owning comes to over years: planner own-or-rent."
)
MODELLED_MEANS_ESTIMATED = (
    "Modelled numbers come from other machines by physics and published measurements: "
    "measure one run on the machine before you order it."
)
LEFT_OUT = (
    "Left out of every cost: waiting for capacity and taxes. The bill of a rented machine counts set-up, "
    "interruptions, storage and data transfer out of the cloud (egress); "
    "campaign time leaves out upload, and waits that are not stated."
)
RANGE_MEANS = "A range holds the true value with 90 % probability; a list price has one only when it is old."


def quantity_of(option: OptionEstimate, field: str) -> Quantity | None:
    """Return one of the quantities named in QUANTITIES."""
    quantity = getattr(option, field, None)
    assert quantity is None or isinstance(quantity, Quantity)
    if field in AS_THE_BILL and quantity is not None and quantity == getattr(option, "campaign_usd", None):
        return None
    return quantity


def known(option: OptionEstimate) -> Iterator[tuple[str, Quantity]]:
    """Yield name and value of every known quantity, in reading order."""
    for field, name in QUANTITIES.items():
        quantity = quantity_of(option, field)
        if quantity is not None:
            yield name, quantity


def not_known(option: OptionEstimate) -> list[str]:
    """Return the names of the quantities that should be known and are not.

    An owned machine has no rent, a service has no machine, and a machine has no price per token.
    """
    hosted = option.price_kind is PriceKind.HOSTED_TRAINING
    not_applicable = (
        ONLY_MACHINES_HAVE
        if hosted
        else (*ONLY_SERVICES_HAVE, *(ONLY_RENTED_MACHINES_HAVE if option.site is not None else ()))
    )
    return [
        name
        for field, name in QUANTITIES.items()
        if quantity_of(option, field) is None and field not in ON_REQUEST and field not in not_applicable
    ]


def value_text(quantity: Quantity) -> str:
    """Write value and unit."""
    return f"{number_text(quantity.value, quantity.unit)} {quantity.unit.value}"


def interval_text(quantity: Quantity) -> str:
    """Write the 90 % range, or "exact"."""
    return "exact" if quantity.low == quantity.high else range_text(quantity)


def date_text(quantity: Quantity | None) -> str:
    """Write the date of a number's oldest input."""
    return str(quantity.as_of) if quantity is not None and quantity.as_of is not None else NOT_KNOWN


def price_date_text(option: OptionEstimate) -> str:
    """Write the date of an option's price, with ", stale" if it is too old for its kind."""
    return date_text(option.price) + (", stale" if option.price_stale else "")


def name_text(option: OptionEstimate) -> str:
    """Write the option's name for readers, or its machine's name for an answer that is older than such names."""
    return option.display_name or option.name


def machine_text(option: OptionEstimate) -> str:
    """Write the number of accelerators, and of nodes if several."""
    nodes = f" on {option.nodes} nodes" if option.nodes is not None and option.nodes > 1 else ""
    return f"{accelerators_text(option)}{nodes}"


def terms_and_region(option: OptionEstimate) -> tuple[str, str | None]:
    """Return the owner or the rental terms of a machine, and the region of a rented one."""
    if option.hold is Hold.BUY:
        return "to be bought", None
    if option.site is not None:
        return "leased" if option.hold is Hold.RENT else "there already", None
    kind = option.price_kind.value.replace("_", " ") if option.price_kind else "rented"
    return kind, option.region or None


def terms_text(option: OptionEstimate) -> str:
    """Write the terms, with the region of a rented machine."""
    return ", ".join(filter(None, terms_and_region(option)))


def chance_to_keep_limits(option: CampaignOption) -> float | None:
    """Return the chance to keep deadline and budget together; None without limits, or if unknown."""
    return None if option.chance_deadline is None and option.chance_budget is None else chance_of(option)


def trainings_text(count: int) -> str:
    """Write a number of trainings."""
    return "1 training" if count == 1 else f"{count:,} trainings"


def verdict_text(option: RankedOption, *, recommended: str | None) -> str:
    """Write why an option is not recommended, or that it is."""
    return "Recommended." if option.id == recommended else option.why_not or ""


SHORT_REASONS = {
    ReasonCode.MISSES_DEADLINE: "late",
    ReasonCode.OVER_BUDGET: "over budget",
    ReasonCode.LIMITS_TOGETHER: "late or over budget",
    ReasonCode.MEMORY_TOO_SMALL: "does not fit",
    ReasonCode.NO_SPLIT_FITS: "does not fit",
    ReasonCode.SPOT_TOO_MUCH: "too much spot",
    ReasonCode.PRICE_TOO_OLD: "price too old",
    ReasonCode.NEEDS_REPLACEMENT: "beyond its life",
    ReasonCode.TIME_NOT_STATED: "time not known",
    ReasonCode.TIME_OR_COST_NOT_KNOWN: "not known",
    ReasonCode.PLACE_NOT_ALLOWED: "not allowed",
    ReasonCode.DATA_LEAVES_REGION: "not allowed",
    ReasonCode.SPOT_NOT_ALLOWED: "not allowed",
    ReasonCode.PROVIDER_NOT_ALLOWED: "not allowed",
    ReasonCode.QUOTA_TOO_SMALL: "over quota",
    ReasonCode.NODES_NOT_ASKED: "wrong number of nodes",
    ReasonCode.CLUSTER_TOO_SMALL: "sold in larger clusters",
    ReasonCode.NOT_AVAILABLE: "not to be had",
    ReasonCode.NOT_LISTED: "not listed any more",
    ReasonCode.ASK_FOR_QUOTE: "ask for a quote",
    ReasonCode.NODE_NETWORK_NOT_KNOWN: "network not known",
    ReasonCode.OFFLOAD_NOT_KNOWN: "speed with offload not known",
}
"""Short words for codes. Other codes are written with blanks."""


ALONE_TOO_SMALL = "too small alone"
"""Reason against an option of a mix, which does only a part of the trainings."""


def short_reason(option: OptionEstimate, *, marked: bool = False) -> str:
    """Return the first reason against an option in two or three words. `marked` means that it is recommended."""
    codes = option.why_not_codes or (ReasonCode.TIME_OR_COST_NOT_KNOWN,)
    if marked and codes[0] is ReasonCode.ALLOCATION_TOO_SMALL:
        return ALONE_TOO_SMALL
    return SHORT_REASONS.get(codes[0], codes[0].value.replace("_", " "))
