"""Throughput of an image network that nobody measured: its operators, published measurements, the user's own."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.physics.observation import Observation
from planner.speed.physics.planned_image_config import observed_image_run, planned_image_config
from planner.speed.physics.planned_text_config import labels_of, planned_kernels
from planner.speed.throughput.evidence_text import estimated_line, evidence_clause
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.own_evidence import OwnEvidence, own_evidence, step_name
from planner.speed.throughput.prediction import NoPrediction, Prediction, not_answered, too_small
from planner.speed.throughput.prediction_notes import IMAGE_PART_NAMES, SMALLEST_SHARE, network_note, training_notes
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.model.hardware.machines import Node
    from planner.speed.estimator.text_estimator import Estimates
    from planner.speed.physics.image_config_arrays import Described

DECODED_PER_WORKER = 190
"""Images/s that one CPU core decodes and crops for ImageNet: ten workers with Pillow fed 1,923 images/s to an A100 that
could have taken 2,600. Source: huggingface/pytorch-image-models issue 1491, October 2022."""


def predict_images(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict images/s of the whole cluster with the physics of operators; images wait on the device already."""
    from planner.speed.estimator.image_estimator import estimate_images
    from planner.speed.physics.image_config_arrays import gather

    assert job.setup.network is not None, "without a network nothing is known"
    if is_too_small(job.setup.network):
        return too_small(parameters(job.setup.network), candidate.accelerator.id, "and no evidence is of so small ones")
    described = _planned(job, candidate, fitting)
    if isinstance(described, Reason):
        return not_answered(described)
    own = _own_evidence(job, candidate, catalog)
    label = labels_of(candidate.accelerator, job.setup.workload, job.setup.framework)
    estimate = estimate_images(gather([described]), [label], calibration, own=own.observations)
    count = candidate.accelerators
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * count,
        float(estimate.low_90[0]) * count,
        float(estimate.high_90[0]) * count,
    )
    _, lacking = training_peak_tflops(candidate.accelerator, job.setup.precision)
    evidence = evidence_clause(label, calibration, own, catalog.bundled_runs)
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        write_source=cache(lambda: _source(described, calibration, estimate, candidate, evidence)),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in own.runs if run.throughput.as_of)]),
        known_from=estimated_line(label, calibration, own, catalog.bundled_runs),
        runs=own.runs,
        steps=own.steps,
        notes=(
            f"estimated from {evidence}; range of group: {estimate.groups[0]}",
            *own.notes,
            _input_note(rate.value, candidate),
            *network_note(candidate),
            *training_notes(job),
            *((lacking,) if lacking else ()),
        ),
        asked=EstimatorQuery(_observation(job.setup.workload, job, candidate, described), own.observations),
    )


def _planned(job: Job, candidate: Candidate, fitting: DeviceFit) -> Described | Reason:
    """Describe the job on a candidate, with the micro-batch that fits within the global batch."""
    setup, devices = job.setup, candidate.accelerators
    micro_batch, steps = float(fitting.micro_batch or setup.micro_batch or 1), 1.0
    if setup.global_batch is not None:
        micro_batch = min(micro_batch, max(1.0, setup.global_batch / devices))
        steps = max(1.0, setup.global_batch / devices / micro_batch)
    asked = replace(
        setup,
        strategy=candidate.strategy,
        checkpointing=fitting.checkpointing or setup.checkpointing,
        compiled=planned_kernels(setup.framework, candidate.accelerator, compiled=False)["compiled"] > 0,
    )
    return planned_image_config(
        asked,
        candidate.cluster,
        micro_batch=micro_batch,
        micro_batches=steps,
        channels_last=setup.network is not None and setup.network.is_convolutional,
    )


def _own_evidence(job: Job, candidate: Candidate, catalog: Catalog) -> OwnEvidence[Observation]:
    def of_run(run: RunRecord, node: Node) -> Observation | None:
        if run.architecture is None or is_too_small(run.architecture):
            return None
        return observed_image_run(run, catalog, node)

    return own_evidence(job, candidate, catalog, of_run=of_run, of_step=_observed_step)


def _observed_step(job: Job, stepped: Candidate, samples_per_s: float, fitting: DeviceFit) -> Observation | None:
    """Describe a step that the plan states, of the job as it is estimated there."""
    described = _planned(job, stepped, fitting)
    if isinstance(described, Reason):
        return None
    count = stepped.accelerators
    return _observation(step_name(stepped), job, stepped, described, rate=samples_per_s / count, count=count)


def _observation(
    name: str, job: Job, candidate: Candidate, described: Described, *, rate: float = 1.0, count: int = 1
) -> Observation:
    """Return the job on a candidate as a measurement of so many images/s on each of `count` accelerators."""
    label = labels_of(candidate.accelerator, job.setup.workload, job.setup.framework)
    return Observation(name, dict(described.facts), label, rate, float(count), described.operators)


def _input_note(images_per_s: float, candidate: Candidate) -> str:
    per_node = images_per_s / candidate.nodes
    return (
        f"decoding its images is not counted: JPEG files at {per_node:,.0f} images/s take each node about "
        f"{per_node / DECODED_PER_WORKER:,.0f} CPU cores, or a decoder on the device"
    )


def _source(
    described: Described, calibration: Calibration, estimate: Estimates, candidate: Candidate, evidence: str
) -> str:
    from planner.speed.physics.image_config_arrays import gather
    from planner.speed.physics.image_step import counted_bytes, image_step

    configs = gather([described])
    shares = {name: float(value[0]) for name, value in image_step(configs, calibration.constants).shares.items()}
    shown = ", ".join(
        f"{IMAGE_PART_NAMES[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE
    )
    images = float(configs.images_per_step[0])
    rate = float(estimate.tokens_per_s_per_gpu[0]) * candidate.accelerators
    return (
        f"estimated from {evidence} (estimator of images of {calibration.made_on}): a step of {images:,.0f} images, "
        f"each {described.facts['flops'] / 1e9:.5g} GFLOP and {float(counted_bytes(configs)[0]) / 1e6:.4g} MB of "
        f"traffic, takes {images / rate:.4g} s, of that {shown}"
    )
