"""Types of a tool's inputs: bounded, described and with examples, as an agent reads them in the schema.

Training arguments that several tools share are listed once, and added to each tool's signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import AfterValidator, Field

from planner.adapters.documents import parse_model
from planner.model.base import MOST_COUNT
from planner.model.network.trainer_memory import Attention, Kernels, Loss, Offload, Optimizer, WeightFormat
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.plan.plan import Training
from planner.text.visible_text import visible_text
from planner.use_cases.trained_adapters import AdapterChoice, Trained

LONGEST_WORD = 300
MOST_NAMES = 12


def _refuse_invisible(text: str) -> str:
    """Refuse characters that names do not contain: control characters and invisible ones."""
    if visible_text(text) != text or "\n" in text or "\t" in text:
        raise ValueError("must have no control or invisible characters")
    return text


Word = Annotated[str, Field(min_length=1, max_length=LONGEST_WORD), AfterValidator(_refuse_invisible)]
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
Data = Annotated[
    Word | None, Field(description="Samples x mean tokens, or samples alone.", examples=["50000x700", "1281167"])
]
OwnMachines = Annotated[Names, Field(description="Machines the user has.", examples=[["2xRTX-3090"], ["4x8xH100"]])]
Offers = Annotated[
    Names,
    Field(
        description="Offers to compare; default: the best dozen of all, beside own.",
        examples=[["aws/p5.48xlarge"], ["lambda/gpu_8x_h100_sxm5"]],
    ),
]
Budget = Annotated[float | None, Field(ge=0, le=1e15, description="Budget in USD for all of it.", examples=[300])]
Day = Annotated[Word | None, Field(description="Done by a day, a month, or in 3w.", examples=["2027-06-30", "3w"])]
PlanFile = Annotated[Word, Field(description="Plan file in the folder, YAML or JSON.", examples=["plan.yaml"])]
RunName = Annotated[
    Word, Field(description="Trainer's log, folder or result, or a stored run's id.", examples=["out/", "train.log"])
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


SETTINGS: dict[str, Any] = {
    "precision": NumberFormat, "framework": Framework, "strategy": AnyStrategy,
    "checkpointing": AnyCheckpointing, "micro_batch": MicroBatch, "global_batch": GlobalBatch,
    "loss": LossWay, "kernels": KernelWay, "optimizer": AnyOptimizer, "weights": Weights,
    "offload": Offloaded, "attention": AttentionWay,
}  # fmt: skip
"""Settings of a plan's `training`, each with its description for agents."""
ADAPTERS: dict[str, Any] = {
    "method": Method, "lora_rank": LoraRank, "lora_targets": LoraTargets,
}  # fmt: skip
STATED = "stated"
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class StatedSettings:
    """Training settings that a call states."""

    training: Training
    adapters: AdapterChoice


def with_training_arguments(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """Return a tool that takes each of the shared arguments. The decorated function gets them as `stated`."""

    @functools.wraps(tool)
    def asked(*args: Any, **named: Any) -> Answer:
        settings, adapters = (
            {name: value for name in shared if (value := named.pop(name, None)) is not None}
            for shared in (SETTINGS, ADAPTERS)
        )
        training = parse_model(Training, settings, where="the arguments")
        return tool(*args, **{STATED: StatedSettings(training, AdapterChoice(**adapters))}, **named)

    types = get_type_hints(tool, include_extras=True)
    own = [parameter for parameter in inspect.signature(tool).parameters.values() if parameter.name != STATED]
    by_name = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, by_name, default=None, annotation=kind) for name, kind in (SETTINGS | ADAPTERS).items()
    ]
    parameters = [parameter.replace(annotation=types.get(parameter.name, parameter.annotation)) for parameter in own]
    signature = inspect.Signature([*parameters, *shared], return_annotation=types["return"])
    asked.__signature__ = signature  # type: ignore[attr-defined]
    asked.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()} | {
        "return": types["return"]
    }
    return asked
