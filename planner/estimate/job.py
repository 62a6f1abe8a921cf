"""The question, resolved: what is trained, how much of it, and which machines could do it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.errors import InputError, NotFoundError
from planner.model.architecture import Architecture, ImageModel
from planner.model.catalog import Catalog
from planner.model.plan import FlopsConvention, Plan
from planner.model.run import RunRecord
from planner.model.workload import Checkpointing, Precision


@dataclass(frozen=True)
class Job:
    """One training, in the estimator's terms. `network` is None where only a measured step is known.

    It may be an image model, whose samples have no `seq_len`.
    """

    workload: str
    network: Architecture | None
    seq_len: int | None
    samples_per_epoch: float
    epochs: float
    precision: Precision | None
    global_batch: int | None
    micro_batch: int | None
    checkpointing: Checkpointing | None
    """None: recompute only where the model does not fit otherwise."""
    named_run: RunRecord | None
    """The measured run that the plan starts from."""
    mfu: float | None
    convention: FlopsConvention
    goodput_fraction: float | None
    """None: what is lost is counted line by line (`planner/estimate/training_time.py`)."""


def resolve_job(plan: Plan, catalog: Catalog) -> Job:
    """Join the plan's workload with the catalog; raise where a name is unknown or tokens cannot be counted."""
    named: RunRecord | None = None
    choice = plan.workload
    if choice.measured is not None:
        named = catalog.find_run(choice.measured, where="workload.measured")
        name, network, seq_len = named.workload, named.architecture, named.seq_len
    elif choice.ref is not None:
        preset = catalog.presets.get(choice.ref)
        if preset is None:
            known = ", ".join(sorted(catalog.presets))
            raise NotFoundError("workload", choice.ref, catalog.presets, where="workload.ref", fix=f"Known: {known}")
        if choice.seq_len is not None and isinstance(preset.architecture, ImageModel):
            raise InputError(f"workload.seq_len: a sample of {preset.name} is an image.", fix="Leave seq_len out.")
        name, network, seq_len = preset.name, preset.architecture, choice.seq_len or preset.seq_len
    else:
        name, network, seq_len = "inline", choice.architecture, choice.seq_len
    samples_per_epoch, epochs = _samples(plan, seq_len)
    training = plan.training
    return Job(
        workload=name,
        network=network,
        seq_len=seq_len,
        samples_per_epoch=samples_per_epoch,
        epochs=epochs,
        precision=training.precision,
        global_batch=training.global_batch,
        micro_batch=None if training.micro_batch == "auto" else training.micro_batch,
        checkpointing=None if training.checkpointing == "auto" else training.checkpointing,
        named_run=named,
        mfu=plan.assumptions.mfu,
        convention=plan.assumptions.flops_convention,
        goodput_fraction=plan.assumptions.goodput_fraction,
    )


def _samples(plan: Plan, seq_len: int | None) -> tuple[float, float]:
    """Return samples per epoch, and epochs; tokens, samples and steps are one epoch."""
    work = plan.work
    if work.samples is not None:
        return work.samples, 1.0
    if work.steps is not None and plan.training.global_batch is not None:
        return work.steps * plan.training.global_batch, 1.0
    if work.samples_per_epoch is not None and work.epochs is not None:
        return work.samples_per_epoch, work.epochs
    if work.tokens is None or seq_len is None:
        raise InputError(
            "work.tokens: how many tokens a sample of this workload has is not known.",
            fix="Write samples, or epochs and samples_per_epoch, instead.",
        )
    return work.tokens / seq_len, 1.0
