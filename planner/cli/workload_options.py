"""Options for what is trained: the workload, its length and number format, its adapters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

import typer

from planner.adapters.documents import parse_model
from planner.cli.output import check_positive
from planner.model.network.adapters import AdapterKind, Adapters, FrozenFormat
from planner.model.network.trainer_memory import (
    Attention,
    Kernels,
    Loss,
    Offload,
    Optimizer,
    TrainerSettings,
    WeightFormat,
)
from planner.model.network.training_method import MethodSettings, Reference
from planner.model.network.workload import ArchitectureFile, Checkpointing, Precision, Strategy
from planner.model.plan.plan import Training
from planner.use_cases.trained_adapters import AdapterChoice, Trained

WorkloadArgument = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="Network (gpt-305m), config.json or own file")
]
FrameworkOption = Annotated[str | None, typer.Option(metavar="NAME", help="What trains it, e.g. HF Trainer")]
NetworkOption = Annotated[
    float | None, typer.Option(metavar="GBIT", help="Gbit/s between nodes, of each, where the catalog knows no better")
]
StrategyOption = Annotated[Strategy, typer.Option(help="Parallel strategy")]
LoraRankOption = Annotated[int | None, typer.Option(help="Rank of the adapters; default: 16")]
LoraTargetsOption = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Layers: all, or of query,key,value,out,gate,up,down")
]


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions:
    """Network that is trained, its samples and its number formats."""

    heading: ClassVar = "Training"

    workload: WorkloadArgument
    seq_len: Annotated[int | None, typer.Option(help="Tokens per sample; default: the workload's")] = None
    precision: Annotated[Precision | None, typer.Option(help="Number format; default: the workload's, else bf16")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class TrainerOptions:
    """Settings of the trainer that decide memory, as in a plan's `training`."""

    heading: ClassVar = "Training"

    loss: Annotated[Loss | None, typer.Option(help="How the loss is computed; default: any likely one")] = None
    kernels: Annotated[Kernels | None, typer.Option(help="Of norms and activations; default: either")] = None
    optimizer: Annotated[Optimizer | None, typer.Option(help="What is kept of each weight; default: adamw")] = None
    weights: Annotated[
        WeightFormat | None, typer.Option(help="Of trained weights; 16bit: no fp32 copy; default: mixed")
    ] = None
    offload: Annotated[Offload | None, typer.Option(help="What lies in the host's memory; default: none")] = None
    attention: Annotated[
        Attention | None, typer.Option(help="How scores are computed; default: as trainer and card do")
    ] = None

    @property
    def stated(self) -> dict[str, Any]:
        """Given options by name."""
        return TrainerSettings(**{name: getattr(self, name) for name in TrainerSettings.model_fields}).stated


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(TrainerOptions):
    """Settings of a plan's `training`, except adapters."""

    precision: Annotated[Precision | None, typer.Option(help="Number format; default: bf16")] = None
    framework: FrameworkOption = None
    strategy: Annotated[Strategy | None, typer.Option(help="Parallel strategy; default: the fastest that fits")] = None
    checkpointing: Annotated[
        Checkpointing | None, typer.Option(help="Activations to recompute; default: the fastest that fits")
    ] = None
    micro_batch: Annotated[int | None, typer.Option(help="Samples per device; default: the most that fit")] = None
    global_batch: Annotated[int | None, typer.Option(help="Samples per optimizer step; default: a usual value")] = None
    packing: Annotated[
        bool | None, typer.Option("--packed/--padded", help="Join samples to full sequences; default: packed")
    ] = None

    @property
    def training(self) -> Training:
        """Given options, as a plan's `training`."""
        check_positive(self.micro_batch, "--micro-batch")
        check_positive(self.global_batch, "--global-batch")
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return parse_model(Training, given, where="the options")


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """Method of training: all weights or adapters beside frozen ones, on the next token, preferences or rewards."""

    heading: ClassVar = "Method and adapters"

    method: Annotated[
        Trained | None, typer.Option(metavar="NAME", help="Full, lora, qlora, dpo, kto, orpo, simpo, reward, grpo")
    ] = None
    completion: Annotated[
        str | None, typer.Option(metavar="N[-MOST]", help="Mean tokens of an answer; --data then counts prompts")
    ] = None
    reference: Annotated[
        Reference | None, typer.Option(help="Frozen reference of dpo and kto; default: by adapters")
    ] = None
    group: Annotated[int | None, typer.Option(help="Completions of a prompt (grpo, rloo)")] = None
    prompts: Annotated[int | None, typer.Option(help="Prompts of a step (grpo, rloo, ppo)")] = None
    lora_kind: Annotated[AdapterKind | None, typer.Option(help="Kind of adapter; default: lora")] = None
    lora_rank: LoraRankOption = None
    lora_targets: LoraTargetsOption = None
    lora_frozen: Annotated[
        FrozenFormat | None, typer.Option(help="Format of the frozen weights; nf4: QLoRA; default: the products'")
    ] = None

    def adapters(self, network: ArchitectureFile) -> Adapters | None:
        """Join a file's adapters with the options, which win; None if all weights are trained."""
        check_positive(self.lora_rank, "--lora-rank")
        return AdapterChoice(**asdict(self)).adapters(network)

    @property
    def objective(self) -> MethodSettings:
        """Return the objective. InputError if an option belongs to another method."""
        check_positive(self.group, "--group")
        check_positive(self.prompts, "--prompts")
        return AdapterChoice(**asdict(self)).objective()
