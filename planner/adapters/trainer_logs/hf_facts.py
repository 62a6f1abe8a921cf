"""What stands beside a Hugging Face training: the network's config.json, adapters, the model card's hyperparameters."""

from __future__ import annotations

import re
from dataclasses import replace

from planner.adapters.trainer_logs.config_keys import facts_of_config
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts, merged

CARD = {
    "micro_batch": "train_batch_size",
    "accumulation": "gradient_accumulation_steps",
    "global_batch": "total_train_batch_size",
    "devices": "num_devices",
}
"""Lines of the model card that the Trainer writes (transformers.modelcard), `- train_batch_size: 4`."""


CONFIGS = ("args.json", "training_args.yaml", "axolotl.yaml", "axolotl.yml", "config.yaml", "config.yml", "train.yaml")
"""Arguments of the trainers that stand on it, by the names under which people and trainers keep them."""


def facts_beside(source: LogSource, log: str) -> Facts:
    """Return what the files in the log's folder say; what the model card says of the batch comes first."""
    facts = Facts()
    for name in source.beside(log, *CONFIGS):
        facts = merged(facts, facts_of_config(source.json(name)))
    for name in source.beside(log, "adapter_config.json"):
        adapters = source.json(name)
        base = adapters.get("base_model_name_or_path")
        said = Facts(lora_rank=count(adapters.get("r")), model=base if isinstance(base, str) and base else None)
        facts = merged(said, facts)
    for name in source.beside(log, "config.json"):
        facts = merged(Facts(config=name), facts)
    for name in source.beside(log, "README.md"):
        facts = merged(_of_card(source.text(name)), facts)
    whole = facts.micro_batch and facts.micro_batch * (facts.accumulation or 1) * (facts.devices or 1)
    return facts if facts.global_batch or not whole or not facts.devices else replace(facts, global_batch=whole)


def _of_card(text: str) -> Facts:
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
