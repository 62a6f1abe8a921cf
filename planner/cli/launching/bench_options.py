"""Options for how a benchmark trains and measures, on this machine or another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from planner.cli.launching.launch_options import check_no_secret
from planner.cli.output import check_positive
from planner.cli.workload_options import LoraRankOption, LoraTargetsOption, StrategyOption, WorkloadOptions
from planner.errors import InputError
from planner.launcher.bench.bench_settings import BenchSettings, DataSettings, LoraSettings
from planner.model.network.workload import BenchMode, BusyDevice, Checkpointing, Method, Strategy
from planner.text.number_text import read_whole_number
from planner.use_cases.trained_adapters import read_adapters
from planner.workloads.contract.spec import DATA_DTYPES

MOST_REPEATS = 1000


@dataclass(frozen=True, kw_only=True)
class BenchWorkloadOptions(WorkloadOptions):
    """Network that a benchmark trains."""

    layers: Annotated[int | None, typer.Option(help="Layers to keep of the network, to fit one device")] = None

    def check(self) -> None:
        """Refuse counts below one."""
        check_positive(self.layers, "--layers")
        check_positive(self.seq_len, "--seq-len")


@dataclass(frozen=True, kw_only=True)
class BenchTrainingOptions:
    """Training options of a benchmark."""

    heading: ClassVar = "Training"

    strategy: StrategyOption = Strategy.DDP
    mode: Annotated[BenchMode, typer.Option(help="Workload's micro-batch, or the device's best")] = BenchMode.MATCHED
    micro_batch: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Samples per device; auto: search for the best")
    ] = None
    global_batch: Annotated[int | None, typer.Option(help="Samples per optimizer step over all devices")] = None
    checkpointing: Annotated[Checkpointing, typer.Option(help="Activations to recompute")] = Checkpointing.NONE
    compiled: Annotated[bool, typer.Option("--compile", help="Compile the model with torch.compile")] = False
    loss_chunks: Annotated[int, typer.Option(help="Chunks of the loss, to save memory")] = 1
    fused_loss: Annotated[
        bool, typer.Option("--fused-loss", help="Compute the loss with its gradients, in --loss-chunks pieces")
    ] = False
    attention_trial: Annotated[
        bool, typer.Option("--attention-trial", help="Take the fastest attention kernel, by trial")
    ] = False
    cuda_graphs: Annotated[
        bool, typer.Option("--cuda-graphs", help="Launch compiled blocks as CUDA graphs; needs --compile")
    ] = False
    method: Annotated[Method, typer.Option(help="Train all weights or low-rank adapters")] = Method.FULL
    lora_rank: LoraRankOption = None
    lora_targets: LoraTargetsOption = None
    channels_last: Annotated[
        bool, typer.Option("--channels-last/--contiguous", help="Memory layout of a resnet's images")
    ] = True


@dataclass(frozen=True, kw_only=True)
class MeasurementOptions:
    """Duration and data of a benchmark."""

    heading: ClassVar = "Measurement"

    data: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Token shards (.npy, .bin) where it runs; default: synthetic tokens"),
    ] = None
    data_dtype: Annotated[
        str | None, typer.Option(metavar="uint16|uint32", help="Type of raw .bin shards; default: uint16")
    ] = None
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Measure the machine's peak rates first: up to 90 s")
    ] = False
    repeats: Annotated[int, typer.Option(help="Independent runs; reports the median")] = 1
    quick: Annotated[bool, typer.Option("--quick", help="Measure for seconds: a demonstration, not evidence")] = False
    busy_device: Annotated[BusyDevice, typer.Option(help="Refuse or measure anyway if others use a device")] = (
        BusyDevice.REFUSE
    )


def read_settings(
    workload: BenchWorkloadOptions, training: BenchTrainingOptions, measurement: MeasurementOptions, *, here: bool
) -> BenchSettings:
    """Return the settings of a benchmark. `here` means that it runs on this machine, where its data are.

    Raises InputError if options contradict each other.
    """
    for value, name in (
        (training.loss_chunks, "--loss-chunks"),
        (training.lora_rank, "--lora-rank"),
        (training.global_batch, "--global-batch"),
    ):
        check_positive(value, name)
    check_positive(measurement.repeats, "--repeats", most=MOST_REPEATS)
    adapters = read_adapters(training.method, training.lora_rank, training.lora_targets)
    data = _read_data(measurement.data, measurement.data_dtype, here=here)
    micro_batch = _read_micro_batch(training.micro_batch)
    if training.mode is BenchMode.TUNED and isinstance(micro_batch, int):
        raise InputError(
            f"--mode tuned searches for the micro-batch, and --micro-batch {micro_batch} names one.",
            fix="Give one of them.",
        )
    return BenchSettings(
        devices=1,
        strategy=training.strategy,
        precision=workload.precision,
        mode=training.mode,
        micro_batch=micro_batch if isinstance(micro_batch, int) else None,
        search_micro_batch=micro_batch == "auto",
        global_batch=training.global_batch,
        calibrate=measurement.calibrate,
        data=data,
        repeats=measurement.repeats,
        quick=measurement.quick,
        checkpointing=training.checkpointing,
        compile=training.compiled,
        loss_chunks=training.loss_chunks,
        fused_loss=training.fused_loss,
        attention_by_trial=training.attention_trial,
        cuda_graphs=training.cuda_graphs,
        channels_last=training.channels_last,
        busy_device=measurement.busy_device,
        lora=None if adapters is None else LoraSettings(rank=adapters.rank, targets=adapters.targets),
    )


def read_counts(given: str | None) -> list[int]:
    """Read the counts of a series, the smallest first; empty if none was asked for."""
    if given is None:
        return []
    try:
        counts = sorted({read_whole_number(count) for count in given.split(",")})
    except ValueError:
        raise InputError(f"--sweep-gpus {given}: is not a list of numbers.", fix="Write e.g. 1,2,4,8.") from None
    check_positive(counts[0], "--sweep-gpus")
    if len(counts) < 2:
        raise InputError(f"--sweep-gpus {given}: one count is not a series.", fix="Write e.g. 1,2,4,8.")
    return counts


def _read_data(path: str | None, dtype: str | None, *, here: bool) -> DataSettings | None:
    """Return the place of the token shards: on this machine, or on the nodes, where no path is relative to ours."""
    if path is None:
        if dtype is not None:
            raise InputError(
                f"--data-dtype {dtype}: is the type of token shards, and none were given.", fix="Add --data PATH."
            )
        return None
    check_no_secret(path, "--data", fix="Give the path of the shards alone; mount or copy what needs a login first.")
    if dtype is not None and dtype not in DATA_DTYPES:
        raise InputError(f"--data-dtype {dtype}: is not a known type.", fix=f"Choose one of: {', '.join(DATA_DTYPES)}.")
    if not here and not path.startswith("/"):
        raise InputError(
            f"--data {path}: must be the path of the shards on the nodes, from / on.",
            fix="Copy the shards to the nodes or into the image first; a launch does not copy them.",
        )
    return DataSettings(path=str(Path(path).resolve()) if here else path, dtype=dtype or "uint16")


def _read_micro_batch(given: str | None) -> int | str | None:
    """Return a number, "auto", or None if none was given."""
    if given is None or given == "auto":
        return given
    try:
        micro_batch = int(given)
    except ValueError:
        raise InputError(
            f"--micro-batch {given}: is neither a number nor auto.", fix="Write e.g. 8, or auto."
        ) from None
    check_positive(micro_batch, "--micro-batch")
    return micro_batch
