"""Renders the page of runs: measured and predicted speed and the audit's verdict, largest deviations first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.model.answer.audit import Finding, RunAudit
from planner.model.answer.run_check import RunCheckDocument
from planner.model.evidence.run import RunRecord
from planner.present.page.templating import render
from planner.present.page.words import Words
from planner.present.short_figures import Scale

RATE = Scale("samples/s", 1.0)


@dataclass(frozen=True)
class CheckedRun:
    """One run with its two checks: of its speed, and by the audit."""

    record: RunRecord
    check: RunCheckDocument
    audit: RunAudit

    @property
    def ratio(self) -> float | None:
        """Measured / predicted speed; None without a prediction."""
        expected = self.check.expected
        return None if expected is None else self.check.measured.value / expected.value


@dataclass(frozen=True)
class RunRow:
    """Texts of one run on the page."""

    id: str
    workload: str
    machine: str
    measured: str
    predicted: str
    ratio: float | None
    deviation: str
    verdict: str
    sentence: str
    findings: Sequence[Finding]
    source: str


def worst_first(runs: Sequence[CheckedRun]) -> list[CheckedRun]:
    """Sort the runs by |ln(measured / predicted)|, largest first. Runs without a prediction come last."""
    return sorted(runs, key=lambda run: -abs(math.log(run.ratio)) if run.ratio else 1.0)


def runs_html(runs: Sequence[CheckedRun], words: Words) -> str:
    """Render the runs. The user can expand each one to see its verdicts."""
    head = render("lists.html", "runs_head", words)
    return head + render("lists.html", "runs", words, [_row(run, words) for run in worst_first(runs)])


def _row(run: CheckedRun, words: Words) -> RunRow:
    expected, ratio = run.check.expected, run.ratio
    predicted = words("not known") if expected is None else f"{RATE.value(expected)} {RATE.interval(expected)}"
    deviation = "" if ratio is None else f"{100 * (ratio - 1):+.0f} %"
    return RunRow(
        id=run.record.id, workload=run.check.workload,
        machine=f"{run.check.accelerators}x {run.check.accelerator}", measured=RATE.value(run.check.measured),
        predicted=predicted, ratio=ratio, deviation=deviation, verdict=run.audit.verdict.value,
        sentence=run.check.sentence, findings=run.audit.findings, source=run.record.throughput.source,
    )  # fmt: skip
