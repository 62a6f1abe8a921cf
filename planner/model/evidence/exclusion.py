"""Reasons why a measurement is predicted but not used for calibration: rules on facts that its source omits."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.model.evidence.measurement import Measurement


USUAL_NODE = 8
"""Accelerators of a node, if a row does not say."""


class Excluded(StrEnum):
    """Codes of the column `excluded`; the first that applies counts. None depends on the speed or on a prediction."""

    NO_ACCELERATOR = "no-accelerator"
    """The accelerator's kind, form, memory or number is not stated."""
    NO_NETWORK = "no-network"
    """Layers, widths, heads or vocabulary are not stated."""
    NO_LENGTH = "no-length"
    """The length of samples, or whether they are packed or padded, is not stated."""
    NO_BATCH = "no-batch"
    """Neither the samples of a step nor those of a pass are stated."""
    NO_METHOD = "no-method"
    """Number format, recomputation, splits, adapters or offload are not stated, and there is no usual one."""
    NO_UNIT = "no-unit"
    """The counted quantity is not stated: padding, one device or all, which FLOPs, which parts of a step."""
    WHOLE_RUN = "whole-run"
    """The time includes evaluation, checkpoints or start-up."""
    COARSE = "coarse"
    """The figure comes from a few steps, a forecast of a progress bar, or fewer than two digits."""
    CONTRADICTS = "contradicts"
    """Two statements of the source on the same setting contradict each other."""
    NO_COLUMN = "no-column"
    """The source names something that decides the speed and has no column: a power limit, another part that trains."""
    DOUBTED = "doubted"
    """Its `quality` begins with weak, and no code is given."""


def excluded_by(said: object) -> object:
    """Return the code that a cell names. Other words mean that the row is doubted."""
    return Excluded.DOUBTED if isinstance(said, str) and said not in list(Excluded) else said


def exclusion_of(row: Measurement, *, text: bool) -> Excluded | None:
    """Return the code of a row: the one that it states, otherwise from its empty cells; None if it calibrates."""
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
    """Return the settings that a row leaves open and that are replaced by usual ones. It calibrates anyway."""
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
