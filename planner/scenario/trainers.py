"""What trainers do that decides memory where nobody sets it: one table by name and version, with its sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from planner.model.network.trainer_memory import Attention, Kernels, Loss
from planner.scenario.frameworks import HUGGING_FACE, planned_family


@dataclass(frozen=True)
class TrainerHabits:
    """One trainer in a range of versions; None: it has no usual way, so every likely one counts."""

    words: tuple[str, ...]
    """Of which a name has one, in small letters."""
    source: str
    below: tuple[int, ...] | None = None
    """Versions before this one; a name without a version is the newest."""
    loss: Loss | None = None
    kernels: Kernels | None = None
    attention: Attention | None = None
    flags: dict[str, bool] = field(default_factory=dict)
    """Fields of `TrainerMemory` that no plan states."""


_PLAIN_STREAM = {"wide_stream": False}
SDPA_SINCE = "huggingface/transformers issue 28005: SDPA is the default from 4.36 on"
PEFTS_WAY = "huggingface/peft, prepare_model_for_kbit_training: all that is not quantized is cast to fp32"
TRAINERS = (
    TrainerHabits(
        ("unsloth",),
        'unslothai/unsloth README and its `use_gradient_checkpointing = "unsloth"`: kernels in Triton, a loss in '
        "chunks, inputs of recomputed layers in the host's memory",
        loss=Loss.CHUNKED,
        kernels=Kernels.FUSED,
        attention=Attention.SDPA,
        flags={"wide_stream": False, "offloads_inputs": True},
    ),
    TrainerHabits(
        ("torchtune",),
        "meta-pytorch/torchtune recipes: CEWithChunkedOutputLoss, SDPA, NF4 weights beside bf16 norms",
        loss=Loss.CHUNKED,
        attention=Attention.SDPA,
        flags=_PLAIN_STREAM,
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
        "name no optimizer, so DeepSpeed steps with torch's AdamW (traceback in its issue 1221)",
        below=(0, 4),
        attention=Attention.EAGER,
        flags={"fused_step": False},
    ),
    TrainerHabits(
        ("llama-factory", "llamafactory", "xtuner"),
        f"{SDPA_SINCE}; DeepSpeed configurations without an optimizer, so it steps with torch's AdamW",
        attention=Attention.SDPA,
        flags={"fused_step": False},
    ),
    TrainerHabits(
        ("hf trainer", "transformers"),
        f"{SDPA_SINCE}; {PEFTS_WAY}",
        below=(4, 36),
        attention=Attention.EAGER,
    ),
    TrainerHabits(
        ("hf trainer", "transformers", "trl", "sfttrainer", "axolotl", "ms-swift", "swift", "openrlhf"),
        f"{SDPA_SINCE}; {PEFTS_WAY}",
        attention=Attention.SDPA,
    ),
    TrainerHabits(
        ("fsdp", "composer", "llm-foundry", "nanochat", "nanogpt", "automodel"),
        "torch's scaled_dot_product_attention or FlashAttention in their models",
        attention=Attention.SDPA,
    ),
)
"""The first that fits. Megatron and others that a kernel's word says more of: `planned_settings`."""
_VERSION = re.compile(r"(\d+(?:\.\d+)+)")


def habits_of(framework: str) -> TrainerHabits | None:
    """Return what the trainer does that a framework's name, with its version, says; None for an unknown one.

    Unsloth counts wherever it is named, since it replaces what another trainer would do.
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
    """How a trainer multiplies by the experts of a layer."""

    GROUPED = "grouped"
    ONE_BY_ONE = "one by one"
    """A loop that asks the device which tokens are an expert's, and multiplies them."""
    ASSUMED_GROUPED = "assumed grouped"
    """As its newest version does, where nobody states the version."""


GROUPED_SINCE = (5,)
"""Version of transformers whose networks multiply all experts of a layer at once (torch._grouped_mm). Source:
huggingface.co/docs/transformers/experts_interface; unsloth.ai/docs/new/faster-moe: some six times as fast as before."""
GROUPED_BY = ("unsloth", "grouped", "gmm", "scattermoe", "megablocks")
"""Kernels that do so under any version."""
_OF_TRANSFORMERS = re.compile(r"(?:transformers|hf trainer)\s*(?:v|version)?\s*(\d+(?:\.\d+)*)")
OLDER_TRANSFORMERS = "transformers 4"


def expert_products(framework: str | None) -> ExpertProducts:
    """Return how a plan's trainer multiplies by experts: Hugging Face's by the version of transformers it names."""
    said = (framework or "").casefold()
    calls_transformers = planned_family(said) in HUGGING_FACE or "swift" in said
    if not calls_transformers or any(word in said for word in GROUPED_BY):
        return ExpertProducts.GROUPED
    version = _OF_TRANSFORMERS.search(said)
    if version is None:
        return ExpertProducts.ASSUMED_GROUPED
    older = tuple(int(part) for part in version[1].split(".")) < GROUPED_SINCE
    return ExpertProducts.ONE_BY_ONE if older else ExpertProducts.GROUPED
