"""Search for the fastest parallel configurations of a training among those that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from planner.model.answer.reason import Reason
from planner.model.evidence.calibration import Calibration
from planner.model.network.trainer_memory import Loss, Optimizer, TrainerSettings
from planner.model.network.workload import Checkpointing, Split, Strategy
from planner.scenario.parallel_config import ParallelConfig
from planner.scenario.trainer_abilities import is_run_by
from planner.speed.estimator.text_estimator import OF_TEXT
from planner.speed.memory.device_fit import paged_share, usable_gib
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import planned_settings
from planner.speed.physics.observation import Labels
from planner.speed.physics.planned_text_config import labels_of, planned_text_config, tokens_of_a_sample
from planner.speed.throughput.strategy_space import (
    StrategyQuestion,
    accumulation,
    largest_step_tokens,
    micro_batches,
    splits,
    step_tokens,
)

Needs = dict[tuple[ParallelConfig, int, Loss | None, Optimizer | None], float]
"""GiB that a device needs, by configuration, number of devices, loss and optimizer, all of one training."""


def search(question: StrategyQuestion, calibration: Calibration) -> tuple[ParallelConfig, ...]:
    """Return the configurations that fit, the fastest first, with the best micro-batch for each strategy and split.

    All are computed together. Splits must divide heads, samples and accelerators, and the framework must support them.

    The order is by a cautious rate. The largest of many estimates is probably too high, and more so if less is known
    about it.
    """
    from planner.speed.physics.config_arrays import from_rows

    fitting = _fitting(question, {})
    if not fitting:
        return ()
    configs = [config for config, _ in fitting]
    label = _labels(question)
    guess = OF_TEXT.estimate(from_rows([row for _, row in fitting]), [label] * len(configs), calibration)
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
    """Return the samples/s of each question's fastest configuration, None if none fits; all are computed together."""
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
    guess = OF_TEXT.estimate(from_rows(rows), labels, calibration)
    for place, row, rate in zip(places, rows, guess.tokens_per_s_per_gpu, strict=True):
        question = questions[place]
        samples_per_s = float(rate) * question.devices / tokens_of_a_sample(row, question.setup)
        best[place] = max(best[place] or 0.0, samples_per_s)
    return best


def _labels(question: StrategyQuestion) -> Labels:
    return labels_of(question.cluster.accelerator, question.setup.workload, question.setup.framework)


def _fitting(question: StrategyQuestion, needs: Needs) -> list[tuple[ParallelConfig, dict[str, float]]]:
    """Return the configurations that fit; if none does, those that fit with a chunked loss, which costs no time."""
    usual = list(_described(question, needs))
    if usual or planned_settings(question.setup.settings, question.setup.framework).loss is not None:
        return usual
    chunked = question.with_settings(question.setup.settings.model_copy(update={"loss": Loss.CHUNKED}))
    return [(replace(config, chunked_loss=True), row) for config, row in _described(chunked, needs)]


def _described(question: StrategyQuestion, needs: Needs) -> Iterator[tuple[ParallelConfig, dict[str, float]]]:
    """Yield the configurations that fit, with their facts for the physics; `needs` caches memory."""
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
    """Yield the configurations that fit with a chance of four in five."""
    most_tokens = largest_step_tokens(question.network) if question.setup.global_batch is None else float("inf")
    usable = usable_gib(question.cluster.accelerator.training_gib or 0)
    kept = [question.setup.checkpointing] if question.setup.checkpointing else list(Checkpointing)
    for strategy, split in product(question.strategies, splits(question)):
        replicas = question.devices // split.devices
        if not _is_useful(strategy, split, replicas) or not is_run_by(question.usual_trainer, strategy, split):
            continue
        too_large: set[tuple[Checkpointing, int]] = set()
        for checkpointing, micro_batch in product(kept, micro_batches(question, replicas)):
            steps = accumulation(question, replicas, micro_batch, split.pipeline)
            if (checkpointing, steps) in too_large:
                continue  # the same number of smaller micro-batches did not fit
            if step_tokens(question, replicas, micro_batch, steps) > most_tokens:
                continue
            config = ParallelConfig(strategy, split, micro_batch, steps, checkpointing, 0.0)
            need = _need(question, config, needs)
            if need <= usable:
                yield replace(config, hbm_gib=need)
            else:
                too_large.add((checkpointing, steps))


def _is_useful(strategy: Strategy, split: Split, replicas: int) -> bool:
    """Return whether a strategy has a purpose with a split: nothing else is the same with less memory or traffic.

    One replica has nothing to shard. Pipeline stages keep weights gathered for all micro-batches, so ZeRO-2 and above
    have ZeRO-1's traffic and need more memory. Only FSDP2 shards over a part of the devices.
    """
    if replicas == 1 and strategy is not Strategy.DDP:
        return False
    if split.pipeline > 1 and strategy in (Strategy.ZERO2, Strategy.ZERO3, Strategy.FSDP2):
        return False
    return split.shards is None or strategy is Strategy.FSDP2


def _need(question: StrategyQuestion, config: ParallelConfig, needs: Needs) -> float:
    settings = question.setup.settings
    key = (config, question.devices, settings.loss, settings.optimizer)
    if key not in needs:
        needs[key] = needed_gib(question, config)
    return needs[key]


def needed_gib(question: StrategyQuestion, config: ParallelConfig) -> float:
    """Return the memory that one device needs, in GiB."""
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
