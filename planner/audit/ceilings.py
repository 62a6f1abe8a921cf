"""Highest measured speed of an accelerator in a number format, or its data sheet's peak if there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planner.model.hardware.machines import Accelerator, MatmulCeiling
from planner.speed.physics.accelerator_facts import SIXTEEN_BITS, chip_of, peak_flops

TOLERANCE = 1.02
"""Tolerance above a measured ceiling, because clocks differ from device to device."""
BEST_OF_CEILING = 0.79
"""Best published training relative to the measured ceiling.

BERT-large on A100 reached 69 % of the dense peak (NVIDIA DeepLearningExamples, phase 1 of pre-training;
catalogs/evidence), which is 79 % of 271.2 TFLOP/s.
"""


@dataclass(frozen=True)
class Ceiling:
    """FLOP/s of one device."""

    peak: float
    flops: float
    source: str


def ceiling_of(accelerator: Accelerator, number_format: str, measured: Iterable[MatmulCeiling]) -> Ceiling | None:
    """Return the ceiling: measured on this accelerator or its chip (`with_chips`), otherwise the data sheet's peak."""
    peak = peak_flops(accelerator, number_format)
    if peak is None:
        return None
    column = "bf16" if number_format in SIXTEEN_BITS else number_format
    rows = [row for row in measured if row.number_format == column]
    for row in rows:
        if row.accelerator == accelerator.id:
            return Ceiling(peak, min(peak, row.tflops * 1e12), row.source)
    return Ceiling(peak, peak, f"{accelerator.source}: dense peak, no measured matmul rate")


def with_chips(measured: Iterable[MatmulCeiling], accelerators: Mapping[str, Accelerator]) -> list[MatmulCeiling]:
    """Add a row for every accelerator of a measured chip: the highest rate measured on any of its kind."""
    rows = list(measured)
    best: dict[tuple[str, str], MatmulCeiling] = {}
    for row in rows:
        if row.accelerator in accelerators:
            key = (chip_of(accelerators[row.accelerator]), row.number_format)
            if key not in best or best[key].tflops < row.tflops:
                best[key] = row
    known = {(row.accelerator, row.number_format) for row in rows}
    others = [
        row.model_copy(update={"accelerator": accelerator.id, "source": f"{row.source}; on {row.accelerator}"})
        for (chip, number_format), row in best.items()
        for accelerator in accelerators.values()
        if chip_of(accelerator) == chip and (accelerator.id, number_format) not in known
    ]
    return rows + others
