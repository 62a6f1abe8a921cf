"""Arguments that say what is trained and how, the same for every command that asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.bench_arguments import read_adapters, read_data, read_micro_batch
from planner.cli.output import check_positive
from planner.errors import InputError
from planner.model.network.adapters import AdapterKind, FrozenFormat
from planner.model.network.workload import BenchMode, Checkpointing, Method, Precision, Strategy

if TYPE_CHECKING:
    from launcher.bench.bench import Settings

WorkloadArgument = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="A preset (cpu-smoke, gpt-305m, llama3-8b, ...) or an architecture file."),
]
SeqLenOption = Annotated[
    int | None, typer.Option(help="Tokens in a sample; default the workload's own.", show_default=False)
]
PrecisionOption = Annotated[
    Precision | None, typer.Option(help="Default: the workload's own, else bf16.", show_default=False)
]
LayersOption = Annotated[
    int | None,
    typer.Option(help="Cut the network to so many layers, to fit one device: another workload.", show_default=False),
]
StrategyOption = Annotated[Strategy, typer.Option(help="How states and work are spread.")]
ModeOption = Annotated[
    BenchMode,
    typer.Option(help="matched: the workload's micro-batch; tuned: this device's best at the same global batch."),
]
MicroBatchOption = Annotated[
    str | None, typer.Option(metavar="N|auto", help="Samples per device; auto searches.", show_default=False)
]
GlobalBatchOption = Annotated[
    int | None,
    typer.Option(
        help="Samples of one optimizer step of all devices, by accumulation; tuned: default the workload's own.",
        show_default=False,
    ),
]
CheckpointingOption = Annotated[Checkpointing, typer.Option(help="Which activations are recomputed.")]
CompileFlag = Annotated[bool, typer.Option("--compile", help="Compile the model with torch.compile.")]
LossChunksOption = Annotated[int, typer.Option(help="Compute the loss in so many pieces, to save memory.")]
MethodOption = Annotated[Method, typer.Option(help="Train all weights, or low-rank adapters beside frozen ones.")]
MethodChoice = Annotated[
    Method | None,
    typer.Option(help="Train all weights, or adapters beside frozen ones; default what the file says, else all."),
]
LoraFrozenOption = Annotated[
    FrozenFormat | None,
    typer.Option(help="How the frozen weights are kept; nf4: QLoRA. Default as the trainer does.", show_default=False),
]
LoraKindOption = Annotated[
    AdapterKind | None,
    typer.Option(
        help="Of the adapters, in estimates; with --method lora; default lora. The others form a map's whole weight.",
        show_default=False,
    ),
]
LoraRankOption = Annotated[
    int | None, typer.Option(help="Of the adapters; with --method lora; default 16.", show_default=False)
]
LoraTargetsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Linear maps with adapters, with commas: query,key,value,out (default), gate,up,down.",
        show_default=False,
    ),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Token shards (.npy, .bin) or their folder in place of synthetic tokens, where it runs.",
        show_default=False,
    ),
]
DataDtypeOption = Annotated[
    str | None,
    typer.Option(metavar="uint16|uint32", help="Of raw .bin shards; default uint16.", show_default=False),
]
CalibrateFlag = Annotated[
    bool, typer.Option("--calibrate", help="First measure what the machine can do at best: up to 90 s.")
]
ChannelsLastFlag = Annotated[
    bool, typer.Option("--channels-last/--contiguous", help="Memory layout of a resnet's images.")
]
RepeatsOption = Annotated[int, typer.Option(help="Fresh starts; the median counts, the range is kept.")]
QuickFlag = Annotated[bool, typer.Option("--quick", help="Measure for seconds: a demonstration, not evidence.")]


def read_settings(
    *,
    devices: int,
    here: bool,
    strategy: Strategy,
    precision: Precision | None,
    mode: BenchMode,
    micro_batch: str | None,
    global_batch: int | None,
    checkpointing: Checkpointing,
    compiled: bool,
    loss_chunks: int,
    method: Method,
    lora_rank: int | None,
    lora_targets: str | None,
    data: str | None,
    data_dtype: str | None,
    calibrate: bool,
    channels_last: bool,
    repeats: int,
    quick: bool,
) -> Settings:
    """Return what a benchmark was asked for, of whatever machine. `here`: its data lie on this one.

    Raises InputError where options contradict each other.
    """
    for value, name in (
        *((repeats, "--repeats"), (loss_chunks, "--loss-chunks"), (lora_rank, "--lora-rank")),
        (global_batch, "--global-batch"),
    ):
        check_positive(value, name)
    adapters = read_adapters(method, lora_rank, lora_targets)
    if data is None and data_dtype is not None:
        raise InputError(f"--data-dtype {data_dtype}: is of token shards, and none were given.", fix="Add --data PATH.")
    size = read_micro_batch(micro_batch)
    if mode is BenchMode.TUNED and isinstance(size, int):
        raise InputError(
            f"--mode tuned searches for the micro-batch, and --micro-batch {size} names one.", fix="Give one of them."
        )

    from launcher.bench.bench import LoraSettings, Settings

    return Settings(
        devices=devices,
        strategy=strategy,
        precision=precision,
        mode=mode,
        micro_batch=size if isinstance(size, int) else None,
        search_micro_batch=size == "auto",
        global_batch=global_batch,
        calibrate=calibrate,
        data=None if data is None else read_data(data, data_dtype or "uint16", here=here),
        repeats=repeats,
        quick=quick,
        checkpointing=checkpointing,
        compile=compiled,
        loss_chunks=loss_chunks,
        channels_last=channels_last,
        lora=None if adapters is None else LoraSettings(rank=adapters.rank, targets=adapters.targets),
    )
