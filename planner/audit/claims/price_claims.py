"""Compares claims on prices with dated rows of the catalog and of refreshes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from planner.audit.claims.units import accelerator_of, ends_in, nearest, node_of
from planner.audit.findings import Fact, digits, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import PriceClaim
from planner.model.prices.offer import Price, PriceKind

SAME_PRICE, HALF, FAR_ABOVE = 0.05, 0.5, 10.0
LISTED = (PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK)
BY_THE_HOUR = (*LISTED, PriceKind.MARKETPLACE)
OTHER_KINDS = (PriceKind.SPOT, PriceKind.MARKETPLACE, PriceKind.SAVINGS_1Y, PriceKind.SAVINGS_3Y,
               PriceKind.RESERVED_1Y, PriceKind.RESERVED_3Y)  # fmt: skip


@dataclass(frozen=True)
class KnownPrices:
    """Dated rows, in USD per hour of the machine or accelerator."""

    low: float
    high: float
    lowest: Price

    def facts(self, stated: float, source: str | None) -> tuple[Fact, ...]:
        """Return the claim's figure beside the rows'."""
        where = ", ".join(filter(None, (self.lowest.source, self.lowest.region)))
        return (
            ("stated", stated, "USD/h", source or "the claim"),
            ("lowest known", self.low, "USD/h", f"{where} ({self.lowest.as_of})"),
            ("highest known", self.high, "USD/h", "the same rows"),
        )


def known_prices(
    catalog: Catalog, kinds: Collection[PriceKind], *, node: str | None = None, accelerator: str | None = None
) -> KnownPrices | None:
    """Return the prices of a machine in every region, or of one such accelerator anywhere."""
    rows: list[tuple[float, Price]] = []
    for price in (*catalog.own_prices, *catalog.prices):
        carrying = catalog.nodes.get(price.node)
        if not price.usd_per_hour or price.price_kind not in kinds or carrying is None:
            continue
        if node == price.node:
            rows.append((price.usd_per_hour, price))
        elif node is None and accelerator == carrying.accelerator:
            rows.append((price.usd_per_hour / carrying.accelerators, price))
    if not rows:
        return None
    low, lowest = min(rows, key=lambda row: row[0])
    return KnownPrices(low, max(amount for amount, _ in rows), lowest)


def price_findings(claim: PriceClaim, catalog: Catalog) -> list[Finding]:
    """Compare a price with dated rows of the same machine in any region, or of one accelerator at any provider."""
    if claim.node is None:
        return _accelerator_findings(claim, catalog)
    node = node_of(claim.node, catalog)
    if isinstance(node, Finding):
        return [node]
    stated = ends_in(claim.amount, "USD/h", "price", devices=node.accelerators, of_a_node=True)
    if isinstance(stated, Finding):
        return [stated]
    kinds = (claim.price_kind,) if claim.price_kind else LISTED
    listed = [known_prices(catalog, (kind,), node=node.id) for kind in kinds]
    known = next((prices for prices in listed if prices is not None), None)
    if any(prices is not None and _is_among(stated, prices) for prices in listed):
        return []
    if known is None:
        shown = claim.price_kind.value if claim.price_kind else "on demand"
        return [unknown("price_not_known", f"No dated price of {node.name} {shown} is known.")]
    remark, all_of_it = "", (stated[0] * node.accelerators, stated[1] * node.accelerators)
    if nearest(stated, known.low) < HALF * known.low and _is_among(all_of_it, known):
        remark = f" It fits one of its {node.accelerators} accelerators."
    for kind in OTHER_KINDS if claim.price_kind is None else ():
        other = known_prices(catalog, (kind,), node=node.id)
        if other is not None and _is_among(stated, other):
            remark = f" Such prices are known of it as {kind.value.replace('_', ' ')}."
            break
    return _held_against(stated, known, node.name, f"{node.accelerators} such accelerators", remark, claim.source)


def _is_among(ends: tuple[float, float], known: KnownPrices) -> bool:
    return ends[1] >= known.low * (1 - SAME_PRICE) and ends[0] <= known.high * (1 + SAME_PRICE)


def _accelerator_findings(claim: PriceClaim, catalog: Catalog) -> list[Finding]:
    if claim.accelerator is None:
        return [unknown("price_not_known", "The claim names neither machine nor accelerator.", fix="Add node.")]
    accelerator = accelerator_of(claim.accelerator, catalog)
    if isinstance(accelerator, Finding):
        return [accelerator]
    stated = ends_in(claim.amount, "USD/h", "price", devices=1)
    if isinstance(stated, Finding):
        return [stated]
    kinds = (claim.price_kind,) if claim.price_kind else BY_THE_HOUR
    known = known_prices(catalog, kinds, accelerator=accelerator.id)
    if known is None:
        return [unknown("price_not_known", f"No dated price of {accelerator.id} is known.")]
    counts = {node.accelerators for node in catalog.nodes.values() if node.accelerator == accelerator.id} - {1}
    of_several = stated[0] > known.high and any(known.low <= stated[0] / count <= known.high for count in counts)
    remark = " It fits a machine of several." if of_several else ""
    return _held_against(stated, known, f"one {accelerator.id}", "such an accelerator", remark, claim.source)


def _held_against(
    ends: tuple[float, float], known: KnownPrices, name: str, what: str, remark: str, source: str | None
) -> list[Finding]:
    if _is_among(ends, known):
        return []
    stated = nearest(ends, known.low)
    facts = known.facts(stated, source)
    rows = _span((known.low, known.high))
    shown = f"dated rows of {name} say {rows}"
    if stated < HALF * known.low or stated > FAR_ABOVE * known.high:
        says = f"{digits(stated)} USD/h is not a price of {what}: {shown}.{remark}"
        return [impossible("price_not_for_the_machine", says, *facts, fix="Ask for which machine it was.")]
    says = f"{digits(stated)} USD/h: {shown}.{remark}"
    return [doubtful("price_out_of_date", says, *facts, fix="planner prices refresh")]


def _span(ends: Sequence[float]) -> str:
    low, high = (f"{digits(end)}" for end in ends)
    return low if low == high else f"{low} to {high}"
