"""The resolved question: what is trained, how much of it, and which machines could do it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import Optimizer, TrainerSettings, WeightFormat
from planner.model.network.training_method import MethodSettings, Reference
from planner.model.network.workload import Method, Precision, usual_frozen
from planner.model.plan.plan import FlopsConvention, Plan
from planner.network.lora_memory import adapter_parameters
from planner.scenario.candidate import Candidate, expand
from planner.scenario.frameworks import planned_family
from planner.scenario.recorded_setup import frozen_of
from planner.scenario.samples import count_samples
from planner.scenario.training_setup import TrainingSetup


@dataclass(frozen=True)
class Job:
    """One training in the estimator's terms: what is trained, how, and how much of it."""

    setup: TrainingSetup
    """Setup of the training, as far as the plan states it. Its network is None if only a measured step is known.

    Without checkpointing a decoder uses the fastest kind that fits. Other networks recompute only if they would not fit
    otherwise. Without a framework it is the planner's own benchmark.
    """
    samples_per_epoch: float
    """Number of sequences of `seq_len` tokens, or of images."""
    epochs: float
    tokens_per_epoch: float | None
    """Real tokens, before padding; None if a sample is not counted in tokens."""
    samples_text: str
    """Description of how the samples were counted."""
    samples_note: str | None
    named_run: RunRecord | None
    """Measured run that the plan starts from."""
    mfu: float | None
    convention: FlopsConvention
    goodput_fraction: float | None
    """Goodput that the plan states; None counts losses line by line (`planner/duration/training_time.py`)."""
    stated_steps: tuple[Candidate, ...] = ()
    """Options of the plan with their own step, which is evidence for the other options if it was measured."""


def resolve_job(plan: Plan, catalog: Catalog) -> Job:
    """Join the plan's workload with the catalog. Raise if a name is unknown or tokens cannot be counted."""
    named: RunRecord | None = None
    choice = plan.workload
    if choice.measured is not None:
        named = catalog.find_run(choice.measured, where="workload.measured")
        name, network, seq_len = named.workload, named.architecture, named.seq_len
    elif choice.ref is not None:
        preset = catalog.find_preset(choice.ref, where="workload.ref")
        if choice.seq_len is not None and preset.architecture.sample == "image":
            raise InputError(f"workload.seq_len: a sample of {preset.name} is an image.", fix="Leave seq_len out.")
        seq_len = checked_length(preset.architecture, choice.seq_len or preset.seq_len, where="workload.seq_len")
        name, network = preset.name, preset.architecture
    elif choice.architecture is None:
        raise InputError(
            f"workload.config: {choice.config} is read beside a plan's file, and this plan came as text.",
            fix="Write the network's architecture into the plan, or name it with ref.",
        )
    else:
        name, network = "inline", choice.architecture
        seq_len = checked_length(network, choice.seq_len, where="workload.seq_len")
    count = count_samples(plan, network, seq_len)
    return Job(
        setup=_setup(
            plan,
            TrainingSetup(workload=name, network=network, seq_len=seq_len, sequence_tokens=count.sequence_tokens),
            named,
            catalog,
        ),
        samples_per_epoch=count.per_epoch,
        epochs=count.epochs,
        tokens_per_epoch=count.tokens_per_epoch,
        samples_text=count.text,
        samples_note=count.note,
        named_run=named,
        mfu=plan.assumptions.mfu,
        convention=plan.assumptions.flops_convention,
        goodput_fraction=plan.assumptions.goodput_fraction,
        stated_steps=_stated_steps(plan, catalog),
    )


def _setup(plan: Plan, trained: TrainingSetup, named: RunRecord | None, catalog: Catalog) -> TrainingSetup:
    """Return the setup that a plan describes, for a network with samples of a length."""
    training, network = plan.training, trained.network
    adapters = _adapters(plan, network, named)
    return replace(
        trained,
        method=Method.FULL if adapters is None else Method.LORA,
        objective=checked_objective(training.of_the_method, network, adapters=adapters, where="training"),
        adapters=adapters,
        precision=training.precision,
        global_batch=training.global_batch,
        micro_batch=None if training.micro_batch == "auto" else training.micro_batch,
        checkpointing=None if training.checkpointing == "auto" else training.checkpointing,
        strategy=None if training.strategy == "auto" else training.strategy,
        framework=_framework(plan, network, catalog),
        settings=checked_settings(training, network, precision=training.precision, where="training"),
    )


def _stated_steps(plan: Plan, catalog: Catalog) -> tuple[Candidate, ...]:
    if all(option.step is None for option in plan.options):
        return ()
    return tuple(candidate for candidate in expand(plan, catalog) if candidate.option.step is not None)


def _adapters(plan: Plan, network: Architecture | None, named: RunRecord | None) -> Adapters | None:
    """Return the adapters that are trained.

    The frozen weights are kept as the plan states, otherwise as in the named run.
    """
    chosen, precision = plan.training.adapters, plan.training.precision
    if chosen is None:
        if named is not None and named.method == "lora":
            raise InputError(
                f"workload.measured: run {named.id} trained adapters alone, and the plan trains all weights.",
                fix=f"Write training: adapters: {{rank: ...}}; it has {named.trained_parameters or 'some'} parameters.",
            )
        return None
    checked = checked_adapters(chosen, network, precision=precision, where="training.adapters")
    if named is None or named.method != "lora" or chosen.frozen is not None:
        return checked
    return chosen.model_copy(update={"frozen": frozen_of(named)})


def checked_adapters(
    adapters: Adapters | None, network: Architecture | None, *, precision: Precision | None, where: str
) -> Adapters | None:
    """Return adapters with the format of the frozen weights, which defaults to that of the products.

    InputError if nothing would be trained, or the format does not fit the products.
    """
    if adapters is None:
        return None
    if network is not None and network.sample == "image":
        raise InputError(f"{where}: adapters stand beside the linear maps of a decoder.", fix="Leave them out.")
    if network is not None and not adapter_parameters(network, adapters):
        raise InputError(
            f"{where}: none of {', '.join(adapters.targets)} is a map that adapters can stand beside in this network.",
            fix="Name query, key, value or out: routed experts have none.",
        )
    usual = usual_frozen(precision)
    if usual is None and adapters.frozen is not None:
        raise InputError(
            f"{where}: weights frozen at {adapters.frozen.value} do not go with products in {precision}.",
            fix="Leave frozen out, or train in bf16.",
        )
    return adapters.model_copy(update={"frozen": adapters.frozen or usual})


def checked_length(network: Architecture, seq_len: int | None, *, where: str) -> int | None:
    """Return the tokens of a sample. InputError if they exceed the positions that a network has learned.

    Rotary positions (RoPE) have no such limit: networks are trained beyond their initial length.
    """
    if network.sample == "image" or network.positions != "learned" or (seq_len or 0) <= network.max_positions:
        return seq_len
    raise InputError(
        f"{where}: {seq_len:,} tokens are more than the {network.max_positions:,} positions that this network learns.",
        fix=f"Train at most {network.max_positions:,} tokens a sample, or give the network more: "
        "n_positions in its config.json, max_positions in an architecture file.",
    )


def checked_objective(
    stated: MethodSettings, network: Architecture | None, *, adapters: Adapters | None, where: str
) -> MethodSettings:
    """Return the objective, with the usual reference beside the adapters if none is stated.

    InputError if the network cannot learn preferences, or a reference needs adapters that are not trained.
    """
    if stated.method is None:
        return stated
    if network is not None and (network.sample == "image" or not network.is_causal):
        raise InputError(
            f"{where}: method {stated.method.value} is for language models that write text.", fix="Leave method out."
        )
    if stated.reference is Reference.ADAPTERS_OFF and adapters is None:
        raise InputError(
            f"{where}: reference adapters_off needs adapters, and all weights are trained.",
            fix="Train adapters (LoRA), or take a second model: reference model.",
        )
    if stated.method.generates and stated.reference is Reference.PRECOMPUTED:
        raise InputError(
            f"{where}: completions of {stated.method.value} are new each step, so no reference is precomputed.",
            fix="Write reference: model, adapters_off or none.",
        )
    return stated.with_reference(adapters=adapters is not None).with_rollouts()


OF_IMAGES = (Optimizer.ADAMW, Optimizer.SGD)
"""Optimizers with which image networks are estimated. That of their evidence differs by source."""


def checked_settings(
    stated: TrainerSettings, network: Architecture | None, *, precision: Precision | None, where: str
) -> TrainerSettings:
    """Return the settings of the trainer. InputError if they do not fit the network or the products."""
    settings = TrainerSettings.model_validate(stated.stated)
    if network is not None and network.sample == "image":
        for name, value in settings.stated.items():
            if value not in OF_IMAGES:
                raise InputError(
                    f"{where}: {name} {value.value} is of language models, and this is an image network.",
                    fix="Leave it out; optimizer may be adamw or sgd.",
                )
    if settings.weights is WeightFormat.SIXTEEN_BIT and precision in (Precision.FP32, Precision.TF32):
        raise InputError(
            f"{where}: weights at 16 bit do not go with products in {precision.value}.",
            fix="Leave weights out, or train in bf16.",
        )
    return settings


def _framework(plan: Plan, network: Architecture | None, catalog: Catalog) -> str | None:
    if plan.training.framework is not None and plan.workload.measured is not None:
        raise InputError(
            "training.framework: the plan starts from a measured run, which had its own.", fix="Leave framework out."
        )
    return known_framework(plan.training.framework, network, catalog, where="training.framework")


def known_framework(name: str | None, network: Architecture | None, catalog: Catalog, *, where: str) -> str | None:
    """Return the name of a framework with published measurements. Others raise NotFoundError."""
    learnt = catalog.calibration_for(None if network is None else network.sample)
    known = sorted(learnt.effects["framework"]) if learnt is not None else []
    if name is not None and planned_family(name) not in known:
        fix = f"Measured ones: {', '.join(known)}. Left out, it is the planner's own benchmark."
        raise NotFoundError("framework", name, known, where=where, fix=fix)
    return name
