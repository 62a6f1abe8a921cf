"""Default behaviour of trainers that decides memory: one table by name and version, with its sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from planner.model.network.adapters import Adapters
from planner.model.network.trainer_memory import Attention, Kernels, Loss, Optimizer, WeightFormat
from planner.model.network.workload import Checkpointing
from planner.scenario.frameworks import HUGGING_FACE, planned_family


@dataclass(frozen=True)
class OneDeviceRecipe:
    """Further settings of a trainer's recipe for all weights on a single device."""

    source: str
    optimizer: Optimizer
    flags: dict[str, bool] = field(default_factory=dict)
    """Fields of `TrainerMemory` that no plan states."""


@dataclass(frozen=True)
class TrainerHabits:
    """One trainer in a range of versions. None means that it has no usual behaviour, so every likely one counts."""

    words: tuple[str, ...]
    """Words of which a name must contain one, in lower case."""
    source: str
    below: tuple[int, ...] | None = None
    """Versions below this one. A name without a version means the newest."""
    loss: Loss | None = None
    kernels: Kernels | None = None
    attention: Attention | None = None
    weights: WeightFormat | None = None
    """Format of trained weights."""
    checkpointing: Checkpointing | None = None
    one_device: OneDeviceRecipe | None = None
    flags: dict[str, bool] = field(default_factory=dict)
    """Fields of `TrainerMemory` that no plan states."""


DOUBLE = {"double_quantized": True}
DOUBLE_SOURCE = "4-bit scales are quantized too by default (bnb_4bit_use_double_quant)"
SDPA_SINCE = "huggingface/transformers issue 28005: SDPA is the default from 4.36 on"
PEFTS_WAY = "huggingface/peft, prepare_model_for_kbit_training: all that is not quantized is cast to fp32"
TRAINERS = (
    TrainerHabits(
        ("unsloth",),
        'unslothai/unsloth README and its `use_gradient_checkpointing = "unsloth"`: kernels in Triton, a loss in '
        "chunks, inputs of recomputed layers in the host's memory, one buffer for expanded maps; " + DOUBLE_SOURCE,
        loss=Loss.CHUNKED,
        kernels=Kernels.FUSED,
        attention=Attention.SDPA,
        flags={"wide_stream": False, "offloads_inputs": True, "one_map_at_a_time": True, **DOUBLE},
    ),
    TrainerHabits(
        ("torchtune",),
        "meta-pytorch/torchtune recipes/configs: `dtype: bf16` for all that is trained, adapters too; "
        "enable_activation_checkpointing; AdamW in one kernel; CEWithChunkedOutputLoss, whose model returns the logits "
        "of all chunks; SDPA; NF4 weights of torchao, with scales at 8 bit, expanded one map at a time (linear_nf4)",
        loss=Loss.CHUNKED,
        attention=Attention.SDPA,
        weights=WeightFormat.SIXTEEN_BIT,
        checkpointing=Checkpointing.FULL,
        one_device=OneDeviceRecipe(
            "recipes/configs/*/*_full_single_device.yaml: bitsandbytes.optim.PagedAdamW (for 8B at 8 bit), "
            "optimizer_in_bwd",
            optimizer=Optimizer.PAGED_ADAMW,
            flags={"step_in_backward": True},
        ),
        flags={
            "wide_stream": False,
            "fused_step": True,
            "keeps_pieces": True,
            "narrow_adapters": True,
            "one_map_at_a_time": True,
            **DOUBLE,
        },
    ),
    TrainerHabits(
        ("litgpt", "lit-gpt", "lit-llama"),
        "Lightning-AI/litgpt finetune/lora.py: the head works in pieces, but all pieces of the logits stay for the "
        "loss; model.py: SDPA; its bitsandbytes 0.41 and 0.42 keep the inputs of frozen maps (release notes of 0.43.2)",
        loss=Loss.EAGER,
        attention=Attention.SDPA,
        flags={"wide_stream": False, "keeps_frozen_inputs": True},
    ),
    TrainerHabits(
        ("torchtitan",),
        "pytorch/torchtitan, job configuration: compile.components model and loss",
        loss=Loss.COMPILED,
        attention=Attention.SDPA,
    ),
    TrainerHabits(
        ("megatron", "nemo", "mcore"),
        "NVIDIA/Megatron-LM: vocabulary-parallel cross-entropy over fp32 logits, fused norms and activations",
        loss=Loss.FUSED,
        kernels=Kernels.FUSED,
        attention=Attention.FLASH,
        flags={"copies_gradients": False},
    ),
    TrainerHabits(
        ("jax", "maxtext", "paxml", "t5x", "levanter"),
        "XLA fuses element-wise work and the loss",
        loss=Loss.COMPILED,
        kernels=Kernels.FUSED,
    ),
    TrainerHabits(
        ("llm.c", "llmq"),
        "karpathy/llm.c: the gradient is written over the logits",
        loss=Loss.COMPILED,
        kernels=Kernels.FUSED,
        attention=Attention.FLASH,
    ),
    TrainerHabits(
        ("llama-factory", "llamafactory"),
        f"hiyouga/LlamaFactory requirements: transformers below 4.36 before 0.4; {SDPA_SINCE}; its ds_z*_config.json "
        "name no optimizer, so DeepSpeed steps with torch's AdamW (traceback in its issue 1221); " + DOUBLE_SOURCE,
        below=(0, 4),
        attention=Attention.EAGER,
        flags={"fused_step": False, **DOUBLE},
    ),
    TrainerHabits(
        ("llama-factory", "llamafactory", "xtuner"),
        f"{SDPA_SINCE}; DeepSpeed configurations without an optimizer, so it steps with torch's AdamW; {DOUBLE_SOURCE}",
        attention=Attention.SDPA,
        flags={"fused_step": False, **DOUBLE},
    ),
    TrainerHabits(
        ("hf trainer", "transformers"),
        f"{SDPA_SINCE}; {PEFTS_WAY}",
        below=(4, 36),
        attention=Attention.EAGER,
    ),
    TrainerHabits(
        ("axolotl", "ms-swift", "swift"),
        f"{SDPA_SINCE}; {PEFTS_WAY}; {DOUBLE_SOURCE}",
        attention=Attention.SDPA,
        flags=DOUBLE,
    ),
    TrainerHabits(
        ("hf trainer", "transformers", "trl", "sfttrainer", "openrlhf"),
        f"{SDPA_SINCE}; {PEFTS_WAY}",
        attention=Attention.SDPA,
    ),
    TrainerHabits(
        ("fsdp", "composer", "llm-foundry", "nanochat", "nanogpt", "automodel"),
        "torch's scaled_dot_product_attention or FlashAttention in their models",
        attention=Attention.SDPA,
    ),
)
"""Habits in order; the first that fits counts. `planned_settings` knows more about some kernels (Megatron)."""
_VERSION = re.compile(r"(\d+(?:\.\d+)+)")


def takes_one_device_recipe(devices: int, adapters: Adapters | None) -> bool:
    """Return whether all weights are trained on a single device, for which some trainers have a special recipe."""
    return devices == 1 and adapters is None


def habits_of(framework: str) -> TrainerHabits | None:
    """Return the habits of the trainer in a framework's name, with its version; None for an unknown one.

    Unsloth counts wherever it is named, because it replaces what another trainer would do.
    """
    said = framework.casefold()
    found = _VERSION.search(said)
    version = None if found is None else tuple(int(part) for part in found[1].split("."))
    for habits in TRAINERS:
        if not any(word in said for word in habits.words):
            continue
        if habits.below is None or (version is not None and version < habits.below):
            return habits
    return None


class ExpertProducts(StrEnum):
    """Way in which a trainer multiplies by the experts of a layer."""

    GROUPED = "grouped"
    ONE_BY_ONE = "one by one"
    """A loop that asks the device which tokens belong to an expert, and multiplies them."""
    ASSUMED_GROUPED = "assumed grouped"
    """Grouped as in its newest version, if the version is not stated."""


GROUPED_SINCE = (5,)
"""Version of transformers from which networks multiply all experts of a layer at once (torch._grouped_mm).

Source: huggingface.co/docs/transformers/experts_interface; unsloth.ai/docs/new/faster-moe: about six times as fast as
before.
"""
GROUPED_BY = ("unsloth", "grouped", "gmm", "scattermoe", "megablocks")
"""Kernels with grouped products under any version."""
_OF_TRANSFORMERS = re.compile(r"(?:transformers|hf trainer)\s*(?:v|version)?\s*(\d+(?:\.\d+)*)")
OLDER_TRANSFORMERS = "transformers 4"


def expert_products(framework: str | None) -> ExpertProducts:
    """Return how a plan's trainer multiplies by experts; for Hugging Face's by the version of transformers."""
    said = (framework or "").casefold()
    calls_transformers = planned_family(said) in HUGGING_FACE or "swift" in said
    if not calls_transformers or any(word in said for word in GROUPED_BY):
        return ExpertProducts.GROUPED
    version = _OF_TRANSFORMERS.search(said)
    if version is None:
        return ExpertProducts.ASSUMED_GROUPED
    older = tuple(int(part) for part in version[1].split(".")) < GROUPED_SINCE
    return ExpertProducts.ONE_BY_ONE if older else ExpertProducts.GROUPED
