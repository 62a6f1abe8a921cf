"""Filter everything that the catalog and the prices offer, in numbers of machines that a training may use."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.availability import availability
from planner.cost.cloud.billing_terms import BillingTerms, sold_hours
from planner.decide.limits import MachineTerms
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, ClusterSale, Node
from planner.model.owning.acquisition import Hold
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.plan.plan import OptionLimits, SpotUse
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import FAST_KINDS, STALE_DAYS, Price, PriceKind, PriceOrigin
from planner.scenario.allowed_offers import provider_of
from planner.scenario.frameworks import makers_of
from planner.scenario.price_choice import ANY_REGION, SEARCHED_KINDS, prices_by_terms
from planner.speed.throughput.node_network import is_stated

NODES = (1, 2, 4, 8, 16)
"""Numbers of whole machines that are tried."""
NOT_KNOWN_AVAILABLE = "not known to be available"
SINGLE = "sold as single nodes only"
SHARED = 8
"""Accelerators of a machine from which several of them are tried. Smaller machines have slower networks."""


@dataclass(frozen=True)
class Offered:
    """A number of machines at one price."""

    node: Node
    accelerator: Accelerator
    price: Price
    nodes: int
    network_gbit_per_s: float | None = None
    """Network between the nodes as the filters state it; None: as in the catalog."""

    @property
    def accelerators(self) -> int:
        """Return the accelerators of all nodes."""
        return self.nodes * self.node.accelerators

    @property
    def usd_per_hour(self) -> float:
        """Return the list price of all nodes."""
        assert self.price.usd_per_hour is not None, "offers without a price are left out"
        return self.nodes * self.price.usd_per_hour

    def usd_of(self, hours: float) -> float:
        """Return the list price of continuous hours, at least of the hours that are billed."""
        blocks = self.price.price_kind is PriceKind.CAPACITY_BLOCK
        sold = sold_hours(hours, BillingTerms(blocks=True)) if blocks else max(hours, self.price.minimum_hours)
        return sold * self.usd_per_hour

    @property
    def firm(self) -> bool:
        """Return whether the machines are not taken away."""
        return self.price.price_kind not in FAST_KINDS

    def terms(self, limits: OptionLimits, *, today: date) -> MachineTerms:
        """Return the terms that the limits look at. The age of a price counts only if such prices become stale."""
        return MachineTerms(
            hold=Hold.RENT,
            price_kind=self.price.price_kind,
            known_available=availability(self.price, today=today) == "yes",
            price_days=self.price.age_days(today),
            price_stale=self.price.is_stale(today),
            spot_allowed=limits.spot is not SpotUse.NEVER,
        )

    def option(self, *, any_named: bool = False) -> PlanOption:
        """Return the offer as an option of a plan: at the cheapest price, or with `any_named` at the region `any`'s."""
        region = None if self.price.region == ANY_REGION and not any_named else self.price.region
        return PlanOption(
            offer=self.node.id,
            price=self.price.price_kind,
            nodes=self.nodes,
            region=region,
            network_gbit_per_s=self.network_gbit_per_s,
        )


@dataclass(frozen=True)
class FoundOffers:
    """Offers, and the numbers of others by the reason why they were left out."""

    offers: tuple[Offered, ...]
    left_out: Counter[str]
    unread: int = 0
    """Offers that were not read, because other offers of the same provider carry the same and cost no more."""


@dataclass(frozen=True)
class Ask:
    """A provider's price of an accelerator-hour on demand."""

    provider: str
    usd: float
    as_of: date


Asks = Mapping[str, list[Ask]]
"""Asked prices by accelerator."""


def offered(
    catalog: Catalog,
    filters: FindFilters,
    accelerators: frozenset[str] | None,
    *,
    today: date,
    framework: str | None = None,
) -> FoundOffers:
    """Return every offer that passes the filters, at its cheapest price.

    `accelerators` are the ids that `filters.accelerator` means. Without them only accelerators pass that run the plan's
    `framework` (or PyTorch) without changes.
    """
    makers = makers_of(framework)
    hint = ": ask for them by accelerator" if framework is None else ""
    found: list[Offered] = []
    left_out = Counter[str]()
    said_on = today if filters.available else None
    terms = list(prices_by_terms(catalog, SEARCHED_KINDS, regions=filters.region, said_on=said_on))
    asks = asks_of(terms, catalog)
    for name, kind, price in terms:
        node = catalog.nodes.get(name)
        accelerator = None if node is None else catalog.accelerators.get(node.accelerator)
        if node is None or accelerator is None:
            left_out["with an unknown accelerator"] += 1
            continue
        if not _passes(filters, accelerators, node.accelerator, provider_of(node.id), kind):
            continue
        numbers = _numbers(node, price, filters)
        if not numbers:
            continue
        available = availability(price, today=today)
        checks = {
            "without a price": price.usd_per_hour is None,
            "no longer listed": price.unlisted_on is not None,
            "sold out or above your quota": available == "no",
            NOT_KNOWN_AVAILABLE: filters.available and available != "yes",
            "with an old price below what any second provider asks": filters.provider is None
            and not is_confirmed(name, price, asks, catalog, today=today),
            "with an accelerator that cannot train or is not known": accelerator.no_training_reason is not None
            or accelerator.hbm_gib is None,
            f"on which {framework or 'PyTorch'} does not run as it is{hint}": accelerators is None
            and accelerator.vendor not in makers,
        }
        reason = next((words for words, applies in checks.items() if applies), None)
        if reason is not None:
            left_out[reason] += 1
            continue
        stated = filters.network_gbit_per_s if _takes_network(node) else None
        linked = node if stated is None else node.with_network(stated)
        joined = [n for n in numbers if is_stated(linked, accelerator, nodes=n, per_node=linked.accelerators)]
        single = node.clusters is ClusterSale.SINGLE_NODES
        left_out[SINGLE if single else "without a known network between nodes"] += len(numbers) - len(joined)
        found += [Offered(linked, accelerator, price, n, stated if n > 1 else None) for n in joined]
    unread = [
        each
        for each in catalog.unread
        if _passes(filters, accelerators, each.accelerator, each.provider, each.price_kind)
        and (filters.gpus is None or any(number * each.accelerators in filters.gpus for number in NODES))
    ]
    left_out[NOT_KNOWN_AVAILABLE] += sum(each.instances for each in unread if each.nobody_says)
    return FoundOffers(tuple(found), left_out, sum(each.instances for each in unread if not each.nobody_says))


def _passes(
    filters: FindFilters, accelerators: frozenset[str] | None, accelerator: str, provider: str, kind: PriceKind
) -> bool:
    """Return whether an offer is of the asked kind. Other offers are not counted as left out."""
    return (
        (accelerators is None or accelerator in accelerators)
        and (filters.provider is None or provider in filters.provider)
        and (filters.terms is None or (filters.terms is Terms.SPOT) == (kind in FAST_KINDS))
    )


def _numbers(node: Node, price: Price, filters: FindFilters) -> list[int]:
    """Return the numbers of such machines to try; empty if the filters ask for another number or for less money."""
    shared = node.accelerators >= SHARED or filters.gpus is not None
    tried = [number for number in (NODES if shared else NODES[:1]) if number >= node.cluster_least_nodes]
    ceiling = math.inf if filters.max_usd_per_hour is None else filters.max_usd_per_hour
    return [
        number
        for number in tried
        if (filters.gpus is None or number * node.accelerators in filters.gpus)
        and (price.usd_per_hour is None or number * price.usd_per_hour <= ceiling)
    ]


def _takes_network(node: Node) -> bool:
    """Return whether the filters' network counts: the catalog knows none, or only a range."""
    known = node.network_gbit_per_s is not None and node.network_range is None
    return not known and node.clusters is not ClusterSale.SINGLE_NODES


def asks_of(prices: Iterable[tuple[str, PriceKind, Price]], catalog: Catalog) -> Asks:
    """Return the asked prices of each accelerator, from prices by instance and kind."""
    asks: defaultdict[str, list[Ask]] = defaultdict(list)
    for name, kind, price in prices:
        node = catalog.nodes.get(name)
        if node is not None and kind is PriceKind.ON_DEMAND and price.usd_per_hour and price.unlisted_on is None:
            asks[node.accelerator].append(Ask(provider_of(name), price.usd_per_hour / node.accelerators, price.as_of))
    return asks


def is_confirmed(name: str, price: Price, asks: Asks, catalog: Catalog, *, today: date) -> bool:
    """Return whether a plan may count on a price: fresh, the user's own, spot, or confirmed by a second provider.

    A second provider confirms a price if it asks at most `stale_factor` times as much. Providers whose price was read
    over 30 days later count alone, because prices of one day may all have risen since. If no other provider rents the
    machine out, a price with a region counts (a provider's list), and one without (a copied page) does not.
    """
    defaults = catalog.defaults.prices
    if price.price_kind in FAST_KINDS or price.origin is PriceOrigin.USER or not price.is_stale(today):
        return True
    node = catalog.nodes[name]
    others = [ask for ask in asks.get(node.accelerator, ()) if ask.provider != provider_of(name)]
    if not others or not price.usd_per_hour or defaults is None:
        return price.region != ANY_REGION
    later = [ask for ask in others if (ask.as_of - price.as_of).days > STALE_DAYS] or others
    least = min(ask.usd for ask in later)
    return least <= defaults.stale_factor.value * price.usd_per_hour / node.accelerators
