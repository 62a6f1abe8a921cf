"""Short ways to write a finding."""

from __future__ import annotations

from planner.audit.codes import CODES
from planner.model.answer.audit import Evidence, Finding, Severity

Fact = tuple[str, float, str, str]
"""Name, value, unit, source."""


def found(code: str, severity: Severity, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding; its code must be documented."""
    assert code in CODES, code
    evidence = tuple(Evidence(name=name, value=value, unit=unit, source=source) for name, value, unit, source in facts)
    return Finding(code=code, severity=severity, says=says, evidence=evidence, fix=fix)


def impossible(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return what cannot be true as stated."""
    return found(code, Severity.IMPOSSIBLE, says, *facts, fix=fix)


def doubtful(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return what is hard to believe."""
    return found(code, Severity.DOUBTFUL, says, *facts, fix=fix)


def unknown(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return what is missing."""
    return found(code, Severity.OPEN, says, *facts, fix=fix)


def note(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return what does not bear on the verdict."""
    return found(code, Severity.NOTE, says, *facts, fix=fix)
