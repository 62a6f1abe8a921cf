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
    """Return the catalog with the ids of its runs that cannot be true as stated, and of those that are doubtful.

    A run with no other fault than a short window is not among them: its range is wider instead.
    """
    ceilings = with_chips(measured, catalog.accelerators)
    audited = [audit_run(stated_by_record(run, catalog), ceilings) for run in catalog.runs.values()]
    impossible = sorted(run.id for run in audited if run.verdict is AuditVerdict.IMPOSSIBLE)
    doubtful = sorted(run.id for run in audited if run.verdict is AuditVerdict.DOUBTFUL and not _is_only_short(run))
    return catalog.model_copy(update={"impossible_runs": tuple(impossible), "doubtful_runs": tuple(doubtful)})


def _is_only_short(run: RunAudit) -> bool:
    return {one.code for one in run.findings if one.severity is Severity.DOUBTFUL} == {"short_window"}


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
