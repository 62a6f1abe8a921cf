"""Audit of one run or one claim: all rules, the verdict, and possible explanations."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.claims.arithmetic_claims import recomputed_findings
from planner.audit.claims.hardware_claims import hardware_findings, speedup_findings
from planner.audit.claims.memory_claims import memory_claim_findings
from planner.audit.claims.part_claims import part_findings
from planner.audit.claims.price_claims import price_findings
from planner.audit.claims.training_claims import training_findings
from planner.audit.consistency_rules import consistency_findings
from planner.audit.explanations import surviving
from planner.audit.memory_rules import memory_findings
from planner.audit.rate_rules import rate_findings, with_chips
from planner.audit.record_rules import record_findings
from planner.audit.row_rules import row_findings
from planner.audit.stated_run import StatedRun, stated_by_record
from planner.model.answer.audit import AuditVerdict, ClaimAudit, Finding, RunAudit, Severity, verdict_of
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

RANK = list(Severity)


STILL_COUNTS = (
    "benchmark_doubt", "drift", "fabric_not_recorded", "log_doubt", "power_unlike_load", "short_window", "throttling",
)  # fmt: skip
"""Doubts that make no speed wrong: a short window, a power limit, advice of the benchmark, a missing fact."""


def with_audited_runs(catalog: Catalog, measured: Sequence[MatmulCeiling]) -> Catalog:
    """Return the catalog with the ids of runs that decide nothing: impossible ones, and those of doubtful speed.

    A run whose only doubts are among STILL_COUNTS is not one of them. An answer that rests on it names the doubt.
    """
    ceilings = with_chips(measured, catalog.accelerators)
    audited = [audit_run(stated_by_record(run, catalog), ceilings) for run in catalog.runs.values()]
    impossible = sorted(run.id for run in audited if run.verdict is AuditVerdict.IMPOSSIBLE)
    doubtful = sorted(run.id for run in audited if run.verdict is AuditVerdict.DOUBTFUL and _is_speed_doubted(run))
    return catalog.model_copy(update={"impossible_runs": tuple(impossible), "doubtful_runs": tuple(doubtful)})


def _is_speed_doubted(run: RunAudit) -> bool:
    return any(finding.severity is Severity.DOUBTFUL and finding.code not in STILL_COUNTS for finding in run.findings)


def audit_run(run: StatedRun, measured: Sequence[MatmulCeiling], beside: Sequence[Finding] = ()) -> RunAudit:
    """Audit a run. `beside` are findings from comparing it with others of the same table."""
    of_memory, forced = memory_findings(run)
    findings = [*rate_findings(run, measured, forced_recomputation=forced), *of_memory]
    findings += [*consistency_findings(run), *record_findings(run), *row_findings(run), *beside]
    findings.sort(key=lambda finding: RANK.index(finding.severity))
    verdict = verdict_of(findings)
    return RunAudit(
        id=run.id,
        verdict=verdict,
        findings=tuple(findings),
        explanations=surviving(run, measured, findings, forced=forced),
    )


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
