"""Reads a training from a pasted command line or configuration of a trainer. Nothing is run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from planner.adapters.training_files.commands import command_of
from planner.adapters.training_files.keys import stated_objective
from planner.model.catalog import Catalog
from planner.model.network.workload import Precision
from planner.text.number_text import read_number
from planner.use_cases.training_files import objective_named

LONGEST_COMMAND = 200_000
"""Largest number of characters of a pasted text that are read."""
NETWORK = ("model_name_or_path", "base_model", "model_name", "model_id", "pretrained_model_name_or_path", "model")
EPOCHS = ("num_train_epochs", "num_epochs", "epochs", "max_epochs")
LENGTH = ("max_seq_length", "max_length", "cutoff_len", "sequence_len", "seq_len", "model_max_length", "seq-length")
GPUS = ("num_processes", "nproc_per_node", "nproc-per-node", "num_gpus", "gpus", "n_gpus_per_node")
BATCH = ("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu")
LORA = ("lora_r", "lora_rank", "use_peft", "use_lora", "lora", "peft_type", "adapter", "finetuning_type")
UNUSED = (*dict.fromkeys(name.replace("-", "_") for name in GPUS), *BATCH,
          "gradient_accumulation_steps", "lora_r", "lora_rank", "lora_alpha", "lora_target_modules", "lora_target",
          "target_modules", "optim", "optimizer", "deepspeed", "fsdp", "packing", "sample_packing",
          "gradient_checkpointing", "max_steps")  # fmt: skip
"""Settings without a field in the form."""
FOUR_BIT = ("load_in_4bit", "use_4bit", "quantization_bit", "qlora")
NO = ("false", "no", "0", "none", "null", "full")
KEY = re.compile(r"^\s*[-]{0,2}([A-Za-z][\w.-]{1,60})\s*[:=]\s*(\S.{0,300}?)\s*$")


@dataclass(frozen=True)
class Pasted:
    """Settings that were understood. None means not stated."""

    network: str | None = None
    method: str | None = None
    objective: str | None = None
    """Training objective, unless it is the next token."""
    precision: Precision | None = None
    epochs: float | None = None
    seq_len: int | None = None
    said: tuple[str, ...] = ()
    """Words of the text from which the settings were read."""
    unused: tuple[str, ...] = ()
    """Settings that the form has no field for, in the words of the text."""


def read_command(text: str, catalog: Catalog) -> Pasted:
    """Read a trainer's command, or its configuration as lines of `key: value`.

    Raises NotModelledError for an objective that the planner does not know.
    """
    stated, command = _stated(text[:LONGEST_COMMAND]), command_of(text)
    objective = stated_objective(stated) or (command.objective if command is not None else None)
    named = objective_named(objective, where="the text").method
    said: list[str] = []

    def first(names: tuple[str, ...]) -> str | None:
        for name in names:
            value = stated.get(name.replace("-", "_"))
            if value is not None:
                said.append(f"{name} {value}")
                return value
        return None

    network = first(NETWORK)
    preset = catalog.preset_named(network) or catalog.preset_named(network.rpartition("/")[2]) if network else None
    lora, four = first(LORA), first(FOUR_BIT)
    unused = [f"{name} {stated[name]}" for name in UNUSED if name in stated]
    return Pasted(
        network=preset.name if preset else None,
        method=_method(lora, four),
        objective=None if named is None else named.value,
        precision=_precision(stated, said),
        epochs=_number(first(EPOCHS)),
        seq_len=_count(first(LENGTH)),
        said=tuple(said),
        unused=tuple(unused),
    )


def _stated(text: str) -> dict[str, str]:
    """Return the options of a command line or of lines of `key: value`, by name. The last value of a name counts."""
    found: dict[str, str] = {}
    for line in text.replace("\\\n", " ").splitlines():
        pair = KEY.match(line)
        if pair is not None and not line.lstrip().startswith("-"):
            found[_plain(pair[1])] = pair[2].strip("\"'")
            continue
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            words = line.split()
        for place, word in enumerate(words):
            if not word.startswith("-"):
                continue
            name, joined, value = word.lstrip("-").partition("=")
            following = words[place + 1] if place + 1 < len(words) else ""
            found[_plain(name)] = (
                value if joined else "true" if following.startswith("-") or not following else following
            )
    return found


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("-", "_")


def _method(lora: str | None, four: str | None) -> str | None:
    adapters = lora is not None and lora.casefold() not in NO
    if (four is not None and four.casefold() not in NO) or (lora or "").casefold() == "qlora":
        return "qlora"
    if adapters:
        return "lora"
    return "full" if lora is not None else None


def _precision(stated: dict[str, str], said: list[str]) -> Precision | None:
    for name in ("bf16", "fp16", "mixed_precision", "torch_dtype", "dtype"):
        value = stated.get(name)
        if value is None or value.casefold() in NO:
            continue
        word = (name if name in ("bf16", "fp16") else value).casefold().replace("bfloat16", "bf16")
        word = word.replace("float16", "fp16")
        if word in ("bf16", "fp16"):
            said.append(f"{name} {value}")
            return Precision(word)
    return None


def _number(text: str | None) -> float | None:
    try:
        number = read_number(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 < number <= 10_000 else None


def _count(text: str | None) -> int | None:
    plain = text is not None and text.isascii() and text.isdecimal()
    return int(text) if text is not None and plain and 0 < int(text[:9]) <= 10**7 else None
