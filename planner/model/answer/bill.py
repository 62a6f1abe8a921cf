"""A bill: every line with its quantity, unit price, range and source, and what could not be priced."""

from __future__ import annotations

from planner.model.base import Frozen
from planner.model.currency import LocalAmount
from planner.model.quantity import Quantity


class BillLine(Frozen):
    """One line. `usd` is in whole cents; the cents of all lines add up to the bill's total (docs/bill.md)."""

    what: str
    usd: Quantity
    quantity: float
    quantity_unit: str
    usd_per_unit: float | None
    """Null where the line is no product: a share of others, a commitment."""
    hours: float | None
    """Of waiting that is not billed by the hour: an upload."""
    currency: str
    """In which it is paid; not USD where its price is stated in the plan's own."""
    local: float | None
    """In the plan's own currency, at its rate."""


class Uncounted(Frozen):
    """What is not on the bill, and why."""

    what: str
    reason: str


class AssumedRate(Frozen):
    """A service that stands on the bill at an assumed rate, as nobody states the provider's, and what it comes to."""

    what: str
    usd: float
    high_usd: float
    """At the upper end of its range."""
    reason: str


class Coverage(Frozen):
    """How much of what such a training costs is on the bill."""

    priced: tuple[str, ...]
    no_price: tuple[Uncounted, ...]
    """Would be on the bill if its price or size were known: a total without it is too low."""
    unsupported: tuple[str, ...]
    """No version of the planner counts it."""
    assumed: tuple[AssumedRate, ...] = ()
    """Of what is priced: at an assumed rate."""


class CreditUsed(Frozen):
    """What a credit of the price book pays of a campaign, or of one training."""

    name: str
    usd: float
    source: str


class Bill(Frozen):
    """What one training, or the whole campaign, adds to the bills."""

    trainings: int
    lines: tuple[BillLine, ...]
    usd_total: Quantity
    usd_upfront: float | None = None
    """What of it is paid before the first hour; null where nothing is bought ahead."""
    usable_hours: float | None = None
    """Hours that each set of machines can be used in the block that is bought for it; null: no block is bought."""
    credits: tuple[CreditUsed, ...] = ()
    """By the price book, where that was asked for; they lower what remains to pay, and no total."""
    usd_to_pay: float | None = None
    """`usd_total` less the credits; null without any."""
    local_total: LocalAmount | None
    coverage: Coverage
