"""Why a measurement is predicted but calibrates nothing: a rule on what its source does not say."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.model.evidence.measurement import Measurement


USUAL_NODE = 8
"""Accelerators, where a row does not say."""


class Excluded(StrEnum):
    """The code in the column `excluded`: the first that holds. None looks at the speed, none at a prediction."""

    NO_ACCELERATOR = "no-accelerator"
    """Its kind, form or memory, or how many there were, is not stated."""
    NO_NETWORK = "no-network"
    """Layers, widths, heads or vocabulary are not stated."""
    NO_LENGTH = "no-length"
    """How long samples are, or whether they are packed or padded, is not stated."""
    NO_BATCH = "no-batch"
    """Neither the samples of a step nor those of a pass are stated."""
    NO_METHOD = "no-method"
    """Number format, recomputation, splits, adapters or offload are not stated, and a usual one is not at hand."""
    NO_UNIT = "no-unit"
    """What was counted is not stated: padding, one device or all, which FLOPs, which parts of a step."""
    WHOLE_RUN = "whole-run"
    """The time holds evaluation, checkpoints or start-up."""
    COARSE = "coarse"
    """A few steps, a forecast of a progress bar, or fewer than two digits."""
    CONTRADICTS = "contradicts"
    """Two statements of the source on the same setting exclude each other."""
    NO_COLUMN = "no-column"
    """The source names something that decides the speed and has no column: a power limit, another part that trains."""
    DOUBTED = "doubted"
    """Its `quality` begins with weak, and no code is given."""


def excluded_by(said: object) -> object:
    """Return the code that a cell names; of other words, that the row is doubted."""
    return Excluded.DOUBTED if isinstance(said, str) and said not in list(Excluded) else said


def exclusion_of(row: Measurement, *, text: bool) -> Excluded | None:
    """Return the code of a row: the one that it states, else by its empty cells; None where it calibrates."""
    if row.excluded is not None:
        return row.excluded
    if text and row.seq_len is None and row.avg_tokens_per_sample is None:
        return Excluded.NO_LENGTH
    if row.micro_batch is None and row.global_batch is None:
        return Excluded.NO_BATCH
    if not row.precision:
        return Excluded.NO_METHOD
    return Excluded.DOUBTED if row.quality.startswith("weak") else None


def usual_settings(row: Measurement, *, text: bool) -> list[str]:
    """Return which settings a row leaves open for which usual ones are taken; it calibrates all the same."""
    several = row.num_gpus > 1
    left_open = {
        "something that its quality names": row.quality.startswith("hw-assumed"),
        "micro-batch": row.micro_batch is None,
        "recomputation": not row.activation_checkpointing,
        "kernels": not (row.compile_kernels or row.flash_attention),
        "vocabulary": row.vocab is None,
        "splits": several and not (row.parallelism or row.tp or row.zero),
        "link": several and not row.interconnect_intra,
        "network": row.num_gpus > (row.gpus_per_node or USUAL_NODE) and not row.interconnect_inter,
    }
    of_images = ("something that its quality names", "micro-batch", "kernels", "link", "network")
    return [name for name, is_open in left_open.items() if is_open and (text or name in of_images)]
