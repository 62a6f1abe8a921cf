"""Typed reads of a trainer's configuration, and the planner's words for trainers' words. "auto" is no value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import count, positive

TRUE = ("true", "yes", "1", "on")
FALSE = ("false", "no", "0", "off")
SILENT = ("", "auto", "none", "null")


class Keys:
    """Keys of a mapping. A dot steps into a nested mapping."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    def value(self, *names: str) -> Any:
        """Return the value under the first name that has one; None if none has."""
        for name in names:
            found: Any = self.data
            for part in name.split("."):
                found = found.get(part) if isinstance(found, Mapping) else None
            if found is not None and str(found).casefold() not in SILENT:
                return found
        return None

    def count(self, *names: str) -> int | None:
        """Return a whole number above 0."""
        found = self.value(*names)
        return None if isinstance(found, bool) else count(found)

    def number(self, *names: str) -> float | None:
        """Return a number above 0."""
        return positive(self.value(*names))

    def flag(self, *names: str) -> bool | None:
        """Return true or false."""
        text = str(self.value(*names)).casefold()
        return True if text in TRUE else False if text in FALSE else None

    def text(self, *names: str) -> str | None:
        """Return a text."""
        found = self.value(*names)
        return found.strip() if isinstance(found, str) else None

    def words(self, *names: str) -> tuple[str, ...] | None:
        """Return a list of texts, also from a text separated by commas or spaces."""
        found = self.value(*names)
        if isinstance(found, str):
            found = found.replace(",", " ").split()
        return tuple(str(part) for part in found) or None if isinstance(found, list) else None


def put(data: dict[str, Any], name: str, value: Any) -> None:
    """Set the value under a name whose dots step into nested mappings. Mappings on the way are copied or made."""
    *folders, last = name.split(".")
    for folder in folders:
        inner = data.get(folder)
        data[folder] = dict(inner) if isinstance(inner, Mapping) else {}
        data = data[folder]
    data[last] = value


_OPTIMIZERS = (
    (r"paged.*adamw?.*8bit", "paged-adamw-8bit"), (r"paged.*adam", "paged-adamw"), (r"adamw?.*4bit", "adamw-4bit"),
    (r"adamw?.*8bit|adamw_bnb_8bit|bnb.*adam", "adamw-8bit"), (r"adafactor", "adafactor"), (r"\bsgd|_sgd|^sgd", "sgd"),
    (r"adam", "adamw"),
)  # fmt: skip
_STAGE = re.compile(r"(?:zero|stage|z)[_-]?([0123])\b|(?:zero|stage|z)([0123])_", re.IGNORECASE)
_OBJECTIVE = re.compile(
    r"(?<![a-z])(dpo|ipo|kto|orpo|simpo|cpo|rloo|grpo|ppo|rm|reward|reward_modeling|reward_trainer|gkd)(?![a-z])"
)
OBJECTIVES = {"reward": "rm", "reward_modeling": "rm", "reward_trainer": "rm"}
PRECISIONS = {
    "bf16": "bf16", "bfloat16": "bf16", "torch.bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16",
    "fp32": "fp32", "float32": "fp32", "fp8": "float8", "float8": "float8", "tf32": "tf32",
}  # fmt: skip


def optimizer_of(text: str | None) -> str | None:
    """Return the optimizer that a trainer's word means; None if it is unknown."""
    word = (text or "").casefold().replace("adamw8bit", "adamw_8bit").replace("adam8bit", "adam_8bit")
    return next((name for pattern, name in _OPTIMIZERS if re.search(pattern, word)), None)


def precision_of(text: str | None) -> str | None:
    """Return a number format."""
    return PRECISIONS.get((text or "").casefold())


def strategy_of_stage(stage: int | None) -> str | None:
    """Return the strategy of a ZeRO stage."""
    return {0: "ddp", 1: "zero1", 2: "zero2", 3: "zero3"}.get(-1 if stage is None else stage)


def offload_of_file_name(name: str | None) -> str | None:
    """Return what a DeepSpeed file offloads to the host's memory, judged by its name: `ds_z3_offload_config.json`."""
    if "offload" not in (name or "").rpartition("/")[2].casefold():
        return None
    return "all" if strategy_of_file_name(name) == "zero3" else "optimizer"


def objective_of(text: str | None) -> str | None:
    """Return an objective other than next-token training, from a trainer's word or the name of its script."""
    found = _OBJECTIVE.search((text or "").casefold())
    return None if found is None else OBJECTIVES.get(found[1], found[1])


OBJECTIVE_KEYS = ("stage", "rl", "rlhf_type")


def stated_objective(stated: Mapping[str, object]) -> str | None:
    """Return the objective of a configuration. LLaMA-Factory's stage dpo also covers ORPO and SimPO (`pref_loss`)."""
    if (loss := stated.get("pref_loss")) in ("orpo", "simpo"):
        return str(loss)
    return next((objective_of(str(stated[name])) for name in OBJECTIVE_KEYS if stated.get(name)), None)


def strategy_of_file_name(name: str | None) -> str | None:
    """Return the ZeRO strategy from the name of a DeepSpeed file: `ds_z3_config.json`, `zero2.json`."""
    found = _STAGE.search((name or "").rpartition("/")[2])
    return strategy_of_stage(int(found[1] or found[2])) if found else None
