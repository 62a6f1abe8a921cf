"""Number format of a training's products, and the generation that computes them: evidence is counted by both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from planner.model.network.adapters import Adapters
from planner.model.network.workload import Precision, Strategy
from planner.network.activations import bytes_per_number
from planner.speed.physics.accelerator_facts import FORMAT_STEPS
from planner.speed.physics.config_arrays import GENERATIONS

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array, Configs

ALIGNED = 8
"""Tensor cores need 16-bit matrix sizes that are multiples of this. Source: NVIDIA, Matrix Multiplication Background
User's Guide."""
NARROW = {step: name for name, step in FORMAT_STEPS.items()}


def format_of(facts: Mapping[str, float]) -> str:
    """Return the format of a training's products. Both 16-bit formats count as one, and so do MX and plain fp8."""
    return _format(facts["number_bytes"], facts["format_step"], facts["vector_rate"])


def formats_of(configs: Configs) -> list[str]:
    """Return the format and generation of each configuration, as in "fp8 on hopper"."""
    return [format_named(code) for code in format_codes(configs).tolist()]


def format_codes(configs: Configs) -> Array:
    """Return a code for each configuration; configurations of one format and generation have the same code."""
    format_code = (configs.number_bytes * 4 + configs.format_step) * 2 + configs.vector_rate
    return format_code * len(GENERATIONS) + configs.generation


@cache
def format_named(code: float) -> str:
    """Return the format and generation of a code from `format_codes`."""
    format_code, generation = divmod(int(code), len(GENERATIONS))
    size_code, vector_rate = divmod(format_code, 2)
    number_bytes, format_step = divmod(size_code, 4)
    return f"{_format(number_bytes, format_step, vector_rate)} on {GENERATIONS[generation]}"


def _format(number_bytes: float, format_step: float, vector_rate: float) -> str:
    if format_step:
        return NARROW[format_step]
    if number_bytes == 2:
        return "16bit"
    return "fp32" if vector_rate else "tf32"


def uses_autocast(strategy: Strategy, *, precision: Precision, adapters: Adapters | None = None) -> bool:
    """Return whether fp32 weights are cast for every 16-bit product, as in plain DDP.

    Other strategies store 16-bit weights, and so do adapters' frozen weights that have a stated format.
    """
    frozen = adapters.frozen if adapters else None
    return strategy is Strategy.DDP and bytes_per_number(precision) == 2 and frozen is None
