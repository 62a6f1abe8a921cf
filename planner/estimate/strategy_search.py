"""The best way to spread a training over a machine: strategies, splits and micro-batches that fit, ranked by speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from planner.estimate.estimator import estimate_many
from planner.estimate.fit import USABLE_FRACTION
from planner.estimate.memory import device_memory
from planner.estimate.planned_config import labels_of, planned_config
from planner.model.architecture import TextModel
from planner.model.calibration import Calibration
from planner.model.hardware import Accelerator, Node
from planner.model.workload import Checkpointing, Precision, Strategy

LARGEST_TENSOR = 8
"""Tensor parallelism beyond a node's link is never worth its traffic."""
LARGEST_MICRO_BATCH = 64
DEFAULT_TOKENS = 1 << 19
"""Of an optimizer step per eight accelerators where no global batch is named: about what is usual for a few billion."""


@dataclass(frozen=True)
class Question:
    """What is trained on which machines; a global batch of None leaves one micro-batch per step and device."""

    workload: str
    architecture: TextModel
    seq_len: int
    precision: Precision
    accelerator: Accelerator
    node: Node
    nodes: int
    per_node: int
    global_batch: int | None

    @property
    def devices(self) -> int:
        """All accelerators."""
        return self.nodes * self.per_node


@dataclass(frozen=True)
class Way:
    """One way to spread it that fits, and how fast it would be; samples/s of all accelerators with its 90 % range."""

    strategy: Strategy
    tensor: int
    stages: int
    context: int
    micro_batch: int
    accumulation: int
    checkpointing: Checkpointing
    hbm_gib: float
    samples_per_s: float
    low: float
    high: float
    group: str


def search(question: Question, calibration: Calibration) -> list[Way]:
    """Return the ways that fit, the fastest first; each split once, with its best micro-batch and checkpointing.

    All of them are computed at once. Splits that do not divide heads, layers, samples or accelerators are left out.
    """
    from planner.estimate.physics.configs import from_rows

    found: list[tuple[Way, dict[str, float]]] = []
    for way in _ways(question):
        config = planned_config(
            question.architecture,
            seq_len=question.seq_len,
            micro_batch=way.micro_batch,
            micro_batches=way.accumulation,
            strategy=way.strategy,
            precision=question.precision,
            checkpointing=way.checkpointing,
            compiled=False,
            accelerator=question.accelerator,
            node=question.node,
            nodes=question.nodes,
            per_node=question.per_node,
            tensor=way.tensor,
            stages=way.stages,
            context=way.context,
        )
        if not isinstance(config, str):
            found.append((way, config))
    if not found:
        return []
    label = labels_of(question.accelerator, question.workload)
    guess = estimate_many(from_rows([config for _, config in found]), [label] * len(found), calibration)
    per_sample = question.devices / question.seq_len
    best: dict[tuple[object, ...], Way] = {}
    for place, (way, _) in enumerate(found):
        timed = Way(
            **{name: getattr(way, name) for name in _CHOSEN},
            samples_per_s=float(guess.tokens_per_s_per_gpu[place]) * per_sample,
            low=float(guess.low_90[place]) * per_sample,
            high=float(guess.high_90[place]) * per_sample,
            group=guess.groups[place],
        )
        key = (way.strategy, way.tensor, way.stages, way.context)
        if key not in best or timed.samples_per_s > best[key].samples_per_s:
            best[key] = timed
    return sorted(best.values(), key=lambda way: -way.samples_per_s)


_CHOSEN = ("strategy", "tensor", "stages", "context", "micro_batch", "accumulation", "checkpointing", "hbm_gib")


def _ways(question: Question) -> Iterator[Way]:
    for strategy, (tensor, stages, context) in product(Strategy, _splits(question)):
        if stages > 1 and strategy in (Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP2):
            continue  # gradients of a pipeline's micro-batches would be scattered once per micro-batch
        replicas = question.devices // (tensor * stages * context)
        if replicas == 1 and strategy is not Strategy.DDP:
            continue
        for checkpointing, micro_batch in product(Checkpointing, _micro_batches(question, replicas)):
            accumulation = _accumulation(question, replicas, micro_batch, stages)
            need = needed_gib(question, strategy, tensor, stages, context, micro_batch, accumulation, checkpointing)
            if need <= (question.accelerator.hbm_gib or 0) * USABLE_FRACTION:
                yield Way(
                    strategy, tensor, stages, context, micro_batch, accumulation, checkpointing, need, 0.0, 0.0, 0.0, ""
                )


def _splits(question: Question) -> Iterator[tuple[int, int, int]]:
    network = question.architecture
    tensors = [n for n in _powers(min(LARGEST_TENSOR, question.per_node)) if network.kv_heads % n == 0]
    stages = [n for n in _powers(min(network.layers, question.devices)) if network.layers % n == 0]
    contexts = [n for n in _powers(question.per_node) if question.seq_len % n == 0 and question.seq_len // n >= 1024]
    for tensor, stage, context in product(tensors, stages, contexts):
        if tensor * stage * context <= question.devices and question.devices % (tensor * stage * context) == 0:
            yield tensor, stage, context


def _micro_batches(question: Question, replicas: int) -> list[int]:
    share = LARGEST_MICRO_BATCH if question.global_batch is None else question.global_batch // replicas
    fits = [n for n in _powers(min(LARGEST_MICRO_BATCH, share)) if question.global_batch is None or share % n == 0]
    exact = question.global_batch is None or question.global_batch % replicas == 0
    return fits if exact else []


def _accumulation(question: Question, replicas: int, micro_batch: int, stages: int) -> int:
    if question.global_batch is not None:
        return question.global_batch // replicas // micro_batch
    tokens = micro_batch * question.seq_len * replicas
    return max(stages, round(DEFAULT_TOKENS * question.devices / 8 / tokens), 1)


def _powers(largest: int) -> list[int]:
    return [1 << exponent for exponent in range(largest.bit_length()) if 1 << exponent <= largest]


def needed_gib(
    question: Question,
    strategy: Strategy,
    tensor: int,
    stages: int,
    context: int,
    micro_batch: int,
    accumulation: int,
    checkpointing: Checkpointing,
) -> float:
    """Return what one device must hold, in GiB.

    States are divided by slices and stages, then as ZeRO says over the replicas; activations by slices, context and
    stages, and a pipeline keeps as many micro-batches as it has stages (Narayanan et al. 2021, section 2.2).
    """
    memory = device_memory(
        question.architecture,
        seq_len=question.seq_len,
        micro_batch=micro_batch,
        strategy=strategy,
        precision=question.precision,
        devices=question.devices // (tensor * stages),
        checkpointing=checkpointing,
    )
    held = tensor * stages
    in_flight = min(stages, accumulation)
    return (
        memory.states_gib / held
        + memory.activations_gib / (tensor * context * stages) * in_flight
        + memory.logits_gib / (tensor * context)
        + memory.buffers_gib
    )
