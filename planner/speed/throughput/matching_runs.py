"""Which measured runs say something about a candidate, and how much."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import TextModel
from planner.model.network.trainer_memory import Offload, Optimizer, TrainerSettings, WeightFormat
from planner.model.network.workload import Precision
from planner.network.lora_memory import adapter_parameters
from planner.scenario.candidate import Candidate
from planner.scenario.frameworks import planned_family
from planner.scenario.hardware_match import same_hardware
from planner.scenario.job import Job, frozen_of
from planner.speed.throughput.power_cap import same_cap


def same_workload(run: RunRecord, job: Job) -> bool:
    """Return whether a run trained the job's network, or the same adapters, on samples of the job's length."""
    if (run.method == "lora") != (job.adapters is not None):
        return False
    if job.adapters is not None and not _same_adapters(run, job, job.adapters):
        return False
    if run.seq_len is not None and job.seq_len is not None and run.seq_len != job.seq_len:
        return False
    if run.architecture is not None and job.network is not None:
        return run.architecture == job.network
    return run.workload == job.workload


def _same_adapters(run: RunRecord, job: Job, adapters: Adapters) -> bool:
    """Return whether a run trained the same adapters (of an older record: as many parameters) beside the same weights.

    An older run that kept them in fp32 beside 16-bit products is no measurement of a training that does not.
    """
    if adapters.frozen is not frozen_of(run) or adapters.kind is not (run.adapters or Adapters()).kind:
        return False
    if run.adapters is not None:
        return run.adapters.rank == adapters.rank and set(run.adapters.targets) == set(adapters.targets)
    if run.trained_parameters is None or not isinstance(job.network, TextModel):
        return True
    return run.trained_parameters == adapter_parameters(job.network, adapters)


def same_settings(run: RunRecord, job: Job, candidate: Candidate) -> bool:
    """Return whether strategy, precision, micro-batch and checkpointing agree; what a record omits is taken to agree.

    A run of one framework corrects the estimate of another, and is no measurement of it; a plan that names none is
    answered by the benchmark's runs and by those that were read from logs.
    """
    return (
        run.strategy in (None, candidate.strategy)
        and candidate.parallel_config is None
        and _same_framework(run, job)
        and not _other_states(job.settings)
        and (None in (run.precision, job.precision) or run.precision is job.precision)
        and (None in (run.checkpointing, job.checkpointing) or run.checkpointing is job.checkpointing)
        and (None in (run.micro_batch, job.micro_batch) or run.micro_batch == job.micro_batch)
    )


def _same_framework(run: RunRecord, job: Job) -> bool:
    if job.framework is None:
        return True
    return run.log is not None and planned_family(run.log.framework or "") == planned_family(job.framework)


def _other_states(settings: TrainerSettings) -> bool:
    """Return whether a plan keeps other states, or keeps them elsewhere, than runs do, which step with Adam in fp32."""
    return (
        settings.optimizer not in (None, Optimizer.ADAMW)
        or settings.weights is WeightFormat.SIXTEEN_BIT
        or settings.offload not in (None, Offload.NONE)
    )


def _doubtful_log(run: RunRecord, job: Job) -> bool:
    """Return whether a run of a log is doubtful, as totals are; it answers only for a plan that starts from it."""
    return run.log is not None and bool(run.verdict) and not (job.named_run and job.named_run.id == run.id)


def measured_runs(
    runs: Iterable[RunRecord], job: Job, candidate: Candidate, *, impossible: Collection[str] = ()
) -> list[RunRecord]:
    """Return the runs that answer for this candidate by arithmetic alone, the best evidence of them.

    Those that can be true before the `impossible`, long windows before short ones, our newest method alone, and of
    several micro-batches the fastest.
    """
    matches = [
        run
        for run in runs
        if same_workload(run, job)
        and not _doubtful_log(run, job)
        and same_hardware(run, candidate)
        and same_settings(run, job, candidate)
        and same_cap(run, candidate)
    ]
    matches = [run for run in matches if run.id not in impossible] or matches
    if any(not run.short_window for run in matches):
        matches = [run for run in matches if not run.short_window]
    newest = max((run.method_version or 0 for run in matches), default=0)
    matches = [run for run in matches if (run.method_version or 0) in (0, newest)]
    if not matches:
        return []
    best = max(matches, key=lambda run: run.throughput.value).micro_batch
    return [run for run in matches if run.micro_batch == best]


def training_peak_tflops(accelerator: Accelerator, precision: Precision | None) -> tuple[float | None, str | None]:
    """Return the peak that a job in this precision reaches for, and a note where the hardware lacks it.

    Without a stated precision: the 16-bit peak. Without hardware for it: fp32, as bf16 on Volta falls back to.
    """
    wanted = [precision] if precision else [Precision.BF16, Precision.FP16]
    for choice in wanted:
        peak = accelerator.peak_tflops(choice)
        if peak is not None:
            return peak, None
    if accelerator.fp32_tflops is None:
        return None, None
    name = precision.value if precision else "16-bit"
    return accelerator.fp32_tflops, f"{accelerator.id} has no {name} matrix hardware: its fp32 peak is used"
