"""MFU (model FLOPs utilization) of a run record, from the network's FLOPs and the nominal peak."""

from __future__ import annotations

from planner.model.evidence.run import RunRecord
from planner.model.evidence.run_rates import model_flops_utilization
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import Architecture
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.plan.plan import FlopsConvention
from planner.network.method_work import method_flops_per_sample
from planner.speed.throughput.matching_runs import training_peak_tflops

CONVENTIONS = (FlopsConvention.FULL_ATTENTION, FlopsConvention.CAUSAL)
"""Conventions in which MFU is shown; the headline uses the first."""


def flops_by_convention(
    architecture: Architecture, *, seq_len: int | None, adapters: bool, objective: MethodSettings = NEXT_TOKEN
) -> dict[str, float]:
    """Return the training FLOPs of one sample by the convention's name; recomputation does not count."""
    return {
        convention.value: method_flops_per_sample(
            architecture, objective, seq_len=seq_len, convention=convention, adapters=adapters
        )
        for convention in CONVENTIONS
    }


def mfu_of_run(run: RunRecord, accelerator: Accelerator | None) -> dict[str, float]:
    """Return a run's MFU by the convention's name; empty if network, sample length or peak is not known."""
    if accelerator is None or run.architecture is None:
        return {}
    if run.architecture.sample == "tokens" and run.seq_len is None:
        return {}
    peak, _ = training_peak_tflops(accelerator, run.precision)
    if peak is None:
        return {}
    work = flops_by_convention(
        run.architecture,
        seq_len=run.seq_len,
        adapters=run.method == "lora",
        objective=MethodSettings(method=run.objective),
    )
    return {
        name: model_flops_utilization(
            flops_per_sample=flops,
            samples_per_s=run.throughput.value,
            accelerators=run.hardware.accelerators,
            peak_tflop_per_s=peak,
        )
        for name, flops in work.items()
    }
