"""Checks speed-ups by their own inputs, and by the ratio of peaks, memory bandwidths and accelerator counts."""

from __future__ import annotations

from planner.audit.claims.arithmetic_claims import arithmetic_findings
from planner.audit.claims.catalog_names import accelerator_of
from planner.audit.claims.hardware_claims import FORMATS
from planner.audit.claims.units import ends_in
from planner.audit.findings import Fact, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import ArithmeticClaim, SpeedupClaim
from planner.model.hardware.machines import Accelerator
from planner.speed.physics.accelerator_facts import peak_flops

ANY_FORMATS = (*((name, name) for name in FORMATS), ("fp8", "fp16"))
"""Formats of the first and of the second run if a claim names none."""
ABOVE = 1.05
"""Tolerance above what the hardware allows, for rounding and for clocks of one device."""


def speedup_findings(claim: SpeedupClaim, catalog: Catalog) -> list[Finding]:
    """Redo its arithmetic if it has inputs, and compare it with the hardware if that is named."""
    named = claim.accelerator or claim.accelerators
    findings: list[Finding] = []
    if claim.product or claim.over or not named:
        stated = ArithmeticClaim(
            kind="arithmetic", id=claim.id, amount=claim.amount, product=claim.product, over=claim.over
        )
        findings = [finding for finding in arithmetic_findings(stated) if finding.code != "unit_missing"]
    return findings + (_by_the_hardware(claim, catalog) if named else [])


def _by_the_hardware(claim: SpeedupClaim, catalog: Catalog) -> list[Finding]:
    """Bound it by count ratio x the larger of the ratios of peaks and of memory bandwidths, at equal settings."""
    stated = ends_in(claim.amount, "", "the speed-up")
    if isinstance(stated, Finding):
        return [stated]
    count = (claim.accelerators or 1) / (claim.than_accelerators or 1)
    if claim.accelerator is None or claim.than_accelerator is None:
        return _by_count(claim, stated[0], count)
    first, other = (accelerator_of(name, catalog) for name in (claim.accelerator, claim.than_accelerator))
    for found in (first, other):
        if isinstance(found, Finding):
            return [found]
    assert isinstance(first, Accelerator)
    assert isinstance(other, Accelerator)
    if first.id == other.id:
        return _by_count(claim, stated[0], count)
    formats = ((claim.precision, claim.precision),) if claim.precision else ANY_FORMATS
    fast = [peak / base for mine, its in formats if (peak := _peak(first, mine)) and (base := _peak(other, its))]
    if not fast or not first.hbm_gb_per_s or not other.hbm_gb_per_s:
        return [unknown("figure_not_known", f"The catalog does not hold both peaks of {first.id} and {other.id}.")]
    bandwidth = first.hbm_gb_per_s / other.hbm_gb_per_s
    most = count * max(*fast, bandwidth)
    if stated[0] <= most * ABOVE:
        return []
    says = (
        f"{stated[0]:,.3g} times is said; peaks allow at most {count * max(fast):,.3g}, memory bandwidth "
        f"{count * bandwidth:,.3g}."
    )
    facts: tuple[Fact, ...] = (
        ("stated", stated[0], "times", claim.source or "the claim"),
        ("peaks", count * max(fast), "times at most, in one format", f"{first.source}; {other.source}"),
        ("memory bandwidth", count * bandwidth, "times", f"{first.source}; {other.source}"),
    )
    fix = "Say precision, batch, software and count of both sides: something beside the hardware differs."
    widest = count * max(_peak(first, name) or 0.0 for name in FORMATS) / (_peak(other, "fp32") or 1.0)
    raise_ = impossible if claim.precision or stated[0] > max(widest, most) * ABOVE else doubtful
    return [raise_("speedup_above_hardware", says, *facts, fix=fix)]


def _by_count(claim: SpeedupClaim, stated: float, count: float) -> list[Finding]:
    if not claim.accelerators:
        return [unknown("work_not_known", "The speed-up names one machine alone.", fix="Add than_accelerator.")]
    if stated <= count * ABOVE:
        return []
    says = f"{stated:,.3g} times is said of {count:g} times the accelerators: above linear scaling."
    facts: tuple[Fact, ...] = (
        ("stated", stated, "times", claim.source or "the claim"),
        ("linear", count, "times", "accelerators / than_accelerators"),
    )
    return [doubtful("scaling_above_linear", says, *facts, fix="Repeat the run on fewer: something slowed it.")]


def _peak(accelerator: Accelerator, figure: str) -> float | None:
    return peak_flops(accelerator, FORMATS[figure])
