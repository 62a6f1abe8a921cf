"""Ways to hold a machine (bought, leased or already owned), and the public incentives for its purchase."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Day, Flag, Frozen, Text
from planner.model.figure import (
    FractionFigure,
    LeftYearsFigure,
    PositiveFigure,
    RateFigure,
    UsdFigure,
)


class Hold(StrEnum):
    """Way to hold a machine for a campaign. It decides the cost and the earliest start."""

    HAVE = "have"
    """The machine exists: the campaign adds to its bills, from now on."""
    RENT = "rent"
    """It belongs to a cloud or a lessor, who sends a bill."""
    BUY = "buy"
    """It must be bought first: its purchase, after its lead time."""
    USE = "use"
    """A grant, a hosted service or a commitment already bought: what it adds to the bills."""


class Acquisition(StrEnum):
    """Ways in which a site's machines were or will be acquired."""

    PURCHASE = "purchase"
    LEASE = "lease"
    ALREADY_OWNED = "already_owned"


class Purchase(Frozen):
    """Machines to be bought. All amounts are of one node."""

    server_usd: PositiveFigure
    """Price of one node in USD, without its share of network and storage."""
    network_fraction_of_capex: FractionFigure | None = None
    """The network's share of the whole purchase."""
    storage_fraction_of_capex: FractionFigure | None = None
    """Storage's share of the whole purchase."""

    @model_validator(mode="after")
    def _something_is_left_for_the_server(self) -> Self:
        parts = [part.highest for part in (self.network_fraction_of_capex, self.storage_fraction_of_capex) if part]
        if sum(parts) >= 1:
            raise ValueError("network and storage together leave nothing of capex for the server; write shares under 1")
        return self


class Lease(Frozen):
    """Machines rented from a lessor, standing at the site. All amounts are of one node."""

    usd_per_month: PositiveFigure
    """Rate of one node, USD per month."""
    term_months: Annotated[int, Field(strict=True, ge=1, le=240)]
    """Months until the lease ends."""
    maintenance_included: Flag = False
    """True if the lessor maintains the machines."""


class AlreadyOwned(Frozen):
    """Machines that are paid for. All amounts are of one node."""

    resale_usd: UsdFigure | None = None
    """Sale value today. Default: from `paid_usd` and the residual curve."""
    paid_usd: PositiveFigure | None = None
    """Price paid for one node, in USD."""
    bought_on: Day | None = None
    """Day of the purchase."""
    remaining_life_years: LeftYearsFigure | None = None
    """Remaining life. Default: the life minus the age.

    0 is a machine past its life, which is considered one year at a time.
    """
    book_usd: UsdFigure | None = None
    """Book value, for taxes only."""


class IncentiveKind(StrEnum):
    """Form in which an incentive pays."""

    GRANT = "grant"
    """Reduction of the purchase price, at once."""
    TAX_CREDIT = "tax_credit"
    """Reduction of the first year's taxes."""
    ACCELERATED_DEPRECIATION = "accelerated_depreciation"
    """Moves the tax shield of the purchase forward."""


class Incentive(Frozen):
    """One line of public incentives. It counts only if `eligible` says that it was checked."""

    name: Text
    """Name of the incentive."""
    kind: IncentiveKind
    """Form in which it pays."""
    base: Literal["server", "capex"] = "capex"
    """Base of its rate: the server, or the whole purchase."""
    rate: RateFigure | None = None
    """Share of the base."""
    cap_usd: UsdFigure | None = None
    """Cap for one node."""
    schedule_fractions: tuple[Annotated[float, Field(strict=True, ge=0, le=1)], ...] = ()
    """Share of the base written off in each year."""
    eligibility: Text
    """Eligibility in words."""
    eligible: Flag = False
    """True if it was checked that this site is eligible."""
    expires: Day | None = None
    """Last day on which it is available."""
    source: Text
    """Source of the incentive."""
    as_of: Day
    """Date of the source."""

    @model_validator(mode="after")
    def _rate_or_schedule(self) -> Self:
        scheduled = self.kind is IncentiveKind.ACCELERATED_DEPRECIATION
        if scheduled and (self.rate is not None or self.cap_usd is not None):
            raise ValueError("accelerated_depreciation takes schedule_fractions, not rate or cap_usd")
        if scheduled != bool(self.schedule_fractions):
            raise ValueError("schedule_fractions belongs to accelerated_depreciation, and is needed there")
        if not scheduled and self.rate is None:
            raise ValueError("rate is missing")
        if scheduled and abs(sum(self.schedule_fractions) - 1) > 1e-6:
            raise ValueError(f"schedule_fractions add up to {sum(self.schedule_fractions):g}; they must add up to 1")
        return self
