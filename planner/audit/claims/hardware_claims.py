"""Compares figures of hardware, and speed-ups, with the catalog's dated rows and with their own inputs."""

from __future__ import annotations

import math
import re

from planner.audit.claims.arithmetic_claims import arithmetic_findings
from planner.audit.claims.units import FIX, accelerator_of, ends_in, nearest, node_of
from planner.audit.findings import Fact, digits, doubtful, impossible, note, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import ArithmeticClaim, HardwareClaim, SpeedupClaim
from planner.model.hardware.machines import Accelerator, Node
from planner.speed.physics.accelerator_facts import FP4_OVER_FP8, emulates_bf16, peak_flops

FORMATS = {"fp32": "fp32", "tf32": "tf32", "fp16": "16bit", "bf16": "bf16", "fp8": "fp8", "fp4": "fp4"}
OTHER_WORDS = {
    "vram": "memory", "hbm": "memory", "tdp": "power", "nvlink": "link", "memory_bandwidth": "bandwidth",
    "float8": "fp8", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "single": "fp32",
}  # fmt: skip
UNITS = {
    "memory": "GB", "bandwidth": "GB/s", "link": "GB/s", "network": "Gbit/s", "power": "W",
    "tensor_core_generation": "", **dict.fromkeys(FORMATS, "TFLOP/s"),
}  # fmt: skip
ABOUT, ABOUT_POWER = 0.04, 0.1
"""Tolerances. The power of a machine differs by its configuration."""
SPARSE = ((1.9, 2.3), (3.85, 4.15))
"""Multiples of the dense peak for figures with 2:4 sparsity or narrower sums (first announcements rounded up:

20 PFLOP/s for a B200's 9), and with both.
"""
BINARY = 2**30 / 1e9
"""A GiB in GB. Data sheets mean either."""
WITHIN = {
    "power": (1 / (1 + ABOUT_POWER), 1 + ABOUT_POWER),
    "memory": ((1 - ABOUT) / BINARY, BINARY * (1 + ABOUT / 4)),
}
"""Lowest and highest ratio of a stated figure to the data sheet's at which they agree."""
WITHIN_OTHERS = (1 / (1 + ABOUT), 1 + ABOUT)
COUNTED_IN_BYTES = ("memory", "bandwidth", "link", "network")
SLIPS = (
    (1e3, "a prefix", tuple(UNITS)),
    (1e6, "a prefix", tuple(UNITS)),
    (8.0, "bits for bytes, or eight devices for one", COUNTED_IN_BYTES),
)
"""Factors of mistaken units, with the figures in which they occur."""
TRAPS = (*FORMATS, "memory", "bandwidth", "link")
"""Figures that an accelerator's trap may explain."""
SEVERAL = re.compile(r"^\s*(\d+)\s?[x\u00d7]\s", re.IGNORECASE)
"""A count of accelerators, whose figures may be added."""
TENSOR_CORES = {"Volta": 1, "Turing": 2, "Ampere": 3, "Ada": 4, "Hopper": 4, "Blackwell": 5, "Blackwell Ultra": 5}
"""Tensor-core generation by architecture. Source: NVIDIA's architecture white papers, as of 2026-11."""


def hardware_findings(claim: HardwareClaim, catalog: Catalog) -> list[Finding]:
    """Compare a figure with the catalog. A peak about twice the dense one is the sparse one."""
    count, node = 1, None
    name = claim.accelerator
    if claim.node is not None:
        found = node_of(claim.node, catalog)
        if isinstance(found, Finding):
            return [found]
        node, count, name = found, found.accelerators, found.accelerator
    if name is None:
        return [unknown("accelerator_not_known", "The claim names neither accelerator nor node.", fix=FIX)]
    accelerator = accelerator_of(name, catalog)
    if isinstance(accelerator, Finding):
        return [accelerator]
    figure = claim.figure.strip().casefold().replace(" ", "_")
    figure = OTHER_WORDS.get(figure, figure)
    if figure not in UNITS:
        fix = f"The catalog holds: {', '.join(UNITS)}."
        return [unknown("figure_not_known", f"The catalog holds no {claim.figure} of {accelerator.id}.", fix=fix)]
    stated = ends_in(claim.amount, UNITS[figure], figure)
    if isinstance(stated, Finding):
        return [stated]
    if figure in FORMATS and lacks(accelerator, figure):
        return _without_hardware(claim, figure, stated, accelerator, count)
    known_value = _known(figure, accelerator, node)
    if known_value is None:
        return [unknown("figure_not_known", f"The catalog holds no {figure} of {accelerator.id}.")]
    of_node = node is not None and figure in ("power", "network", "tensor_core_generation")
    return _held_against(
        claim, figure, stated, known_value if of_node else known_value * count, accelerator, node, catalog
    )


def _without_hardware(
    claim: HardwareClaim, figure: str, ends: tuple[float, float], accelerator: Accelerator, count: int
) -> list[Finding]:
    """Say that the format is missing in hardware, unless the claim states the fp32 rate at which it runs."""
    known = (_known(figure, accelerator, None) or 0.0) * count
    if known and math.isclose(nearest(ends, known), known, rel_tol=ABOUT):
        return []
    says = f"{accelerator.id} ({accelerator.architecture}) has no {figure} hardware"
    says += f": it runs at its fp32 rate, {digits(known)} TFLOP/s." if known else "."
    facts: tuple[Fact, ...] = (
        ("stated", ends[0], "TFLOP/s", claim.source or "the claim"),
        ("known", known, "TFLOP/s", f"{accelerator.source} ({accelerator.as_of})"),
    )
    return [impossible("format_not_in_hardware", says, *facts, fix=accelerator.trap or "")]


def _held_against(
    claim: HardwareClaim,
    figure: str,
    ends: tuple[float, float],
    known: float,
    accelerator: Accelerator,
    node: Node | None,
    catalog: Catalog,
) -> list[Finding]:
    stated, unit = nearest(ends, known), UNITS[figure]
    row = node if node and figure in ("power", "network") else accelerator
    facts: tuple[Fact, ...] = (
        ("stated", stated, unit, claim.source or "the claim"),
        ("known", known, unit, f"{row.source} ({row.as_of})"),
    )
    several = SEVERAL.match(claim.accelerator or "") if node is None else None
    together = known * float(several[1]) if several else known
    ratio, (least, most) = stated / known, WITHIN.get(figure, WITHIN_OTHERS)
    if least <= ratio <= most or math.isclose(nearest(ends, together), together, rel_tol=ABOUT):
        return []
    where, shown = node.name if node else accelerator.id, f"{digits(stated)} {unit}".strip()
    if figure in FORMATS and any(low <= ratio <= high for low, high in SPARSE):
        says = f"{shown} has sparsity or narrower sums; {where} has {digits(known)} dense {figure}."
        return [impossible("sparse_peak_as_dense", says, *facts, fix="Take the dense figure.")]
    if figure == "link" and math.isclose(ratio, 0.5, rel_tol=ABOUT):
        return [note("one_direction", f"{shown} is one direction of {where}'s {digits(known)}.", *facts)]
    says = f"{figure.replace('_', ' ')} of {where} is said to be {shown}; the data sheet says {digits(known)}."
    for factor, why, figures in SLIPS:
        if figure in figures and any(math.isclose(ratio, slip, rel_tol=ABOUT) for slip in (factor, 1 / factor)):
            says = f"{says} A factor of {factor:,.0f}: {why}."
            return [impossible("unit_mistaken", says, *facts, fix="Correct the unit.")]
    says += _figure_of_another(figure, stated, accelerator, catalog) if node is None else ""
    raise_ = impossible if stated > known or figure == "tensor_core_generation" else doubtful
    fix = accelerator.trap if figure in TRAPS else None
    return [raise_("differs_from_data_sheet", says, *facts, fix=fix or "")]


def _figure_of_another(figure: str, stated: float, accelerator: Accelerator, catalog: Catalog) -> str:
    """Say whose figure it is: another format's of the same accelerator, or that of one with a similar name."""
    for other in FORMATS:
        same = figure in FORMATS and other != figure and not lacks(accelerator, other)
        if same and math.isclose(stated, _known(other, accelerator, None) or 0.0, rel_tol=ABOUT):
            return f" It is its {other} figure."
    family = accelerator.id.partition("-")[0]
    for sibling in catalog.accelerators.values():
        known = _known(figure, sibling, None)
        if sibling.id.partition("-")[0] == family and known and math.isclose(stated, known, rel_tol=ABOUT / 4):
            return f" It is the figure of {sibling.id}."
    return ""


def lacks(accelerator: Accelerator, figure: str) -> bool:
    """Return whether the hardware is known to have no such format."""
    if accelerator.vendor not in ("NVIDIA", "AMD"):
        return False
    if figure == "bf16":
        return emulates_bf16(accelerator)
    if figure == "tf32":
        return accelerator.tf32_tflops is None
    if figure == "fp8":
        return accelerator.fp8_tflops is None
    return figure == "fp4" and accelerator.architecture not in (*FP4_OVER_FP8, "CDNA4")


def _known(figure: str, accelerator: Accelerator, node: Node | None) -> float | None:
    if figure in FORMATS:
        peak = peak_flops(accelerator, FORMATS[figure])
        return None if peak is None else peak / 1e12
    if figure == "power":
        return accelerator.tdp_w if node is None else node.rated_kw * 1000 if node.rated_kw else None
    known: dict[str, float | None] = {
        "memory": accelerator.hbm_gib,
        "bandwidth": accelerator.hbm_gb_per_s,
        "link": accelerator.link_gb_per_s,
        "network": node.network_gbit_per_s if node else None,
        "tensor_core_generation": TENSOR_CORES.get(accelerator.architecture),
    }
    return known[figure]


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
