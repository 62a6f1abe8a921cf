"""One run: all rules, the verdict, and what would explain it."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.explanations import surviving
from planner.audit.memory_rules import memory_findings
from planner.audit.rate_rules import rate_findings
from planner.audit.record_rules import record_findings
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import AuditVerdict, Finding, RunAudit, Severity, verdict_of
from planner.model.hardware.matmul_ceiling import MatmulCeiling

RANK = list(Severity)


def audit_run(run: StatedRun, measured: Sequence[MatmulCeiling], beside: Sequence[Finding] = ()) -> RunAudit:
    """Audit a run; `beside`: what was found by holding it against others of the same table."""
    of_memory, forced = memory_findings(run)
    findings = [*rate_findings(run, measured, forced_recomputation=forced), *of_memory, *record_findings(run), *beside]
    findings.sort(key=lambda one: RANK.index(one.severity))
    verdict = verdict_of(findings)
    explained = verdict is AuditVerdict.IMPOSSIBLE or any(one.code.startswith("above_") for one in findings)
    return RunAudit(
        id=run.id,
        verdict=verdict,
        findings=tuple(findings),
        explanations=surviving(run, measured, forced=forced) if explained else (),
    )
