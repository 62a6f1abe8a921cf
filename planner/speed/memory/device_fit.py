"""Fit of a training on its devices, and the micro-batch and checkpointing with which it fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.trainer_memory import Loss, TrainerMemory, TrainerSettings
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.activations import checkpointings_of
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.trainers import takes_one_device_recipe
from planner.speed.memory.device_memory import DeviceMemory, waiting_gib
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import (
    FAILS_UP_TO,
    FITS_FROM,
    PossibleNeed,
    chance_within,
    factor_for,
    planned_settings,
    planned_trainer_memory,
)

LARGEST_MICRO_BATCH = 64
"""Sequences in the largest micro-batch that is tried."""
LARGEST_IMAGE_BATCH = 1024
"""Images in the largest micro-batch that is tried."""
CHUNKED_NOTE = "it fits with a loss in chunks alone (Liger, cut cross-entropy, torchtune)"
LEAST_CHANCE = 0.5
"""Chance to fit from which an option is accepted."""
MOST_SAMPLES = 1 << 24
"""Samples of a micro-batch at which `largest_micro_batch` stops searching."""


@dataclass(frozen=True)
class DeviceFit:
    """Answer to the question whether a training fits.

    `fits` is None if that is not known. `reason` explains a refusal, and `note` states assumptions.
    """

    fits: bool | None
    micro_batch: int | None = None
    accumulation: int | None = None
    """Micro-batches per step and replica; None: as many as the plan's global batch needs, or one."""
    checkpointing: Checkpointing | None = None
    memory: DeviceMemory | None = None
    paged: float = 0.0
    """Share of a paged optimizer's moments for which the device has no room."""
    chance: float | None = None
    """Chance that the training fits; None if it was not computed."""
    chunked_loss: bool = False
    """True if the training fits only with a loss that is computed in chunks."""
    reason: Reason | None = None
    note: str | None = None


def fit(job: Job, candidate: Candidate, anchor: RunRecord | None, catalog: Catalog) -> DeviceFit:
    """Find the largest micro-batch that fits, with as little recomputation as possible.

    Checkpointing is tried in the order none, selective, full. Selective recomputes a few percent of the FLOPs and full
    recomputes a third, so less recomputation is preferred to a larger micro-batch.

    A training fits if its chance is at least four in five. It is tried with an eager loss first, then with a chunked
    loss, which costs no time. If neither fits, the smallest micro-batch with full checkpointing is accepted if it fits
    more likely than not.

    Without a network, a device with at least the memory of the measured one runs the measured micro-batch.
    """
    if candidate.accelerator.no_training_reason is not None:
        text = f"{candidate.accelerator.id} cannot train: {candidate.accelerator.no_training_reason}"
        return DeviceFit(False, reason=Reason(code=ReasonCode.CANNOT_TRAIN, text=text))
    if job.setup.precision is Precision.FLOAT8 and candidate.accelerator.fp8_tflops is None:
        text = f"{candidate.accelerator.id} has no float8 matrix hardware that is known"
        return DeviceFit(False, reason=Reason(code=ReasonCode.NO_FLOAT8, text=text))
    if job.setup.global_batch is not None and job.setup.global_batch < candidate.accelerators:
        text = f"a global batch of {job.setup.global_batch} cannot be split over {candidate.accelerators} accelerators"
        figures = {"global_batch": job.setup.global_batch, "accelerators": candidate.accelerators}
        return DeviceFit(False, reason=Reason(code=ReasonCode.BATCH_TOO_SMALL, text=text, figures=figures))
    job = _with_recipe(job, candidate)
    if job.setup.network is None:
        return _fit_like_the_measured_run(candidate, anchor, catalog)
    if candidate.accelerator.training_gib is None:
        return DeviceFit(
            None, micro_batch=job.setup.micro_batch, note="the device's memory is not known, so fit was not checked"
        )
    ways = [job.setup.checkpointing] if job.setup.checkpointing else checkpointings_of(job.setup.network)
    smallest = job.setup.micro_batch or 1
    trainers = _trainers(job, candidate)
    for trainer, checkpointing in product(trainers, ways):
        if _need(job, candidate, smallest, checkpointing, trainer).total_gib <= _usable_gib(candidate):
            micro_batch = job.setup.micro_batch or _largest_micro_batch(job, candidate, checkpointing, trainer)
            return _within_host(_fit_of(job, candidate, micro_batch, checkpointing, trainer), job, candidate)
    last = _fit_of(job, candidate, smallest, ways[-1], trainers[-1])
    assert last.chance is not None, "memory was computed"
    assert last.memory is not None, "memory was computed"
    if last.chance >= LEAST_CHANCE:
        note = f"it fits with a chance of {last.chance:.0%}: measure it, or take a device with more memory"
        return _within_host(replace(last, note=note), job, candidate)
    return _refused(job, candidate, last.memory, ways[-1])


def _within_host(fitting: DeviceFit, job: Job, candidate: Candidate) -> DeviceFit:
    """Refuse a fit whose states in host memory exceed that memory; add a note if the size of the memory is unknown."""
    waiting, host = waiting_gib(job, candidate, paged=fitting.paged), candidate.node.host_memory_gib
    if waiting <= 0:
        return fitting
    if host is None:
        unknown = f"{waiting:,.0f} GiB wait in the memory of each host, whose size is not known"
        return replace(fitting, note="; ".join(filter(None, (fitting.note, unknown))))
    if waiting <= host:
        return fitting
    text = f"does not fit: {waiting:,.0f} GiB would wait in the memory of each host, which has {host:g}"
    reason = Reason(
        code=ReasonCode.MEMORY_TOO_SMALL, text=text, figures={"waiting_gib": waiting, "host_memory_gib": host}
    )
    return DeviceFit(False, memory=fitting.memory, reason=reason)


def _with_recipe(job: Job, candidate: Candidate) -> Job:
    """Return the job with the settings that its trainer's recipe implies, for example a paged optimizer."""
    one_device = takes_one_device_recipe(candidate.accelerators, job.setup.adapters)
    settings = planned_settings(job.setup.settings, job.setup.framework, one_device=one_device)
    return replace(job, setup=replace(job.setup, settings=settings))


def _trainers(job: Job, candidate: Candidate) -> tuple[TrainerMemory, ...]:
    """Return the trainer that the plan describes, and one with a chunked loss if the plan does not state the loss."""
    one_device = takes_one_device_recipe(candidate.accelerators, job.setup.adapters)
    trainer = planned_trainer_memory(job.setup.settings, job.setup.framework, one_device=one_device)
    if job.setup.sample == "image" or job.setup.settings.loss is not None:
        return (trainer,)
    return trainer, trainer.model_copy(update={"loss": Loss.CHUNKED})


def _fit_of(
    job: Job, candidate: Candidate, micro_batch: int, checkpointing: Checkpointing, trainer: TrainerMemory
) -> DeviceFit:
    """Return the accepted fit of a micro-batch, with its memory, its chance, and its paged share."""
    need = _need(job, candidate, micro_batch, checkpointing, trainer)
    assert candidate.accelerator.training_gib is not None, "the caller checks it"
    chance = chance_within([PossibleNeed(1.0, need.total_gib)], candidate.accelerator.training_gib)
    chunked = trainer != _trainers(job, candidate)[0]

    def needed(settings: TrainerSettings) -> float:
        stated = {name: value for name, value in settings.stated.items() if name != "attention"}
        changed = trainer.model_copy(update=stated)
        return _need(job, candidate, micro_batch, checkpointing, changed).total_gib

    return DeviceFit(
        True,
        micro_batch,
        checkpointing=checkpointing,
        memory=need,
        paged=paged_share(needed, job.setup.settings, candidate.accelerator.training_gib),
        chance=chance,
        chunked_loss=chunked,
        note=CHUNKED_NOTE if chunked else None,
    )


def paged_share(needed_gib: Callable[[TrainerSettings], float], settings: TrainerSettings, hbm_gib: float) -> float:
    """Return the share of a paged optimizer's moments for which the device has no room; 0 for other optimizers.

    share = (need with resident moments - max(need without moments, usable memory)) / need of the moments
    """
    optimizer = settings.optimizer
    if optimizer is None or optimizer.resident is optimizer:
        return 0.0
    least = needed_gib(settings)
    most = needed_gib(settings.model_copy(update={"optimizer": optimizer.resident}))
    lacking = most - max(least, usable_gib(hbm_gib))
    return max(0.0, lacking / (most - least)) if most > least else 0.0


def fits_device(chance: float) -> Literal["yes", "no", "uncertain"]:
    """Return the answer for a chance to fit: yes from 0.8, no up to 0.2, uncertain between."""
    if chance >= FITS_FROM:
        return "yes"
    return "no" if chance <= FAILS_UP_TO else "uncertain"


def largest_micro_batch(fits: Callable[[int], bool]) -> int:
    """Return the largest micro-batch that fits; 0 if none does.

    `fits` must be monotonic: if a micro-batch does not fit, no larger one does. The search doubles, then bisects.
    """
    fitting, too_large = 0, 1
    while too_large <= MOST_SAMPLES and fits(too_large):
        fitting, too_large = too_large, 2 * too_large
    while too_large - fitting > 1:
        middle = (fitting + too_large) // 2
        fitting, too_large = (middle, too_large) if fits(middle) else (fitting, middle)
    return fitting


def usable_gib(hbm_gib: float) -> float:
    """Return the largest estimate, in GiB, that fits a device with a chance of four in five."""
    return hbm_gib / factor_for(FITS_FROM)


def _need(
    job: Job, candidate: Candidate, micro_batch: int, checkpointing: Checkpointing, trainer: TrainerMemory
) -> DeviceMemory:
    assert job.setup.network is not None
    setup = replace(job.setup, micro_batch=micro_batch, checkpointing=checkpointing, strategy=candidate.strategy)
    return device_memory(
        setup,
        devices=candidate.accelerators,
        trainer=trainer,
        device_gib=candidate.accelerator.training_gib,
        accumulates=(job.setup.global_batch or 0) > micro_batch * candidate.accelerators,
    )


def _usable_gib(candidate: Candidate) -> float:
    assert candidate.accelerator.training_gib is not None
    return usable_gib(candidate.accelerator.training_gib)


def _largest_micro_batch(job: Job, candidate: Candidate, checkpointing: Checkpointing, trainer: TrainerMemory) -> int:
    largest = LARGEST_IMAGE_BATCH if job.setup.sample == "image" else LARGEST_MICRO_BATCH
    share = (job.setup.global_batch or largest * candidate.accelerators) // candidate.accelerators
    micro_batch = 1
    while micro_batch * 2 <= min(share, largest) and _need(
        job, candidate, micro_batch * 2, checkpointing, trainer
    ).total_gib <= _usable_gib(candidate):
        micro_batch *= 2
    return micro_batch


def _refused(job: Job, candidate: Candidate, need: DeviceMemory, checkpointing: Checkpointing) -> DeviceFit:
    """Return a refusal that states the missing memory, and whether fsdp2 would help."""
    hbm = candidate.accelerator.training_gib
    assert hbm is not None
    usable = _usable_gib(candidate)
    text = (
        f"does not fit: {candidate.strategy.value} needs about {need.total_gib:.1f} GiB on each of "
        f"{candidate.accelerators}x {candidate.accelerator.id} (states {need.states_gib:.1f}, activations "
        f"{need.activations_gib:.1f}, logits {need.logits_gib:.1f}), which has {hbm:.4g}: "
        f"{need.total_gib - usable:.1f} GiB too little"
    )
    figures = {"needed_gib": need.total_gib, "usable_gib": usable, "hbm_gib": hbm}
    sharded = replace(candidate, strategy=Strategy.FSDP2)
    if candidate.strategy not in (Strategy.FSDP2, Strategy.ZERO3):
        with_sharding = _need(
            job, sharded, job.setup.micro_batch or 1, checkpointing, _trainers(job, candidate)[0]
        ).total_gib
        if with_sharding <= usable:
            text += f"; with fsdp2 it would need {with_sharding:.1f}"
            figures["needed_with_fsdp2_gib"] = with_sharding
    return DeviceFit(False, memory=need, reason=Reason(code=ReasonCode.MEMORY_TOO_SMALL, text=text, figures=figures))


def _fit_like_the_measured_run(candidate: Candidate, anchor: RunRecord | None, catalog: Catalog) -> DeviceFit:
    hbm = candidate.accelerator.hbm_gib
    measured_on = catalog.accelerators.get(anchor.hardware.accelerator) if anchor else None
    if anchor is None or hbm is None or measured_on is None or measured_on.hbm_gib is None:
        return DeviceFit(None, note="neither network nor memory is known, so fit was not checked")
    ran = f"micro-batch {anchor.micro_batch or '?'} ran on {measured_on.id} ({measured_on.hbm_gib:g} GiB)"
    if hbm >= measured_on.hbm_gib:
        return DeviceFit(True, micro_batch=anchor.micro_batch, note=f"fits because {ran}, which has no more memory")
    return DeviceFit(None, note=f"the network is not known and {ran}: whether it fits {hbm:g} GiB was not checked")
