"""Every machine that the catalog and the prices offer, in numbers that a training may use; pure filters."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.availability import availability
from planner.cost.cloud.billing_terms import BillingTerms as Billing
from planner.cost.cloud.billing_terms import sold_hours
from planner.decide.find.confirmed import asked_of, is_borne_out
from planner.decide.limits import MachineTerms
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, ClusterSale, Node
from planner.model.owning.hold import Hold
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.plan.plan import OptionLimits, SpotUse
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import FAST_KINDS, Price, PriceKind
from planner.model.prices.unread import Unread
from planner.scenario.allowed_offers import provider_of
from planner.scenario.frameworks import makers_of
from planner.scenario.price_choice import ANY_REGION, LOOKED_AT, prices_by_terms
from planner.speed.throughput.node_network import is_stated

NODES = (1, 2, 4, 8, 16)
"""How many whole machines are tried."""
UNSAID = "of which nobody says that they are to be had"
SINGLE = "sold as single nodes only"
SHARED = 8
"""Accelerators of a machine from which on several of them are tried: smaller ones are joined by slower networks."""


@dataclass(frozen=True)
class Offered:
    """A number of machines at one price."""

    node: Node
    accelerator: Accelerator
    price: Price
    nodes: int
    network_gbit_per_s: float | None = None
    """Between its nodes, as the filters state it; None: as the catalog does."""

    @property
    def accelerators(self) -> int:
        """Of all nodes."""
        return self.nodes * self.node.accelerators

    @property
    def usd_per_hour(self) -> float:
        """Of all nodes, at the list price."""
        assert self.price.usd_per_hour is not None, "what has no price is counted and left out"
        return self.nodes * self.price.usd_per_hour

    def usd_of(self, hours: float) -> float:
        """Return what so many hours one after another cost at the list price: at least the hours that are billed."""
        blocks = self.price.price_kind is PriceKind.CAPACITY_BLOCK
        sold = sold_hours(hours, Billing(blocks=True)) if blocks else max(hours, self.price.minimum_hours)
        return sold * self.usd_per_hour

    @property
    def firm(self) -> bool:
        """Whether nobody takes it away."""
        return self.price.price_kind not in FAST_KINDS

    def terms(self, limits: OptionLimits, *, today: date) -> MachineTerms:
        """Return what the limits ask of it; of a price that cannot be stale its age does not count."""
        return MachineTerms(
            hold=Hold.RENT,
            price_kind=self.price.price_kind,
            known_available=availability(self.price, today=today) == "yes",
            price_days=self.price.age_days(today),
            price_stale=self.price.is_stale(today),
            spot_allowed=limits.spot is not SpotUse.NEVER,
        )

    def option(self, *, any_named: bool = False) -> PlanOption:
        """Return it as an option of a plan: at the cheapest price, or with `any_named` at that of the region `any`."""
        region = None if self.price.region == ANY_REGION and not any_named else self.price.region
        return PlanOption(
            offer=self.node.id,
            price=self.price.price_kind,
            nodes=self.nodes,
            region=region,
            network_gbit_per_s=self.network_gbit_per_s,
        )


def offered(
    catalog: Catalog,
    filters: FindFilters,
    accelerators: frozenset[str] | None,
    *,
    today: date,
    framework: str | None = None,
) -> Found:
    """Return every offer that passes the filters, at its cheapest price, of those said to be had where that is asked.

    `accelerators`: the ids that `filters.accelerator` means. Without them only those that run the plan's `framework`,
    or PyTorch, as it is.
    """
    makers = makers_of(framework)
    ask = ": ask for them by accelerator" if framework is None else ""
    found: list[Offered] = []
    left_out = Counter[str]()
    said_on = today if filters.available else None
    terms = list(prices_by_terms(catalog, LOOKED_AT, regions=filters.region, said_on=said_on))
    asked = asked_of(terms, catalog)
    for name, kind, price in terms:
        node = catalog.nodes.get(name)
        accelerator = None if node is None else catalog.accelerators.get(node.accelerator)
        if node is None or accelerator is None:
            left_out["of which nobody says what they carry"] += 1
            continue
        if not _passes(node, kind, filters, accelerators) or not (numbers := _numbers(node, price, filters)):
            continue
        if price.usd_per_hour is None:
            left_out["without a price"] += 1
        elif price.unlisted_on is not None:
            left_out["that nobody lists any more"] += 1
        elif availability(price, today=today) == "no":
            left_out["sold out or above your quota"] += 1
        elif filters.available and availability(price, today=today) != "yes":
            left_out[UNSAID] += 1
        elif filters.provider is None and not is_borne_out(name, price, asked, catalog, today=today):
            left_out["with an old price below what any second provider asks"] += 1
        elif accelerator.no_training_reason is not None or accelerator.hbm_gib is None:
            left_out["with an accelerator that cannot train or is not known"] += 1
        elif accelerators is None and accelerator.vendor not in makers:
            left_out[f"on which {framework or 'PyTorch'} does not run as it is{ask}"] += 1
        else:
            stated = filters.network_gbit_per_s if _takes_network(node) else None
            linked = node if stated is None else node.with_network(stated)
            joined = [number for number in numbers if _is_joined(linked, accelerator, number)]
            single = node.clusters is ClusterSale.SINGLE_NODES
            left_out[SINGLE if single else "without a known network between nodes"] += len(numbers) - len(joined)
            found += [Offered(linked, accelerator, price, number, stated if number > 1 else None) for number in joined]
    unread = [one for one in catalog.unread if _asked_for(one, filters, accelerators)]
    left_out[UNSAID] += sum(one.instances for one in unread if one.nobody_says)
    return Found(tuple(found), left_out, sum(one.instances for one in unread if not one.nobody_says))


@dataclass(frozen=True)
class Found:
    """Offers, and how many were left out for which reason."""

    offers: tuple[Offered, ...]
    left_out: Counter[str]
    unread: int = 0
    """Offers that were not read, as others of the same provider carry the same and cost no more."""


def _asked_for(unread: Unread, filters: FindFilters, accelerators: frozenset[str] | None) -> bool:
    return (
        (accelerators is None or unread.accelerator in accelerators)
        and (filters.provider is None or unread.provider in filters.provider)
        and (filters.terms is None or (filters.terms is Terms.SPOT) == (unread.price_kind in FAST_KINDS))
        and (filters.gpus is None or any(number * unread.accelerators in filters.gpus for number in NODES))
    )


def _passes(node: Node, kind: PriceKind, filters: FindFilters, accelerators: frozenset[str] | None) -> bool:
    """Return whether what was asked for rules out nothing of an offer; what it rules out is not counted."""
    return (
        (accelerators is None or node.accelerator in accelerators)
        and (filters.provider is None or provider_of(node.id) in filters.provider)
        and (filters.terms is None or (filters.terms is Terms.SPOT) == (kind in FAST_KINDS))
    )


def _numbers(node: Node, price: Price, filters: FindFilters) -> list[int]:
    """Return how many such machines are tried; none where the filters ask for another number, or for less money."""
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
    """Return whether the filters' network counts: the catalog knows none, or a range of what it may be."""
    known = node.network_gbit_per_s is not None and node.network_range is None
    return not known and node.clusters is not ClusterSale.SINGLE_NODES


def _is_joined(node: Node, accelerator: Accelerator, nodes: int) -> bool:
    return is_stated(node, accelerator, nodes=nodes, per_node=node.accelerators)
