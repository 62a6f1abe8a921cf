"""Claims on memory: by the stated method, by the usual one, and against the devices named."""

from __future__ import annotations

import math

from planner.audit.claims.hardware_claims import accelerator_of
from planner.audit.claims.units import in_unit
from planner.audit.findings import Fact, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import MemoryClaim
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import ImageModel
from planner.model.network.workload import Checkpointing, Strategy
from planner.speed.memory.memory import device_memory

USUAL_BYTES, INFERENCE_BYTES = 16.0, 2.0
"""Of a parameter: mixed precision with Adam (Rajbhandari et al. 2020, section 3); 16-bit weights alone."""
REPLICATED = {"ddp": 16.0, "zero1": 4.0, "zero2": 2.0, "zero3": 0.0, "fsdp2": 0.0}
"""Bytes of these that every device holds."""
ABOUT = 0.1
OTHERWISE = "It may hold with LoRA, offload, 8-bit optimizers or 4-bit weights: say under which."


def memory_findings(claim: MemoryClaim, catalog: Catalog) -> list[Finding]:
    """Return what contradicts the claim; activations come on top of every figure here."""
    accelerator = None
    if claim.accelerator is not None:
        found = accelerator_of(claim.accelerator, catalog)
        if isinstance(found, Finding):
            return [found]
        accelerator = found
    if claim.used_share is not None:
        return _occupancy(claim, accelerator, catalog)
    if claim.parameters is None:
        return [unknown("work_not_known", "The claim names no number of parameters.", fix="Add parameters: 7.0e9")]
    findings: list[Finding] = []
    usual = USUAL_BYTES if claim.purpose == "training" else INFERENCE_BYTES
    total = usual * claim.parameters / 1e9
    needed: Fact = ("usual", total, "GB", f"{usual:g} bytes a parameter, before activations")
    if claim.bytes_per_parameter is not None and claim.bytes_per_parameter < usual * (1 - ABOUT):
        says = f"{claim.bytes_per_parameter:g} bytes a parameter; {claim.purpose} usually takes {usual:g}."
        by_method = claim.bytes_per_parameter * claim.parameters / 1e9
        method: Fact = ("by the stated method", by_method, "GB", "the claim")
        findings.append(doubtful("method_not_usual", says, method, needed, fix=OTHERWISE))
    if claim.amount is not None:
        stated = in_unit(claim.amount, "GB", "memory")
        if isinstance(stated, Finding):
            return [*findings, stated]
        if stated < total * (1 - ABOUT):
            says = f"{stated:,.4g} GB are said to be enough; at {usual:g} bytes a parameter it is {total:,.4g}."
            fact: Fact = ("stated", stated, "GB", claim.source or "the claim")
            findings.append(doubtful("states_above_claim", says, fact, needed, fix=OTHERWISE))
    return findings + (_fits(claim, accelerator, usual) if accelerator else [])


def _fits(claim: MemoryClaim, accelerator: Accelerator, usual: float) -> list[Finding]:
    assert claim.parameters is not None
    if accelerator.hbm_gib is None:
        return [unknown("figure_not_known", f"The catalog holds no memory of {accelerator.id}.")]
    everywhere = REPLICATED[claim.strategy] if claim.purpose == "training" else 0.0
    each = (everywhere + (usual - everywhere) / claim.accelerators) * claim.parameters / 1e9
    if each < accelerator.hbm_gib and not math.isclose(each, accelerator.hbm_gib):
        return []
    says = (
        f"{claim.purpose.title()} needs {each:,.4g} GB on each of {claim.accelerators}x {accelerator.id}, which has "
        f"{accelerator.hbm_gib:g}, before activations."
    )
    facts: tuple[Fact, ...] = (
        ("needed", each, "GB a device", f"{usual:g} bytes a parameter, {claim.strategy}"),
        ("device", accelerator.hbm_gib, "GB", f"{accelerator.source} ({accelerator.as_of})"),
    )
    return [impossible("does_not_fit", says, *facts, fix=OTHERWISE)]


def _occupancy(claim: MemoryClaim, accelerator: Accelerator | None, catalog: Catalog) -> list[Finding]:
    assert claim.used_share is not None
    preset = catalog.preset_named(claim.workload) if claim.workload else None
    if preset is None or isinstance(preset.architecture, ImageModel) or accelerator is None:
        return [unknown("work_not_known", "used_share needs a workload by name and an accelerator.")]
    if accelerator.hbm_gib is None:
        return [unknown("figure_not_known", f"The catalog holds no memory of {accelerator.id}.")]
    need = device_memory(
        preset.architecture,
        seq_len=preset.seq_len,
        micro_batch=claim.micro_batch or preset.micro_batch,
        strategy=Strategy(claim.strategy),
        precision=preset.precision,
        devices=claim.accelerators,
        checkpointing=Checkpointing.NONE,
    ).total_gib
    used = claim.used_share * accelerator.hbm_gib
    if used >= need / 2:
        return []
    says = (
        f"{claim.used_share:.0%} is {used:.1f} GiB; this batch needs about {need:.0f} without recomputation: samples "
        "were short, or the share of time in which memory was busy was read as occupancy."
    )
    facts: tuple[Fact, ...] = (
        ("stated", used, "GiB", claim.source or "the claim"),
        ("needed", need, "GiB", "planner memory, no checkpointing"),
    )
    return [doubtful("occupancy_too_low", says, *facts, fix="Record torch.cuda.max_memory_reserved().")]
