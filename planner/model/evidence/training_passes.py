"""Training passes of a run on its own completions, separated from generation."""

from __future__ import annotations

from planner.model.evidence.run import RunRecord


def has_rollouts(run: RunRecord) -> bool:
    """Return whether a run generated its training data, so that its rate is of whole steps with generation."""
    return run.log is not None and run.log.rollouts is not None


def training_passes(run: RunRecord) -> RunRecord | None:
    """Return a run with only its training passes; None if its log does not time them; unchanged without rollouts.

    samples/s = samples/s of the whole steps x seconds of a step / seconds of its training passes
    """
    if run.log is None or run.log.rollouts is None:
        return run
    seconds, rollouts = run.log.rollouts.phase_seconds.get("training"), run.log.rollouts
    if rollouts.step_seconds is None or not seconds:
        return None
    factor = rollouts.step_seconds / seconds
    rate = run.throughput
    scaled = {"value": rate.value * factor, "low": rate.low * factor, "high": rate.high * factor}
    log = run.log.model_copy(update={"rollouts": None})
    return run.model_copy(update={"throughput": rate.model_copy(update=scaled), "log": log})
