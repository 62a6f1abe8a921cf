"""Shows the answers of `check-run` and of `audit` on a screen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from planner.model.answer.audit import AuditDocument, AuditVerdict, ClaimAudit, Finding, RunAudit, Severity
from planner.model.answer.run_check import HardwareFix, RunCheckDocument
from planner.model.evidence.imported_log import RolloutLog
from planner.model.quantity import Quantity
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.screen import Column, again, table_lines, wrapped, wrapped_lines
from planner.present.short_figures import Scale

RATE = Scale("samples/s", 1.0)
LEAST_SHOWN_SHARE = 0.005
"""Smallest share of a step for which a phase is shown."""
CAUSES = (
    Column(key="number", right=True),
    Column(key="cause", title="may hold it back", wrap=20),
    Column(key="gain", title="gain (range)"),
    Column(key="sure", title="sure", right=True, drop=2),
    Column(key="free", title="free", drop=1),
)


def run_check_lines(document: RunCheckDocument, *, width: int, details: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`. `details` adds the formulas of gains."""
    title = f"{document.workload} on {document.accelerators}x {document.accelerator} ({document.run})"
    expected = "not known" if document.expected is None else _rate(document.expected)
    causal = "" if document.causal_share_of_peak is None else f" (causal {document.causal_share_of_peak:.0%})"
    peak = "" if document.share_of_peak is None else f"; MFU {document.share_of_peak:.0%}{causal}"
    figures = f"Measured {_rate(document.measured)} samples/s, expected {expected}{peak}."
    lines = [*wrapped(title, width=width), "", *wrapped(document.sentence, width=width), *wrapped(figures, width=width)]
    if document.measured.source:
        lines += wrapped(f"Read: {document.measured.source}.", width=width)
    if document.rollouts is not None:
        lines += wrapped(_rollouts(document.rollouts), width=width)
    if document.causes:
        rows = [
            {
                "number": str(number),
                "cause": cause.text,
                "gain": f"x{cause.gain:.2f} ({cause.gain_low:.2f}-{cause.gain_high:.2f})",
                "sure": f"{cause.probability:.0%}",
                "free": "yes" if cause.free else "no",
            }
            for number, cause in enumerate(document.causes, start=1)
        ]
        lines += ["", *table_lines(CAUSES, rows, width=width), ""]
        for number, cause in enumerate(document.causes, start=1):
            lines += wrapped(f"{number} {cause.fix}. Test: {cause.test}", width=width, indent="    ")
    if document.explained is not None and document.causes:
        rest = "" if document.unexplained is None else f"; x{document.unexplained:.3g} remains unexplained"
        lines += wrapped(
            f"Gains do not multiply: without all of these, at most x{document.explained:.3g} as fast{rest}.",
            width=width,
        )
    for candidate in document.candidates:
        lines += wrapped(f"Could be: {candidate.text}. Test: {candidate.test}", width=width, indent="    ")
    for part in document.hardware_fixes:
        lines += wrapped(_part(part), width=width)
    if document.assumed:
        lines += ["", *wrapped(f"Assumed: {'; '.join(document.assumed)}.", width=width)]
    for doubt in document.doubts:
        lines += wrapped(f"Doubtful: {doubt}.", width=width)
    if details and document.formulas:
        lines += wrapped_lines([f"How gains are computed ({HOW_TO_READ}):"], width)
        lines += wrapped_lines(list(formula_lines(document.formulas, full=True)), width)
    return [*lines, *audited_lines(document.audit, width=width), *again(document.answer_id)]


def _rollouts(log: RolloutLog) -> str:
    """Write the phases of a step with rollouts, longest first, then lengths and divergence."""
    whole = log.step_seconds or sum(log.phase_seconds.values())
    said = []
    if whole:
        phases = sorted(log.phase_seconds.items(), key=lambda pair: -pair[1])
        shares = [
            f"{name.replace('_', ' ')} {seconds / whole:.0%}"
            for name, seconds in phases
            if seconds >= LEAST_SHOWN_SHARE * whole
        ]
        said.append(f"a step of {whole:,.3g} s" + (f": {', '.join(shares)}" if shares else ""))
    if log.completion_tokens is not None:
        length = f"{log.completion_tokens:,.0f} tokens a completion"
        if log.longest_completion is not None:
            length += f" (longest {log.longest_completion:,.0f})"
        said.append(length)
    if log.stopped_share is not None:
        said.append(f"{log.stopped_share:.1%} stopped at the limit")
    if log.divergence is not None:
        said.append(f"KL {log.divergence:.3g}")
    return f"Rollouts: {'; '.join(said)}."


def _part(part: HardwareFix) -> str:
    together = " for all" if part.count > 1 else ""
    price = f"{part.usd:,.0f} USD ({part.usd_low:,.0f}-{part.usd_high:,.0f}){together}"
    says = f"Part: {part.count}x {part.part}, {price}: x{part.gain:.2f} ({part.gain_low:.2f}-{part.gain_high:.2f})"
    if part.payback_hours is None:
        return f"{says}; pay-back not known: no price of such an hour."
    paid = f"{part.payback_hours:,.0f} h ({part.payback_low:,.0f}-{part.payback_high:,.0f})"
    return f"{says}, modelled; pays back in {paid} of training at {part.usd_per_hour:,.3g} USD/h ({part.hour_source})."


def _rate(quantity: Quantity) -> str:
    return f"{RATE.value(quantity)} {RATE.interval(quantity)}".strip()


HEAVY = (Severity.IMPOSSIBLE, Severity.DOUBTFUL)
DATED = re.compile(r"\(\d{4}-\d\d")
SAID_BESIDE = ("log_doubt", "benchmark_doubt", "benchmark_wrong")
MOST_RUNS = 20
"""Largest number of runs that are all listed. Of more runs, only impossible and doubtful ones are listed."""


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
