"""The answer of `planner audit`: can this be true, is this comparison fair, does this claim add up."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from planner.model.base import Frozen


class Severity(StrEnum):
    """How much a finding weighs; a verdict is that of the heaviest."""

    IMPOSSIBLE = "impossible"
    """It cannot be true as stated: an input or the figure itself is wrong."""
    DOUBTFUL = "doubtful"
    OPEN = "open"
    """A fact is missing without which nothing can be said."""
    NOTE = "note"


class AuditVerdict(StrEnum):
    """What the findings on a run or a claim add up to."""

    CREDIBLE = "credible"
    DOUBTFUL = "doubtful"
    IMPOSSIBLE = "impossible"
    UNDECIDABLE = "undecidable"
    """Of claims and runs of which too little is known to check anything."""


class ComparisonVerdict(StrEnum):
    """Whether two runs can rank what they ran on."""

    FAIR = "fair"
    UNFAIR = "unfair"
    UNDECIDABLE = "undecidable"


class Evidence(Frozen):
    """One number that a finding rests on."""

    name: str
    value: float
    unit: str
    source: str


class Finding(Frozen):
    """One thing that was found; `code` is stable (docs/audit.md), the sentence is not."""

    code: str
    severity: Severity
    says: str
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""


class Surviving(Frozen):
    """Something that would make an impossible run true, and the cheapest run that tells."""

    code: str
    says: str
    test: str


class RunAudit(Frozen):
    """One run."""

    id: str
    verdict: AuditVerdict
    findings: tuple[Finding, ...]
    explanations: tuple[Surviving, ...] = ()


class ComparisonAudit(Frozen):
    """Several runs beside each other."""

    verdict: ComparisonVerdict
    findings: tuple[Finding, ...]
    rerun: tuple[str, ...]
    """Command lines."""


class ClaimAudit(Frozen):
    """One claim."""

    id: str
    verdict: AuditVerdict
    findings: tuple[Finding, ...]


class AuditDocument(Frozen):
    """`--json` of `planner audit`."""

    schema_version: Literal[1] = 1
    kind: Literal["audit"] = "audit"
    runs: tuple[RunAudit, ...] = ()
    comparison: ComparisonAudit | None = None
    claims: tuple[ClaimAudit, ...] = ()


def verdict_of(findings: Sequence[Finding], *, checked: bool = True) -> AuditVerdict:
    """Return the verdict of the heaviest finding; of none, credible where anything was `checked`."""
    severities = {one.severity for one in findings}
    if Severity.IMPOSSIBLE in severities:
        return AuditVerdict.IMPOSSIBLE
    if Severity.DOUBTFUL in severities:
        return AuditVerdict.DOUBTFUL
    return AuditVerdict.CREDIBLE if checked and Severity.OPEN not in severities else AuditVerdict.UNDECIDABLE
