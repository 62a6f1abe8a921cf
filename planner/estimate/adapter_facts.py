"""What the physics needs of low-rank adapters: their size, and whether kernels and gathers join them to their maps."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.estimate.frameworks import HUGGING_FACE, framework_family, planned_family
from planner.estimate.kernels import kernel_words, planned_words, written_for_adapters
from planner.estimate.lora_memory import EVERY, OF_THE_MLP, USUAL, adapted, map_sizes
from planner.model.adapters import Adapters, FrozenFormat
from planner.model.architecture import TextModel
from planner.model.evidence import Measurement

NO_ADAPTERS = {
    "adapters": 0.0, "adapted": 0.0, "adapted_maps": 0.0, "rank": 0.0, "adapters_fused": 0.0, "apart": 0.0,
    "quantized": 0.0, "outliers": 0.0,
}  # fmt: skip
FOUR_BIT = ("nf4", "int4", "4bit", "4-bit", "gptq", "awq", "fp4")
EIGHT_BIT = ("int8", "8bit", "8-bit")


def planned_adapters(
    decoder: TextModel, adapters: Adapters | None, framework: str | None, *, compiled: bool
) -> dict[str, float]:
    """Return the adapters that a plan asks for; `framework` as the plan names it, without one the benchmark's."""
    if adapters is None:
        return NO_ADAPTERS
    quantized = adapters.frozen is FrozenFormat.NF4
    beside = adapted(decoder, adapters)
    joined = compiled if framework is None else written_for_adapters(*planned_words(framework), quantized=quantized)
    return {
        "adapters": 1.0,
        "adapted": beside.numbers / decoder.layers,
        "adapted_maps": beside.maps / decoder.layers,
        "rank": float(adapters.rank),
        "adapters_fused": float(joined),
        "apart": float(planned_family(framework or "") in HUGGING_FACE),
        "quantized": float(quantized),
        "outliers": 0.0,
    }


def measured_adapters(row: Measurement, network: Mapping[str, float], method: str) -> dict[str, float]:
    """Return the adapters of a published run; of rank 16 beside attention's maps where it does not say."""
    if not any(word in method for word in ("lora", "peft", "adapter")):
        return NO_ADAPTERS
    weights = row.quantization.casefold()
    outliers = any(word in weights for word in EIGHT_BIT)
    quantized = any(word in weights for word in FOUR_BIT) or ("qlora" in method and not outliers)
    sizes = map_sizes(
        hidden=network["hidden"],
        q_dim=network["q_dim"],
        kv_dim=network["kv_dim"],
        ffn_hidden=network["ffn_hidden"],
        gated=network["mlp_matrices"] == len(OF_THE_MLP),
    )
    targets = set(_targets(row.lora_targets)) - set(OF_THE_MLP if network["experts"] > 1 else ())
    beside = [size for name, size in sizes.items() if name in targets]
    said = kernel_words(row.compile_kernels)
    return {
        "adapters": 1.0,
        "adapted": sum(beside),
        "adapted_maps": float(len(beside)),
        "rank": float(row.lora_rank or USUAL.rank),
        "adapters_fused": float(written_for_adapters(said, row.framework, quantized=quantized)),
        "apart": float(framework_family(row.framework) in HUGGING_FACE),
        "quantized": float(quantized),
        "outliers": float(outliers),
    }


def _targets(said: str) -> tuple[str, ...]:
    """Read the targets of adapters, "query value" or "all"; unsaid, the usual ones."""
    words = re.findall("[a-z]+", said.casefold())
    return EVERY if words == ["all"] else tuple(words) or USUAL.targets
