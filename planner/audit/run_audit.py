"""One run: all rules, the verdict, and what would explain it."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.ceilings import with_chips
from planner.audit.consistency_rules import consistency_findings
from planner.audit.explanations import surviving
from planner.audit.memory_rules import memory_findings
from planner.audit.rate_rules import rate_findings
from planner.audit.record_rules import record_findings
from planner.audit.row_rules import row_findings
from planner.audit.stated_run import StatedRun, stated_by_record
from planner.model.answer.audit import AuditVerdict, Finding, RunAudit, Severity, verdict_of
from planner.model.catalog import Catalog
from planner.model.hardware.matmul_ceiling import MatmulCeiling

RANK = list(Severity)


def with_audited_runs(catalog: Catalog, measured: Sequence[MatmulCeiling]) -> Catalog:
    """Return the catalog with the ids of its runs that cannot be true as stated, and of those that are doubtful."""
    ceilings = with_chips(measured, catalog.accelerators)
    audited = [audit_run(stated_by_record(run, catalog), ceilings) for run in catalog.runs.values()]
    found = {
        field: tuple(sorted(one.id for one in audited if one.verdict is verdict))
        for field, verdict in (("impossible_runs", AuditVerdict.IMPOSSIBLE), ("doubtful_runs", AuditVerdict.DOUBTFUL))
    }
    return catalog.model_copy(update=found)


def audit_run(run: StatedRun, measured: Sequence[MatmulCeiling], beside: Sequence[Finding] = ()) -> RunAudit:
    """Audit a run; `beside`: what was found by holding it against others of the same table."""
    of_memory, forced = memory_findings(run)
    findings = [*rate_findings(run, measured, forced_recomputation=forced), *of_memory]
    findings += [*consistency_findings(run), *record_findings(run), *row_findings(run), *beside]
    findings.sort(key=lambda one: RANK.index(one.severity))
    verdict = verdict_of(findings)
    return RunAudit(
        id=run.id,
        verdict=verdict,
        findings=tuple(findings),
        explanations=surviving(run, measured, findings, forced=forced),
    )
