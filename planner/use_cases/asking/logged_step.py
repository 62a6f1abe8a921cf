"""Takes the step time of a machine from the log that it wrote, unless that speed is impossible."""

from __future__ import annotations

from typing import Any

from planner.model.answer.audit import Severity
from planner.model.answer.run_check import RunVerdict
from planner.model.plan.plan_option import OWN_LOG
from planner.model.quantity import Basis
from planner.use_cases.asking.question import Draft
from planner.use_cases.importing.check_run import check_run

CHECK = "see: planner check-run LOG"


def step_of_log(draft: Draft, accelerators: int) -> dict[str, Any]:
    """Return the `step` of an option with this number of accelerators; empty if the log is of another machine.

    Also empty if the log's speed is impossible. The estimator then answers, as `check-run` does for the same training.
    """
    log = draft.question.log
    if log is None or log.global_batch is None or log.hardware.accelerators != accelerators:
        return {}
    checked = check_run(log, draft.catalog)
    wrong = next((finding.says for finding in checked.audit.findings if finding.severity is Severity.IMPOSSIBLE), None)
    if wrong is not None:
        draft.assume(f"an estimate in place of the log's speed, which cannot be true: {wrong.rstrip('.')}", CHECK)
        return {}
    rate, basis = log.throughput, Basis.ASSUMED
    if log.verdict:
        draft.assume(f"the log's speed, which is doubtful: {log.verdict[0]}", "--log")
    elif checked.verdict is RunVerdict.TOO_FAST:
        draft.assume("the log's speed, which is above what its settings lead to expect", CHECK)
    else:
        basis = Basis.MEASURED
    step = {
        "batch": log.global_batch, "seconds": log.global_batch / rate.value, "basis": basis.value,
        "low_seconds": log.global_batch / rate.high, "high_seconds": log.global_batch / rate.low,
        "source": OWN_LOG,
    }  # fmt: skip
    return {"step": step}
