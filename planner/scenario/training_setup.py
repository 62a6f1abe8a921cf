"""Description of a training for plans, run records and logs, compared field by field."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Any, Literal

from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, is_same_network
from planner.model.network.trainer_memory import (
    NOTHING_STATED,
    TrainerSettings,
)
from planner.model.network.training_method import NEXT_TOKEN, MethodSettings
from planner.model.network.workload import WHOLE, Checkpointing, Method, Precision, Split, Strategy
from planner.scenario.frameworks import planned_family

OWN_BENCHMARK = "planner benchmark"
"""Framework of runs that the planner's own benchmark measured."""
LENGTH_VARIATION = 0.5
"""Assumed standard deviation of sequence lengths over their mean in preference data.

Published mixes have 0.4 to 0.7.
"""
LARGEST_OF_TWO, LARGEST_POWER = 0.564, 0.84
"""Constants of E[largest of n standard normals] = 0.564 (log2 n)^0.84, within 2 % up to n = 64;

0.564 = 1 / sqrt(pi) for two.
"""
UNDER_ZERO = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)


class Agreement(StrEnum):
    """Relation of a field of one training setup to the same field of another."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"
    """At least one of the two does not state it."""


def padded_length(mean: float, most: float, sequences: float) -> float:
    """Return the tokens to which sequences of a batch are padded: those of the longest, at most `most`.

    mean x (1 + variation x E[largest of n standard normals]); the expectation is 0.564 (log2 n)^0.84 (David and
    Nagaraja 2003). Sequences whose mean is `most` are full.
    """
    longest: float = LARGEST_OF_TWO * math.log2(max(1.0, sequences)) ** LARGEST_POWER
    return min(most, mean * (1 + LENGTH_VARIATION * longest))


@dataclass(frozen=True, kw_only=True)
class TrainingSetup:
    """Network, method and settings of a training. None in a field means that the source does not state it.

    Every field takes part in `differences`, so a field that is added here cannot be forgotten when runs are matched.
    """

    workload: str
    """Name of the network. It identifies the network only if `network` is unknown."""
    network: Architecture | None = None
    seq_len: int | None = None
    """Tokens of a sample; for pairs and answers, the most that a prompt has with one answer. Images have none."""
    sequence_tokens: float | None = None
    """Mean tokens, if sequences are padded to the longest of their batch and not to `seq_len`."""
    method: Method | None = None
    """Method that decides which weights are trained."""
    objective: MethodSettings = NEXT_TOKEN
    """Objective other than the next token: preferences or rewards, with the reference that is used."""
    adapters: Adapters | None = None
    """Adapters that are trained beside frozen weights; None under `Method.FULL`."""
    precision: Precision | None = None
    micro_batch: int | None = None
    """Samples of one forward pass on one accelerator."""
    global_batch: int | None = None
    """Samples of one optimizer step."""
    checkpointing: Checkpointing | None = None
    strategy: Strategy | None = None
    split: Split = WHOLE
    """Tensor, pipeline, context and expert degrees."""
    framework: str | None = None
    compiled: bool | None = None
    """True if torch.compile compiles the layers."""
    settings: TrainerSettings = NOTHING_STATED
    """Loss, kernels, optimizer, weights and offload."""
    data: str | None = None
    """Data that a run read: synthetic tokens, or the user's own shards."""
    channels_last: bool | None = None
    """True if convolutions store the colours of a pixel next to each other in memory."""

    @property
    def sample(self) -> Literal["tokens", "image"] | None:
        """Kind of sample; None if the network is unknown."""
        return None if self.network is None else self.network.sample

    @property
    def timed_tokens(self) -> float:
        """Tokens of one sequence that a step computes on average."""
        return self.sequence_tokens or float(self.seq_len or 0)

    def padded_tokens(self, samples: float) -> float:
        """Return the tokens of one sequence in a micro-batch of this many samples, which is padded to its longest
        sequence.
        """
        return padded_length(self.timed_tokens, float(self.seq_len or 0), samples * self.objective.sequences)

    @property
    def sample_tokens(self) -> float:
        """Tokens of one sample without padding; for a pair, of both sequences."""
        return self.timed_tokens * self.objective.sequences

    @property
    def stated(self) -> dict[str, Any]:
        """Stated fields, with the trainer's settings among them."""
        values = {name: _value(self, name) for name in _names(self)}
        return {name: value for name, value in values.items() if value is not None}


def setup_texts(setup: TrainingSetup) -> dict[str, str]:
    """Return the stated fields as texts, for people and for JSON."""
    texts = {name: _text(value) for name, value in setup.stated.items()}
    return {name: text for name, text in texts.items() if text}


def differences(
    asked: TrainingSetup, other: TrainingSetup, *, only: tuple[str, ...] | None = None
) -> dict[str, Agreement]:
    """Compare two setups field by field, or in the fields that `only` names.

    A field that only one class of setup has, or that one of the two does not state, is unknown.
    """
    names = dict.fromkeys((*_names(asked), *_names(other))) if only is None else only
    return {name: _compared(_value(asked, name), _value(other, name)) for name in names}


def agrees_where_stated(
    asked: TrainingSetup, other: TrainingSetup, *, besides: tuple[str, ...] = (), may_omit: tuple[str, ...] = ()
) -> bool:
    """Return whether `other` states the same as `asked` in every field that `asked` states, except for `besides`.

    A field that `other` does not state counts as different, except in the fields of `may_omit`. Fields that `asked`
    leaves open agree with anything.
    """
    for name in reversed(_names(asked)):  # the network, which takes longest to compare, comes last
        value = _value(asked, name)
        if value is None or name in besides:
            continue
        found = _compared(value, _value(other, name))
        if found is not Agreement.EQUAL and not (found is Agreement.UNKNOWN and name in may_omit):
            return False
    return True


SETTINGS = tuple(TrainerSettings.model_fields)


def _names(setup: TrainingSetup) -> tuple[str, ...]:
    """Return the names of all fields, including those of the trainer's settings."""
    kind: Any = type(setup)
    return (*_own_names(kind), *SETTINGS)


@cache
def _own_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in ("workload", "settings"))


def _value(setup: TrainingSetup, name: str) -> Any:
    """Return the value of a field for comparison; None if the setup does not state it, or has no such field."""
    if name in SETTINGS:
        return getattr(setup.settings, name)
    if name == "network":
        return _Network(setup.workload, setup.network)
    if name == "framework":
        return None if setup.framework is None else planned_family(setup.framework)
    return getattr(setup, name, None)


@dataclass(frozen=True)
class _Network:
    """A network with its name, which identifies it if one of two sources does not describe it."""

    name: str
    architecture: Architecture | None

    def agrees(self, other: _Network) -> bool:
        """Return whether both are the same network."""
        if self.architecture is not None and other.architecture is not None:
            return is_same_network(self.architecture, other.architecture)
        return self.name.casefold() == other.name.casefold()


def _text(value: object) -> str:
    if isinstance(value, _Network):
        return value.name
    if isinstance(value, MethodSettings):
        return "" if value.method is None else value.method.value
    if isinstance(value, Adapters):
        frozen = f", {value.frozen.value} beside them" if value.frozen else ""
        return f"{value.kind.written}, rank {value.rank} on {', '.join(value.targets)}{frozen}"
    return str(value)


def _compared(value: object, other: object) -> Agreement:
    if value is None or other is None:
        return Agreement.UNKNOWN
    return Agreement.EQUAL if _are_equal(value, other) else Agreement.DIFFERENT


def _are_equal(value: object, other: object) -> bool:
    if isinstance(value, _Network) and isinstance(other, _Network):
        return value.agrees(other)
    if value is other:
        return True
    if isinstance(value, MethodSettings) and isinstance(other, MethodSettings):
        return value.agrees(other)
    if isinstance(value, Adapters) and isinstance(other, Adapters):
        first, second = (each.model_copy(update={"targets": tuple(sorted(each.targets))}) for each in (value, other))
        return first == second
    return value == other
