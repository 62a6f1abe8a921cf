"""Estimates the memory of a training on one accelerator, from the names of a workload and of an accelerator."""

from __future__ import annotations

from collections.abc import Iterator

from planner.errors import InputError, NotModelledError
from planner.launcher.bench.memory_trace import traced_layer_bytes
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.base import Count, Text
from planner.model.catalog import Catalog
from planner.model.network.adapters import AdapterKind, Adapters
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import (
    WHOLE,
    ArchitectureFile,
    Checkpointing,
    Method,
    Precision,
    Split,
    StatedTraining,
    Strategy,
)
from planner.scenario.frameworks import XLA, needs_xla, planned_family, stack_of
from planner.scenario.job import checked_length, checked_objective
from planner.scenario.trainers import takes_one_device_recipe
from planner.scenario.training_setup import TrainingSetup
from planner.speed.diagnosis.run_setup import usual_precision
from planner.speed.memory.memory_answer import answer
from planner.speed.memory.memory_question import MemoryQuestion
from planner.speed.memory.planned_settings import (
    assumed_attention,
    known_names,
    planned_settings,
    planned_trainer_memory,
    usual_checkpointing,
)
from planner.speed.physics.accelerator_facts import uses_autocast
from planner.use_cases.answer_ids import document_id
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.networks import checked_adapters_of, find_architecture


class MemoryRequest(TrainerSettings):
    """A training and its accelerators.

    If a setting is stated neither here nor by the file or its framework, the range and the chance include every likely
    value.
    """

    workload: str
    """A network's name, or the path of a config.json, an architecture or plan file."""
    on: str
    """An accelerator by any usual name, `8xRTX-5090`, or a machine's id."""
    gpus: Count | None = None
    """Accelerators that share one training; None for as many as `on` names."""
    strategy: Strategy | None = None
    """Strategy; None for that of the training's files, else ddp."""
    micro_batch: Count | None = None
    """Samples on each accelerator; None for the workload's own, else 1."""
    seq_len: Count | None = None
    precision: Precision | None = None
    checkpointing: Checkpointing | None = None
    """Checkpointing of activations; None for the least that fits."""
    tensor: Count = 1
    pipeline: Count = 1
    context: Count = 1
    """Degree of context parallelism. Tensor, pipeline and context degrees divide the network; the rest are replicas."""
    objective: MethodSettings = NEXT_TOKEN
    """Training objective. The next token stands for the objective of the workload's file."""
    method: Method | None = None
    """Trained weights. `full` trains all weights even if the workload's file names adapters."""
    adapters: Adapters | None = None
    """Adapters; None for those of the workload's file, if any."""
    framework: Text | None = None
    """Trainer ("HF Trainer, liger"), which implies settings that are not stated; None for the file's, if any."""
    trace: bool = False
    """Trace the saved activations of a layer instead of using the formula; needs torch."""


def estimate_memory(request: MemoryRequest, catalog: Catalog) -> MemoryDocument:
    """Estimate the memory on one accelerator."""
    network = find_architecture(request.workload, catalog)
    cluster = cluster_named(request.on, catalog)
    precision = request.precision or network.precision
    if request.precision is None and precision is Precision.BF16:
        precision = usual_precision(cluster.accelerator)
    asked = None if request.method is Method.FULL else request.adapters or network.adapters
    adapters = checked_adapters_of(asked, network, catalog, precision=precision, where=request.workload)
    if request.seq_len is not None and network.architecture.sample == "image":
        raise InputError(f"seq_len {request.seq_len}: a sample of {request.workload} is an image.", fix="Leave it out.")
    asked_for = TrainerSettings.model_validate(request.stated).over(network)
    stated = network if isinstance(network, StatedTraining) else None
    strategy = request.strategy or (stated.strategy if stated else None) or Strategy.DDP
    framework = request.framework or network.framework
    if needs_xla(cluster.accelerator) and stack_of(planned_family(framework or "")) != XLA:
        raise NotModelledError(
            f"--on {request.on}: the memory of PyTorch without XLA is not modelled there, as it does not run.",
            fix="Nearest is a trainer that XLA compiles: add --framework jax",
        )
    if network.architecture.sample == "tokens":
        asked_for = assumed_attention(asked_for, framework, cluster.accelerator)
    if request.gpus is not None and cluster.accelerators not in (1, request.gpus) and request.on not in catalog.nodes:
        raise InputError(f"--on {request.on}: is not {request.gpus} accelerators.", fix="State their number once.")
    devices = request.gpus or cluster.accelerators
    if request.gpus is None and cluster.accelerators == 1 and stated is not None:
        devices = stated.accelerators or 1
    split = _split(request, network, devices)
    if stated is not None and stated.divided is not None and split == WHOLE:
        raise InputError(
            f"{request.workload}: its layers are divided ({stated.divided}), and no split is stated.",
            fix="State it with --tensor, --pipeline and --context.",
        )
    setup = TrainingSetup(
        workload=network.name or request.workload,
        network=network.architecture,
        seq_len=checked_length(network.architecture, request.seq_len or network.seq_len, where=request.workload),
        objective=checked_objective(
            request.objective if request.objective.method else network.objective,
            network.architecture,
            adapters=adapters,
            where=request.workload,
        ),
        adapters=adapters,
        precision=precision,
        micro_batch=request.micro_batch or network.micro_batch,
        checkpointing=request.checkpointing
        or (stated.checkpointing if stated else None)
        or usual_checkpointing(network.architecture, framework),
        strategy=strategy,
        split=split,
        framework=framework,
    )
    one_device = takes_one_device_recipe(devices, adapters)
    question = MemoryQuestion(
        setup,
        accelerator=cluster.accelerator,
        devices=devices,
        trainer=planned_trainer_memory(asked_for, framework, one_device=one_device),
        stated=known_names(asked_for, framework, one_device=one_device),
        traced_layer_bytes=_traced(network, strategy, precision, adapters) if request.trace else None,
    )
    document = answer(question)
    document = document.model_copy(
        update={"notes": (*document.notes, *_implied(asked_for, request, question, framework))}
    )
    return document.model_copy(update={"answer_id": document_id(document)})


def _implied(
    stated: TrainerSettings, request: MemoryRequest, question: MemoryQuestion, framework: str | None
) -> Iterator[str]:
    """Yield a note about settings that the trainer's recipes imply and the user did not state."""
    one_device = takes_one_device_recipe(question.devices, question.setup.adapters)
    known = planned_settings(stated, framework, one_device=one_device)
    trained = ("optimizer",) if question.setup.adapters is not None else ("weights", "optimizer")
    implied = [
        f"{name} {getattr(known, name).value}"
        for name in trained
        if getattr(stated, name) is None and getattr(known, name) is not None
    ]
    if request.checkpointing is None and question.setup.checkpointing is not None:
        usual = usual_checkpointing(question.network, framework)
        implied += [] if usual is None else [f"checkpointing {usual.value}"]
    if implied:
        yield f"as recipes of {framework} do: {', '.join(implied)}; each can be stated"


def _split(request: MemoryRequest, network: ArchitectureFile, devices: int) -> Split:
    """Return the split of the network. Raises InputError if it is not possible."""
    split = Split(tensor=request.tensor, pipeline=request.pipeline, context=request.context)
    if split == WHOLE:
        return split
    if network.architecture.sample != "tokens":
        raise InputError(
            f"{request.workload}: an image network is not divided.", fix="Leave out --tensor, --pipeline and --context."
        )
    decoder = network.architecture
    if decoder.kv_heads % split.tensor or split.pipeline > decoder.layers:
        raise InputError(
            f"{request.workload} has {decoder.kv_heads} key-value heads and {decoder.layers} layers: tensor "
            f"{split.tensor} x pipeline {split.pipeline} does not divide it.",
            fix="Take a tensor size that divides the heads, and at most one stage for each layer.",
        )
    if devices % split.devices:
        raise InputError(
            f"{devices} accelerators are not a multiple of tensor {split.tensor} x pipeline {split.pipeline} x context "
            f"{split.context} = {split.devices}.",
            fix=f"Write --gpus {split.devices * -(-devices // split.devices)}, or divide less.",
        )
    return split


def _traced(network: ArchitectureFile, strategy: Strategy, precision: Precision, adapters: Adapters | None) -> float:
    """Return the bytes per token that one layer of the benchmark's model saves for the backward pass."""
    if adapters is not None and adapters.kind is not AdapterKind.LORA:
        raise InputError(f"--trace: the benchmark has no {adapters.kind.value} adapters.", fix="Leave --trace out.")
    if not network.architecture.has_benchmark:
        raise InputError("--trace: the benchmark has no encoders.", fix="Leave --trace out.")
    autocast = uses_autocast(strategy, precision=precision, adapters=adapters)
    return traced_layer_bytes(network.architecture, precision=precision, autocast=autocast, adapters=adapters)
