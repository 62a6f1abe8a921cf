"""Checks claims on memory: by the stated method, by the usual one, and against the named devices."""

from __future__ import annotations

import math

from planner.audit.claims.arithmetic_claims import AGREES
from planner.audit.claims.units import accelerator_of, ends_in
from planner.audit.findings import Fact, digits, doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import MemoryClaim
from planner.model.hardware.machines import Accelerator
from planner.model.network.workload import Checkpointing, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory import device_memory

USUAL_BYTES, INFERENCE_BYTES = 16.0, 2.0
"""Bytes per parameter: mixed precision with Adam (Rajbhandari et al. 2020, section 3); 16-bit weights alone."""
BY_METHOD = {"full": USUAL_BYTES, "full_bf16": 8.0, "full_8bit_adam": 10.0, "lora": 2.0, "qlora": 0.5}
"""Bytes per parameter: everything in 16 bits; Adam's moments in 8 (Dettmers et al. 2022); frozen weights in 16 or 4."""
LEAST_OF_INFERENCE = 0.5
"""Bytes of a weight in 4 bits, the fewest that are usual."""
REPLICATED = {"ddp": 16.0, "zero1": 4.0, "zero2": 2.0, "zero3": 0.0, "fsdp2": 0.0}
"""Bytes of these that every device holds."""
ABOUT, FAR_ABOVE, ABOVE_ITS_OWN = 0.1, 10.0, 1.25
OTHERWISE = "It may hold with LoRA, offload, 8-bit optimizers or 4-bit weights: say under which."


def memory_claim_findings(claim: MemoryClaim, catalog: Catalog) -> list[Finding]:
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
    usual = _usual_bytes(claim)
    findings = _method(claim, usual, claim.parameters)
    if claim.amount is not None:
        stated = ends_in(claim.amount, "GB", "memory")
        if isinstance(stated, Finding):
            return [*findings, stated]
        findings += _amount(claim, stated, usual, claim.parameters)
    if accelerator is None and claim.amount is None and claim.bytes_per_parameter is None:
        return [unknown("work_not_known", "The claim names neither an amount nor an accelerator.", fix="Add one.")]
    return findings + (_fits(claim, accelerator, usual, claim.parameters) if accelerator else [])


def _usual_bytes(claim: MemoryClaim) -> float:
    if claim.purpose == "inference":
        return max(LEAST_OF_INFERENCE, min(INFERENCE_BYTES, claim.bytes_per_parameter or INFERENCE_BYTES))
    return BY_METHOD[claim.method or "full"]


def _needed(usual: float, parameters: float) -> Fact:
    return ("usual", usual * parameters / 1e9, "GB", f"{usual:g} bytes a parameter, before activations")


def _method(claim: MemoryClaim, usual: float, parameters: float) -> list[Finding]:
    stated = claim.bytes_per_parameter
    if stated is None or stated >= usual * (1 - ABOUT):
        return []
    method: Fact = ("by the stated method", stated * parameters / 1e9, "GB", "the claim")
    says = (
        f"{stated:g} bytes a parameter are {digits(stated * parameters / 1e9)} GB; {claim.purpose} usually takes "
        f"{usual:g}, {digits(usual * parameters / 1e9)} GB."
    )
    return [doubtful("method_not_usual", says, method, _needed(usual, parameters), fix=OTHERWISE)]


def _amount(claim: MemoryClaim, ends: tuple[float, float], usual: float, parameters: float) -> list[Finding]:
    low, high = ends
    fact: Fact = ("stated", high, "GB", claim.source or "the claim")
    needed, total = _needed(usual, parameters), usual * parameters / 1e9
    findings: list[Finding] = []
    if claim.bytes_per_parameter is not None:
        own = claim.bytes_per_parameter * parameters / 1e9
        each = f"{claim.bytes_per_parameter:g} bytes a parameter"
        says = f"{digits(high)} GB are said; its own {each} give {digits(own)}."
        by_it: Fact = ("computed", own, "GB", "the claim's own bytes x parameters")
        if high < own * (1 - AGREES):
            findings.append(impossible("arithmetic", says, fact, by_it, fix="Correct the figure or its inputs."))
        elif low > own * ABOVE_ITS_OWN:
            fix = "Correct the figure, or say what comes on top: activations, caches."
            findings.append(doubtful("arithmetic", says, fact, by_it, fix=fix))
    if high < total * (1 - ABOUT):
        says = f"{digits(high)} GB are said to be enough; at {usual:g} bytes a parameter it is {digits(total)}."
        findings.append(doubtful("states_above_claim", says, fact, needed, fix=OTHERWISE))
    elif low > FAR_ABOVE * total:
        says = f"{digits(low)} GB are said to be needed; at {usual:g} bytes a parameter it is {digits(total)}."
        fix = "Check the unit, or say what comes on top: activations, caches."
        findings.append(doubtful("far_above_usual", says, fact, needed, fix=fix))
    return findings


def _fits(claim: MemoryClaim, accelerator: Accelerator, usual: float, parameters: float) -> list[Finding]:
    if accelerator.hbm_gib is None:
        return [unknown("figure_not_known", f"The catalog holds no memory of {accelerator.id}.")]
    everywhere = min(usual, REPLICATED[claim.strategy]) if claim.purpose == "training" else 0.0
    each = (everywhere + (usual - everywhere) / claim.accelerators) * parameters / 1e9
    if each < accelerator.hbm_gib and not math.isclose(each, accelerator.hbm_gib):
        return []
    says = (
        f"{claim.purpose.title()} needs {digits(each)} GB on each of {claim.accelerators}x {accelerator.id}, which has "
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
    if preset is None or preset.architecture.sample == "image" or accelerator is None:
        return [unknown("work_not_known", "used_share needs a workload by name and an accelerator.")]
    if accelerator.hbm_gib is None:
        return [unknown("figure_not_known", f"The catalog holds no memory of {accelerator.id}.")]
    need = device_memory(
        TrainingSetup(
            workload=preset.name,
            network=preset.architecture,
            seq_len=preset.seq_len,
            precision=preset.precision,
            checkpointing=Checkpointing.NONE,
            strategy=Strategy(claim.strategy),
            micro_batch=claim.micro_batch or preset.micro_batch,
        ),
        devices=claim.accelerators,
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
