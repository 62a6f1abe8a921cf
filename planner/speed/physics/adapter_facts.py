"""Facts of low-rank adapters for the physics: size, dense work, fused kernels, and how they are gathered.

A map is a linear layer of the network. An adapter adds small matrices to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from planner.model.evidence.measurement import Measurement
from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import AdapterKind, Adapters, AdapterTarget, FrozenFormat
from planner.model.network.architecture import TextModel
from planner.network.lora_memory import EVERY, OF_THE_MLP, PAIRS, USUAL, MapShape, adapted, map_shapes
from planner.scenario.frameworks import HUGGING_FACE, framework_family
from planner.speed.physics.accelerator_facts import peak_flops
from planner.speed.physics.kernels import kernel_words, planned_words, written_for_adapters

NO_ADAPTERS = {
    "adapters": 0.0, "adapted": 0.0, "adapted_maps": 0.0, "adapted_weights": 0.0, "rank": 0.0, "materialized": 0.0,
    "dense": 0.0, "dense_trained": 0.0, "rotation_flops": 0.0, "adapters_fused": 0.0, "separate_gathers": 0.0,
    "quantized": 0.0, "outliers": 0.0,
}  # fmt: skip
FOUR_BIT = ("nf4", "int4", "4bit", "4-bit", "gptq", "awq", "fp4")
EIGHT_BIT = ("int8", "8bit", "8-bit")
ALL_TRAINED = re.compile(r"^(full|sft|pretrain|freeze)")
FROZEN_BASE = re.compile(
    r"lora|peft|adapter|adaption|dora|loha|lokr|\bvera\b|\b(b|c|q|ps)?oft(v2)?\b|\bia3\b|trainable tokens"
    r"|\b(prompt|prefix|p)[- ]?tuning"
)
"""Names of methods that freeze the network's own weights."""
WITHOUT_MAPS = re.compile(
    r"\b(prompt|prefix|p)[- ]?tuning|adaption prompt|llama-adapter|\bia3\b|ln_tuning|trainable tokens"
)
"""Names of frozen-weight methods that train vectors or tokens, and add no product to a map."""
PEFT_TARGETS: tuple[AdapterTarget, ...] = ("query", "value")
"""Default targets of PEFT for Llama-like networks (its table of target modules). Trainers that call PEFT set more."""
REUSES_OUTPUT = re.compile(r"dropout[- ]0\b")
"""Words for a DoRA without dropout, which reuses the map's output (PEFT's pull request 2122)."""


class DenseCost(NamedTuple):
    """Work of an adapter with matrices of its map's whole size."""

    materialized: float
    """1 if the adapter builds such a matrix in every pass."""
    dense: float
    """Number of products with such a matrix in each pass."""
    dense_trained: float
    """Number of those products whose matrix gets gradients."""


DENSE_COSTS = {
    AdapterKind.LORA: DenseCost(0.0, 0.0, 0.0),
    AdapterKind.DORA: DenseCost(1.0, 1.0, 0.0),
    AdapterKind.LOHA: DenseCost(1.0, 1.0, 1.0),
}
"""Dense work of each kind. With dropout, DoRA multiplies by the frozen weight once more (Hugging Face's PEFT). LoHa
multiplies by a matrix that gets gradients."""
NAMED_COSTS = (
    (re.compile(r"dora"), DENSE_COSTS[AdapterKind.DORA]),
    (re.compile(r"loha|lokr|fourierft|waveft"), DENSE_COSTS[AdapterKind.LOHA]),
    (re.compile(r"randlora"), DenseCost(1.0, 2.0, 1.0)),
    (re.compile(r"boft"), DenseCost(1.0, 0.0, 1.0)),
)
"""Dense work of kinds that publications name.

RandLoRA multiplies by two dense bases, one of which gets gradients (Albert et al. 2025). BOFT multiplies by the rotated
weight in place of the map's own. Dense matrices of kinds that are about as fast as LoRA are ignored.
"""


def planned_adapters(
    decoder: TextModel, adapters: Adapters | None, framework: str | None, *, compiled: bool
) -> dict[str, float]:
    """Return the fields of `Configs` for the adapters that a plan asks for.

    `framework` is the plan's name for it; None is the planner's own benchmark. `separate_gathers` is always 0: only
    FSDP 1 wraps each PEFT adapter in a unit (`fsdp_auto_wrap_policy` of peft), and plans use DeepSpeed, or FSDP 2,
    which wraps whole layers in accelerate.
    """
    if adapters is None:
        return NO_ADAPTERS
    adapted_shapes = adapted(decoder, adapters)
    joined = compiled if framework is None else written_for_adapters(*planned_words(framework))
    return {
        "adapters": 1.0,
        "adapted": adapted_shapes.numbers / decoder.layers,
        "adapted_maps": adapted_shapes.maps / decoder.layers,
        "adapted_weights": adapted_shapes.weights / decoder.layers,
        "rank": float(adapters.rank * PAIRS[adapters.kind]),
        **DENSE_COSTS[adapters.kind]._asdict(),
        "rotation_flops": 0.0,
        "adapters_fused": float(joined),
        "separate_gathers": 0.0,
        "quantized": float(adapters.frozen is FrozenFormat.NF4),
        "outliers": float(adapters.frozen is FrozenFormat.INT8),
    }


def measured_adapters(
    row: Measurement, network: Mapping[str, float], method: str, accelerator: Accelerator
) -> dict[str, float]:
    """Return the fields of `Configs` for the adapters of a published run; by default of rank 16 on the common maps."""
    if ALL_TRAINED.search(method) or not FROZEN_BASE.search(method):
        return NO_ADAPTERS
    weights = row.quantization.casefold()
    outliers = any(word in weights for word in EIGHT_BIT)
    quantized = any(word in weights for word in FOUR_BIT) or ("qlora" in method and not outliers)
    shapes = map_shapes(
        hidden=network["hidden"],
        q_dim=network["q_dim"],
        kv_dim=network["kv_dim"],
        ffn_hidden=network["ffn_hidden"],
        gated=network["mlp_matrices"] == len(OF_THE_MLP),
    )
    usual = PEFT_TARGETS if row.framework.casefold().startswith("peft") else USUAL.targets
    targets = set(_targets(row.lora_targets) or usual) - set(OF_THE_MLP if network["experts"] > 1 else ())
    if WITHOUT_MAPS.search(method):
        targets = set()
    adapted_shapes = [shape for name, shape in shapes.items() if name in targets]
    kernels = kernel_words(row.compile_kernels)
    rank = float(row.lora_rank or USUAL.rank)
    return {
        "adapters": 1.0,
        "adapted": sum(shape.inputs + shape.outputs for shape in adapted_shapes),
        "adapted_maps": float(len(adapted_shapes)),
        "adapted_weights": sum(shape.inputs * shape.outputs for shape in adapted_shapes),
        "rank": rank,
        **_named_cost(method, kernels)._asdict(),
        "rotation_flops": sum(_rotation(method, shape, rank) for shape in adapted_shapes)
        * _slower_in_fp32(accelerator),
        "adapters_fused": float(written_for_adapters(kernels, row.framework)),
        "separate_gathers": float(framework_family(row.framework) in HUGGING_FACE),
        "quantized": float(quantized),
        "outliers": float(outliers),
    }


def _named_cost(method: str, kernels: str) -> DenseCost:
    cost = next((cost for words, cost in NAMED_COSTS if words.search(method)), DENSE_COSTS[AdapterKind.LORA])
    return cost._replace(dense=0.0) if "dora" in method and REUSES_OUTPUT.search(kernels) else cost


def _rotation(method: str, shape: MapShape, rank: float) -> float:
    """Return the FLOPs per pass that build the orthogonal weight of one map, as in Hugging Face's PEFT.

    BOFT: dense products of a block-diagonal matrix with two permutations, with those of other adapters (the identity),
    and with the map's weight; one factor of each product is frozen (Liu et al. 2024).
    PSOFT: the solution of a linear system of size rank, for rank columns.
    OFT: three products of blocks whose width is the rank. Their gradients take six more, so a pass counts half of nine.
    """
    if "boft" in method:
        return 6 * shape.inputs**3 + 2 * shape.inputs**2 * shape.outputs
    if "psoft" in method:
        return 8 / 3 * rank**3
    if re.search(r"\b[cq]?oft(v2)?\b", method):
        return 9 * shape.inputs * rank**2
    return 0.0


def _slower_in_fp32(accelerator: Accelerator) -> float:
    fp32, half = peak_flops(accelerator, "fp32"), peak_flops(accelerator, "16bit")
    return half / fp32 if fp32 and half else 1.0


def _targets(text: str) -> tuple[str, ...]:
    """Read the targets of adapters, "query value" or "all"; an empty text gives none."""
    words = re.findall("[a-z]+", text.casefold())
    return EVERY if words == ["all"] else tuple(words)
