"""Claims on the time and cost of a training, and on prices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.ceilings import BEST_OF_CEILING, ceiling_of
from planner.audit.claims.arithmetic_claims import checked_product
from planner.audit.claims.hardware_claims import FORMATS, accelerator_of, node_of
from planner.audit.claims.units import DAY, HOUR, in_unit
from planner.audit.findings import Fact, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import PriceClaim, TrainingClaim
from planner.model.hardware.matmul_ceiling import MatmulCeiling
from planner.model.prices.offer import PriceKind

USUAL_MFU = 0.5
"""Of the dense peak: what good trainings of dense decoders reach."""
SAME_PRICE, HALF = 0.05, 0.5
SHOWN_KINDS = (PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK)


def training_findings(claim: TrainingClaim, catalog: Catalog, measured: Sequence[MatmulCeiling]) -> list[Finding]:
    """Hold 6 N tokens against the peak: share = 6 x parameters x tokens / (time x accelerators x peak)."""
    accelerator = accelerator_of(claim.accelerator, catalog)
    if isinstance(accelerator, Finding):
        return [accelerator]
    seconds = in_unit(claim.time, "s", "time")
    if isinstance(seconds, Finding):
        return [seconds]
    ceiling = ceiling_of(accelerator, FORMATS[claim.precision or "fp16"], measured)
    if ceiling is None:
        return [unknown("figure_not_known", f"The catalog holds no peak of {accelerator.id}.")]
    flops = 6.0 * claim.parameters * claim.tokens
    at_peak = flops / (claim.accelerators * ceiling.peak)
    share = at_peak / seconds if seconds > 0 else math.inf
    facts: tuple[Fact, ...] = (
        ("share of peak", min(share, 1e9), "of the dense peak", "6 x parameters x tokens / (time x peak)"),
        ("stated", seconds / DAY, "days", claim.source or "the claim"),
        ("at half of the peak", at_peak / USUAL_MFU / DAY, "days", "6 x parameters x tokens, attention left out"),
        ("peak", ceiling.peak / 1e12, "TFLOP/s", f"{accelerator.source} ({accelerator.as_of})"),
    )
    says = f"It would run at {share:.0%} of the peak; at half of it it takes {at_peak / USUAL_MFU / DAY:,.3g} days"
    findings = []
    if share > 1 or share * ceiling.peak > ceiling.flops:
        findings.append(impossible("faster_than_physics", f"{says}.", *facts, fix="Redo with planner estimate."))
    elif share * ceiling.peak > BEST_OF_CEILING * ceiling.flops:
        findings.append(doubtful("faster_than_published", f"{says}.", *facts, fix="Redo with planner estimate."))
    if claim.cost is not None and claim.price is not None:
        price, cost = in_unit(claim.price, "USD/h", "price"), in_unit(claim.cost, "USD", "cost")
        for one in (price, cost):
            if isinstance(one, Finding):
                findings.append(one)
        if not isinstance(price, Finding) and not isinstance(cost, Finding):
            findings += checked_product(claim.cost, price * seconds / HOUR, "cost")
    return findings


def price_findings(claim: PriceClaim, catalog: Catalog) -> list[Finding]:
    """Hold a price against dated rows of the same machine, of any region."""
    stated = in_unit(claim.amount, "USD/h", "price")
    if isinstance(stated, Finding):
        return [stated]
    node = node_of(claim.node, catalog)
    if isinstance(node, Finding):
        return [node]
    rows = [
        price
        for price in (*catalog.own_prices, *catalog.prices)
        if price.node == node.id and price.price_kind in SHOWN_KINDS and price.usd_per_hour
    ]
    if not rows:
        return [unknown("price_not_known", f"No dated price of {node.name} on demand is known.")]
    amounts = [row.usd_per_hour or 0.0 for row in rows]
    if any(math.isclose(stated, amount, rel_tol=SAME_PRICE) for amount in amounts):
        return []
    lowest = rows[amounts.index(min(amounts))]
    facts: tuple[Fact, ...] = (
        ("stated", stated, "USD/h", claim.source or "the claim"),
        ("lowest known", min(amounts), "USD/h", f"{lowest.source}, {lowest.region} ({lowest.as_of})"),
        ("highest known", max(amounts), "USD/h", "the same rows"),
    )
    shown = f"dated rows of {node.name} say {min(amounts):,.4g} to {max(amounts):,.4g}"
    if stated < HALF * min(amounts):
        says = f"{stated:,.4g} USD/h is no price of {node.accelerators} such accelerators: {shown}."
        return [impossible("price_not_for_the_machine", says, *facts, fix="Ask for which machine it was.")]
    says = f"{stated:,.4g} USD/h: {shown}."
    return [doubtful("price_out_of_date", says, *facts, fix="planner prices refresh")]
