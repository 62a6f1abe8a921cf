"""Whether an old price is borne out: a second provider asks about the same for the same accelerator. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from planner.model.catalog import Catalog
from planner.model.prices.offer import FAST_KINDS, STALE_DAYS, Price, PriceKind, PriceOrigin
from planner.scenario.allowed_offers import provider_of
from planner.scenario.price_choice import ANY_REGION


@dataclass(frozen=True)
class Ask:
    """What a provider asks for an accelerator-hour on demand, and of when that is."""

    provider: str
    usd: float
    as_of: date


Asked = Mapping[str, tuple[Ask, ...]]
"""By accelerator."""


def asked_of(prices: Iterable[tuple[str, PriceKind, Price]], catalog: Catalog) -> Asked:
    """Return what is asked for each accelerator, of prices by instance and kind."""
    asked: dict[str, list[Ask]] = {}
    for name, kind, price in prices:
        node = catalog.nodes.get(name)
        if node is not None and kind is PriceKind.ON_DEMAND and price.usd_per_hour and price.unlisted_on is None:
            ask = Ask(provider_of(name), price.usd_per_hour / node.accelerators, price.as_of)
            asked.setdefault(node.accelerator, []).append(ask)
    return {accelerator: tuple(asks) for accelerator, asks in asked.items()}


def is_borne_out(name: str, price: Price, asked: Asked, catalog: Catalog, *, today: date) -> bool:
    """Return whether one may plan with a firm price: it is fresh, the user's own, or no second provider asks much more.

    Much: more than the doubt in an old price (`stale_factor`). Where others were read over 30 days later they alone
    speak: prices of one day bear each other out and may all have risen since. A machine that nobody else rents out
    counts where its price names a region, as a provider's price list does, and a page that somebody copied does not.
    """
    defaults = catalog.defaults.prices
    if price.price_kind in FAST_KINDS or price.origin is PriceOrigin.USER or not price.is_stale(today):
        return True
    node = catalog.nodes[name]
    others = [ask for ask in asked.get(node.accelerator, ()) if ask.provider != provider_of(name)]
    if not others or not price.usd_per_hour or defaults is None:
        return price.region != ANY_REGION
    later = [ask for ask in others if (ask.as_of - price.as_of).days > STALE_DAYS] or others
    least = min(ask.usd for ask in later)
    return least <= defaults.stale_factor.value * price.usd_per_hour / node.accelerators
