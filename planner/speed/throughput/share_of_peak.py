"""Throughput without the physics or runs of the workload: by another one's FLOP rate, or a share of the peak."""

from __future__ import annotations

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.architecture import Architecture
from planner.model.network.training_method import MethodSettings
from planner.model.plan.plan import FlopsConvention
from planner.model.quantity import Basis
from planner.network.flops import flops_per_sample, parameters
from planner.network.method_work import method_flops_per_sample
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.throughput.evidence_text import ASSUMED_SHARE, PLANNED_SHARE, scaled_line
from planner.speed.throughput.linear_scaling import Scaling, scaling_of
from planner.speed.throughput.matching_runs import training_peak_tflops, why_not_believed
from planner.speed.throughput.power_cap import uncapped_runs
from planner.speed.throughput.prediction import NoPrediction, Prediction, no_prediction, too_small

OTHER_WORKLOAD_FACTOR = 3.0
"""Range factor of a rate that another workload's FLOP rate gives."""
PRIOR_MFU = 0.40
PRIOR_MFU_FACTOR = 2.2
"""Range factor of `PRIOR_MFU`. Published MFU of dense decoders is 0.18 to 0.69; a constant MFU has p90 error 63 %."""
RESNET_PRIOR_MFU = 0.16
"""MFU of convolutional networks. NVIDIA's ResNet-50 recipe in mixed precision reaches 1,200 images/s on a V100, 23 % of
its peak, and 2,470 on an A100, 19 %. On newer cards, memory bandwidth grew less than the peak. Source:
NVIDIA/DeepLearningExamples."""
ASSUMED_MFU_FACTOR = 1.5
"""Range factor of an MFU that the plan states."""
SMALLEST_MODELLED_PARAMETERS = 5e7
"""Parameters below which kernel launches limit an accelerator, so that a share of the peak is meaningless."""
SMALLEST_MODELLED_FLOPS_PER_IMAGE = 1e9
"""FLOPs per image below which kernel launches limit an accelerator."""


def from_flop_rate(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | None:
    """Compute throughput = FLOP/s that another workload reached on this machine / FLOPs per sample of the job.

    On accelerators, only runs in the job's precision count whose networks are not limited by kernel launches. Returns
    None if there is no run.
    """
    if job.setup.network is None:
        return None
    runs_of_network = [
        run
        for run in uncapped_runs(catalog.runs.values())
        if why_not_believed(run, job, catalog) is None and _informs(run, job, candidate)
    ]
    run = max(
        runs_of_network,
        key=lambda run: (
            not run.short_window,
            run.strategy in (None, candidate.strategy),
            run.parameters or 0,
            run.id,
        ),
        default=None,
    )
    if run is None or run.architecture is None:
        return None
    run_flops = method_flops_per_sample(
        run.architecture, MethodSettings(method=run.objective), seq_len=run.seq_len, convention=job.convention,
        adapters=run.method == "lora",
    )  # fmt: skip

    job_flops = _work(job, job.setup.network)
    rate = run.throughput.value * run_flops / job_flops
    source = (
        f"at the FLOP rate of run {run.id}: {run.throughput.value:.6g} samples/s of {run.workload} x "
        f"{run_flops / 1e12:.5g}/{job_flops / 1e12:.5g} TFLOP per sample ({job.convention.value})"
    )
    precision = run.precision.value if run.precision else "an unstated precision"
    return Prediction(
        samples_per_s=Interval.within_factor(rate, OTHER_WORKLOAD_FACTOR),
        basis=Basis.MODELLED,
        write_source=lambda: source,
        as_of=run.throughput.as_of,
        known_from=scaled_line(run, catalog.bundled_runs, of_another_network=True),
        runs=(run,),
        notes=(f"scaled from another network, measured in {precision}",),
    )


def from_mfu(job: Job, candidate: Candidate) -> Prediction | NoPrediction:
    """Compute throughput = accelerators x dense peak x MFU x scaling share / FLOPs per sample.

    A plan's MFU is that of the whole cluster. The prior is that of one accelerator, so the scaling share is applied.
    """
    assert job.setup.network is not None
    target = candidate.accelerator
    peak, note = training_peak_tflops(target, job.setup.precision)
    if peak is None:
        text = f"the peak of {target.id} is not known: measure the workload there"
        return no_prediction(ReasonCode.HARDWARE_NOT_KNOWN, text)
    if job.mfu is None and is_too_small(job.setup.network):
        return too_small(parameters(job.setup.network), target.id, "which a share of the peak says nothing of")
    prior = RESNET_PRIOR_MFU if job.setup.network.is_convolutional else PRIOR_MFU
    mfu, factor, scaled = prior, PRIOR_MFU_FACTOR, scaling_of(candidate)
    if job.mfu is not None:
        mfu, factor, scaled = job.mfu, ASSUMED_MFU_FACTOR, Scaling(1.0, 1.0)
    per_sample = _work(job, job.setup.network)
    rate = candidate.accelerators * peak * 1e12 * mfu * scaled.share / per_sample
    precision = job.setup.precision.value if job.setup.precision else "16-bit"
    grounds = "a usual share of the peak" if job.mfu is None else "MFU assumed by the plan"
    source = (
        f"{grounds}: {candidate.accelerators}x {peak:g} TFLOP/s ({precision} peak of {target.id}) x {mfu:g} MFU"
        f"{f' x {scaled.share:.4g} of linear scaling' if scaled.share != 1 else ''}"
        f" / {_work_text(job, per_sample)}"
    )
    return Prediction(
        samples_per_s=Interval.within_factor(rate, factor * scaled.factor),
        basis=Basis.MODELLED if job.mfu is None else Basis.ASSUMED,
        write_source=lambda: source,
        as_of=target.as_of,
        known_from=ASSUMED_SHARE if job.mfu is None else PLANNED_SHARE,
        notes=(note,) if note else (),
    )


def _work(job: Job, network: Architecture) -> float:
    """Return the training FLOPs of one sample."""
    return method_flops_per_sample(
        network, job.setup.objective, seq_len=job.setup.timed_tokens or None, convention=job.convention,
        adapters=job.setup.adapters is not None,
    )  # fmt: skip


def _work_text(job: Job, per_sample: float) -> str:
    if job.setup.seq_len is None:
        return f"{per_sample / 1e9:.5g} GFLOP per image"
    per_token = per_sample / job.setup.sample_tokens / 1e9
    return f"{per_token:.5g} GFLOP per token ({job.convention.value}) / {job.setup.sample_tokens:g} tokens per sample"


def _informs(run: RunRecord, job: Job, candidate: Candidate) -> bool:
    """Return whether a run's FLOP rate can be used for the job on the candidate."""
    hardware = run.hardware
    if hardware.node != candidate.node.id or hardware.accelerators != candidate.accelerators:
        return False
    if run.architecture is None or (run.seq_len is None and run.architecture.sample == "tokens"):
        return False
    if hardware.accelerator == "CPU":
        return True
    same_precision = None in (run.precision, job.setup.precision) or run.precision is job.setup.precision
    return same_precision and not is_too_small(run.architecture)


def is_too_small(architecture: Architecture) -> bool:
    """Return whether a network is so small that kernel launches limit an accelerator."""
    if architecture.sample == "image":
        flops = flops_per_sample(architecture, seq_len=None, convention=FlopsConvention.FULL_ATTENTION)
        return flops < SMALLEST_MODELLED_FLOPS_PER_IMAGE
    return parameters(architecture) < SMALLEST_MODELLED_PARAMETERS
