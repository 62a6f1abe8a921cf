"""Shows the answer of `audit` on a screen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from planner.model.answer.audit import AuditDocument, AuditVerdict, ClaimAudit, Finding, RunAudit, Severity
from planner.present.screen import wrapped

HEAVY = (Severity.IMPOSSIBLE, Severity.DOUBTFUL)
DATED = re.compile(r"\(\d{4}-\d\d")
SAID_BESIDE = ("log_doubt", "benchmark_doubt", "benchmark_wrong")
MOST_RUNS = 20
"""Most runs that are all listed. Of more runs, only impossible and doubtful ones are listed."""


def audit_lines(document: AuditDocument, *, width: int, details: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`. `details` adds the numbers and sources of each finding."""
    lines: list[str] = []
    many = len(document.runs) > MOST_RUNS
    if many:
        counts = Counter(run.verdict.value for run in document.runs)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
        lines += [*wrapped(f"{len(document.runs)} measurements: {said}.", width=width), ""]
    for run in document.runs:
        if many and run.verdict not in (AuditVerdict.IMPOSSIBLE, AuditVerdict.DOUBTFUL):
            continue
        lines += _audited(run, width=width, details=details)
    if document.comparison is not None:
        comparison = document.comparison
        lines += wrapped(f"The comparison is {comparison.verdict.value}.", width=width)
        lines += _findings(comparison.findings, width=width, details=details)
        for command in comparison.rerun:
            lines += wrapped(f"Run again: {command}", width=width, indent="    ")
        lines.append("")
    for claim in document.claims:
        lines += _audited(claim, width=width, details=details)
        if not details and (sources := _sources(claim)):
            lines[-1:] = [*wrapped(f"By {'; '.join(sources)}.", width=width, indent="  "), ""]
    return [*lines, "Numbers and sources: --details. Codes: docs/audit.md."] if not details else lines


def audited_lines(run: RunAudit, *, width: int) -> list[str]:
    """Return the heavy findings about a run for another screen about it; empty if there are none.

    Doubts of the import are left out, because that screen shows them already.
    """
    heavy = [finding for finding in run.findings if finding.severity in HEAVY and finding.code not in SAID_BESIDE]
    if not heavy:
        return []
    as_stated = " as stated" if run.verdict is AuditVerdict.IMPOSSIBLE else ""
    lines = wrapped(f"The audit finds it {run.verdict.value}{as_stated}: planner audit", width=width)
    return lines + _findings(heavy, width=width, details=False)


def _audited(audited: RunAudit | ClaimAudit, *, width: int, details: bool) -> list[str]:
    as_stated = " as stated" if audited.verdict is AuditVerdict.IMPOSSIBLE else ""
    lines = wrapped(f"{audited.id}: {audited.verdict.value}{as_stated}", width=width)
    lines += _findings(audited.findings, width=width, details=details)
    if isinstance(audited, RunAudit) and audited.explanations:
        lines.append("  It would be true with:")
        for explanation in audited.explanations:
            lines += wrapped(f"- {explanation.says}. Test: {explanation.test}", width=width, indent="    ")
    return [*lines, ""]


def _sources(claim: ClaimAudit) -> list[str]:
    """Return the dated sources that contradict a claim."""
    facts = [fact for finding in claim.findings if finding.severity in HEAVY for fact in finding.evidence]
    return list(dict.fromkeys(fact.source for fact in facts if DATED.search(fact.source)))


def _findings(findings: Sequence[Finding], *, width: int, details: bool) -> list[str]:
    lines = []
    for finding in findings:
        fix = f" {finding.fix}" if finding.fix else ""
        lines += wrapped(f"{finding.severity.value} [{finding.code}] {finding.says}{fix}", width=width, indent="  ")
        if details:
            for fact in finding.evidence:
                said = f"{fact.name} {fact.value:.4g} {fact.unit}: {fact.source}"
                lines += [f"      {line}" for line in wrapped(said, width=width - 6)]
    return lines
