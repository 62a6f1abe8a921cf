"""Which measured runs say something about a candidate, and how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.model.answer.option_estimate import RunNotCounted
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.evidence.training_passes import has_rollouts
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import is_same_network
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.hardware_match import same_hardware
from planner.scenario.job import Job
from planner.scenario.training_setup import (
    Agreement,
    TrainingSetup,
    agrees_where_stated,
    differences,
    setup_of_run,
)
from planner.speed.memory.planned_settings import planned_settings
from planner.speed.throughput.power_cap import as_delivered, same_cap

OF_THE_WORKLOAD = ("network", "seq_len", "method", "objective", "adapters")
"""The fields that say what is trained; the others say how."""
MAY_OMIT = ("strategy", "precision", "checkpointing", "micro_batch", "seq_len", "sequence_tokens")
"""Fields that the run which a plan starts from need not state."""
ANOTHER_OWNER = "was measured on another owner's machine: it is no measurement of yours"
NOTED = ("global_batch",)
"""Fields in which a measurement may differ from what is asked; the answer says so."""


def same_workload(run: RunRecord, job: Job) -> bool:
    """Return whether a run trained the job's network, or the same adapters, on samples of the job's length.

    A run that does not state length or adapters may be scaled to the job. It never counts as a measurement of it. Of
    one with rollouts the samples are completions, whose rate is no job's.
    """
    if has_rollouts(run):
        return False
    network = job.setup.network
    if run.architecture is not None and network is not None and not is_same_network(run.architecture, network):
        return False  # most runs, found without comparing the rest
    found = differences(job.setup, setup_of_run(run), only=OF_THE_WORKLOAD)
    return Agreement.DIFFERENT not in found.values()


def asked_setup(job: Job, candidate: Candidate) -> TrainingSetup:
    """Return the setup that a job asks for on a candidate: with the split that was chosen, and the plan's strategy."""
    stated = candidate.option.strategy or job.setup.strategy
    strategy = None if stated is None or stated == "auto" else stated
    return with_kernels(replace(job.setup, strategy=strategy, split=candidate.split))


def with_kernels(setup: TrainingSetup) -> TrainingSetup:
    """Return a setup with what its framework's name says of kernels and loss: "HF Trainer, liger"."""
    return replace(setup, settings=planned_settings(setup.settings, setup.framework))


def measured_runs(job: Job, candidate: Candidate, catalog: Catalog) -> list[RunRecord]:
    """Return the runs that answer for this candidate by arithmetic alone, the best evidence of them.

    They are the user's own and can be believed. Long windows come before short ones, and only our newest method counts.
    The plan's global batch comes before others. Where the plan leaves something open, as the micro-batch, the setup of
    the fastest run is taken.
    """
    matches = [
        run
        for run in _of_the_setup(job, candidate, catalog)
        if run.id not in catalog.bundled_runs
        and run.strategy in (None, candidate.strategy)
        and not why_not_believed(run, job, catalog)
    ]
    matches = [run for run in matches if not run.short_window] or matches
    newest = max((run.method_version or 0 for run in matches), default=0)
    matches = [run for run in matches if (run.method_version or 0) in (0, newest)]
    matches = [run for run in matches if run.global_batch == job.setup.global_batch] or matches
    if not matches:
        return []
    fastest = setup_of_run(max(matches, key=lambda run: run.throughput.value))
    return [run for run in matches if agrees_where_stated(fastest, setup_of_run(run))]


def runs_not_counted(job: Job, candidate: Candidate, catalog: Catalog) -> tuple[RunNotCounted, ...]:
    """Return each run of the same setup on the same hardware that is no measurement, and why."""
    found = []
    for run in _of_the_setup(job, candidate, catalog):
        if (why := why_not_believed(run, job, catalog)) is not None:
            found.append(RunNotCounted(run=run.id, why=why, believed=False))
        elif run.id in catalog.bundled_runs:
            found.append(RunNotCounted(run=run.id, why=ANOTHER_OWNER, believed=True))
    return tuple(found)


def _of_the_setup(job: Job, candidate: Candidate, catalog: Catalog) -> Iterator[RunRecord]:
    """Yield the runs on the same hardware that state the same in every field that the plan states.

    A run that the plan names as its workload may omit what MAY_OMIT names: the plan says that it is this training.
    """
    if candidate.parallel_config is not None:
        return
    asked = asked_setup(job, candidate)
    for run in catalog.runs.values():
        if not has_rollouts(run) and same_hardware(run, candidate) and same_cap(run, candidate):
            may_omit = MAY_OMIT if _is_named(run, job) else ()
            if agrees_where_stated(asked, with_kernels(setup_of_run(run)), besides=NOTED, may_omit=may_omit):
                yield run


def why_not_believed(run: RunRecord, job: Job | None, catalog: Catalog) -> str | None:
    """Return why a run decides nothing: the audit doubts its speed, or its log does. None where it may be believed.

    A doubtful log answers only for a plan that names it, so without a plan (None) not at all.
    """
    if run.id in catalog.impossible_runs:
        return f"the audit finds it impossible: planner audit {run.id}"
    if run.id in catalog.doubtful_runs:
        return f"the audit finds it doubtful: planner audit {run.id}"
    doubtful_log = run.log is not None and run.verdict and not _is_named(run, job)
    return f"its log is doubtful: {run.verdict[0]}" if doubtful_log else None


def _is_named(run: RunRecord, job: Job | None) -> bool:
    """Return whether the plan starts from this run."""
    return job is not None and job.named_run is not None and job.named_run.id == run.id


def runs_to_scale(job: Job, catalog: Catalog) -> list[RunRecord]:
    """Return the runs of the same workload whose speed may be scaled to another machine.

    Impossible runs never count. Doubtful ones count only where there are no others, so that a network which the
    estimator does not know still gets an answer; the answer names the doubt.
    """
    runs = [
        run
        for run in as_delivered(catalog.runs.values())
        if run.id not in catalog.impossible_runs and same_workload(run, job)
    ]
    return [run for run in runs if why_not_believed(run, job, catalog) is None] or runs


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
