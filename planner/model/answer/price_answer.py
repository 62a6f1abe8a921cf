"""Answers of `planner prices`. These are its `--json` documents."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.base import Frozen
from planner.model.prices.offer import Confidence, PriceKind, PriceOrigin


class PriceRow(Frozen):
    """One price as it is known today: for the whole instance, and for each accelerator."""

    item: str
    """Item as a plan names it: provider/instance_type."""
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
    """True if plans use this row; False if a newer or more trusted row of the same item replaces it."""
    age_days: int
    stale: bool
    """True if older than its kind allows."""
    net_usd_per_hour: float | None = None
    """Net price by the price book, if the command has --with-price-book."""
    net_usd_per_million_tokens: float | None = None
    """Net price of hosted training by the price book."""
    net_because: str | None = None
    """Entries of the price book that apply, in order."""


class PricesDocument(Frozen):
    """Document of `planner prices show --json`."""

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
    """Document of `planner prices history --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["price_history"] = "price_history"
    item: str
    spans: tuple[PriceSpan, ...]
    prices: tuple[PriceRow, ...]


class SourceReport(Frozen):
    """Result of one source in a refresh."""

    source: str
    prices: int
    new: int
    """Number of prices that are new or changed."""
    renewed: int = 0
    """Number of prices that the previous complete lists contained too."""
    added: int = 0
    """Number of prices that the previous complete lists did not contain."""
    vanished: int = 0
    """Number of prices that only the previous complete lists contained. They are no longer offered."""
    problems: tuple[str, ...]
    left_out: dict[str, int]
    """Number of rows of the source that are not used, by reason."""
    not_asked: tuple[str, ...] = ()
    """Questions that the source could answer but was not asked, each with its reason."""


class RefreshDocument(Frozen):
    """Document of `planner prices refresh --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["price_refresh"] = "price_refresh"
    sources: tuple[SourceReport, ...]
    healed: tuple[str, ...] = ()
    """New paths of unreadable files of stored prices."""
    bundled_renewed: int = 0
    """Number of bundled prices whose machine a fetched list contains on the same terms."""
    bundled_unlisted: int = 0
    """Number of bundled prices whose machine a complete list of its provider no longer contains."""
    bundled_not_asked: int = 0
    """Number of bundled prices whose provider and terms no fetched list covers."""
