"""Which measured runs say something about a candidate, and how much."""

from __future__ import annotations

from dataclasses import replace

from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator
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
from planner.speed.throughput.power_cap import same_cap

OF_THE_WORKLOAD = ("network", "seq_len", "method", "adapters")
"""The fields that say what is trained; the others say how."""
NOTED = ("global_batch",)
"""Fields in which a measurement may differ from what is asked; the answer says so."""


def same_workload(run: RunRecord, job: Job) -> bool:
    """Return whether a run trained the job's network, or the same adapters, on samples of the job's length.

    A run that does not state length or adapters may be scaled to the job. It never counts as a measurement of it.
    """
    found = differences(job.setup, setup_of_run(run))
    return all(found[name] is not Agreement.DIFFERENT for name in OF_THE_WORKLOAD)


def asked_setup(job: Job, candidate: Candidate) -> TrainingSetup:
    """Return the setup that a job asks for on a candidate: with the split that was chosen, and the plan's strategy."""
    stated = candidate.option.strategy or job.setup.strategy
    strategy = None if stated is None or stated == "auto" else stated
    return replace(job.setup, strategy=strategy, split=candidate.split)


def is_measurement(run: RunRecord, job: Job, candidate: Candidate, catalog: Catalog) -> bool:
    """Return whether a run answers for a candidate by arithmetic alone.

    It is the user's own, on the same hardware, and states the same in every field that the plan states. A run that is
    bundled with the planner is evidence of others' machines. A run that was found impossible or doubtful decides
    nothing.
    """
    return (
        run.id not in catalog.bundled_runs
        and not why_not_believed(run, catalog)
        and same_hardware(run, candidate)
        and run.strategy in (None, candidate.strategy)
        and candidate.parallel_config is None
        and same_cap(run, candidate)
        and agrees_where_stated(asked_setup(job, candidate), setup_of_run(run), besides=NOTED)
    )


def why_not_believed(run: RunRecord, catalog: Catalog) -> str | None:
    """Return why a run decides nothing: what the audit finds, or what was found wrong when it was measured."""
    if run.id in catalog.impossible_runs:
        return "the audit finds it impossible"
    if run.id in catalog.doubtful_runs:
        return "the audit finds it doubtful"
    return "something was found wrong with it" if run.log is not None and run.verdict else None


def measured_runs(job: Job, candidate: Candidate, catalog: Catalog) -> list[RunRecord]:
    """Return the runs that answer for this candidate by arithmetic alone, the best evidence of them.

    Long windows come before short ones, and only our newest method counts. Where the plan leaves something open, as the
    micro-batch, the setup of the fastest run is taken.
    """
    matches = [run for run in catalog.runs.values() if is_measurement(run, job, candidate, catalog)]
    if any(not run.short_window for run in matches):
        matches = [run for run in matches if not run.short_window]
    newest = max((run.method_version or 0 for run in matches), default=0)
    matches = [run for run in matches if (run.method_version or 0) in (0, newest)]
    if not matches:
        return []
    fastest = setup_of_run(max(matches, key=lambda run: run.throughput.value))
    return [run for run in matches if agrees_where_stated(fastest, setup_of_run(run), besides=NOTED)]


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
