"""Published decoding steps: their prediction by the physics, and constants fitted to those of other accelerators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from planner.model.base import Count, Frozen, Positive, Text
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import TextModel
from planner.speed.generation.engine import EngineConstants, EngineCopy, decoding_step, engine_device

FREE = ("bandwidth", "compute", "layer_us", "sequence_us", "exchange_us")
"""Fitted constants. Everything else is counted."""
STARTING = EngineConstants(bandwidth=0.8, compute=0.7, layer_us=15.0, sequence_us=10.0, exchange_us=15.0)
"""Constants before any evidence: usual shares of peaks, and latencies of kernels and of NCCL."""
MS = 1e3


class DecodingMeasurement(Frozen):
    """One row of `catalogs/generation/decoding.csv`."""

    id: Text
    source: Text
    source_ref: Text
    source_date: Text
    licence: Text
    kind: Literal["measured", "composed"]
    """Way of measuring: a server under load ("measured"), or kernels that the source added up ("composed")."""
    network: Text
    gpu: Text
    engine: Text
    version: Text | None = None
    tensor: Count
    weight_bits: Count
    batch: Count
    prompt_tokens: Count
    completion_tokens: Count
    step_ms: Positive
    """Mean time between two tokens of a sequence."""

    @property
    def prefilled(self) -> float:
        """Prompt tokens that a step also computes, because sequences end and begin: batch x prompt / answer."""
        return 0.0 if self.kind == "composed" else self.batch * self.prompt_tokens / self.completion_tokens


@dataclass(frozen=True)
class DecodingCase:
    """A measurement with the network and accelerator that it names."""

    row: DecodingMeasurement
    copy: EngineCopy

    def log_ratio(self, constants: EngineConstants) -> float:
        """Return ln(predicted / measured) of the step."""
        row = self.row
        context = row.prompt_tokens + row.completion_tokens / 2
        step = decoding_step(self.copy, constants, batch=row.batch, context=context, prefilled=row.prefilled)
        return math.log(step.seconds * MS / row.step_ms)


def decoding_cases(
    rows: Sequence[DecodingMeasurement], networks: Mapping[str, TextModel], accelerators: Mapping[str, Accelerator]
) -> list[DecodingCase]:
    """Join rows with their networks and accelerators. Raise KeyError for a name that the catalogs lack."""
    cases = []
    for row in rows:
        device = engine_device(accelerators[row.gpu], weight_bits=row.weight_bits)
        assert device is not None, f"{row.gpu} has a data sheet"
        copy = EngineCopy(networks[row.network], device, tensor=row.tensor, weight_bytes=row.weight_bits / 8)
        cases.append(DecodingCase(row, copy))
    return cases


def scaled(logs: Sequence[float]) -> EngineConstants:
    """Return the starting constants, each multiplied by e to the power of its entry in `logs`."""
    return replace(
        STARTING, **{name: getattr(STARTING, name) * math.exp(log) for name, log in zip(FREE, logs, strict=True)}
    )


def mean_log_error(cases: Sequence[DecodingCase], constants: EngineConstants) -> float:
    """Return the mean of |ln(predicted / measured)|."""
    return sum(abs(case.log_ratio(constants)) for case in cases) / len(cases)
