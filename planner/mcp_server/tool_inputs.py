"""Types of a tool's inputs: bounded, described and with examples, as an agent reads them in the schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from planner.model.base import MOST_COUNT
from planner.model.network.trainer_memory import Attention, Kernels, Loss, Offload, Optimizer, WeightFormat
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.text.visible_text import visible_text
from planner.use_cases.trained_adapters import Trained

LONGEST_WORD = 300
MOST_NAMES = 12


def _plain(text: str) -> str:
    """Refuse characters that names do not contain: control characters and invisible ones."""
    if visible_text(text) != text or "\n" in text or "\t" in text:
        raise ValueError("must have no control or invisible characters")
    return text


Word = Annotated[str, Field(min_length=1, max_length=LONGEST_WORD), AfterValidator(_plain)]
Count = Annotated[int, Field(ge=1, le=MOST_COUNT)]
Amount = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
Names = Annotated[list[Word], Field(max_length=MOST_NAMES)]

Workload = Annotated[
    Word,
    Field(
        description="What is trained: a network's name, or a config.json, architecture or plan file in the folder.",
        examples=["llama3-8b", "resnet50", "models/mine/config.json"],
    ),
]
SeqLen = Annotated[Count | None, Field(description="Tokens per sequence.", examples=[2048])]
NumberFormat = Annotated[
    Precision | None, Field(description="Number format of the products; default: bf16.", examples=["bf16"])
]
Framework = Annotated[Word | None, Field(description="What trains it.", examples=["HF Trainer"])]
AnyStrategy = Annotated[Strategy | None, Field(description="How it is spread; default: the fastest that fits.")]
AnyCheckpointing = Annotated[
    Checkpointing | None, Field(description="Activations to recompute; default: the fastest that fits.")
]
LossWay = Annotated[Loss | None, Field(description="How the loss is computed; default: any likely one.")]
KernelWay = Annotated[Kernels | None, Field(description="Of norms and activations; default: either.")]
AnyOptimizer = Annotated[Optimizer | None, Field(description="What is kept of each weight; default: adamw.")]
Weights = Annotated[WeightFormat | None, Field(description="Of trained weights; 16bit: no fp32 copy; default: mixed.")]
Offloaded = Annotated[Offload | None, Field(description="What lies in the host's memory; default: none.")]
AttentionWay = Annotated[
    Attention | None, Field(description="How scores are computed; default: as trainer and card do.")
]
MicroBatch = Annotated[Count | None, Field(description="Samples per device; default: the most that fit.")]
GlobalBatch = Annotated[Count | None, Field(description="Samples per optimizer step; default: a usual value.")]
Method = Annotated[
    Trained | None,
    Field(description="All weights (full), adapters (lora, qlora), or an objective: dpo, kto, grpo...; default: full."),
]
LoraRank = Annotated[Count | None, Field(description="Rank of the adapters; default: 16.", examples=[16])]
LoraTargets = Annotated[
    Word | None, Field(description="Layers with adapters: all, or of query,key,value,out,gate,up,down.")
]
AnswerId = Annotated[
    str, Field(pattern=r"^[0-9a-f]{12}$", description="The id of an earlier answer.", examples=["3f09c2d47a1e"])
]
