"""What a training holds on one accelerator, asked by names: a workload's, an accelerator's."""

from __future__ import annotations

from planner.errors import InputError
from planner.model.answer.documents import MemoryDocument
from planner.model.base import Count, Frozen, Text
from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import ImageModel
from planner.model.network.workload import Checkpointing, Loss, Precision, Strategy
from planner.speed.memory.memory_question import MemoryQuestion, answer
from planner.use_cases.catalogs import find_accelerator
from planner.use_cases.networks import find_architecture, trained_alone


class MemoryRequest(Frozen):
    """What is trained, and on how many of which accelerator."""

    workload: Text
    """A preset's name, or the path of an architecture or plan file."""
    on: Text
    """An accelerator, by any usual name."""
    gpus: Count = 1
    strategy: Strategy = Strategy.DDP
    micro_batch: Count | None = None
    """Samples on each accelerator; None: the workload's own, else 1."""
    seq_len: Count | None = None
    precision: Precision | None = None
    checkpointing: Checkpointing | None = None
    """None: the least that fits."""
    loss: Loss = Loss.EAGER
    adapters: Adapters | None = None
    """None: as the workload's file says, else all weights are trained."""


def estimate_memory(
    request: MemoryRequest, catalog: Catalog, *, traced_layer_bytes: float | None = None
) -> MemoryDocument:
    """Estimate what one accelerator holds; `traced_layer_bytes` stands in for the formula of a layer's activations."""
    network = find_architecture(request.workload, catalog)
    if request.seq_len is not None and isinstance(network.architecture, ImageModel):
        raise InputError(f"seq_len {request.seq_len}: a sample of {request.workload} is an image.", fix="Leave it out.")
    precision = request.precision or network.precision
    question = MemoryQuestion(
        workload=network.name or request.workload,
        architecture=network.architecture,
        seq_len=request.seq_len or network.seq_len,
        micro_batch=request.micro_batch or network.micro_batch,
        accelerator=find_accelerator(request.on, catalog),
        devices=request.gpus,
        strategy=request.strategy,
        precision=precision,
        checkpointing=request.checkpointing,
        loss=request.loss,
        traced_layer_bytes=traced_layer_bytes,
        adapters=trained_alone(
            request.adapters or network.adapters, network, catalog, precision=precision, where=request.workload
        ),
    )
    return answer(question)
