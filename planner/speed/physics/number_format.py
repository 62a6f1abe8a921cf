"""Which number format a training's products have, and on which generation: what evidence has or lacks."""

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
"""Numbers of 16 bits that tensor cores want in a row. Source: NVIDIA, Matrix Multiplication Background User's Guide."""
NARROW = {step: name for name, step in FORMAT_STEPS.items()}


def format_of(facts: Mapping[str, float]) -> str:
    """Return the format of a described training's products: both kinds of 16 bits, MX and plain fp8 are one each."""
    return _format(facts["number_bytes"], facts["format_step"], facts["vector_rate"])


def formats_of(configs: Configs) -> list[str]:
    """Return the format of each configuration with the generation that computes in it, as in "fp8 on hopper"."""
    return [format_named(code) for code in format_codes(configs).tolist()]


def format_codes(configs: Configs) -> Array:
    """Return a number for each configuration, the same where format and generation are the same."""
    of_format = (configs.number_bytes * 4 + configs.format_step) * 2 + configs.vector_rate
    return of_format * len(GENERATIONS) + configs.generation


@cache
def format_named(code: float) -> str:
    """Return the format and generation that a code means."""
    of_format, generation = divmod(int(code), len(GENERATIONS))
    of_bytes, vector_rate = divmod(of_format, 2)
    number_bytes, format_step = divmod(of_bytes, 4)
    return f"{_format(number_bytes, format_step, vector_rate)} on {GENERATIONS[generation]}"


def _format(number_bytes: float, format_step: float, vector_rate: float) -> str:
    if format_step:
        return NARROW[format_step]
    if number_bytes == 2:
        return "16bit"
    return "fp32" if vector_rate else "tf32"


def uses_autocast(strategy: Strategy, *, precision: Precision, adapters: Adapters | None = None) -> bool:
    """Return whether 16-bit products stand on fp32 weights: plain DDP. The others hold 16-bit weights beside fp32 ones.

    So do weights that are frozen in a format of their own.
    """
    frozen = adapters.frozen if adapters else None
    return strategy is Strategy.DDP and bytes_per_number(precision) == 2 and frozen is None
