"""Facts of low-rank adapters for the physics: their size, and whether kernels and gathers join them to their maps."""

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
    "adapters": 0.0, "adapted": 0.0, "adapted_maps": 0.0, "adapted_weights": 0.0, "rank": 0.0, "materialised": 0.0,
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
"""Methods that leave the network's own weights as they are."""
BESIDE_NO_MAP = re.compile(
    r"\b(prompt|prefix|p)[- ]?tuning|adaption prompt|llama-adapter|\bia3\b|ln_tuning|trainable tokens"
)
"""Those of them that train vectors, or tokens of their own, and put no product beside a map."""
PEFT_TARGETS: tuple[AdapterTarget, ...] = ("query", "value")
"""Of PEFT by itself, for Llama-like networks (its table of target modules); trainers that call it say more."""
REUSES_OUTPUT = re.compile(r"dropout[- ]0\b")
"""Words of a DoRA that scales the map's own output, where nothing is dropped (PEFT's pull request 2122)."""


class DenseCost(NamedTuple):
    """What a kind of adapter costs in weights of its map's whole size: materialised, multiplied by, given gradients."""

    materialised: float
    dense: float
    dense_trained: float


DENSE_COSTS = {
    AdapterKind.LORA: DenseCost(0.0, 0.0, 0.0),
    AdapterKind.DORA: DenseCost(1.0, 1.0, 0.0),
    AdapterKind.LOHA: DenseCost(1.0, 1.0, 1.0),
}
"""DoRA multiplies by the frozen weight once more where inputs are dropped, as usual (Hugging Face's PEFT); LoHa by one
that gets gradients."""
SAID_COSTS = (
    (re.compile(r"dora"), DENSE_COSTS[AdapterKind.DORA]),
    (re.compile(r"loha|lokr|fourierft|waveft"), DENSE_COSTS[AdapterKind.LOHA]),
    (re.compile(r"randlora"), DenseCost(1.0, 2.0, 1.0)),
    (re.compile(r"boft"), DenseCost(1.0, 0.0, 1.0)),
)
"""Of kinds in words. RandLoRA multiplies by two dense bases, one of which gets gradients (Albert et al. 2025); BOFT by
the rotated weight instead of the map's own. Left out is what other kinds materialise that are about as fast as LoRA."""


def planned_adapters(
    decoder: TextModel, adapters: Adapters | None, framework: str | None, *, compiled: bool
) -> dict[str, float]:
    """Return the adapters that a plan asks for; `framework` as the plan names it, without one the benchmark's.

    None is gathered by itself: only FSDP 1 wraps PEFT's adapters as units of their own (`fsdp_auto_wrap_policy` of
    peft), and a plan says FSDP 2, whose policy in accelerate takes whole layers, or DeepSpeed.
    """
    if adapters is None:
        return NO_ADAPTERS
    beside = adapted(decoder, adapters)
    joined = compiled if framework is None else written_for_adapters(*planned_words(framework))
    return {
        "adapters": 1.0,
        "adapted": beside.numbers / decoder.layers,
        "adapted_maps": beside.maps / decoder.layers,
        "adapted_weights": beside.weights / decoder.layers,
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
    """Return the adapters of a published run; where it does not say, of rank 16 beside the usual maps."""
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
    if BESIDE_NO_MAP.search(method):
        targets = set()
    beside = [shape for name, shape in shapes.items() if name in targets]
    said = kernel_words(row.compile_kernels)
    rank = float(row.lora_rank or USUAL.rank)
    return {
        "adapters": 1.0,
        "adapted": sum(shape.inputs + shape.outputs for shape in beside),
        "adapted_maps": float(len(beside)),
        "adapted_weights": sum(shape.inputs * shape.outputs for shape in beside),
        "rank": rank,
        **_said_cost(method, said)._asdict(),
        "rotation_flops": sum(_rotation(method, shape, rank) for shape in beside) * _slower_in_fp32(accelerator),
        "adapters_fused": float(written_for_adapters(said, row.framework)),
        "separate_gathers": float(framework_family(row.framework) in HUGGING_FACE),
        "quantized": float(quantized),
        "outliers": float(outliers),
    }


def _said_cost(method: str, kernels: str) -> DenseCost:
    cost = next((cost for words, cost in SAID_COSTS if words.search(method)), DENSE_COSTS[AdapterKind.LORA])
    return cost._replace(dense=0.0) if "dora" in method and REUSES_OUTPUT.search(kernels) else cost


def _rotation(method: str, shape: MapShape, rank: float) -> float:
    """FLOPs of a pass that form an orthogonal weight beside one map, as Hugging Face's PEFT does it.

    BOFT: a block-diagonal matrix between two permutations, times those of other adapters (the identity), times the
    map's weight, all of them dense, each with one factor that is frozen (Liu et al. 2024). PSOFT: a system of rank x
    rank, solved for as many columns. OFT: three products of blocks, as wide as the rank that is stated, whose
    gradients cost six: as often as a pass, half of the nine.
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


def _targets(said: str) -> tuple[str, ...]:
    """Read the targets of adapters, "query value" or "all"; none where nothing is said."""
    words = re.findall("[a-z]+", said.casefold())
    return EVERY if words == ["all"] else tuple(words)
