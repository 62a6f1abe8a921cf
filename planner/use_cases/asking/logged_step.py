"""The step of a machine on which a log was written: as the log measured it, unless that cannot be true."""

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
    """Return the `step` of an option with so many accelerators; empty where the question's log is of no such machine.

    Empty too where the log's speed cannot be true: the estimator answers, as `check-run` does of the same training.
    """
    log = draft.question.log
    if log is None or log.global_batch is None or log.hardware.accelerators != accelerators:
        return {}
    checked = check_run(log, draft.catalog)
    wrong = next((one.says for one in checked.audit.findings if one.severity is Severity.IMPOSSIBLE), None)
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
