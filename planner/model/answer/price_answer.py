"""What `planner prices` answers; these are its `--json` documents."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.base import Frozen
from planner.model.prices.offer import Confidence, PriceKind, PriceOrigin


class PriceRow(Frozen):
    """One price as it is known today: the whole instance, and what that comes to for each accelerator."""

    item: str
    """As a plan names it: provider/instance_type."""
    provider: str
    instance_type: str
    accelerator: str | None
    accelerators: int | None
    region: str
    zone: str | None
    price_kind: PriceKind
    usd_per_hour: float | None
    usd_per_accelerator_hour: float | None
    usd_per_million_tokens: float | None
    no_price_reason: str | None
    low_usd_per_hour: float | None
    high_usd_per_hour: float | None
    currency: str
    minimum_hours: float
    billing_granularity_s: float | None
    minimum_term_hours: float
    upfront_fraction: float
    valid_from: date | None
    valid_until: date | None
    node_hours_limit: float | None
    available: bool | None
    origin: PriceOrigin
    source: str
    source_version: str | None
    as_of: date
    fetched_at: date
    confidence: Confidence
    note: str | None
    used: bool
    """Whether this is the row that a plan is given; others of the same thing are older or less trusted."""
    age_days: int
    stale: bool
    """Older than its kind allows."""
    net_usd_per_hour: float | None = None
    """With the price book, where that was asked for."""
    net_usd_per_million_tokens: float | None = None
    """The same of hosted training."""
    net_because: str | None = None
    """Which entries of the price book apply, in their order."""


class PricesDocument(Frozen):
    """`planner prices show --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["prices"] = "prices"
    prices: tuple[PriceRow, ...]


class PriceSpan(Frozen):
    """Lowest, median and highest of all observations of one item, kind and region."""

    region: str
    price_kind: PriceKind
    observations: int
    first: date
    last: date
    low_usd_per_hour: float
    median_usd_per_hour: float
    high_usd_per_hour: float


class PriceHistoryDocument(Frozen):
    """`planner prices history --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["price_history"] = "price_history"
    item: str
    spans: tuple[PriceSpan, ...]
    prices: tuple[PriceRow, ...]


class SourceReport(Frozen):
    """What one source brought in a refresh."""

    source: str
    prices: int
    new: int
    """Prices that were not known like this."""
    renewed: int = 0
    """Of the whole lists among them: prices that the list before held too."""
    added: int = 0
    """Those that it did not hold."""
    vanished: int = 0
    """Those that it held and this one does not: nobody lists them any more."""
    problems: tuple[str, ...]
    left_out: dict[str, int]
    """Rows that are no prices of ours: why, and how many."""
    not_asked: tuple[str, ...] = ()
    """What the source could be asked for and was not, each with its reason."""


class RefreshDocument(Frozen):
    """`planner prices refresh --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["price_refresh"] = "price_refresh"
    sources: tuple[SourceReport, ...]
    healed: tuple[str, ...] = ()
    """Files of stored prices that could not be read: where each was set aside."""
    bundled_renewed: int = 0
    """Bundled prices of machines that a list holds on the same terms."""
    bundled_unlisted: int = 0
    """Those that a whole list of their provider does not hold any more."""
    bundled_not_asked: int = 0
    """Those of providers and terms of which no list was read."""
