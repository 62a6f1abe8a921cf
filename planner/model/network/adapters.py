"""Adapters: small trained matrices added to each target, while everything else is frozen (LoRA: Hu et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen

AdapterTarget = Literal["query", "key", "value", "out", "gate", "up", "down"]


EVERY_TARGET: tuple[AdapterTarget, ...] = ("query", "key", "value", "out", "gate", "up", "down")
EVERY_WORDS = ("all", "all-linear", "all_linear")
"""Words with which trainers mean all of them."""
TRAINERS_NAMES: dict[str, tuple[AdapterTarget, ...]] = {
    "q_proj": ("query",), "k_proj": ("key",), "v_proj": ("value",), "o_proj": ("out",), "out_proj": ("out",),
    "output_proj": ("out",), "gate_proj": ("gate",), "up_proj": ("up",), "down_proj": ("down",), "w1": ("gate",),
    "w2": ("down",), "w3": ("up",), "qkv_proj": ("query", "key", "value"), "gate_up_proj": ("gate", "up"),
    "query_key_value": ("query", "key", "value"), "linear_qkv": ("query", "key", "value"), "linear_proj": ("out",),
    "linear_fc1": ("gate", "up"), "linear_fc2": ("down",), "dense_h_to_4h": ("up",), "dense_4h_to_h": ("down",),
    "dense": ("out",), "c_attn": ("query", "key", "value"), "c_fc": ("up",), "c_proj": ("out", "down"),
    "fc1": ("up",), "fc2": ("down",), "mlp": ("gate", "up", "down"),
}  # fmt: skip
"""Names of linear maps in trainers' configurations (peft's `target_modules`, torchtune, Megatron), as ours."""


def targets_of(names: Iterable[str]) -> tuple[AdapterTarget, ...]:
    """Return the linear maps that trainers' names mean, each once. Unknown names are skipped."""
    found: list[AdapterTarget] = []
    for name in names:
        last = name.rpartition(".")[2]
        found += EVERY_TARGET if name in EVERY_WORDS else TRAINERS_NAMES.get(last, ())
        found += [target for target in EVERY_TARGET if target == last]
    return tuple(target for target in EVERY_TARGET if target in found)


class FrozenFormat(StrEnum):
    """Format of the weights that are not trained."""

    SIXTEEN_BIT = "16bit"
    INT8 = "int8"
    """The layers' linear maps at 8 bits: LLM.int8 (Dettmers et al. 2022), bitsandbytes' `load_in_8bit`."""
    NF4 = "nf4"
    """The layers' linear maps at 4 bits, expanded before each product: QLoRA (Dettmers et al. 2023)."""


class AdapterKind(StrEnum):
    """Kind of adapter, by its cost. The benchmark trains only the first."""

    LORA = "lora"
    """Two small products. rsLoRA, PiSSA, OLoRA, AdaLoRA and others that differ in start or scale cost the same."""
    DORA = "dora"
    """The norm of the adapted weight, formed anew in every pass, scales the map's output (Liu et al. 2024)."""
    LOHA = "loha"
    """A dense weight is formed of small ones in every pass, multiplied by, and gets gradients (Hyeon-Woo et al. 2021);
    LoKr, FourierFT and WaveFT are as fast, and train fewer parameters."""

    @property
    def written(self) -> str:
        """Name as papers write it."""
        return {"lora": "LoRA", "dora": "DoRA", "loha": "LoHa"}[self.value]


class Adapters(Frozen):
    """Kind and rank of adapters, and the linear maps of every layer that have them."""

    kind: AdapterKind = AdapterKind.LORA
    """Kind of adapter. It decides the cost of a step."""
    rank: Count = 16
    """Inner size of each adapter."""
    targets: Annotated[tuple[AdapterTarget, ...], Field(min_length=1)] = ("query", "key", "value", "out")
    """Linear maps of a layer that have an adapter."""
    frozen: FrozenFormat | None = None
    """Format of the frozen weights.

    None in a plan means the products' format: 16 bit with 16-bit products, fp32 with fp32 and TF32. None in the
    record of a run means fp32 under ddp and fsdp2, as older benchmarks kept them.
    """

    @model_validator(mode="after")
    def _each_map_once(self) -> Self:
        twice = sorted({name for name in self.targets if self.targets.count(name) > 1})
        if twice:
            raise ValueError(f"targets name {', '.join(twice)} twice")
        return self
