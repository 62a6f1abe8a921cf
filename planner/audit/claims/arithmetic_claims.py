"""Claims that their own inputs contradict."""

from __future__ import annotations

import math

from planner.audit.claims.units import UNITS, in_unit
from planner.audit.findings import impossible, unknown
from planner.model.answer.audit import Finding
from planner.model.evidence.claims import Amount, ArithmeticClaim, TableClaim

AGREES = 0.03
"""Printed figures are rounded to two or three digits."""


def arithmetic_findings(claim: ArithmeticClaim) -> list[Finding]:
    """Redo product / over; both are in the unit that is printed."""
    known = any(claim.amount.unit.strip().casefold() in names for kind in UNITS.values() for names in kind)
    if not known and claim.kind == "arithmetic":
        code = "unit_not_known" if claim.amount.unit else "unit_missing"
        return [unknown(code, f"{claim.amount.value:g} '{claim.amount.unit}': no known unit.", fix="Write a unit.")]
    over = math.prod(claim.over)
    if over == 0:
        return [unknown("arithmetic", "Its inputs divide by zero.", fix="Correct `over`.")]
    return _redone(claim.amount.value, math.prod(claim.product) / over, claim.amount.unit, "the figure")


def table_findings(claim: TableClaim) -> list[Finding]:
    """Redo epoch = samples / batch x seconds for every row: a larger batch makes fewer batches."""
    findings: list[Finding] = []
    for row in claim.rows:
        stated = in_unit(row.epoch, "s", "epoch")
        if isinstance(stated, Finding):
            findings.append(stated)
            continue
        seconds = claim.samples / row.batch * row.seconds_per_batch
        factor = stated / row.epoch.value if row.epoch.value else 1.0
        findings += _redone(row.epoch.value, seconds / factor, row.epoch.unit, f"batch {row.batch:g}")
    return findings


def _redone(stated: float, computed: float, unit: str, what: str) -> list[Finding]:
    if math.isclose(stated, computed, rel_tol=AGREES):
        return []
    says = f"{what[:1].upper()}{what[1:]} is printed as {stated:.4g} {unit}; its own inputs give {computed:.4g}."
    facts = (("stated", stated, unit, "the claim"), ("computed", computed, unit, "the claim's own inputs"))
    return [impossible("arithmetic", says.replace(" ;", ";"), *facts, fix="Correct the figure or its inputs.")]


def checked_product(stated: Amount, computed: float, what: str) -> list[Finding]:
    """Hold a printed figure against a product of others, in its unit."""
    return _redone(stated.value, computed, stated.unit, what)
