"""Compares claims on the time and cost of a training with the accelerators' peaks and dated prices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.claims.arithmetic_claims import AGREES, checked_product
from planner.audit.claims.hardware_claims import FORMATS, lacks
from planner.audit.claims.price_claims import BY_THE_HOUR, HALF, known_prices
from planner.audit.claims.units import DAY, HOUR, accelerator_of, ends_in, nearest
from planner.audit.findings import Fact, digits, doubtful, impossible, unknown
from planner.audit.rate_rules import BEST_OF_CEILING, Ceiling, ceiling_of
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.amount import Amount
from planner.model.evidence.claims import TrainingClaim
from planner.model.hardware.machines import Accelerator, MatmulCeiling
from planner.model.prices.offer import PriceKind
from planner.speed.physics.accelerator_facts import peak_flops
from planner.speed.throughput.strategy_space import divisors

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
        parts = _equal_parts(claim, cost, (least, most))
        if parts is None:
            printed = Amount(value=cost[0], high=cost[1], unit="USD")
            return checked_product(printed, nearest((least, most), cost[0]), "cost")
    hours = tuple(end / HOUR for end in seconds)
    return _market_findings(claim, (cost[0], cost[1]), (hours[0], hours[1]), accelerator, catalog)


def _equal_parts(claim: TrainingClaim, cost: tuple[float, float], product: tuple[float, float]) -> int | None:
    """Return the number of equal parts of the machines for which cost = price x time; None if there is none."""
    for parts in divisors(claim.accelerators) if product[0] > 0 else ():
        whole = nearest((cost[0], cost[1]), nearest((product[0] * parts, product[1] * parts), cost[0]))
        if any(math.isclose(whole, end * parts, rel_tol=AGREES) for end in product):
            return parts
    return None


def _market_findings(
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


USUAL_MFU = 0.5
"""Share of the dense peak that good trainings of dense decoders reach."""
MOST_DAYS = 1000
MANY_TIMES = 10
"""Ratio to the peak from which it is written as a multiple."""


def training_findings(claim: TrainingClaim, catalog: Catalog, measured: Sequence[MatmulCeiling]) -> list[Finding]:
    """Compare 6 N tokens with the peak: share = 6 x parameters x tokens / (time x accelerators x peak)."""
    accelerator = accelerator_of(claim.accelerator, catalog)
    if isinstance(accelerator, Finding):
        return [accelerator]
    ceiling = ceiling_of(accelerator, FORMATS[claim.precision or "fp16"], measured)
    if claim.precision is not None and lacks(accelerator, claim.precision) and ceiling is None:
        says = f"{accelerator.id} ({accelerator.architecture}) has no {claim.precision} hardware."
        fact: Fact = ("known", 0.0, "TFLOP/s", f"{accelerator.source} ({accelerator.as_of})")
        return [impossible("format_not_in_hardware", says, fact, fix=accelerator.trap or "")]
    if ceiling is None:
        return [unknown("figure_not_known", f"The catalog holds no {claim.precision or 'peak'} of {accelerator.id}.")]
    findings, tokens = _tokens(claim)
    if tokens is None:
        return [*findings, unknown("work_not_known", "The claim names no number of tokens.", fix="Add tokens: 1.0e11")]
    if claim.time is None:
        return findings + cost_alone_findings(claim, tokens, accelerator, ceiling, catalog)
    seconds = ends_in(claim.time, "s", "time", devices=claim.accelerators)
    if isinstance(seconds, Finding):
        return [*findings, seconds]
    findings += _rate(claim, tokens, seconds)
    findings += _speed(claim, tokens, seconds[1], accelerator, ceiling)
    return findings + cost_findings(claim, seconds, accelerator, catalog)


def _tokens(claim: TrainingClaim) -> tuple[list[Finding], float | None]:
    """Return the comparison of steps x batch x sequence with the tokens, and the tokens."""
    if claim.steps is None or claim.global_batch is None or claim.seq_len is None:
        return [], claim.tokens
    product = claim.steps * claim.global_batch * claim.seq_len
    if claim.tokens is None or math.isclose(product, claim.tokens, rel_tol=AGREES):
        return [], product
    says = f"Steps x batch x sequence are {digits(product)} tokens; {digits(claim.tokens)} are said."
    facts: tuple[Fact, ...] = (
        ("implied", product, "tokens", "steps x global_batch x seq_len"),
        ("stated", claim.tokens, "tokens", claim.source or "the claim"),
    )
    fix = "Say which of them is right: packing and padding count."
    return [impossible("counts_disagree", says, *facts, fix=fix)], claim.tokens


def _rate(claim: TrainingClaim, tokens: float, seconds: tuple[float, float]) -> list[Finding]:
    if claim.tokens_per_s is None:
        return []
    needed = tokens / claim.tokens_per_s
    stated = nearest(seconds, needed)
    if stated >= needed * (1 - AGREES):
        return []
    says = f"At {digits(claim.tokens_per_s)} tokens/s it takes {_days(needed)} days; {_days(stated)} are said."
    facts: tuple[Fact, ...] = (
        ("implied", needed / DAY, "days", "tokens / tokens_per_s"),
        ("stated", stated / DAY, "days", claim.source or "the claim"),
    )
    return [impossible("counts_disagree", says, *facts, fix="Say whether the rate is of one accelerator or of all.")]


def _speed(
    claim: TrainingClaim, tokens: float, seconds: float, accelerator: Accelerator, ceiling: Ceiling
) -> list[Finding]:
    flops = FLOPS[claim.method] * claim.parameters * tokens
    at_peak = flops / (claim.accelerators * ceiling.peak)
    share = at_peak / seconds if seconds > 0 else math.inf
    by = f"{FLOPS[claim.method]:g} x parameters x tokens"
    facts: tuple[Fact, ...] = (
        ("share of peak", min(share, 1e9), "of the dense peak", f"{by} / (time x peak)"),
        ("stated", seconds / DAY, "days", claim.source or "the claim"),
        ("at half of the peak", at_peak / USUAL_MFU / DAY, "days", f"{by}, attention left out"),
        ("peak", ceiling.peak / 1e12, "TFLOP/s", f"{accelerator.source} ({accelerator.as_of})"),
    )
    much = f"{share:,.0%} of" if share < MANY_TIMES else f"{digits(share)} times"
    says = f"{_days(seconds)} days would be {much} the peak; at half of it it takes "
    says = says if seconds > 0 else "No time at all is said; at half of the peak it takes "
    says += f"{_days(at_peak / USUAL_MFU)} days"
    if share * ceiling.peak > ceiling.flops:
        if fewer := _fewer_bits(claim, accelerator, share * ceiling.peak):
            says = f"{says}; only {fewer} could do it, and the claim does not state that"
            return [doubtful("faster_than_physics", f"{says}.", *facts, fix=FIX)]
        return [impossible("faster_than_physics", f"{says}.", *facts, fix=FIX)]
    if share * ceiling.peak > BEST_OF_CEILING * ceiling.flops:
        return [doubtful("faster_than_published", f"{says}.", *facts, fix=FIX)]
    return []


def _days(seconds: float) -> str:
    days = seconds / DAY
    return f"{days:,.3g}" if days < MOST_DAYS else digits(days)


def _fewer_bits(claim: TrainingClaim, accelerator: Accelerator, flops: float) -> str:
    if claim.precision is not None:
        return ""
    sixteen = peak_flops(accelerator, "16bit") or 0.0
    fast = [name for name in ("fp8", "fp4") if sixteen < (peak_flops(accelerator, name) or 0.0) >= flops]
    return " or ".join(fast)
