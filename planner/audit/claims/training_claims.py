"""Compares claims on the time and cost of a training with the accelerators' peaks and dated prices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.audit.ceilings import BEST_OF_CEILING, Ceiling, ceiling_of
from planner.audit.claims.arithmetic_claims import AGREES
from planner.audit.claims.catalog_names import accelerator_of
from planner.audit.claims.hardware_claims import FORMATS, lacks
from planner.audit.claims.training_cost_claims import FIX, FLOPS, cost_alone_findings, cost_findings
from planner.audit.claims.units import DAY, ends_in, nearest
from planner.audit.findings import Fact, digits, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import TrainingClaim
from planner.model.hardware.machines import Accelerator, MatmulCeiling
from planner.speed.physics.accelerator_facts import peak_flops

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
