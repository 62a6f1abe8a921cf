"""Rates that follow from a run: its MFU, and its speed without the generation of completions."""

from __future__ import annotations

from planner.model.evidence.run import RunRecord


def model_flops_utilization(
    *, flops_per_sample: float, samples_per_s: float, accelerators: int, peak_tflop_per_s: float
) -> float:
    """Return the share of the peak that goes into the network's own FLOPs; 1 is all of it.

    MFU = FLOPs per sample x samples/s / (accelerators x peak)

    Reported everywhere: training FLOPs of one sample with full attention and without recomputation
    (planner/network/flops.py), over the dense peak of the data sheet in the run's number format. Beside it stands the
    same with causal FLOPs, under its own name.
    Source: Chowdhery et al. 2022 (PaLM), appendix B.
    """
    return flops_per_sample * samples_per_s / (accelerators * peak_tflop_per_s * 1e12)


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
