"""Files beside a Hugging Face training: the network's config.json, adapters, the model card's hyperparameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.log_source import LogSource, base
from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import Facts

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
    beside = Statements(statement for statement in _beside(source, log).said if base(statement.file) not in passed_over)
    if source.lone:
        others = {name for name in beside.files if Statements([*own.said, *beside.of(name)]).contradictions()}
        beside = Statements(statement for statement in beside.said if statement.file not in others)
    return Statements([*own.said, *beside.said])


def _beside(source: LogSource, log: str) -> Statements:
    """Return the statements of the files in the log's folder. The model card's batch comes first."""
    said = Statements()
    for name in source.beside(log, "README.md"):
        said.add(_facts_of_card(source.text(name)), name)
    for name in source.beside(log, "config.json"):
        said.add(Facts(config=name), name)
    for name in source.beside(log, "adapter_config.json"):
        adapters = source.json(name)
        base, targets = adapters.get("base_model_name_or_path"), adapters.get("target_modules")
        is_list = isinstance(targets, list) and all(isinstance(target, str) for target in targets)
        lora_targets = tuple(targets) if is_list and targets else None
        model = base if isinstance(base, str) and base else None
        said.add(Facts(lora_rank=count(adapters.get("r")), lora_targets=lora_targets, model=model), name)
    for name in source.beside(log, *CONFIGS):
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
