"""Which number format a training's products have, and on which generation: what evidence has or lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.estimate.physics.configs import GENERATIONS

if TYPE_CHECKING:
    from planner.estimate.physics.configs import Array, Configs

NARROW = {1.0: "fp8", 2.0: "fp4"}


def format_of(facts: Mapping[str, float]) -> str:
    """Return the format of a described training's products: both kinds of 16 bits, MX and plain fp8 are one each."""
    if facts["format_step"]:
        return NARROW[facts["format_step"]]
    if facts["number_bytes"] == 2:
        return "16bit"
    return "fp32" if facts["vector_rate"] else "tf32"


def formats_of(configs: Configs) -> Array:
    """Return the format of each configuration with the generation that computes in it, as in "fp8 on hopper"."""
    import numpy as np

    names = ("generation", "number_bytes", "format_step", "vector_rate")
    facts = [getattr(configs, name) for name in names]
    code = ((facts[0] * 8 + facts[1]) * 4 + facts[2]) * 2 + facts[3]
    _, first, place = np.unique(code, return_index=True, return_inverse=True)
    rows = [dict(zip(names, (float(column[at]) for column in facts), strict=True)) for at in first]
    named = [f"{format_of(row)} on {GENERATIONS[int(row['generation'])]}" for row in rows]
    return np.array(named, dtype=object)[place]
