"""What a training holds on one accelerator, asked by names: a workload's, an accelerator's."""

from __future__ import annotations

from launcher.bench.memory_trace import traced_layer_bytes
from planner.errors import InputError
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.base import Count
from planner.model.catalog import Catalog
from planner.model.network.adapters import AdapterKind, Adapters
from planner.model.network.architecture import Encoder, ImageModel
from planner.model.network.stated_training import StatedTraining
from planner.model.network.trainer_memory import TrainerSettings
from planner.model.network.workload import ArchitectureFile, Checkpointing, Method, Precision, Strategy
from planner.speed.diagnosis.run_setup import usual_precision
from planner.speed.memory.memory_answer import answer
from planner.speed.memory.memory_question import MemoryQuestion
from planner.speed.memory.planned_settings import planned_settings
from planner.speed.physics.number_format import uses_autocast
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.networks import find_architecture, trained_alone


class MemoryRequest(TrainerSettings):
    """What is trained, how, and on how many of which accelerator.

    Of a setting that is not stated, here or by the file or its framework, the range and the chance hold every likely
    one.
    """

    workload: str
    """A network's name, or the path of a config.json, an architecture or plan file."""
    on: str
    """An accelerator by any usual name, `8xRTX-5090`, or a machine's id."""
    gpus: Count | None = None
    """How many share one training; None: as many as `on` names."""
    strategy: Strategy | None = None
    """None: as the files of the training say, else ddp."""
    micro_batch: Count | None = None
    """Samples on each accelerator; None: the workload's own, else 1."""
    seq_len: Count | None = None
    precision: Precision | None = None
    checkpointing: Checkpointing | None = None
    """None: the least that fits."""
    method: Method | None = None
    """full: all weights are trained, even where the workload's file names adapters."""
    adapters: Adapters | None = None
    """None: those of the workload's file, if any."""
    trace: bool = False
    """Trace what a layer saves in place of the formula; needs torch."""


def estimate_memory(request: MemoryRequest, catalog: Catalog) -> MemoryDocument:
    """Estimate what one accelerator holds."""
    network = find_architecture(request.workload, catalog)
    cluster = cluster_named(request.on, catalog)
    precision = request.precision or network.precision
    if request.precision is None and precision is Precision.BF16:
        precision = usual_precision(cluster.accelerator)
    asked = None if request.method is Method.FULL else request.adapters or network.adapters
    adapters = trained_alone(asked, network, catalog, precision=precision, where=request.workload)
    if request.seq_len is not None and isinstance(network.architecture, ImageModel):
        raise InputError(f"seq_len {request.seq_len}: a sample of {request.workload} is an image.", fix="Leave it out.")
    asked_for = TrainerSettings.model_validate(request.stated).over(network)
    stated = network if isinstance(network, StatedTraining) else None
    if stated is not None and stated.divided is not None:
        raise InputError(
            f"{request.workload}: its layers are divided ({stated.divided}), and memory counts whole ones.",
            fix=f"See: planner strategies {request.workload} --on {request.on}",
        )
    strategy = request.strategy or (stated.strategy if stated else None) or Strategy.DDP
    known = planned_settings(asked_for, network.framework)
    if request.gpus is not None and cluster.accelerators not in (1, request.gpus) and request.on not in catalog.nodes:
        raise InputError(f"--on {request.on}: is not {request.gpus} accelerators.", fix="State their number once.")
    devices = request.gpus or cluster.accelerators
    if request.gpus is None and cluster.accelerators == 1 and stated is not None:
        devices = stated.accelerators or 1
    question = MemoryQuestion(
        workload=network.name or request.workload,
        architecture=network.architecture,
        seq_len=request.seq_len or network.seq_len,
        micro_batch=request.micro_batch or network.micro_batch,
        accelerator=cluster.accelerator,
        devices=devices,
        strategy=strategy,
        precision=precision,
        checkpointing=request.checkpointing or (stated.checkpointing if stated else None),
        trainer=known.trainer,
        stated=frozenset(known.stated),
        traced_layer_bytes=_traced(network, strategy, precision, adapters) if request.trace else None,
        adapters=adapters,
    )
    return answer(question)


def _traced(network: ArchitectureFile, strategy: Strategy, precision: Precision, adapters: Adapters | None) -> float:
    """Return the bytes per token that one layer of the benchmark's model saves."""
    if adapters is not None and adapters.kind is not AdapterKind.LORA:
        raise InputError(f"--trace: the benchmark has no {adapters.kind.value} adapters.", fix="Leave --trace out.")
    if isinstance(network.architecture, Encoder):
        raise InputError("--trace: the benchmark has no encoders.", fix="Leave --trace out.")
    autocast = uses_autocast(strategy, precision=precision, adapters=adapters)
    return traced_layer_bytes(network.architecture, precision=precision, autocast=autocast, adapters=adapters)
