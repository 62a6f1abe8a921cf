"""Selection of measured runs: those that answer for a candidate, and those that may be scaled to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner.model.answer.option_estimate import RunNotCounted
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.evidence.run_rates import has_rollouts
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import is_same_network
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.hardware_match import same_hardware
from planner.scenario.job import Job
from planner.scenario.recorded_setup import setup_of_run
from planner.scenario.training_setup import Agreement, TrainingSetup, agrees_where_stated, differences
from planner.speed.memory.planned_settings import planned_settings
from planner.speed.throughput.power_cap import same_cap, uncapped_runs

WORKLOAD_FIELDS = ("network", "seq_len", "method", "objective", "adapters")
"""Fields that describe the workload; the other fields describe how it is trained."""
MAY_OMIT = ("strategy", "precision", "checkpointing", "micro_batch", "seq_len", "sequence_tokens")
"""Fields that a run may omit if the plan names it as its workload."""
ANOTHER_OWNER = "was measured on another owner's machine: it is not a measurement of yours"
NOTED_FIELDS = ("global_batch",)
"""Fields in which a measurement may differ from the plan; the answer notes the difference."""


def same_workload(run: RunRecord, job: Job) -> bool:
    """Return whether a run trained the job's network, or the same adapters, on samples of the job's length.

    A run that does not state length or adapters is accepted here, for scaling; it never counts as a measurement. Runs
    with rollouts are refused, because their samples are completions and a job's samples are prompts.
    """
    if has_rollouts(run):
        return False
    network = job.setup.network
    if run.architecture is not None and network is not None and not is_same_network(run.architecture, network):
        return False  # most runs end here, without the slower comparison below
    found = differences(job.setup, setup_of_run(run), only=WORKLOAD_FIELDS)
    return Agreement.DIFFERENT not in found.values()


def asked_setup(job: Job, candidate: Candidate) -> TrainingSetup:
    """Return the setup that a job asks for on a candidate, with the candidate's split and the plan's strategy."""
    stated = candidate.option.strategy or job.setup.strategy
    strategy = None if stated is None or stated == "auto" else stated
    return with_kernels(replace(job.setup, strategy=strategy, split=candidate.split))


def with_kernels(setup: TrainingSetup) -> TrainingSetup:
    """Return a setup with the kernels and the loss that its framework's name implies, as in "HF Trainer, liger"."""
    return replace(setup, settings=planned_settings(setup.settings, setup.framework))


def measured_runs(job: Job, candidate: Candidate, catalog: Catalog) -> list[RunRecord]:
    """Return the runs that measured this candidate, reduced to the best evidence.

    Only believable runs of the user count. Long windows are preferred to short ones, and the plan's global batch to
    others. Of our benchmark's methods only the newest counts. If the plan leaves fields open, such as the micro-batch,
    runs with the setup of the fastest one are returned.
    """
    matches = [
        run
        for run in _runs_of_setup(job, candidate, catalog)
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
    """Return each run of the same setup on the same hardware that does not count as a measurement, with the reason."""
    found = []
    for run in _runs_of_setup(job, candidate, catalog):
        if (why := why_not_believed(run, job, catalog)) is not None:
            found.append(RunNotCounted(run=run.id, why=why, believed=False))
        elif run.id in catalog.bundled_runs:
            found.append(RunNotCounted(run=run.id, why=ANOTHER_OWNER, believed=True))
    return tuple(found)


def _runs_of_setup(job: Job, candidate: Candidate, catalog: Catalog) -> Iterator[RunRecord]:
    """Yield the runs on the same hardware that agree with the plan in every field that the plan states.

    A run that the plan names as its workload may omit the fields in MAY_OMIT.
    """
    if candidate.parallel_config is not None:
        return
    asked = asked_setup(job, candidate)
    for run in catalog.runs.values():
        if not has_rollouts(run) and same_hardware(run, candidate) and same_cap(run, candidate):
            may_omit = MAY_OMIT if _is_named(run, job) else ()
            if agrees_where_stated(asked, with_kernels(setup_of_run(run)), besides=NOTED_FIELDS, may_omit=may_omit):
                yield run


def why_not_believed(run: RunRecord, job: Job | None, catalog: Catalog) -> str | None:
    """Return the reason not to believe a run: doubts of the audit or of its log. None if it may be believed.

    A run with a doubtful log is believed only for a plan that names it, so never without a job.
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

    Impossible runs never count. Doubtful runs count only if there are no others, so that a network which the estimator
    does not know still gets an answer; the answer names the doubt.
    """
    runs = [
        run
        for run in uncapped_runs(catalog.runs.values())
        if run.id not in catalog.impossible_runs and same_workload(run, job)
    ]
    return [run for run in runs if why_not_believed(run, job, catalog) is None] or runs


def training_peak_tflops(accelerator: Accelerator, precision: Precision | None) -> tuple[float | None, str | None]:
    """Return the peak in TFLOP/s for a job's precision, and a note if the hardware lacks the precision.

    Without a stated precision it is the 16-bit peak. Without hardware for the precision it is the fp32 peak, as for
    bf16 on Volta. Returns None for the peak if it is not known.
    """
    for choice in [precision] if precision else [Precision.BF16, Precision.FP16]:
        peak = accelerator.peak_tflops(choice)
        if peak is not None:
            return peak, None
    if accelerator.fp32_tflops is None:
        return None, None
    name = precision.value if precision else "16-bit"
    return accelerator.fp32_tflops, f"{accelerator.id} has no {name} matrix hardware: its fp32 peak is used"
