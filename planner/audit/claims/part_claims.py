"""Checks which parts accelerators and machines have, could have, or cannot have."""

from __future__ import annotations

import re

from planner.audit.claims.units import FIX, accelerator_of, node_of
from planner.audit.findings import Fact, impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.claims import PartClaim
from planner.model.hardware.machines import Accelerator, Link, Node

SUPERCHIPS = ("hopper", "blackwell", "rubin")
FREE_FIRST = "Free first: NUMA binding, packing, accumulation, ZeRO buckets. See planner check-run."
MODULE = re.compile(r"SXM|DGXS|per-GPU|GH200")
"""NVIDIA's modules, joined on a board. Other cards with NVLink are joined by bridges."""
NO_SWITCH = re.compile(r"DGXS|SXM2")
"""Modules that were never built into a machine with NVSwitch."""
BRIDGED, BRIDGED_BY_FOUR = 2, 4
"""Cards that a bridge joins; four for an H200 NVL. Source: NVIDIA's product briefs of the cards, as of 2026-11."""


def part_findings(claim: PartClaim, catalog: Catalog) -> list[Finding]:
    """Say what an accelerator or a machine cannot have."""
    if claim.accelerator is None and claim.node is None:
        return [unknown("accelerator_not_known", "The claim names neither accelerator nor node.", fix=FIX)]
    findings: list[Finding] = []
    link, accelerator = _link_of(claim.link), None
    if claim.link is not None and link is None:
        says = f"No catalog says which machines have '{claim.link}'."
        findings.append(unknown("figure_not_known", says, fix="Known: nvlink, nvswitch, pcie."))
    if claim.accelerator is not None:
        found = accelerator_of(claim.accelerator, catalog)
        if isinstance(found, Finding):
            return [found]
        accelerator = found
        count = claim.accelerators if claim.node is None else None
        findings += _accelerator_findings(link, count, accelerator, catalog)
    if claim.node is not None:
        node = node_of(claim.node, catalog)
        if isinstance(node, Finding):
            return [*findings, node]
        findings += _node_findings(claim, link, node, accelerator, catalog)
    return findings


def _link_of(said: str | None) -> str | None:
    words = (said or "").casefold().replace(" ", "")
    return next((name for name in ("nvswitch", "nvlink", "pcie") if name in words), None)


def _accelerator_findings(
    link: str | None, count: int | None, accelerator: Accelerator, catalog: Catalog
) -> list[Finding]:
    if link not in ("nvlink", "nvswitch"):
        return []
    fact: Fact = ("link", 0.0, "GB/s of NVLink", f"{accelerator.source} ({accelerator.as_of})")
    shown = "NVLink" if link == "nvlink" else "NVSwitch"
    if accelerator.link_gb_per_s is None or accelerator.vendor != "NVIDIA":
        speed = accelerator.link_gb_per_s
        own = "" if speed is None else f" (its {speed:g} GB/s are of another link)"
        says = f"{accelerator.id} has no NVLink{own}, so no {shown} can be had for it, at any price."
        return [impossible("part_does_not_exist", says, fact, fix=FREE_FIRST)]
    if MODULE.search(accelerator.id) and not NO_SWITCH.search(accelerator.id):
        return []
    joined = BRIDGED_BY_FOUR if accelerator.id == "H200-NVL" else BRIDGED
    known: Fact = ("joined", float(joined), "accelerators", f"{accelerator.source} ({accelerator.as_of})")
    switched = any(node.link is Link.NVSWITCH and node.accelerator == accelerator.id for node in catalog.nodes.values())
    if link == "nvswitch" and not switched:
        says = f"No machine has NVSwitch for {accelerator.id}: it joins them by direct links or bridges alone."
        return [impossible("part_does_not_exist", says, known, fix=FREE_FIRST)]
    if count is not None and count > joined and not MODULE.search(accelerator.id):
        says = f"An NVLink bridge joins {joined} {accelerator.id}, not {count}: the others talk over PCIe."
        return [impossible("part_does_not_exist", says, known, fix=FREE_FIRST)]
    return []


def _node_findings(
    claim: PartClaim, link: str | None, node: Node, accelerator: Accelerator | None, catalog: Catalog
) -> list[Finding]:
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
    lacking = (Link.PCIE, Link.PCIE_NO_P2P, *((Link.NVLINK,) if link == "nvswitch" else ()))
    if link in ("nvlink", "nvswitch") and node.link in lacking and accelerator is None:
        says = f"The accelerators of {node.name} are joined by {node.link.value}, not by {link}."
        findings.append(impossible("node_holds_other_parts", says, ("known", 1.0, node.link.value, source)))
    if claim.host is not None:
        architecture = catalog.accelerators[node.accelerator].architecture.casefold()
        other = [name for name in SUPERCHIPS if name in claim.host.casefold() and name not in architecture]
        if other:
            says = f"'{claim.host}' is of the generation {other[0].title()}; {node.name} is {architecture.title()}."
            findings.append(impossible("host_of_another_generation", says, ("known", 1.0, node.name, source)))
    return findings
