"""Audit of one run: all rules, the verdict, and possible explanations."""

from __future__ import annotations

from collections.abc import Sequence

from planner.audit.consistency_rules import consistency_findings
from planner.audit.explanations import surviving
from planner.audit.memory_rules import memory_findings
from planner.audit.rate_rules import rate_findings, with_chips
from planner.audit.record_rules import record_findings
from planner.audit.row_rules import row_findings
from planner.audit.stated_run import StatedRun, stated_by_record
from planner.model.answer.audit import AuditVerdict, Finding, RunAudit, Severity, verdict_of
from planner.model.catalog import Catalog
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
