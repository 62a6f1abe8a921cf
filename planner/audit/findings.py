"""Shorthand for writing findings."""

from __future__ import annotations

from planner.audit.codes import CODES
from planner.model.answer.audit import Evidence, Finding, Severity

MANY_TIMES = 10
LARGEST_NUMBER = 1e300
"""Largest number in a document. A division by nearly zero is shown as this."""
Fact = tuple[str, float, str, str]
"""Name, value, unit, source."""


def found(code: str, severity: Severity, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding. Its code must be documented."""
    assert code in CODES, code
    evidence = tuple(
        Evidence(name=name, value=max(-LARGEST_NUMBER, min(value, LARGEST_NUMBER)), unit=unit, source=source)
        for name, value, unit, source in facts
    )
    return Finding(code=code, severity=severity, says=says, evidence=evidence, fix=fix)


def impossible(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something cannot be true as stated."""
    return found(code, Severity.IMPOSSIBLE, says, *facts, fix=fix)


def doubtful(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something is hard to believe."""
    return found(code, Severity.DOUBTFUL, says, *facts, fix=fix)


def unknown(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that something is missing."""
    return found(code, Severity.OPEN, says, *facts, fix=fix)


def note(code: str, says: str, *facts: Fact, fix: str = "") -> Finding:
    """Return a finding that does not affect the verdict."""
    return found(code, Severity.NOTE, says, *facts, fix=fix)


def share_of(value: float, whole: str) -> str:
    """Write a share for people: "93 % of the peak" as `93% of the peak`, and from ten times on "12 times the peak"."""
    return f"{value:.0%} of {whole}" if value < MANY_TIMES else f"{digits(value)} times {whole}"


def digits(value: float) -> str:
    """Write a number for people: four digits with separators, without an exponent if it is readable without."""
    if 1e9 <= abs(value) < 1e15:
        return f"{value / 1e9:,.4g} billion" if abs(value) < 1e13 else f"{value / 1e12:,.4g} trillion"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:,.4g}"
