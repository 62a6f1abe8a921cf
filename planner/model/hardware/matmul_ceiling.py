"""Fastest dense matrix products measured on an accelerator: `catalogs/hardware/matmul_ceilings.csv`."""

from __future__ import annotations

from typing import Literal

from planner.model.base import Day, Frozen, Id, Positive, Text


class MatmulCeiling(Frozen):
    """One row: TFLOP/s of large dense products, mean of many, far below what a data sheet prints."""

    accelerator: Id
    number_format: Literal["bf16", "fp8"]
    tflops: Positive
    source: Text
    as_of: Day
