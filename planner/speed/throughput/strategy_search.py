"""The fastest parallel configurations of a training: strategies, splits and micro-batches that fit, by speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from planner.model.answer.reason import Reason
from planner.model.evidence.calibration import Calibration
from planner.model.network.architecture import MoeDecoder, TextModel
from planner.model.network.trainer_memory import Loss, Optimizer, TrainerMemory, TrainerSettings
from planner.model.network.workload import WHOLE, Checkpointing, Precision, Split, Strategy
from planner.network.flops import parameters
from planner.quantity.divisors import divisors
from planner.scenario.cluster import Cluster
from planner.scenario.parallel_config import ParallelConfig
from planner.scenario.trainer_abilities import is_run_by
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.text_estimator import estimate_text
from planner.speed.memory.device_fit import paged_share, usable_gib
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import planned_settings, planned_trainer_memory
from planner.speed.physics.observation import Labels
from planner.speed.physics.planned_text_config import labels_of, planned_text_config, tokens_of_a_sample

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
Needs = dict[tuple[ParallelConfig, int, Loss | None, Optimizer | None], float]
"""GiB that a device holds, by configuration, number of devices, loss and optimizer: all else is of one training."""
LEAST_FILLED = 0.75
"""Of a pipeline's places for layers: stages that differ more would leave most of them waiting for the largest."""


@dataclass(frozen=True)
class StrategyQuestion:
    """What is trained on which machines; what the setup does not state is searched for.

    Without a global batch a step has as many tokens as is usual.
    """

    setup: TrainingSetup
    cluster: Cluster
    shortest_step: bool = False
    """Without a global batch: one micro-batch per step and replica, and as many as a pipeline has stages."""
    undivided: bool = False
    """Only ways that leave the network whole."""
    strategies: tuple[Strategy, ...] = tuple(Strategy)

    @cached_property
    def trainer(self) -> TrainerMemory:
        """A trainer with these settings, what its framework does, and usual ones besides."""
        return planned_trainer_memory(self.setup.settings, self.setup.framework)

    @property
    def usual_trainer(self) -> str | None:
        """The framework that decides which splits are run: preferences are trained by TRL and its like, if unnamed."""
        return self.setup.framework or ("HF Trainer" if self.setup.objective.method is not None else None)

    @property
    def network(self) -> TextModel:
        """The network; only text networks are divided."""
        assert isinstance(self.setup.network, TextModel), "asked of text networks alone"
        return self.setup.network

    @property
    def seq_len(self) -> int:
        """Tokens of a sample."""
        assert self.setup.seq_len is not None, "a text network has samples of a length"
        return self.setup.seq_len

    @property
    def precision(self) -> Precision:
        """The precision of the products; 16 bit unless stated."""
        return self.setup.precision or Precision.BF16

    @property
    def devices(self) -> int:
        """All accelerators."""
        return self.cluster.accelerators

    def with_settings(self, settings: TrainerSettings) -> StrategyQuestion:
        """Return the question with other settings of the trainer."""
        return replace(self, setup=replace(self.setup, settings=settings))


def search(question: StrategyQuestion, calibration: Calibration) -> tuple[ParallelConfig, ...]:
    """Return the configurations that fit, the fastest first; of each split that with the best micro-batch.

    All of them are computed at once. Splits that do not divide heads, samples or accelerators are left out, and those
    that the framework does not run. The order is by a cautious rate: the largest of many estimates is one that errs
    upwards, and one of which less is known errs more.
    """
    from planner.speed.physics.config_arrays import from_rows

    fitting = _fitting(question, {})
    if not fitting:
        return ()
    configs = [config for config, _ in fitting]
    label = _labels(question)
    guess = estimate_text(from_rows([row for _, row in fitting]), [label] * len(configs), calibration)
    best: dict[tuple[Strategy, Split], ParallelConfig] = {}
    for place in (-guess.cautious).argsort(kind="stable"):
        config = configs[int(place)]
        per_sample = question.devices / tokens_of_a_sample(fitting[int(place)][1], question.setup)
        if (config.strategy, config.split) not in best:
            best[config.strategy, config.split] = replace(
                config,
                samples_per_s=float(guess.tokens_per_s_per_gpu[place]) * per_sample,
                low=float(guess.low_90[place]) * per_sample,
                high=float(guess.high_90[place]) * per_sample,
                group=guess.groups[place],
            )
    return tuple(best.values())


def search_many(questions: Sequence[StrategyQuestion], calibration: Calibration) -> list[float | None]:
    """Return samples/s of the fastest way of each question, None where none fits: all of them timed at once."""
    from planner.speed.physics.config_arrays import from_rows

    needs: Needs = {}
    rows, labels, places = [], [], []
    for place, question in enumerate(questions):
        for _, described in _fitting(question, needs):
            rows.append(described)
            labels.append(_labels(question))
            places.append(place)
    best: list[float | None] = [None] * len(questions)
    if not rows:
        return best
    guess = estimate_text(from_rows(rows), labels, calibration)
    for place, row, rate in zip(places, rows, guess.tokens_per_s_per_gpu, strict=True):
        question = questions[place]
        samples_per_s = float(rate) * question.devices / tokens_of_a_sample(row, question.setup)
        best[place] = max(best[place] or 0.0, samples_per_s)
    return best


def _labels(question: StrategyQuestion) -> Labels:
    return labels_of(question.cluster.accelerator, question.setup.workload, question.setup.framework)


def _fitting(question: StrategyQuestion, needs: Needs) -> list[tuple[ParallelConfig, dict[str, float]]]:
    """Return the configurations that fit; where none does, those that do with a loss in chunks, which costs no time."""
    usual = list(_described(question, needs))
    if usual or planned_settings(question.setup.settings, question.setup.framework).loss is not None:
        return usual
    chunked = question.with_settings(question.setup.settings.model_copy(update={"loss": Loss.CHUNKED}))
    return [(replace(config, chunked_loss=True), row) for config, row in _described(chunked, needs)]


def _described(question: StrategyQuestion, needs: Needs) -> Iterator[tuple[ParallelConfig, dict[str, float]]]:
    """Yield the configurations that fit with what the physics needs of them; `needs` is filled and looked up."""
    for config in _parallel_configs(question, needs):
        setup = replace(
            question.setup, checkpointing=config.checkpointing, strategy=config.strategy, split=config.split
        )
        described = planned_text_config(
            setup,
            question.cluster,
            micro_batch=config.micro_batch,
            micro_batches=config.accumulation,
            paged=_paged(question, config, needs),
        )
        if not isinstance(described, Reason):
            yield config, described


def _paged(question: StrategyQuestion, config: ParallelConfig, needs: Needs) -> float:
    def need(settings: TrainerSettings) -> float:
        return _need(question.with_settings(settings), replace(config, hbm_gib=0.0), needs)

    return paged_share(need, question.setup.settings, question.cluster.accelerator.training_gib or 0)


def _parallel_configs(question: StrategyQuestion, needs: Needs) -> Iterator[ParallelConfig]:
    largest = largest_step_tokens(question.network)
    usable = usable_gib(question.cluster.accelerator.training_gib or 0)
    for strategy, split in product(question.strategies, _splits(question)):
        if not is_run_by(question.usual_trainer, strategy, split):
            continue
        if split.pipeline > 1 and strategy in (Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP2):
            continue  # stages keep weights gathered for all their micro-batches: ZeRO-1's traffic, for more memory
        replicas = question.devices // split.devices
        if replicas == 1 and strategy is not Strategy.DDP:
            continue
        if split.shards is not None and strategy is not Strategy.FSDP2:
            continue
        kept = [question.setup.checkpointing] if question.setup.checkpointing else list(Checkpointing)
        refused: set[tuple[Checkpointing, int]] = set()
        for checkpointing, micro_batch in product(kept, _micro_batches(question, replicas)):
            accumulation = _accumulation(question, replicas, micro_batch, split.pipeline)
            if (checkpointing, accumulation) in refused:
                continue  # as many smaller ones need too much already
            if (
                question.setup.global_batch is None
                and _step_tokens(question, replicas, micro_batch, accumulation) > largest
            ):
                continue
            config = ParallelConfig(strategy, split, micro_batch, accumulation, checkpointing, 0.0)
            need = _need(question, config, needs)
            if need <= usable:
                yield replace(config, hbm_gib=need)
            else:
                refused.add((checkpointing, accumulation))


def _need(question: StrategyQuestion, config: ParallelConfig, needs: Needs) -> float:
    settings = question.setup.settings
    key = (config, question.devices, settings.loss, settings.optimizer)
    if key not in needs:
        needs[key] = needed_gib(question, config)
    return needs[key]


def _splits(question: StrategyQuestion) -> Iterator[Split]:
    if question.undivided:
        yield WHOLE
        return
    network, per_node = question.network, question.cluster.accelerators_per_node
    tensors = [n for n in _powers(LARGEST_TENSOR) if network.kv_heads % n == 0 and per_node % n == 0]
    stages = [n for n in divisors(question.devices, most=network.layers) if _filled(network.layers, n)]
    contexts = [n for n in _powers(per_node) if n == 1 or _may_divide(question.seq_len, n)]
    routed = network.experts if isinstance(network, MoeDecoder) else 1
    for tensor, stage, context in product(tensors, stages, contexts):
        if tensor * stage * context > question.devices or question.devices % (tensor * stage * context):
            continue
        group_size = question.devices // (tensor * stage)
        for experts in _powers(min(routed, group_size)):
            if routed % experts == 0 and group_size % experts == 0:
                yield Split(tensor, stage, context, experts)
    if question.cluster.nodes > 1 and question.cluster.accelerators_per_node > 1:
        yield Split(shards=question.cluster.accelerators_per_node)


def _filled(layers: int, stages: int) -> bool:
    return layers / (Split(pipeline=stages).largest_stage(layers) * stages) >= LEAST_FILLED


def _may_divide(seq_len: int, parts: int) -> bool:
    return seq_len % parts == 0 and seq_len // parts >= SHORTEST_CONTEXT


def largest_step_tokens(network: TextModel) -> int:
    """Return the most tokens that a step without a stated batch may have, by the size of the network."""
    size = parameters(network)
    return next(tokens for up_to, tokens in LARGEST_STEPS if size <= up_to)


def _step_tokens(question: StrategyQuestion, replicas: int, micro_batch: int, accumulation: int) -> float:
    return replicas * micro_batch * accumulation * question.setup.sample_tokens


def _micro_batches(question: StrategyQuestion, replicas: int) -> list[int]:
    sizes = [question.setup.micro_batch] if question.setup.micro_batch else _powers(LARGEST_MICRO_BATCH)
    if question.setup.global_batch is None:
        return sizes
    share, rest = divmod(question.setup.global_batch, replicas)
    return [size for size in sizes if rest == 0 and share % size == 0]


def _accumulation(question: StrategyQuestion, replicas: int, micro_batch: int, stages: int) -> int:
    if question.setup.global_batch is not None:
        return question.setup.global_batch // replicas // micro_batch
    if question.shortest_step:
        return stages
    tokens = micro_batch * question.setup.sample_tokens * replicas
    wanted = min(DEFAULT_TOKENS * question.devices / 8, largest_step_tokens(question.network))
    return max(stages, int(wanted / tokens), 1)


def _powers(largest: int) -> list[int]:
    return [1 << exponent for exponent in range(largest.bit_length()) if 1 << exponent <= largest]


def needed_gib(question: StrategyQuestion, config: ParallelConfig) -> float:
    """Return what one device must hold, in GiB."""
    setup = replace(
        question.setup,
        micro_batch=config.micro_batch,
        strategy=config.strategy,
        checkpointing=config.checkpointing,
        split=config.split,
    )
    return device_memory(
        setup,
        devices=question.devices,
        trainer=question.trainer,
        accumulates=config.accumulation > 1,
        in_flight=config.accumulation,
    ).total_gib
