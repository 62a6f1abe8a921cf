"""The worst-case bill of a launch, before anything is started. Pure.

worst case = (nodes x USD per node-hour + ancillary costs an hour) x (max + provisioning + idle minutes) / 60
"""

from __future__ import annotations

import math
from datetime import date
from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from planner.model.base import Count, Frozen, NonNegative, Positive, Text
from planner.model.quantity import Basis

PROVISIONING_MINUTES = 35.0
"""Time from asking for a machine to the first step: 15 for booting, 20 for set-up. The watchdog enforces it."""
IDLE_MINUTES = 10.0
"""Time from the end of the job to the machine's own shutdown, if no client takes it down earlier."""


FAR_BELOW = 1.0 / 3.0
"""Fraction of the published price. A stated price below it is more often a typing error than a discount."""


class NodeRate(Frozen):
    """Hourly price of one node, with its source and date."""

    usd_per_node_hour: NonNegative
    highest_usd_per_node_hour: NonNegative
    """Highest price during the run (spot prices move). The worst case uses this one."""
    basis: Basis
    source: Text
    as_of: date | None
    minimum_hours: NonNegative = 0.0
    """Minimum duration that is billed each time."""
    note: Text | None = None
    list_usd_per_node_hour: NonNegative | None = None
    """Catalog price, if the user stated another one; None if the catalog has none."""

    @property
    def far_below_list(self) -> bool:
        """True if the user's price is under a third of the catalog's. We know of no discount that large."""
        listed = self.list_usd_per_node_hour
        return listed is not None and self.usd_per_node_hour < FAR_BELOW * listed


ROUNDING_CENTS = 1e-6
"""Cents by which rounding may lift a sum of floats above the amount that it stands for."""


def capped_usd(usd: float) -> str:
    """Format an upper bound in dollars and cents, rounded up, so that the text is never below the true bound."""
    return f"{math.ceil(usd * 100 - ROUNDING_CENTS) / 100:,.2f}"


class TimeCaps(Frozen):
    """Time limits of a launch in minutes. Each has its own enforcer."""

    max_minutes: Positive
    """Limit of the job on the node, enforced by `timeout` in the task."""
    provisioning_minutes: NonNegative = PROVISIONING_MINUTES
    """Limit of the time before the job. The client's watchdog takes everything down after this plus `max_minutes`."""
    idle_minutes: NonNegative = IDLE_MINUTES
    """Limit of the time after the job, enforced by the node's own autostop with down."""

    @property
    def watchdog_minutes(self) -> float:
        """Minutes after which the client takes everything down, whatever runs."""
        return self.max_minutes + self.provisioning_minutes

    @property
    def worst_minutes(self) -> float:
        """Longest time that a node is billed for."""
        return self.watchdog_minutes + self.idle_minutes


class AncillaryCost(Frozen):
    """A cost besides the machines that a provider bills while they exist."""

    what: Text
    usd_per_hour: NonNegative
    """Upper bound for all nodes together."""
    basis: Basis
    source: Text
    as_of: date | None = None


class LaunchBill(Frozen):
    """Worst-case cost of a launch; null only with a reason."""

    model_config = ConfigDict(serialize_by_alias=True)

    nodes: Count
    invoiced: bool
    """True if launching makes an invoice. A machine that already exists makes none."""
    price_kind: Literal["on_demand", "spot", "reservation", "capacity_block", "own"]
    rate: NodeRate | None
    no_price_reason: Text | None
    caps: TimeCaps
    ancillary: tuple[AncillaryCost, ...] = Field(
        default=(), validation_alias=AliasChoices("ancillary", "beside"), serialization_alias="beside"
    )
    """Ancillary costs, named `beside` in documents and ledgers."""
    ancillary_usd: NonNegative = Field(
        default=0.0,
        validation_alias=AliasChoices("ancillary_usd", "beside_usd", "storage_usd"),
        serialization_alias="beside_usd",
    )
    """Ancillary part of the worst case, named `beside_usd` in documents and ledgers;

    `storage_usd` in older ledgers, which counted only disks.
    """
    worst_case_usd: NonNegative | None


def bill_of(
    *,
    nodes: int,
    invoiced: bool,
    price_kind: Literal["on_demand", "spot", "reservation", "capacity_block", "own"],
    rate: NodeRate | None,
    no_price_reason: str | None,
    caps: TimeCaps,
    ancillary: tuple[AncillaryCost, ...] = (),
) -> LaunchBill:
    """Return the bill of one launch.

    hours          = (max + provisioning + idle minutes) / 60
    ancillary_usd  = sum of USD per hour x hours
    worst_case_usd = nodes x highest USD per node-hour x max(hours, minimum hours) + ancillary_usd

    Leaves out traffic: results are a few MB.
    """
    hours = caps.worst_minutes / 60.0
    ancillary_usd = sum(cost.usd_per_hour for cost in ancillary) * hours
    worst = None
    if rate is not None:
        worst = nodes * rate.highest_usd_per_node_hour * max(hours, rate.minimum_hours) + ancillary_usd
    return LaunchBill(
        nodes=nodes,
        invoiced=invoiced,
        price_kind=price_kind,
        rate=rate,
        no_price_reason=no_price_reason if rate is None else None,
        caps=caps,
        ancillary=ancillary,
        ancillary_usd=ancillary_usd,
        worst_case_usd=worst,
    )


def billed_usd(bill: LaunchBill, *, seconds: float) -> float | None:
    """Return the cost of the nodes for the seconds that the ledger saw them up; None if the price is unknown.

    USD = nodes x USD per node-hour x max(s / 3600, minimum hours)
    + ancillary costs of the worst case x s / worst-case seconds
    """
    if bill.rate is None:
        return None
    share = seconds / (bill.caps.worst_minutes * 60.0)
    hours = max(seconds / 3600.0, bill.rate.minimum_hours)
    return bill.nodes * bill.rate.usd_per_node_hour * hours + bill.ancillary_usd * share
