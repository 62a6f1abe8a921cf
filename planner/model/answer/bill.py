"""A bill: every line with its quantity, unit price, range and source, and everything that could not be priced."""

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
    """Unit price; null if the line is not a product, such as a share of others or a commitment."""
    hours: float | None
    """Hours of waiting that are not billed by the hour, such as an upload."""
    currency: str
    """Currency of payment; not USD if the price is stated in the plan's own currency."""
    local: float | None
    """Amount in the plan's own currency, at its rate."""


class Uncounted(Frozen):
    """An item that is not on the bill, and the reason."""

    what: str
    reason: str


class AssumedRate(Frozen):
    """A service that is billed at an assumed rate, because the provider states none, with its amount."""

    what: str
    usd: float
    high_usd: float
    """Amount at the upper end of its range."""
    reason: str


class Coverage(Frozen):
    """Share of the training's costs that the bill covers."""

    priced: tuple[str, ...]
    no_price: tuple[Uncounted, ...]
    """Items that the bill lacks because their price or size is unknown, so the total is too low."""
    unsupported: tuple[str, ...]
    """Items that no version of the planner counts."""
    assumed: tuple[AssumedRate, ...] = ()
    """Priced items whose rate is assumed."""


class CreditUsed(Frozen):
    """Payment by a credit of the price book for a campaign, or for one training."""

    name: str
    usd: float
    source: str


class Bill(Frozen):
    """Amounts that one training, or the whole campaign, adds to the bills."""

    trainings: int
    lines: tuple[BillLine, ...]
    usd_total: Quantity
    usd_upfront: float | None = None
    """Part that is paid before the first hour; null if nothing is bought ahead."""
    usable_hours: float | None = None
    """Hours that each set of machines can be used in the block that is bought for it; null if no block is bought."""
    credits: tuple[CreditUsed, ...] = ()
    """Credits of the price book, with --with-price-book. They lower the remaining payment, and no total."""
    usd_to_pay: float | None = None
    """Remaining payment: `usd_total` minus the credits; null without any."""
    local_total: LocalAmount | None
    coverage: Coverage
