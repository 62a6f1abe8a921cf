"""Which measured runs say something about a candidate, and how much."""

from __future__ import annotations

from collections.abc import Iterator
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
from planner.speed.throughput.power_cap import as_delivered, same_cap

OF_THE_WORKLOAD = ("network", "seq_len", "method", "adapters")
"""The fields that say what is trained; the others say how."""
NOTED = ("global_batch",)
"""Fields in which a measurement may differ from what is asked; the answer says so."""


def same_workload(run: RunRecord, job: Job) -> bool:
    """Return whether a run trained the job's network, or the same adapters, on samples of the job's length.

    A run that does not state length or adapters may be scaled to the job. It never counts as a measurement of it.
    """
    network = job.setup.network
    if run.architecture is not None and network is not None and run.architecture != network:
        return False  # most runs, found without comparing the rest
    found = differences(job.setup, setup_of_run(run), only=OF_THE_WORKLOAD)
    return Agreement.DIFFERENT not in found.values()


def asked_setup(job: Job, candidate: Candidate) -> TrainingSetup:
    """Return the setup that a job asks for on a candidate: with the split that was chosen, and the plan's strategy."""
    stated = candidate.option.strategy or job.setup.strategy
    strategy = None if stated is None or stated == "auto" else stated
    return replace(job.setup, strategy=strategy, split=candidate.split)


def measured_runs(job: Job, candidate: Candidate, catalog: Catalog) -> list[RunRecord]:
    """Return the runs that answer for this candidate by arithmetic alone, the best evidence of them.

    They are the user's own and can be believed. Long windows come before short ones, and only our newest method counts.
    Where the plan leaves something open, as the micro-batch, the setup of the fastest run is taken.
    """
    matches = [
        run
        for run in _of_the_setup(job, candidate, catalog)
        if run.id not in catalog.bundled_runs and not why_not_believed(run, catalog)
    ]
    if any(not run.short_window for run in matches):
        matches = [run for run in matches if not run.short_window]
    newest = max((run.method_version or 0 for run in matches), default=0)
    matches = [run for run in matches if (run.method_version or 0) in (0, newest)]
    if not matches:
        return []
    fastest = setup_of_run(max(matches, key=lambda run: run.throughput.value))
    return [run for run in matches if agrees_where_stated(fastest, setup_of_run(run), besides=NOTED)]


def runs_of_others(job: Job, candidate: Candidate, catalog: Catalog) -> tuple[str, ...]:
    """Return a line for each bundled run of the same setup on the same hardware: it is no measurement for this user."""
    return tuple(
        f"run {run.id} was measured on another owner's machine: it is evidence, not a measurement"
        for run in _of_the_setup(job, candidate, catalog)
        if run.id in catalog.bundled_runs and why_not_believed(run, catalog) is None
    )


def runs_not_believed(job: Job, candidate: Candidate, catalog: Catalog) -> tuple[str, ...]:
    """Return a line for each run of the same setup on the same hardware that decides nothing, and why."""
    return tuple(
        f"run {run.id} decides nothing: {why}"
        for run in _of_the_setup(job, candidate, catalog)
        if (why := why_not_believed(run, catalog)) is not None
    )


def _of_the_setup(job: Job, candidate: Candidate, catalog: Catalog) -> Iterator[RunRecord]:
    """Yield the runs on the same hardware that state the same in every field that the plan states.

    A run that the plan names as its workload need not state every field: the plan says that it is this training.
    """
    if candidate.parallel_config is not None:
        return
    asked = asked_setup(job, candidate)
    for run in catalog.runs.values():
        if (
            same_hardware(run, candidate)
            and run.strategy in (None, candidate.strategy)
            and same_cap(run, candidate)
            and _agrees(asked, run, is_named=job.named_run is not None and job.named_run.id == run.id)
        ):
            yield run


def _agrees(asked: TrainingSetup, run: RunRecord, *, is_named: bool) -> bool:
    setup = setup_of_run(run)
    if not is_named:
        return agrees_where_stated(asked, setup, besides=NOTED)
    found = differences(asked, setup)
    return all(found[name] is not Agreement.DIFFERENT for name in asked.stated if name not in NOTED)


def why_not_believed(run: RunRecord, catalog: Catalog) -> str | None:
    """Return why a run decides nothing: something was found wrong with it, when it was measured or by the audit.

    None where it may be believed.

    A run that is doubtful only because it was short still counts, with a wider range.
    """
    if run.id in catalog.impossible_runs:
        return f"the audit finds it impossible: planner audit {run.id}"
    if run.id in catalog.doubtful_runs:
        return f"the audit finds it doubtful: planner audit {run.id}"
    return f"something was found wrong with it: planner audit {run.id}" if run.verdict else None


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
    return [run for run in runs if why_not_believed(run, catalog) is None] or runs


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
