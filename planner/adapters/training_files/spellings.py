"""What trainers call optimizers, number formats and ways to shard, in the planner's words."""

from __future__ import annotations

import re

_OPTIMIZERS = (
    (r"paged.*adamw?.*8bit", "paged-adamw-8bit"), (r"paged.*adam", "paged-adamw"), (r"adamw?.*4bit", "adamw-4bit"),
    (r"adamw?.*8bit|adamw_bnb_8bit|bnb.*adam", "adamw-8bit"), (r"adafactor", "adafactor"), (r"\bsgd|_sgd|^sgd", "sgd"),
    (r"adam", "adamw"),
)  # fmt: skip
_STAGE = re.compile(r"(?:zero|stage|z)[_-]?([0123])\b|(?:zero|stage|z)([0123])_", re.IGNORECASE)
PRECISIONS = {
    "bf16": "bf16", "bfloat16": "bf16", "torch.bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16",
    "fp32": "fp32", "float32": "fp32", "fp8": "float8", "float8": "float8", "tf32": "tf32",
}  # fmt: skip


def optimizer_of(text: str | None) -> str | None:
    """Return the optimizer that a trainer's word means; None of one that is not known."""
    word = (text or "").casefold().replace("adamw8bit", "adamw_8bit").replace("adam8bit", "adam_8bit")
    return next((name for pattern, name in _OPTIMIZERS if re.search(pattern, word)), None)


def precision_of(text: str | None) -> str | None:
    """Return a number format."""
    return PRECISIONS.get((text or "").casefold())


def strategy_of_stage(stage: int | None) -> str | None:
    """Return the strategy of a ZeRO stage."""
    return {0: "ddp", 1: "zero1", 2: "zero2", 3: "zero3"}.get(-1 if stage is None else stage)


def strategy_of_file_name(name: str | None) -> str | None:
    """Return the ZeRO stage in the name of a DeepSpeed file: `ds_z3_config.json`, `zero2.json`."""
    found = _STAGE.search((name or "").rpartition("/")[2])
    return strategy_of_stage(int(found[1] or found[2])) if found else None
