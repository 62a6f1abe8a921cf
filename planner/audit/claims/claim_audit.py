"""Audit of one claim: the rules of its kind, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.claims.arithmetic_claims import recomputed_findings
from planner.audit.claims.hardware_claims import hardware_findings, speedup_findings
from planner.audit.claims.memory_claims import memory_claim_findings
from planner.audit.claims.part_claims import part_findings
from planner.audit.claims.price_claims import price_findings
from planner.audit.claims.training_claims import training_findings
from planner.model.answer.audit import ClaimAudit, Finding, verdict_of
from planner.model.catalog import Catalog
from planner.model.evidence.claims import (
    ArithmeticClaim,
    Claim,
    HardwareClaim,
    MemoryClaim,
    PartClaim,
    PriceClaim,
    SpeedupClaim,
    SumClaim,
    TableClaim,
    TrainingClaim,
)
from planner.model.hardware.machines import MatmulCeiling


def audit_claim(claim: Claim, catalog: Catalog, measured: Sequence[MatmulCeiling]) -> ClaimAudit:
    """Audit a claim of any kind."""
    findings = _findings(claim, catalog, measured)
    return ClaimAudit(id=claim.id, verdict=verdict_of(findings), findings=tuple(findings))


def _findings(claim: Claim, catalog: Catalog, measured: Sequence[MatmulCeiling]) -> list[Finding]:
    match claim:
        case HardwareClaim():
            return hardware_findings(claim, catalog)
        case PartClaim():
            return part_findings(claim, catalog)
        case MemoryClaim():
            return memory_claim_findings(claim, catalog)
        case TrainingClaim():
            return training_findings(claim, catalog, measured)
        case PriceClaim():
            return price_findings(claim, catalog)
        case SpeedupClaim():
            return speedup_findings(claim, catalog)
        case ArithmeticClaim() | SumClaim() | TableClaim():
            return recomputed_findings(claim)
