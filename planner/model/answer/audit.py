"""Answer of `planner audit`: whether runs and claims can be true, and whether a comparison is fair."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from planner.model.base import Frozen


class Severity(StrEnum):
    """Severity of a finding. The most severe finding decides the verdict."""

    IMPOSSIBLE = "impossible"
    """The run or claim cannot be true as stated: an input or the figure itself is wrong."""
    DOUBTFUL = "doubtful"
    OPEN = "open"
    """A fact is missing, so nothing can be concluded."""
    NOTE = "note"


class AuditVerdict(StrEnum):
    """Verdict from the findings on a run or a claim."""

    CREDIBLE = "credible"
    DOUBTFUL = "doubtful"
    IMPOSSIBLE = "impossible"
    UNDECIDABLE = "undecidable"
    """Too little is known about the claim or run to check anything."""


class ComparisonVerdict(StrEnum):
    """Verdict on whether two runs can rank the machines they ran on."""

    FAIR = "fair"
    UNFAIR = "unfair"
    UNDECIDABLE = "undecidable"


class Evidence(Frozen):
    """One number that supports a finding."""

    name: str
    value: float
    unit: str
    source: str


class Finding(Frozen):
    """One finding. `code` is stable (docs/audit.md); the sentence `says` may change."""

    code: str
    severity: Severity
    says: str
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""


class PossibleExplanation(Frozen):
    """Explanation with which an impossible run would be possible, and the cheapest run that tests it."""

    code: str
    says: str
    test: str


class RunAudit(Frozen):
    """Audit of one run."""

    id: str
    verdict: AuditVerdict
    findings: tuple[Finding, ...]
    explanations: tuple[PossibleExplanation, ...] = ()


class ComparisonAudit(Frozen):
    """Audit of a comparison of several runs."""

    verdict: ComparisonVerdict
    findings: tuple[Finding, ...]
    rerun: tuple[str, ...]
    """Commands that repeat runs so that they can be compared."""


class ClaimAudit(Frozen):
    """Audit of one claim."""

    id: str
    verdict: AuditVerdict
    findings: tuple[Finding, ...]


class AuditDocument(Frozen):
    """Document of `planner audit --json`."""

    schema_version: Literal[1] = 1
    kind: Literal["audit"] = "audit"
    runs: tuple[RunAudit, ...] = ()
    comparison: ComparisonAudit | None = None
    claims: tuple[ClaimAudit, ...] = ()


def verdict_of(findings: Sequence[Finding], *, checked: bool = True) -> AuditVerdict:
    """Return the verdict of the most severe finding; without findings, credible if anything was `checked`."""
    severities = {finding.severity for finding in findings}
    if Severity.IMPOSSIBLE in severities:
        return AuditVerdict.IMPOSSIBLE
    if Severity.DOUBTFUL in severities:
        return AuditVerdict.DOUBTFUL
    return AuditVerdict.CREDIBLE if checked and Severity.OPEN not in severities else AuditVerdict.UNDECIDABLE
