"""The arithmetic in the source texts of a device's memory gives the stated number, for every kind of training."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.quantity import Quantity
from planner.use_cases.memory import MemoryRequest, estimate_memory
from tests.bundled import bundled_catalog

GIB = 2**30
ASIDE = re.compile(r"(, under | /? ?\(checkpointing |, the head|, \w+ loss).*")
"""Text after the arithmetic."""
SUM_BEFORE = re.compile(r" = [\d.e+-]+ bytes")
"""Sum of a product's factor, which repeats its terms."""
WORD = re.compile(r"(?<![\d.])[a-zA-Z'-]+(?!\w)")

QUESTIONS: dict[str, dict[str, Any]] = {
    "ddp": {"strategy": "ddp", "gpus": 2},
    "fsdp": {"strategy": "fsdp2", "micro_batch": 4},
    "zero1": {"strategy": "zero1"},
    "zero2": {"strategy": "zero2"},
    "zero3": {"strategy": "zero3", "micro_batch": 2},
    "fp32": {"precision": "fp32", "strategy": "fsdp2"},
    "full checkpointing": {"strategy": "fsdp2", "checkpointing": "full", "micro_batch": 8},
    "no checkpointing": {"strategy": "fsdp2", "checkpointing": "none"},
    "16-bit weights": {"strategy": "fsdp2", "weights": "16bit"},
    "adamw-8bit": {"strategy": "fsdp2", "optimizer": "adamw-8bit"},
    "paged": {"strategy": "ddp", "optimizer": "paged-adamw-8bit"},
    "offload": {"strategy": "fsdp2", "offload": "optimizer"},
    "offload of all": {"strategy": "fsdp2", "offload": "all"},
    "tensor": {"strategy": "zero1", "tensor": 4},
    "pipeline": {"strategy": "zero1", "pipeline": 2, "tensor": 2},
    "context": {"strategy": "fsdp2", "context": 2},
    "chunked": {"strategy": "fsdp2", "loss": "chunked", "seq_len": 8192},
    "fused": {"strategy": "fsdp2", "loss": "fused", "seq_len": 8192},
    "fused kernels": {"strategy": "fsdp2", "kernels": "fused", "checkpointing": "none"},
    "eager attention": {"strategy": "fsdp2", "attention": "eager", "checkpointing": "none"},
    "eager attention, checkpointed": {"strategy": "fsdp2", "attention": "eager", "checkpointing": "full"},
    "torchtune": {"strategy": "fsdp2", "framework": "torchtune"},
    "mixture": {"workload": "qwen3-30b-a3b", "strategy": "fsdp2"},
    "lora": {"adapters": {"rank": 16}, "strategy": "ddp"},
    "qlora": {"adapters": {"rank": 16, "frozen": "nf4"}, "strategy": "ddp"},
    "qlora of unsloth": {"adapters": {"rank": 16, "frozen": "nf4"}, "framework": "unsloth", "gpus": 1},
    "dpo": {"objective": {"method": "dpo", "reference": "model"}, "strategy": "zero3"},
    "dpo of adapters": {"objective": {"method": "dpo"}, "adapters": {"rank": 16}, "strategy": "zero3"},
    "reward": {"objective": {"method": "reward"}, "strategy": "zero3"},
    "grpo": {"objective": {"method": "grpo", "reference": "model", "reward": "model"}, "strategy": "zero3"},
    "ppo": {"objective": {"method": "ppo", "reference": "model", "reward": "model"}, "strategy": "zero3"},
    "long": {"strategy": "fsdp2", "seq_len": 32768},
    "images": {"workload": "resnet50", "micro_batch": 64, "seq_len": None},
    "vit": {"workload": "vit-b16", "micro_batch": 64, "seq_len": None},
    "vit, checkpointed": {"workload": "vit-b16", "micro_batch": 64, "seq_len": None, "checkpointing": "full"},
}


@cache
def _catalog() -> Catalog:
    return bundled_catalog()


def _recomputed(source: str) -> float:
    """Evaluate the arithmetic of a source."""
    text = SUM_BEFORE.sub("", ASIDE.sub("", source)).replace(",", "")
    text = WORD.sub(lambda word: "*" if word[0] == "x" else "", text)
    return float(eval(text, {"__builtins__": {}}))  # the text is our own, and contains only numbers


@pytest.mark.parametrize("part", ["states", "activations", "logits"])
@pytest.mark.parametrize("changes", [pytest.param(changes, id=name) for name, changes in QUESTIONS.items()])
def test_the_arithmetic_of_a_source_gives_its_number(changes: dict[str, Any], part: str) -> None:
    asked = {"workload": "llama3-8b", "on": "H100-SXM", "gpus": 8, "seq_len": 2048} | changes
    found: Quantity = getattr(estimate_memory(MemoryRequest.model_validate(asked), _catalog()), f"{part}_gib")
    if found.source.startswith("none"):
        assert found.value == 0
    else:
        assert _recomputed(found.source) / GIB == pytest.approx(found.value, rel=1e-3), found.source
