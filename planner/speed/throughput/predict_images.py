"""Throughput of an image network that nobody measured: its operators, published measurements, the user's own runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.network.architecture import ImageModel, Resnet
from planner.model.quantity import Basis
from planner.network.flops import parameters
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate, machine_of
from planner.scenario.job import Job
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.physics.planned_image_config import observed_image_run, planned_image_config
from planner.speed.physics.planned_text_config import labels_of, planned_kernels
from planner.speed.throughput.linear_scaling import is_communication_bound
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.power_cap import as_delivered
from planner.speed.throughput.prediction import NoPrediction, Prediction, not_answered, too_small
from planner.speed.throughput.prediction_notes import (
    IMAGE_PART_NAMES,
    MOST_RUNS,
    SMALLEST_SHARE,
    nearest_evidence,
    training_notes,
)
from planner.speed.throughput.share_of_peak import is_too_small

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration
    from planner.model.evidence.run import RunRecord
    from planner.speed.estimator.text_estimator import Estimates
    from planner.speed.physics.image_config_arrays import Described
    from planner.speed.physics.observation import Labels
    from planner.speed.physics.planned_image_config import ImageObservation

DECODED_PER_WORKER = 190
"""Images/s that one CPU core decodes and crops for ImageNet: ten workers with Pillow fed 1,923 images/s to an A100 that
could have taken 2,600. Source: huggingface/pytorch-image-models issue 1491, October 2022."""


def predict_images(
    job: Job, candidate: Candidate, catalog: Catalog, calibration: Calibration, fitting: DeviceFit
) -> Prediction | NoPrediction:
    """Predict images/s of the whole cluster with the physics of operators; images wait on the device already."""
    from planner.speed.estimator.image_estimator import estimate_images
    from planner.speed.physics.image_config_arrays import gather

    network = job.network
    assert isinstance(network, ImageModel)
    if is_too_small(network):
        return too_small(parameters(network), candidate.accelerator.id, "and no evidence is of so small ones")
    micro_batch = float(fitting.micro_batch or job.micro_batch or 1)
    if job.global_batch is not None:
        micro_batch = min(micro_batch, max(1.0, job.global_batch / candidate.accelerators))
    steps = 1.0 if job.global_batch is None else max(1.0, job.global_batch / candidate.accelerators / micro_batch)
    described = planned_image_config(
        network,
        micro_batch=micro_batch,
        micro_batches=steps,
        strategy=candidate.strategy,
        precision=job.precision,
        checkpointing=fitting.checkpointing or job.checkpointing,
        compiled=planned_kernels(job.framework, candidate.accelerator, compiled=False)["compiled"] > 0,
        channels_last=isinstance(network, Resnet),
        accelerator=candidate.accelerator,
        node=candidate.node,
        nodes=candidate.nodes,
        per_node=candidate.accelerators_per_node,
    )
    if isinstance(described, Reason):
        return not_answered(described)
    own, runs = _own_image_runs(candidate, catalog)
    label = labels_of(candidate.accelerator, job.workload, job.framework)
    estimate = estimate_images(gather([described]), [label], calibration, own=own)
    count = candidate.accelerators
    rate = Interval(
        float(estimate.tokens_per_s_per_gpu[0]) * count,
        float(estimate.low_90[0]) * count,
        float(estimate.high_90[0]) * count,
    )
    _, lacking = training_peak_tflops(candidate.accelerator, job.precision)
    notes = [nearest_evidence(label, estimate.groups[0], calibration, list(own)), _input_note(rate.value, candidate)]
    notes += training_notes(job)
    return Prediction(
        samples_per_s=rate,
        basis=Basis.MODELLED,
        source=_source(described, calibration, estimate, candidate, len(own)),
        as_of=min([calibration.made_on, *(run.throughput.as_of for run in runs if run.throughput.as_of)]),
        runs=runs,
        notes=(*notes, *((lacking,) if lacking else ())),
        asked=EstimatorQuery(_observation(job, described, label), tuple(own), is_of_images=True),
    )


def _observation(job: Job, described: Described, label: Labels) -> ImageObservation:
    from planner.speed.physics.planned_image_config import ImageObservation

    return ImageObservation(job.workload, dict(described.facts), label, 1.0, 1.0, described.operators)


def _own_image_runs(candidate: Candidate, catalog: Catalog) -> tuple[list[ImageObservation], tuple[RunRecord, ...]]:
    """Return the runs that say something of the candidate: all on its accelerator, others unless bound by links."""
    pairs: list[tuple[ImageObservation, RunRecord]] = []
    for run in as_delivered(catalog.runs.values()):
        if not isinstance(run.architecture, ImageModel) or is_too_small(run.architecture):
            continue
        hardware = run.hardware
        node, _ = machine_of(run, catalog)
        bound = is_communication_bound(
            node.link, accelerators_per_node=hardware.accelerators_per_node, nodes=hardware.nodes
        )
        elsewhere = hardware.accelerator != candidate.accelerator.id
        observation = None if elsewhere and (bound or run.short_window) else observed_image_run(run, catalog, node)
        if observation is not None:
            pairs.append((observation, run))
    pairs.sort(key=lambda pair: (pair[1].hardware.accelerator != candidate.accelerator.id, pair[1].id))
    return [pair[0] for pair in pairs[:MOST_RUNS]], tuple(pair[1] for pair in pairs[:MOST_RUNS])


def _input_note(images_per_s: float, candidate: Candidate) -> str:
    per_node = images_per_s / candidate.nodes
    return (
        f"decoding its images is not counted: JPEG files at {per_node:,.0f} images/s take each node about "
        f"{per_node / DECODED_PER_WORKER:,.0f} CPU cores, or a decoder on the device"
    )


def _source(described: Described, calibration: Calibration, estimate: Estimates, candidate: Candidate, own: int) -> str:
    from planner.speed.physics.image_config_arrays import gather
    from planner.speed.physics.image_step import counted_bytes, image_step

    configs = gather([described])
    shares = {name: float(value[0]) for name, value in image_step(configs, calibration.constants).shares.items()}
    shown = ", ".join(
        f"{IMAGE_PART_NAMES[name]} {share:.0%}" for name, share in shares.items() if share >= SMALLEST_SHARE
    )
    images = float(configs.images_per_step[0])
    rate = float(estimate.tokens_per_s_per_gpu[0]) * candidate.accelerators
    corrected = f", corrected by {own} runs" if own else ""
    return (
        f"estimator of images of {calibration.made_on} ({calibration.rows} published runs{corrected}): a step of "
        f"{images:,.0f} images, each {described.facts['flops'] / 1e9:.5g} GFLOP and "
        f"{float(counted_bytes(configs)[0]) / 1e6:.4g} MB of traffic, takes {images / rate:.4g} s, of that {shown}"
    )
