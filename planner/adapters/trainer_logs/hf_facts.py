"""What stands beside a Hugging Face training: the network's config.json, adapters, the model card's hyperparameters."""

from __future__ import annotations

import re
from dataclasses import fields, replace

from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts

CARD = {
    "micro_batch": "train_batch_size",
    "accumulation": "gradient_accumulation_steps",
    "global_batch": "total_train_batch_size",
    "devices": "num_devices",
}
"""Lines of the model card that the Trainer writes (transformers.modelcard), `- train_batch_size: 4`."""


def facts_beside(source: LogSource, folder: str) -> Facts:
    """Return what the files in the log's folder say, or in that of a lone log."""
    facts = Facts()
    for name in source.names:
        if name.rpartition("/")[0] != folder:
            continue
        base = source.base(name)
        if base == "README.md":
            facts = merged(_of_card(source.text(name)), facts)
        elif base == "config.json":
            facts = merged(Facts(config=name), facts)
        elif base == "adapter_config.json":
            facts = merged(Facts(lora_rank=count(source.json(name).get("r"))), facts)
    whole = facts.micro_batch and facts.micro_batch * (facts.accumulation or 1) * (facts.devices or 1)
    return facts if facts.global_batch or not whole else replace(facts, global_batch=whole)


def merged(first: Facts, second: Facts) -> Facts:
    """Return what the first says, and what the second says besides."""
    said = {item.name: getattr(first, item.name) for item in fields(Facts) if getattr(first, item.name) is not None}
    return replace(second, **said)


def _of_card(text: str) -> Facts:
    said = {}
    for name, key in CARD.items():
        found = re.search(rf"^- {key}: (\d{{1,9}})\s*$", text[:200_000], re.MULTILINE)
        if found and (value := count(found[1])):
            said[name] = value
    if "micro_batch" not in said:
        return Facts()
    said.setdefault("accumulation", 1)
    if "global_batch" in said and "devices" not in said:
        devices, left = divmod(said["global_batch"], said["micro_batch"] * said["accumulation"])
        if devices and not left:
            said["devices"] = devices
    return Facts(
        micro_batch=said["micro_batch"],
        accumulation=said["accumulation"],
        global_batch=said.get("global_batch"),
        devices=said.get("devices"),
    )
