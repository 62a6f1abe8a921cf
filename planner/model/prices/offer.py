"""Price of a cloud's machine, with its terms, source and date."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from planner.model.base import Count, Day, Frozen, Id, NonNegative, Positive, Text


class PriceKind(StrEnum):
    """Terms on which an instance is paid."""

    ON_DEMAND = "on_demand"
    SPOT = "spot"
    SAVINGS_1Y = "savings_1y"
    SAVINGS_3Y = "savings_3y"
    RESERVED_1Y = "reserved_1y"
    RESERVED_3Y = "reserved_3y"
    CAPACITY_BLOCK = "capacity_block"
    MARKETPLACE = "marketplace"
    LEASE = "lease"
    GRANT = "grant"
    """A public or academic allocation, inside its window; the only kind whose price may be stated as zero."""
    HOSTED_TRAINING = "hosted_training"
    """A service that trains for a price per million tokens; `instance_type` names the service's model or size class."""


Confidence = Literal["api", "list", "third_party", "derived", "estimate"]
"""Kind of source: the vendor's API, its price page, a third party's copy, arithmetic on another price, an estimate."""


class PriceOrigin(StrEnum):
    """Origin of a price, the most trusted first. Of two conflicting prices the earlier one here is used."""

    USER = "user"
    AWS_API = "aws_api"
    VENDOR_API = "vendor_api"
    GPUHUNT = "gpuhunt"
    SKYPILOT = "skypilot"
    BUNDLED = "bundled"


TRUST = {origin: place for place, origin in enumerate(PriceOrigin)}
"""Trust rank of origins; the lowest is trusted most."""
FAST_KINDS = frozenset({PriceKind.SPOT, PriceKind.MARKETPLACE})
"""Kinds whose price moves within a day."""
FAST_STALE_DAYS = 1
STALE_DAYS = 30


def stale_days(kind: PriceKind) -> int:
    """Return the days after which a price of this kind is stale: one for spot and marketplace, 30 for the others."""
    return FAST_STALE_DAYS if kind in FAST_KINDS else STALE_DAYS


class LaterPrice(Frozen):
    """Price of an hour after a day on which entries of the price book end, or before the first day of others."""

    after: Day
    usd_per_hour: Positive
    committed_nodes: Count | None = None
    """Number of instances bought already at `usd_per_hour`."""
    beyond_usd_per_hour: Positive | None = None
    """Price of an instance beyond those."""


class OpenQuote(Frozen):
    """A quote of the price book that has to be accepted by its last day, with the price of an hour without it."""

    accept_by: Day
    usd_per_hour: Positive
    otherwise_usd_per_hour: Positive
    """Price of an hour on the next day if the quote was not accepted."""
    beside_commitment: bool = False
    """True if instances that are bought already cost less than both."""


class Price(Frozen):
    """One row of a price file: the whole instance, per hour; null only with a reason.

    A file may omit every column that has a default here (`planner/adapters/price_file.py`).
    """

    model_config = ConfigDict(validate_default=False)  # the defaults are literals; a table has 100,000 rows of them

    provider: Id
    instance_type: Id
    accelerator: Id | None = None
    """Accelerator of the instance, with `accelerators`, if `hardware/nodes.csv` does not know it."""
    accelerators: Count | None = None
    region: Text
    zone: Text | None = None
    price_kind: PriceKind
    usd_per_hour: NonNegative | None = None
    usd_per_million_tokens: Positive | None = None
    """Price of hosted training, instead of `usd_per_hour`."""
    no_price_reason: Text | None = None
    low_usd_per_hour: Positive | None = None
    """Lowest spot price over the zones and the time examined."""
    high_usd_per_hour: Positive | None = None
    """Highest possible spot price: the on-demand price, or after a refresh the highest observed."""
    seen_usd_per_hour: tuple[Positive, ...] = ()
    """Recent observations of a selected spot or marketplace price, the oldest first; `usd_per_hour` is their median.

    Never in a file.
    """
    seen_from: Day | None = None
    """Day of the oldest observation. `as_of` is that of the newest."""
    list_usd_per_hour: Positive | None = None
    """List price, if `usd_per_hour` is net by the user's price book. Never in a file."""
    committed_nodes: Count | None = None
    """Number of instances bought already at `usd_per_hour`, by the price book. Never in a file."""
    beyond_usd_per_hour: Positive | None = None
    """Price of an instance beyond those."""
    later: tuple[LaterPrice, ...] = ()
    """Prices after the commitment or discounts behind `usd_per_hour` have ended, by the price book. Never in a file."""
    open_quote: OpenQuote | None = None
    """Quote behind `usd_per_hour` or `beyond_usd_per_hour` if it ends some day. Never in a file."""
    agreed: bool = False
    """True if `usd_per_hour` is a quote or a commitment of the price book, which changes of the list do not affect.

    Never in a file.
    """
    list_usd_per_million_tokens: Positive | None = None
    """List price, if `usd_per_million_tokens` is net."""
    currency: Literal["USD"] = "USD"
    minimum_hours: NonNegative = 0.0
    """Minimum that is billed, or bought, each time."""
    billing_granularity_s: Positive | None = None
    """Billing granularity: use is rounded up to this many seconds; null if unknown, and then counted exactly."""
    minimum_term_hours: NonNegative = 0.0
    """Hours that one commits to pay, used or not: 8,760 for a 1-year plan of AWS."""
    upfront_fraction: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.0
    """Share of the commitment that is paid before the first hour."""
    valid_from: Day | None = None
    valid_until: Day | None = None
    """Last day of an offer, a block or an allocation."""
    node_hours_limit: Positive | None = None
    """Node-hours of an allocation."""
    available: bool | None = None
    """True if the vendor had one to rent when the price was read; null if it does not say."""
    unlisted_on: Day | None = None
    """Day of a later complete list of the provider that no longer contains this price. Never in a file."""
    origin: PriceOrigin = PriceOrigin.BUNDLED
    source: Text
    source_version: Text | None = None
    as_of: Day
    """Day for which the source states the price."""
    fetched_at: Day
    """Day on which the source was read."""
    confidence: Confidence
    note: Text | None = None

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        value = self.usd_per_hour
        if self.price_kind is PriceKind.HOSTED_TRAINING:
            self._check_amount(self.usd_per_million_tokens, "usd_per_million_tokens", other=value)
        elif value is None or value == 0 or self.usd_per_million_tokens is not None:
            self._check_amount(value, "usd_per_hour", other=self.usd_per_million_tokens)
        elif self.no_price_reason is not None:
            raise ValueError("needs either usd_per_hour or no_price_reason")
        low, high = self.low_usd_per_hour, self.high_usd_per_hour
        if value is not None and ((low is not None and low > value) or (high is not None and high < value)):
            raise ValueError("usd_per_hour must lie between low_usd_per_hour and high_usd_per_hour")
        if self.valid_from is not None and self.valid_until is not None and self.valid_until < self.valid_from:
            raise ValueError(f"valid_until {self.valid_until} is before valid_from {self.valid_from}")
        if (self.accelerator is None) != (self.accelerators is None):
            raise ValueError("accelerator and accelerators come together")
        return self

    def _check_amount(self, amount: float | None, name: str, *, other: float | None) -> None:
        if other is not None:
            raise ValueError(f"{self.price_kind.value} is priced in {name}")
        if (amount is None) == (self.no_price_reason is None):
            raise ValueError(f"needs either {name} or no_price_reason")
        if amount == 0 and self.price_kind is not PriceKind.GRANT:
            raise ValueError("a price of 0 is not a price: leave usd_per_hour empty and give no_price_reason")

    @property
    def node(self) -> str:
        """Id of the node that this price rents."""
        return f"{self.provider}/{self.instance_type}"

    @property
    def amount(self) -> float | None:
        """Price in USD per hour, for hosted training in USD per million tokens; None if there is none."""
        return self.usd_per_million_tokens if self.price_kind is PriceKind.HOSTED_TRAINING else self.usd_per_hour

    @property
    def stated_accelerators(self) -> tuple[str, int] | None:
        """Kind and number of the instance's accelerators; None if the row does not state them."""
        return None if self.accelerator is None or self.accelerators is None else (self.accelerator, self.accelerators)

    @property
    def stale_days(self) -> int:
        """Days after which this price is stale."""
        return stale_days(self.price_kind)

    def age_days(self, today: date) -> int:
        """Return the age of the price in days. A future date counts as today."""
        return max(0, (today - self.as_of).days)

    def is_stale(self, today: date) -> bool:
        """Return whether the price is older than its kind allows. An offer that can still be accepted never is."""
        holds = self.agreed or (self.valid_until is not None and today <= self.valid_until)
        return not holds and self.age_days(today) > self.stale_days
