"""Training of a published measurement: method, kernels, states."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.evidence.measurement import Measurement, year_of
from planner.model.hardware.machines import Accelerator
from planner.scenario.frameworks import (
    ALWAYS_COMPILED,
    USUAL_CHECKPOINTING,
    USUAL_KERNELS,
    framework_family,
    runs_deepspeed,
)
from planner.speed.physics.adapter_facts import measured_adapters
from planner.speed.physics.config_arrays import UNSCALED
from planner.speed.physics.kernels import dispatches_tokens, kernel_words, kernels_of

RECOMPUTED = {"selective": 0.3, "minimal_flash": 0.3, "gelu recompute": 0.05}
"""Share of the forward pass that is computed twice, by the word for it. "full" is 1."""
OTHER_SHARDING = ("fsdp", "shard", "gemini")
"""Words for sharding without DeepSpeed."""
AUTOCAST = ("amp", "autocast")
OWN_COMPILERS = ("Gaudi", "TPU", "Neuron")
FUSED_ATTENTION = {2022: 0.1, 2023: 0.5}
"""Probability by year that a row without a statement uses a fused attention kernel. It is 0 before and 1 after:
FlashAttention came in 2022, PyTorch 2.0 in March 2023."""
SHARDED_OPTIMIZER_YEAR = 2023
"""First year in which Megatron's recipes shard the optimizer's states over replicas (its distributed optimizer)."""
SECOND_KERNEL_YEAR = 2024
"""First year in which PyTorch's own attention is FlashAttention 2 (version 2.2, January 2024)."""


def training_of(
    row: Measurement, network: Mapping[str, float], number_format: str, accelerator: Accelerator
) -> dict[str, float]:
    """Return the training for the physics, with the usual settings of its time for those not stated."""
    kernels = kernel_words(f"{row.compile_kernels or _usual_kernels(row.framework)} {row.method}")
    noted = re.search(r"\bq?lora\b", row.notes.casefold())
    method = row.method.casefold() or kernels + (noted[0] if noted else "")
    attention = kernel_words(row.flash_attention)
    amp = "amp" in row.precision.casefold() or number_format in ("fp32", "tf32")
    zero = _zero(row)
    return (
        kernels_of(kernels, row.framework, attention=attention)
        | measured_adapters(row, network, method, accelerator)
        | UNSCALED
        | {
            "recompute": _recomputed(
                row.activation_checkpointing.casefold() or USUAL_CHECKPOINTING.get(framework_family(row.framework), "")
            ),
            "forward_only": 0.0,
            "flash": _flash(row, kernels, attention, accelerator),
            "early": float(_early(row, kernels + attention)),
            "gradient_bytes": 4.0 if amp or zero == 0 else 2.0,
            "dispatched": float(
                dispatches_tokens(f"{kernels} {row.parallelism.casefold()}", row.framework, accelerator)
            ),
            "autocast": float(any(word in row.precision.casefold() for word in AUTOCAST)),
            "zero": float(zero),
            "deepspeed": float(zero > 0 and _runs_deepspeed(row, accelerator)),
            "optimizer_offload": float(_offloaded(row.offload.casefold())),
            "optimizer_scale": 1.0,
            "paged_bytes": 0.0,
        }
    )


def _usual_kernels(framework: str) -> str:
    family = framework_family(framework)
    return USUAL_KERNELS[family] if family in ALWAYS_COMPILED else ""


def _recomputed(asked: str) -> float:
    """Return the share of the forward pass that is computed twice: all layers, some layers, or parts of each."""
    some = re.search(r"(\d+) of (\d+) layers", asked)
    if some:
        return min(1.0, int(some[1]) / max(1, int(some[2])))
    if asked.startswith(("full", "yes", "true", "on")) or "likely on" in asked:
        return 1.0
    return RECOMPUTED.get(asked, 0.3 if asked.startswith("selective") else 0.0)


def _flash(row: Measurement, kernels: str, attention: str, accelerator: Accelerator) -> float:
    if attention:
        return 0.0 if attention.startswith(("no", "eager", "false")) else 1.0
    if any(part in kernels for part in ("flash", "transformerengine", "xformers", "sdpa")):
        return 1.0
    year = year_of(row)
    return 0.0 if old_stack(row, accelerator) or year < min(FUSED_ATTENTION) else FUSED_ATTENTION.get(year, 1.0)


def _early(row: Measurement, kernels: str) -> bool:
    """Return whether a fused attention kernel is of the first generation, by its name or its year."""
    if any(part in kernels for part in ("triton/cuda", "attn(triton", "xformers", "fa1")):
        return True
    if any(part in kernels for part in ("fa2", "fa3", "fa4", "cudnn", "transformerengine", "flash-attention 2")):
        return False
    return year_of(row) < SECOND_KERNEL_YEAR


def _offloaded(offload: str) -> bool:
    """Return whether optimizer or weights are offloaded to the host. Activations alone do not slow the optimizer."""
    if offload.startswith(("no", "false")):
        return False
    words = ("optimizer", "param", "likely", "auto", "nvme", "yes", "true")
    return any(part in offload for part in words) or ("cpu" in offload and "activation" not in offload)


def old_stack(row: Measurement, accelerator: Accelerator) -> bool:
    """Return whether the framework's networks write the attention matrix to memory.

    Compilers of accelerators other than GPUs fuse attention. Today's networks under DeepSpeed use PyTorch's kernels.
    """
    lowered = row.framework.casefold()
    if accelerator.architecture in OWN_COMPILERS:
        return False
    old = "megatron" in lowered or year_of(row) < SECOND_KERNEL_YEAR
    return "ngc" in lowered or ("deepspeed" in lowered and old)


def _runs_deepspeed(row: Measurement, accelerator: Accelerator) -> bool:
    """Return whether DeepSpeed implements a row's ZeRO, by its name or by trainers that use it for ZeRO."""
    sharding = f"{row.zero} {row.parallelism}".casefold()
    if any(word in sharding for word in OTHER_SHARDING):
        return False
    return "deepspeed" in sharding or runs_deepspeed(row.framework, accelerator)


def _zero(row: Measurement) -> int:
    stated = re.match(r"[0-3](?=\.0|$)", row.zero.strip())
    if stated and stated[0] != "0":
        return int(stated[0])
    sharding = f"{row.zero} {row.parallelism}".casefold()
    if any(part in sharding for part in ("shard_grad_op", "zero2", "zero-2")):
        return 2
    if any(part in sharding for part in ("fsdp", "zero-3", "zero3", "full_shard", "hsdp", "gemini")):
        return 3
    if any(part in sharding for part in ("zero-1", "zero1", "distributed optimizer", "sharded optimizer")):
        return 1
    if stated:
        return 0
    return int(framework_family(row.framework) == "megatron" and year_of(row) >= SHARDED_OPTIMIZER_YEAR)
