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
"""From asking for a machine to the first step: booting 15, set-up 20 (it is stopped then). The watchdog enforces it."""
IDLE_MINUTES = 10.0
"""From the end of the job to the machine's own shutdown, where nobody is there to take it down earlier."""


FAR_BELOW = 1.0 / 3.0
"""Of the published price: what is stated below it is more often a slip than a discount."""


class Rate(Frozen):
    """What one node costs an hour, who says so, and when."""

    usd_per_node_hour: NonNegative
    highest_usd_per_node_hour: NonNegative
    """What it may rise to while it runs (spot); the worst case counts this one."""
    basis: Basis
    source: Text
    as_of: date | None
    minimum_hours: NonNegative = 0.0
    """The least that is billed each time."""
    note: Text | None = None
    list_usd_per_node_hour: NonNegative | None = None
    """What the catalog asks, where a person gave another price; None where the catalog has none."""

    @property
    def far_below_list(self) -> bool:
        """Whether a person's price is under a third of the catalog's: no discount that we know of goes so far."""
        listed = self.list_usd_per_node_hour
        return listed is not None and self.usd_per_node_hour < FAR_BELOW * listed


ROUNDING_CENTS = 1e-6
"""Cents by which a sum of floats may lie above the amount that it stands for."""


def capped_usd(usd: float) -> str:
    """Write an upper bound in dollars and cents, rounded up: a cap that is written is never below the true one."""
    return f"{math.ceil(usd * 100 - ROUNDING_CENTS) / 100:,.2f}"


class TimeCaps(Frozen):
    """How long a launch may take, in minutes; each cap has an enforcer of its own."""

    max_minutes: Positive
    """Of the job on the node: `timeout` in the task."""
    provisioning_minutes: NonNegative = PROVISIONING_MINUTES
    """Before the job: the client's watchdog takes everything down when both have passed."""
    idle_minutes: NonNegative = IDLE_MINUTES
    """After the job: the node's own autostop with down."""

    @property
    def watchdog_minutes(self) -> float:
        """After which the client takes everything down, whatever runs."""
        return self.max_minutes + self.provisioning_minutes

    @property
    def worst_minutes(self) -> float:
        """For which a node is billed at worst."""
        return self.watchdog_minutes + self.idle_minutes


class AncillaryCost(Frozen):
    """Something that a provider bills besides the machines, for as long as they are there."""

    what: Text
    usd_per_hour: NonNegative
    """At most, of all nodes together."""
    basis: Basis
    source: Text
    as_of: date | None = None


class LaunchBill(Frozen):
    """What a launch costs at worst; null only with a reason."""

    model_config = ConfigDict(serialize_by_alias=True)

    nodes: Count
    invoiced: bool
    """Whether launching makes an invoice; a machine that stands there already makes none."""
    price_kind: Literal["on_demand", "spot", "reservation", "capacity_block", "own"]
    rate: Rate | None
    no_price_reason: Text | None
    caps: TimeCaps
    ancillary: tuple[AncillaryCost, ...] = Field(
        default=(), validation_alias=AliasChoices("ancillary", "beside"), serialization_alias="beside"
    )
    """In documents and ledgers `beside`."""
    ancillary_usd: NonNegative = Field(
        default=0.0,
        validation_alias=AliasChoices("ancillary_usd", "beside_usd", "storage_usd"),
        serialization_alias="beside_usd",
    )
    """Of the worst case. In documents and ledgers `beside_usd`; older ledgers counted disks alone: `storage_usd`."""
    worst_case_usd: NonNegative | None


def bill_of(
    *,
    nodes: int,
    invoiced: bool,
    price_kind: Literal["on_demand", "spot", "reservation", "capacity_block", "own"],
    rate: Rate | None,
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
    ancillary_usd = sum(one.usd_per_hour for one in ancillary) * hours
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
    """Return what the nodes cost for the seconds that the ledger saw them up; None where the price is not known.

    USD = nodes x USD per node-hour x max(s / 3600, minimum hours)
          + ancillary costs of the worst case x s / worst-case seconds
    """
    if bill.rate is None:
        return None
    share = seconds / (bill.caps.worst_minutes * 60.0)
    hours = max(seconds / 3600.0, bill.rate.minimum_hours)
    return bill.nodes * bill.rate.usd_per_node_hour * hours + bill.ancillary_usd * share
