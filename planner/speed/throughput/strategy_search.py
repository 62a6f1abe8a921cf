"""The fastest parallel configurations of a training: strategies, splits and micro-batches that fit, by speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from planner.model.answer.reason import Reason
from planner.model.evidence.calibration import Calibration
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import MoeDecoder, TextModel
from planner.model.network.trainer_memory import NOTHING_STATED, Loss, Offload, TrainerMemory, TrainerSettings
from planner.model.network.workload import WHOLE, Checkpointing, Precision, Split, Strategy
from planner.network.flops import parameters, routed_parameters
from planner.network.lora_memory import (
    QUANTIZED_BYTES,
    SHARDS_WEIGHTS,
    adapter_parameters,
    frozen_bytes_per_parameter,
)
from planner.quantity.divisors import divisors
from planner.scenario.frameworks import Abilities, abilities_of
from planner.scenario.parallel_config import ParallelConfig
from planner.speed.estimator.text_estimator import estimate_text
from planner.speed.memory.buffers import buffer_bytes
from planner.speed.memory.constants import FITTED
from planner.speed.memory.device_fit import paged_share, usable_gib
from planner.speed.memory.memory import Parts, batch_bytes, keeps_gradients
from planner.speed.memory.planned_settings import planned_settings
from planner.speed.memory.states import States, adapter_state_bytes, state_bytes_per_parameter
from planner.speed.physics.planned_text_config import labels_of, largest_stage, planned_text_config

LARGEST_TENSOR = 8
"""Tensor parallelism beyond a node's link is never worth its traffic."""
LARGEST_MICRO_BATCH = 64
DEFAULT_TOKENS = 1 << 19
"""Of an optimizer step per eight accelerators where no global batch is named: about what is usual for a few billion."""
LARGEST_STEPS = ((3e9, 1 << 21), (20e9, 1 << 23), (float("inf"), 1 << 24))
"""Parameters up to which a step of so many tokens is the largest that is usual, however many accelerators there are:
TinyLlama 1.1B 2 million (Zhang et al. 2024), OLMo 2 13B 8 million (OLMo Team 2025), Llama 3 405B 16 million (Llama Team
2024)."""
SHORTEST_CONTEXT = 1024
"""Tokens of a sample that a device still computes when the sample is divided; shorter blocks hide no traffic."""
Needs = dict[tuple["ParallelConfig", int], float]
"""GiB that a device holds, by configuration and number of devices."""
LEAST_FILLED = 0.75
"""Of a pipeline's places for layers: stages that differ more would leave most of them waiting for the largest."""


@dataclass(frozen=True)
class Question:
    """What is trained on which machines. A global batch of None: what is usual, or as few micro-batches as may be."""

    architecture: TextModel
    seq_len: int
    precision: Precision | None
    """None: 16-bit, whichever the accelerator has."""
    accelerator: Accelerator
    node: Node
    nodes: int
    per_node: int
    global_batch: int | None
    micro_batch: int | None = None
    checkpointing: Checkpointing | None = None
    """What is fixed; None: the best that fits."""
    shortest_step: bool = False
    """Without a global batch: one micro-batch per step and replica, and as many as a pipeline has stages."""
    adapters: Adapters | None = None
    framework: str | None = None
    undivided: bool = False
    """Only ways that leave the network whole."""
    settings: TrainerSettings = NOTHING_STATED
    """What is stated of loss, kernels, optimizer, weights and offload."""
    strategies: tuple[Strategy, ...] = tuple(Strategy)

    @cached_property
    def trainer(self) -> TrainerMemory:
        """A trainer with these settings, what its framework does, and usual ones besides."""
        return planned_settings(self.settings, self.framework).trainer

    @property
    def devices(self) -> int:
        """All accelerators."""
        return self.nodes * self.per_node


def search(question: Question, calibration: Calibration, *, workload: str) -> tuple[ParallelConfig, ...]:
    """Return the configurations that fit, the fastest first; of each split that with the best micro-batch.

    All of them are computed at once. Splits that do not divide heads, samples or accelerators are left out, and those
    that the framework does not run. The order is by a cautious rate: the largest of many estimates is one that errs
    upwards, and one of which less is known errs more.
    """
    from planner.speed.physics.config_arrays import from_rows

    fitting = _fitting(question, ({}, {}))
    if not fitting:
        return ()
    configs = [config for config, _ in fitting]
    label = labels_of(question.accelerator, workload, question.framework)
    guess = estimate_text(from_rows([row for _, row in fitting]), [label] * len(configs), calibration)
    per_sample = question.devices / question.seq_len
    best: dict[tuple[Strategy, Split], ParallelConfig] = {}
    for place in (-guess.cautious).argsort(kind="stable"):
        config = configs[int(place)]
        if (config.strategy, config.split) not in best:
            best[config.strategy, config.split] = replace(
                config,
                samples_per_s=float(guess.tokens_per_s_per_gpu[place]) * per_sample,
                low=float(guess.low_90[place]) * per_sample,
                high=float(guess.high_90[place]) * per_sample,
                group=guess.groups[place],
            )
    return tuple(best.values())


def search_many(questions: Sequence[Question], calibration: Calibration, *, workload: str) -> list[float | None]:
    """Return samples/s of the fastest way of each question, None where none fits: all of them timed at once."""
    from planner.speed.physics.config_arrays import from_rows

    needs: tuple[Needs, Needs] = ({}, {})
    rows, labels, places = [], [], []
    for place, question in enumerate(questions):
        for _, described in _fitting(question, needs):
            rows.append(described)
            labels.append(labels_of(question.accelerator, workload, question.framework))
            places.append(place)
    best: list[float | None] = [None] * len(questions)
    if not rows:
        return best
    guess = estimate_text(from_rows(rows), labels, calibration)
    for place, rate in zip(places, guess.tokens_per_s_per_gpu, strict=True):
        samples_per_s = float(rate) * questions[place].devices / questions[place].seq_len
        best[place] = max(best[place] or 0.0, samples_per_s)
    return best


def _fitting(question: Question, needs: tuple[Needs, Needs]) -> list[tuple[ParallelConfig, dict[str, float]]]:
    """Return the configurations that fit; where none does, those that do with a loss in chunks, which costs no time."""
    usual = list(_described(question, needs[0]))
    if usual or planned_settings(question.settings, question.framework).loss is not None:
        return usual
    chunked = replace(question, settings=question.settings.model_copy(update={"loss": Loss.CHUNKED}))
    return [(replace(config, chunked_loss=True), row) for config, row in _described(chunked, needs[1])]


def _described(question: Question, needs: Needs) -> Iterator[tuple[ParallelConfig, dict[str, float]]]:
    """Yield the configurations that fit with what the physics needs of them; `needs` is filled and looked up."""
    for config in _parallel_configs(question, needs):
        described = planned_text_config(
            question.architecture,
            seq_len=question.seq_len,
            micro_batch=config.micro_batch,
            micro_batches=config.accumulation,
            strategy=config.strategy,
            precision=question.precision,
            checkpointing=config.checkpointing,
            compiled=False,
            accelerator=question.accelerator,
            node=question.node,
            nodes=question.nodes,
            per_node=question.per_node,
            split=config.split,
            adapters=question.adapters,
            framework=question.framework,
            settings=question.settings,
            paged=_paged(question, config),
        )
        if not isinstance(described, Reason):
            yield config, described


def _paged(question: Question, config: ParallelConfig) -> float:
    def need(settings: TrainerSettings) -> float:
        return needed_gib(replace(question, settings=settings), config)

    return paged_share(need, question.settings, question.accelerator.hbm_gib or 0)


def _parallel_configs(question: Question, needs: Needs) -> Iterator[ParallelConfig]:
    able, largest = abilities_of(question.framework), largest_step_tokens(question.architecture)
    usable = usable_gib(question.accelerator.hbm_gib or 0)
    for strategy, split in product(question.strategies, _splits(question)):
        if not _runs(able, strategy, split):
            continue
        if split.pipeline > 1 and strategy in (Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP2):
            continue  # stages keep weights gathered for all their micro-batches: ZeRO-1's traffic, for more memory
        replicas = question.devices // split.devices
        if replicas == 1 and strategy is not Strategy.DDP:
            continue
        if split.shards is not None and strategy is not Strategy.FSDP2:
            continue
        kept = [question.checkpointing] if question.checkpointing else list(Checkpointing)
        refused: set[tuple[Checkpointing, int]] = set()
        for checkpointing, micro_batch in product(kept, _micro_batches(question, replicas)):
            accumulation = _accumulation(question, replicas, micro_batch, split.pipeline)
            if (checkpointing, accumulation) in refused:
                continue  # as many smaller ones need too much already
            if question.global_batch is None and _step_tokens(question, replicas, micro_batch, accumulation) > largest:
                continue
            config = ParallelConfig(strategy, split, micro_batch, accumulation, checkpointing, 0.0)
            key = (config, question.devices)
            need = needs[key] = needs.get(key) or needed_gib(question, config)
            if need <= usable:
                yield replace(config, hbm_gib=need)
            else:
                refused.add((checkpointing, accumulation))


def _splits(question: Question) -> Iterator[Split]:
    if question.undivided:
        yield WHOLE
        return
    network = question.architecture
    tensors = [n for n in _powers(LARGEST_TENSOR) if network.kv_heads % n == 0 and question.per_node % n == 0]
    stages = [n for n in divisors(question.devices, most=network.layers) if _filled(network.layers, n)]
    contexts = [n for n in _powers(question.per_node) if n == 1 or _may_divide(question.seq_len, n)]
    routed = network.experts if isinstance(network, MoeDecoder) else 1
    for tensor, stage, context in product(tensors, stages, contexts):
        if tensor * stage * context > question.devices or question.devices % (tensor * stage * context):
            continue
        group_size = question.devices // (tensor * stage)
        for experts in _powers(min(routed, group_size)):
            if routed % experts == 0 and group_size % experts == 0:
                yield Split(tensor, stage, context, experts)
    if question.nodes > 1 and question.per_node > 1:
        yield Split(shards=question.per_node)


def _runs(able: Abilities, strategy: Strategy, split: Split) -> bool:
    """Return whether a framework runs a strategy with a split; on one device none is needed."""
    degrees = {"tensor": split.tensor, "pipeline": split.pipeline, "context": split.context, "experts": split.experts}
    asked = {name for name, degree in degrees.items() if degree > 1} | ({"shards"} if split.shards else set())
    return asked <= able.splits and (strategy in able.strategies or strategy is Strategy.DDP)


def _filled(layers: int, stages: int) -> bool:
    return layers / (largest_stage(layers, stages) * stages) >= LEAST_FILLED


def _may_divide(seq_len: int, parts: int) -> bool:
    return seq_len % parts == 0 and seq_len // parts >= SHORTEST_CONTEXT


def largest_step_tokens(network: TextModel) -> int:
    """Return the most tokens that a step without a stated batch may have, by the size of the network."""
    size = parameters(network)
    return next(tokens for up_to, tokens in LARGEST_STEPS if size <= up_to)


def _step_tokens(question: Question, replicas: int, micro_batch: int, accumulation: int) -> int:
    return replicas * micro_batch * accumulation * question.seq_len


def _micro_batches(question: Question, replicas: int) -> list[int]:
    sizes = [question.micro_batch] if question.micro_batch else _powers(LARGEST_MICRO_BATCH)
    if question.global_batch is None:
        return sizes
    share, rest = divmod(question.global_batch, replicas)
    return [size for size in sizes if rest == 0 and share % size == 0]


def _accumulation(question: Question, replicas: int, micro_batch: int, stages: int) -> int:
    if question.global_batch is not None:
        return question.global_batch // replicas // micro_batch
    if question.shortest_step:
        return stages
    tokens = micro_batch * question.seq_len * replicas
    wanted = min(DEFAULT_TOKENS * question.devices / 8, largest_step_tokens(question.architecture))
    return max(stages, int(wanted / tokens), 1)


def _powers(largest: int) -> list[int]:
    return [1 << exponent for exponent in range(largest.bit_length()) if 1 << exponent <= largest]


def needed_gib(question: Question, config: ParallelConfig) -> float:
    """Return what one device must hold, in GiB.

    States are divided by slices and stages (the largest stage counts), then as ZeRO says over the replicas, or over one
    group of hybrid sharding; activations by slices, context and stages, and a pipeline keeps as many micro-batches as
    it has stages (Narayanan et al. 2021, section 2.2). Routed experts are divided by their own degree first, and by
    ZeRO among the devices that hold the same ones. Weights that stand there twice are of the device's own slice and
    stage; a bucket of gradients has its own size.
    """
    split = config.split
    group_size = question.devices // (split.tensor * split.pipeline)
    saved, logits = batch_bytes(
        question.architecture,
        seq_len=question.seq_len,
        micro_batch=config.micro_batch,
        strategy=config.strategy,
        precision=question.precision or Precision.BF16,
        devices=group_size,
        checkpointing=config.checkpointing,
        trainer=question.trainer,
        adapters=question.adapters,
    )
    in_flight = min(split.pipeline, config.accumulation)
    layers = question.architecture.layers
    largest = largest_stage(layers, split.pipeline) * split.pipeline / layers
    states = _states(question, config, split.shards or group_size)
    saved = saved.times(1 / (split.tensor * split.context))
    shared = Parts(
        states=states.times(largest / (split.tensor * split.pipeline)),
        saved=saved._replace(kept=saved.kept / split.pipeline * in_flight * largest),
        logits=logits / (split.tensor * split.context),
        buffers=_buffers(question, config),
        slack=FITTED.slack_of(config.strategy),
        # Trainers that cut tensors or stages (Megatron) accumulate in one buffer of gradients.
        keeps_gradients=split.tensor * split.pipeline == 1
        and keeps_gradients(config.strategy, devices=group_size, trainer=question.trainer),
    )
    return shared.fullest(accumulates=config.accumulation > 1).total_gib


def _states(question: Question, config: ParallelConfig, group_size: int) -> States:
    """Bytes of states on a device of a replica group, before slices and stages: shared ones and its experts."""
    network, adapters, experts = question.architecture, question.adapters, config.split.experts
    precision = question.precision or Precision.BF16

    def each(devices: int) -> States:
        if adapters is None:
            return state_bytes_per_parameter(
                config.strategy, devices=devices, precision=precision, trainer=question.trainer
            )
        frozen = frozen_bytes_per_parameter(network, adapters, strategy=config.strategy, devices=devices)
        return States(0.0 if question.trainer.offload is Offload.ALL else frozen, 0.0, 0.0, 0.0)

    routed = routed_parameters(network)
    states = each(group_size).times(parameters(network) - routed)
    states = states.plus(each(group_size // experts).times(routed / experts))
    if adapters is None:
        return states
    trained = adapter_state_bytes(config.strategy, devices=group_size, precision=precision, trainer=question.trainer)
    return states.plus(trained.times(adapter_parameters(network, adapters)))


def _buffers(question: Question, config: ParallelConfig) -> float:
    """Bytes of weights gathered, copied or formed, of the experts that the device holds alone, or of a bucket."""
    network, split = question.architecture, config.split
    if isinstance(network, MoeDecoder):
        network = network.model_copy(update={"experts": network.experts // split.experts})
    precision = question.precision or Precision.BF16
    whole = buffer_bytes(
        network,
        strategy=config.strategy,
        precision=precision,
        adapters=question.adapters,
        checkpointing=config.checkpointing,
        trainer=question.trainer,
    )
    expanded = question.adapters is not None and question.adapters.frozen in QUANTIZED_BYTES
    if expanded and config.strategy not in SHARDS_WEIGHTS:
        return whole / split.tensor
    return whole if config.strategy in (Strategy.ZERO1, Strategy.ZERO2) else whole / (split.tensor * split.pipeline)
