"""Checks claims on the cost of a training: price x time, and the price of such accelerators."""

from __future__ import annotations

import math

from planner.audit.ceilings import BEST_OF_CEILING, Ceiling
from planner.audit.claims.arithmetic_claims import AGREES, checked_product
from planner.audit.claims.price_claims import BY_THE_HOUR, HALF, known_prices
from planner.audit.claims.units import HOUR, ends_in, nearest
from planner.audit.findings import Fact, digits, doubtful, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.amount import Amount
from planner.model.evidence.claims import TrainingClaim
from planner.model.hardware.machines import Accelerator
from planner.model.prices.offer import PriceKind
from planner.quantity.divisors import divisors

FAR_ABOVE = 4.0
"""Multiple of every known price from which the claim is about something else."""
FLOPS = {"full": 6.0, "lora": 4.0}
"""FLOPs per parameter and token: forward and backward pass; without the gradients of frozen weights."""
FIX = "Redo with planner estimate."


def cost_findings(
    claim: TrainingClaim, seconds: tuple[float, float], accelerator: Accelerator, catalog: Catalog
) -> list[Finding]:
    """Redo price x time. If no price is stated, compare cost / time with the cheapest known price."""
    if claim.cost is None:
        return []
    cost = ends_in(claim.cost, "USD", "cost")
    if isinstance(cost, Finding):
        return [cost]
    if claim.price is not None:
        price = ends_in(claim.price, "USD/h", "price", devices=claim.accelerators)
        if isinstance(price, Finding):
            return [price]
        least, most = (price[place] * seconds[place] / HOUR for place in (0, 1))
        parts = _parts(claim, cost, (least, most))
        if parts is None:
            printed = Amount(value=cost[0], high=cost[1], unit="USD")
            return checked_product(printed, nearest((least, most), cost[0]), "cost")
    hours = tuple(end / HOUR for end in seconds)
    return _of_the_market(claim, (cost[0], cost[1]), (hours[0], hours[1]), accelerator, catalog)


def _parts(claim: TrainingClaim, cost: tuple[float, float], product: tuple[float, float]) -> int | None:
    """Return the number of equal parts of the machines for which cost = price x time; None if there is none."""
    for parts in divisors(claim.accelerators) if product[0] > 0 else ():
        whole = nearest((cost[0], cost[1]), nearest((product[0] * parts, product[1] * parts), cost[0]))
        if any(math.isclose(whole, end * parts, rel_tol=AGREES) for end in product):
            return parts
    return None


def _of_the_market(
    claim: TrainingClaim,
    cost: tuple[float, float],
    hours: tuple[float, float],
    accelerator: Accelerator,
    catalog: Catalog,
) -> list[Finding]:
    """Compare cost / (hours x accelerators) with every known price of such an accelerator."""
    known = known_prices(catalog, (*BY_THE_HOUR, PriceKind.SPOT), accelerator=accelerator.id)
    if known is None or hours[0] <= 0:
        return []
    low, high = (cost[place] / (hours[1 - place] * claim.accelerators) for place in (0, 1))
    if low <= FAR_ABOVE * known.high and high >= HALF * known.low:
        return []
    each = high if high < HALF * known.low else low
    says = f"That is {digits(each)} USD an hour and accelerator; {digits(known.low)} to {digits(known.high)} are known."
    fix = "Say what was paid for: one's own machine costs electricity alone in the margin."
    return [doubtful("price_not_for_the_machine", says, *known.facts(each, claim.source), fix=fix)]


def cost_alone_findings(
    claim: TrainingClaim, tokens: float, accelerator: Accelerator, ceiling: Ceiling, catalog: Catalog
) -> list[Finding]:
    """Compare a cost with the hours at the best published share of the peak, at half of the cheapest known price."""
    if claim.cost is None:
        return [unknown("work_not_known", "The claim names neither time nor cost.", fix="Add time: 8 days")]
    cost = ends_in(claim.cost, "USD", "cost")
    if isinstance(cost, Finding):
        return [cost]
    stated = None
    if claim.price is not None:
        price = ends_in(claim.price, "USD/h", "price", devices=claim.accelerators)
        if isinstance(price, Finding):
            return [price]
        stated = price[0] / claim.accelerators
    known = known_prices(catalog, (*BY_THE_HOUR, PriceKind.SPOT), accelerator=accelerator.id)
    if stated is None and known is None:
        return [unknown("price_not_known", f"No dated price of {accelerator.id} is known.")]
    hourly = stated if stated is not None else HALF * known.low if known else 0.0
    hours = FLOPS[claim.method] * claim.parameters * tokens / (BEST_OF_CEILING * ceiling.flops) / HOUR
    if cost[1] >= hours * hourly:
        return []
    says = (
        f"{digits(cost[1])} USD are said; the best published speed takes {digits(hours)} accelerator-hours, "
        f"{digits(hours * hourly)} USD at {hourly:,.3g} an hour."
    )
    facts: tuple[Fact, ...] = (
        ("stated", cost[1], "USD", claim.source or "the claim"),
        ("least", hours * hourly, "USD", "hours x " + ("the stated price" if stated else "half of the cheapest price")),
        ("hours", hours, "accelerator-hours", "6 x parameters x tokens at the best published share of the peak"),
    )
    return [doubtful("cheaper_than_possible", says, *facts, fix=FIX)]
