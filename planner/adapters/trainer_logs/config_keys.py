"""Names of training facts in configurations: arguments of trainers, parameters in W&B and MLflow, YAML files.

Also joins the files beside a Hugging Face training: config.json, adapters, the model card's hyperparameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.adapters.trainer_logs.log_source import LogSource, base
from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import stated_objective

COUNTS = {
    "micro_batch": ("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu",
                    "local_batch_size", "device_train_microbatch_size"),
    "accumulation": ("gradient_accumulation_steps",),
    "global_batch": ("global_batch_size", "total_train_batch_size", "global_train_batch_size"),
    "seq_len": ("max_seq_length", "max_length", "cutoff_len", "sequence_len", "seq_length", "block_size",
                "max_seq_len", "seq_len"),
    "devices": ("world_size", "num_gpus", "gpu_count", "num_devices", "num_processes"),
    "lora_rank": ("lora_r", "lora_rank", "peft_lora_r"),
}  # fmt: skip
"""Keys by fact. The first key that a configuration has is used."""
RECOMPUTED = ("gradient_checkpointing", "activation_checkpointing")
TARGETS = ("lora_target", "lora_target_modules", "target_modules", "lora_targets")
MODELS = ("model_name_or_path", "base_model", "model_name", "_name_or_path", "model")
ACCELERATORS = ("gpu", "gpu_name", "gpu_type", "accelerator_name")
TRUE = ("true", "1", "yes")


def facts_of_config(config: Mapping[str, object]) -> Facts:
    """Return the facts in a configuration. W&B writes each value as {value: ...}; in MLflow every value is text."""
    plain = {key: value["value"] if _is_wrapped(value) else value for key, value in config.items()}  # type: ignore[index]
    found: dict[str, int | None] = {
        fact: next((value for name in names if (value := count(plain.get(name)))), None)
        for fact, names in COUNTS.items()
    }
    packed = next((plain[name] for name in ("packing", "sample_packing") if name in plain), None)
    return Facts(
        model=_text(plain, MODELS),
        accelerator=_text(plain, ACCELERATORS),
        devices=found["devices"],
        micro_batch=found["micro_batch"],
        accumulation=found["accumulation"],
        global_batch=found["global_batch"],
        seq_len=found["seq_len"],
        lora_rank=found["lora_rank"],
        lora_targets=_targets(plain),
        quantized=True if str(plain.get("quantization_bit")) == "4" or _is_true(plain.get("load_in_4bit")) else None,
        planned_steps=count(plain.get("max_steps")),
        precision=next((name for name in ("bf16", "fp16") if _is_true(plain.get(name))), None),
        checkpointing="full" if any(_is_true(plain.get(name)) for name in RECOMPUTED) else None,
        objective=stated_objective(plain),
        compiled=True if _is_true(plain.get("torch_compile")) else None,
        padded=None if packed is None else not _is_true(packed),
    )


def _targets(plain: Mapping[str, object]) -> tuple[str, ...] | None:
    """Return the names of the linear maps with adapters, from a list or a text with commas."""
    value = next((plain[name] for name in TARGETS if plain.get(name)), None)
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip()) or None
    return tuple(str(part) for part in value) if isinstance(value, list) else None


def _is_wrapped(value: object) -> bool:
    return isinstance(value, dict) and "value" in value


def _is_true(value: object) -> bool:
    return str(value).casefold() in TRUE


def _text(plain: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((str(plain[name]) for name in names if isinstance(plain.get(name), str) and plain[name]), None)


CARD = {
    "micro_batch": "train_batch_size",
    "accumulation": "gradient_accumulation_steps",
    "global_batch": "total_train_batch_size",
    "devices": "num_devices",
}
"""Lines of the model card that the Trainer writes (transformers.modelcard), `- train_batch_size: 4`."""


CONFIGS = ("args.json", "training_args.yaml", "axolotl.yaml", "axolotl.yml", "config.yaml", "config.yml", "train.yaml")
"""File names under which people and trainers keep the arguments of trainers built on it."""


AXOLOTL = ("axolotl.yaml", "axolotl.yml")


def statements_of(source: LogSource, log: str, own: Statements, *, passed_over: Sequence[str] = ()) -> Statements:
    """Join a log's own statements with those of the files in its folder.

    `passed_over` are names of files that another trainer writes. If the user named only the log, files beside it that
    contradict it belong to another training, and are left out.
    """
    neighbours = Statements(
        statement for statement in _neighbours(source, log).said if base(statement.file) not in passed_over
    )
    if source.lone:
        contradicting = {
            name for name in neighbours.files if Statements([*own.said, *neighbours.of(name)]).contradictions()
        }
        neighbours = Statements(statement for statement in neighbours.said if statement.file not in contradicting)
    return Statements([*own.said, *neighbours.said])


def _neighbours(source: LogSource, log: str) -> Statements:
    """Return the statements of the files in the log's folder. The model card's batch comes first."""
    said = Statements()
    for name in source.in_folder_of(log, "README.md"):
        said.add(_facts_of_card(source.text(name)), name)
    for name in source.in_folder_of(log, "config.json"):
        said.add(Facts(config=name), name)
    for name in source.in_folder_of(log, "adapter_config.json"):
        adapters = source.json(name)
        base, targets = adapters.get("base_model_name_or_path"), adapters.get("target_modules")
        is_list = isinstance(targets, list) and all(isinstance(target, str) for target in targets)
        lora_targets = tuple(targets) if is_list and targets else None
        model = base if isinstance(base, str) and base else None
        said.add(Facts(lora_rank=count(adapters.get("r")), lora_targets=lora_targets, model=model), name)
    for name in source.in_folder_of(log, *CONFIGS):
        said.add(facts_of_config(source.json(name)), name)
    return said


def with_whole_batch(facts: Facts) -> Facts:
    """Add the samples of a step = micro-batch x accumulation x accelerators, if these are known."""
    if facts.global_batch or not facts.micro_batch or not facts.devices:
        return facts
    return replace(facts, global_batch=facts.micro_batch * (facts.accumulation or 1) * facts.devices)


def _facts_of_card(text: str) -> Facts:
    said = {}
    for name, key in CARD.items():
        found = re.search(rf"^- {key}: (\d{{1,9}})\s*$", text[:200_000], re.MULTILINE)
        if found and (value := count(found[1])):
            said[name] = value
    if "micro_batch" not in said:
        return Facts()
    said.setdefault("accumulation", 1)
    said.setdefault("global_batch", said["micro_batch"] * said["accumulation"] * said.get("devices", 1))
    if "devices" not in said:
        devices, left = divmod(said["global_batch"], said["micro_batch"] * said["accumulation"])
        if devices and not left:
            said["devices"] = devices
    return Facts(
        micro_batch=said["micro_batch"],
        accumulation=said["accumulation"],
        global_batch=said.get("global_batch"),
        devices=said.get("devices"),
    )
