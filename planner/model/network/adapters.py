"""Adapters: small trained matrices beside each target, and everything else frozen (LoRA: Hu et al. 2021)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen

AdapterTarget = Literal["query", "key", "value", "out", "gate", "up", "down"]


class FrozenFormat(StrEnum):
    """How the weights are kept that are not trained."""

    SIXTEEN_BIT = "16bit"
    INT8 = "int8"
    """The layers' linear maps at 8 bits: LLM.int8 (Dettmers et al. 2022), bitsandbytes' `load_in_8bit`."""
    NF4 = "nf4"
    """The layers' linear maps at 4 bits, expanded before each product: QLoRA (Dettmers et al. 2023)."""


class AdapterKind(StrEnum):
    """What stands beside a map, by what it costs; the benchmark trains the first alone."""

    LORA = "lora"
    """Two small products. So cost rsLoRA, PiSSA, OLoRA, AdaLoRA and others that differ in their start or scale."""
    DORA = "dora"
    """The norm of the adapted weight, formed anew in every pass, scales the map's output (Liu et al. 2024)."""
    LOHA = "loha"
    """A dense weight is formed of small ones in every pass, multiplied by, and gets gradients (Hyeon-Woo et al. 2021);
    LoKr, FourierFT and WaveFT are as fast, and train fewer parameters."""

    @property
    def written(self) -> str:
        """Its name as papers write it."""
        return {"lora": "LoRA", "dora": "DoRA", "loha": "LoHa"}[self.value]


class Adapters(Frozen):
    """Their kind and rank, and the linear maps of every layer that have them."""

    kind: AdapterKind = AdapterKind.LORA
    rank: Count = 16
    targets: Annotated[tuple[AdapterTarget, ...], Field(min_length=1)] = ("query", "key", "value", "out")
    frozen: FrozenFormat | None = None
    """None in a plan: in the products' format, at 16 bit beside 16-bit products, in fp32 beside fp32 and TF32. None in
    the record of a run: in fp32 under ddp and fsdp2, as older benchmarks kept them."""

    @model_validator(mode="after")
    def _each_map_once(self) -> Self:
        twice = sorted({name for name in self.targets if self.targets.count(name) > 1})
        if twice:
            raise ValueError(f"targets name {', '.join(twice)} twice")
        return self
