"""Figures of hardware, and parts that exist or not, against the catalog's dated rows."""

from __future__ import annotations

import math

from planner.audit.claims.units import in_unit
from planner.audit.findings import doubtful, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import HardwareClaim, PartClaim
from planner.model.hardware.accelerator_name import accelerator_named
from planner.model.hardware.machines import Accelerator, Node
from planner.speed.physics.accelerator_facts import peak_flops

FORMATS = {"fp32": "fp32", "tf32": "tf32", "fp16": "16bit", "bf16": "bf16", "fp8": "fp8", "fp4": "fp4"}
ABOUT = 0.04
TENSOR_CORES = {"Volta": 1, "Turing": 2, "Ampere": 3, "Ada": 4, "Hopper": 4, "Blackwell": 5, "Blackwell Ultra": 5}
"""Generation by architecture. Source: NVIDIA's architecture white papers, as of 2026-11."""
FIX = "Name an accelerator as catalogs/hardware/accelerators.csv or its aliases do."
SUPERCHIPS = ("hopper", "blackwell", "rubin")


def accelerator_of(name: str, catalog: Catalog) -> Accelerator | Finding:
    """Return an accelerator by any name, or that nobody knows it."""
    known = accelerator_named(name, catalog.accelerators, catalog.aliases)
    return known or unknown("accelerator_not_known", f"No catalog knows the accelerator '{name}'.", fix=FIX)


def node_of(name: str, catalog: Catalog) -> Node | Finding:
    """Return a machine by its id or the name of its instance, or that nobody knows it."""
    said = name.casefold()
    for node in catalog.nodes.values():
        if said in (node.id.casefold(), node.id.casefold().rpartition("/")[2], node.name.casefold()):
            return node
    return unknown("figure_not_known", f"No catalog knows the machine '{name}'.", fix="See catalogs/hardware/nodes.csv")


def hardware_findings(claim: HardwareClaim, catalog: Catalog) -> list[Finding]:
    """Hold a figure against the catalog; a peak about twice the dense one is the sparse one."""
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
    unit, known = _known(claim.figure, accelerator, node)
    stated = in_unit(claim.amount, unit, claim.figure)
    if isinstance(stated, Finding):
        return [stated]
    if known is None:
        return [unknown("figure_not_known", f"The catalog holds no {claim.figure} of {accelerator.id}.")]
    whole = known if claim.figure in ("power", "tensor_core_generation") and node else known * count
    source = node.source if node and claim.figure == "power" else accelerator.source
    as_of = node.as_of if node and claim.figure == "power" else accelerator.as_of
    facts = (("stated", stated, unit, claim.source or "the claim"), ("known", whole, unit, f"{source} ({as_of})"))
    if math.isclose(stated, whole, rel_tol=ABOUT):
        return []
    where = node.name if node else accelerator.id
    if claim.figure in FORMATS and math.isclose(stated, 2 * whole, rel_tol=ABOUT):
        says = f"{stated:,.0f} TFLOP/s has sparsity or narrower sums; {where} has {whole:,.4g} dense {claim.figure}."
        return [impossible("sparse_peak_as_dense", says, *facts, fix="Take the dense figure.")]
    says = f"{claim.figure} of {where} is said to be {stated:,.4g} {unit}; the data sheet says {whole:,.4g}."
    raise_ = impossible if stated > whole * (1 + ABOUT) or claim.figure == "tensor_core_generation" else doubtful
    return [raise_("differs_from_data_sheet", says, *facts, fix=accelerator.trap or "")]


def _known(figure: str, accelerator: Accelerator, node: Node | None) -> tuple[str, float | None]:
    if figure in FORMATS:
        peak = peak_flops(accelerator, FORMATS[figure])
        return "TFLOP/s", None if peak is None else peak / 1e12
    if figure == "power":
        watts = accelerator.tdp_w if node is None else node.rated_kw * 1000 if node.rated_kw else None
        return "W", watts
    if figure == "tensor_core_generation":
        return "", TENSOR_CORES.get(accelerator.architecture)
    return {
        "memory": ("GB", accelerator.hbm_gib),
        "bandwidth": ("GB/s", accelerator.hbm_gb_per_s),
        "link": ("GB/s", accelerator.link_gb_per_s),
    }[figure]


def part_findings(claim: PartClaim, catalog: Catalog) -> list[Finding]:
    """Say what an accelerator or a machine cannot have."""
    findings: list[Finding] = []
    accelerator = None
    if claim.accelerator is not None:
        found = accelerator_of(claim.accelerator, catalog)
        if isinstance(found, Finding):
            return [found]
        accelerator = found
        if claim.link in ("nvlink", "nvswitch") and accelerator.link_gb_per_s is None:
            says = f"{accelerator.id} has no NVLink, so no {claim.link} can be had for it, at any price."
            fact = ("link", 0.0, "GB/s", f"{accelerator.source} ({accelerator.as_of})")
            fix = "Free first: NUMA binding, packing, accumulation, ZeRO buckets. See planner check-run."
            findings.append(impossible("part_does_not_exist", says, fact, fix=fix))
    if claim.node is not None:
        node = node_of(claim.node, catalog)
        if isinstance(node, Finding):
            return [*findings, node]
        findings += _of_the_node(claim, node, accelerator, catalog)
    if claim.accelerator is None and claim.node is None:
        return [unknown("accelerator_not_known", "The claim names neither accelerator nor node.", fix=FIX)]
    return findings


def _of_the_node(claim: PartClaim, node: Node, accelerator: Accelerator | None, catalog: Catalog) -> list[Finding]:
    findings = []
    source = f"{node.source} ({node.as_of})"
    if accelerator is not None and accelerator.id != node.accelerator:
        says = f"{node.name} carries {node.accelerator}, not {accelerator.id}."
        fact = ("accelerators", float(node.accelerators), node.accelerator, source)
        findings.append(impossible("node_holds_other_parts", says, fact))
    if claim.accelerators is not None and claim.accelerators != node.accelerators:
        says = f"{node.name} carries {node.accelerators} accelerators, not {claim.accelerators}."
        facts = (
            ("stated", float(claim.accelerators), "accelerators", claim.source or "the claim"),
            ("known", float(node.accelerators), "accelerators", source),
        )
        findings.append(impossible("node_holds_other_parts", says, *facts))
    if claim.host is not None:
        architecture = catalog.accelerators[node.accelerator].architecture.casefold()
        other = [name for name in SUPERCHIPS if name in claim.host.casefold() and name not in architecture]
        if other:
            says = f"'{claim.host}' is of the generation {other[0].title()}; {node.name} is {architecture.title()}."
            findings.append(impossible("host_of_another_generation", says, ("known", 1.0, node.name, source)))
    return findings
