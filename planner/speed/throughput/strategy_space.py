"""Configurations that a strategy search compares: splits, micro-batches and accumulation for a training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import isqrt

from planner.model.network.architecture import TextModel
from planner.model.network.trainer_memory import TrainerMemory, TrainerSettings
from planner.model.network.workload import WHOLE, Precision, Split, Strategy
from planner.network.families.known_families import family_of
from planner.network.flops import parameters
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.planned_settings import planned_trainer_memory

LARGEST_TENSOR = 8
"""Largest number of tensor slices. Tensor parallelism beyond a node's link is never worth its traffic."""
LARGEST_MICRO_BATCH = 64
DEFAULT_TOKENS = 1 << 19
"""Tokens of an optimizer step per eight accelerators without a stated global batch; common for a few billion
parameters."""
LARGEST_STEPS = ((3e9, 1 << 21), (20e9, 1 << 23), (float("inf"), 1 << 24))
"""Largest number of parameters of a network, with the most tokens of its steps on any number of accelerators.

Source: TinyLlama 1.1B 2 million (Zhang et al. 2024), OLMo 2 13B 8 million (OLMo Team 2025), Llama 3 405B 16 million
(Llama Team 2024).
"""
SHORTEST_CONTEXT = 1024
"""Smallest number of tokens of a sample per device if samples are divided; shorter blocks hide no traffic."""
LEAST_FILLED = 0.75
"""Smallest filled share of a pipeline's places for layers; otherwise most stages wait for the largest."""


@dataclass(frozen=True)
class StrategyQuestion:
    """Training and machines for which the fastest configuration is searched, over all settings not in the setup.

    Without a global batch, a step has a common number of tokens.
    """

    setup: TrainingSetup
    cluster: Cluster
    shortest_step: bool = False
    """True: without a global batch, a step has one micro-batch per replica, or one per stage of a pipeline."""
    undivided: bool = False
    """True: only configurations that do not divide the network."""
    strategies: tuple[Strategy, ...] = tuple(Strategy)

    @cached_property
    def trainer(self) -> TrainerMemory:
        """Complete trainer: stated settings, then the framework's, then common defaults."""
        return planned_trainer_memory(self.setup.settings, self.setup.framework)

    @property
    def usual_trainer(self) -> str | None:
        """Framework whose abilities limit the splits. Preference methods without one are assumed to use TRL."""
        return self.setup.framework or ("HF Trainer" if self.setup.objective.method is not None else None)

    @property
    def network(self) -> TextModel:
        """Text network that is trained; only text networks are searched."""
        network = self.setup.network
        assert network is not None
        assert network.sample == "tokens", "only text networks are searched"
        return network

    @property
    def seq_len(self) -> int:
        """Tokens of a sample."""
        assert self.setup.seq_len is not None, "samples of a text network have a length"
        return self.setup.seq_len

    @property
    def precision(self) -> Precision:
        """Precision of the products; bf16 unless stated."""
        return self.setup.precision or Precision.BF16

    @property
    def devices(self) -> int:
        """Number of accelerators."""
        return self.cluster.accelerators

    def with_settings(self, settings: TrainerSettings) -> StrategyQuestion:
        """Return the question with other settings of the trainer."""
        return replace(self, setup=replace(self.setup, settings=settings))


def splits(question: StrategyQuestion) -> Iterator[Split]:
    """Yield the splits of the network over the accelerators, the undivided one first."""
    if question.undivided:
        yield WHOLE
        return
    network, per_node = question.network, question.cluster.accelerators_per_node
    tensors = [n for n in _powers(LARGEST_TENSOR) if network.kv_heads % n == 0 and per_node % n == 0]
    stages = [n for n in divisors(question.devices, most=network.layers) if _fills_stages(network.layers, n)]
    contexts = [n for n in _powers(per_node) if n == 1 or _may_divide(question.seq_len, n)]
    routed = max(1, *(kind.experts for kind in family_of(network).layers))
    for tensor, stage, context in product(tensors, stages, contexts):
        if tensor * stage * context > question.devices or question.devices % (tensor * stage * context):
            continue
        group_size = question.devices // (tensor * stage)
        for experts in _powers(min(routed, group_size)):
            if routed % experts == 0 and group_size % experts == 0:
                yield Split(tensor, stage, context, experts)
    if question.cluster.nodes > 1 and question.cluster.accelerators_per_node > 1:
        yield Split(shards=question.cluster.accelerators_per_node)


def _fills_stages(layers: int, stages: int) -> bool:
    """Return whether pipeline stages have nearly equal numbers of layers."""
    return layers / (Split(pipeline=stages).largest_stage(layers) * stages) >= LEAST_FILLED


def _may_divide(seq_len: int, parts: int) -> bool:
    return seq_len % parts == 0 and seq_len // parts >= SHORTEST_CONTEXT


def largest_step_tokens(network: TextModel) -> int:
    """Return the most tokens of a step without a stated batch, by the network's parameters."""
    size = parameters(network)
    return next(tokens for up_to, tokens in LARGEST_STEPS if size <= up_to)


def step_tokens(question: StrategyQuestion, replicas: int, micro_batch: int, accumulation: int) -> float:
    """Return the tokens of one optimizer step."""
    return replicas * micro_batch * accumulation * question.setup.sample_tokens


def micro_batches(question: StrategyQuestion, replicas: int) -> list[int]:
    """Return the micro-batches to try; with a global batch, those that divide each replica's share of it."""
    sizes = [question.setup.micro_batch] if question.setup.micro_batch else _powers(LARGEST_MICRO_BATCH)
    if question.setup.global_batch is None:
        return sizes
    share, rest = divmod(question.setup.global_batch, replicas)
    return [size for size in sizes if rest == 0 and share % size == 0]


def accumulation(question: StrategyQuestion, replicas: int, micro_batch: int, stages: int) -> int:
    """Return the micro-batches of one optimizer step on each replica."""
    if question.setup.global_batch is not None:
        return question.setup.global_batch // replicas // micro_batch
    if question.shortest_step:
        return stages
    tokens = micro_batch * question.setup.sample_tokens * replicas
    wanted = min(DEFAULT_TOKENS * question.devices / 8, largest_step_tokens(question.network))
    return max(stages, int(wanted / tokens), 1)


def _powers(largest: int) -> list[int]:
    return [1 << exponent for exponent in range(largest.bit_length()) if 1 << exponent <= largest]


def divisors(number: int, *, most: int | None = None) -> list[int]:
    """Return the divisors of a number of 1 or more that are at most `most`, the smallest first.

    Tries the numbers up to its square root, and none above `most`: each divisor above the root has one below.
    """
    low = [n for n in range(1, min(isqrt(number), number if most is None else most) + 1) if number % n == 0]
    high = [number // n for n in reversed(low) if n * n < number]
    return low + [n for n in high if most is None or n <= most]
