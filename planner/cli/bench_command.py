"""`planner bench WORKLOAD`: measures this machine with the standard benchmark."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import workspace_dir
from planner.cli.bench_arguments import read_counts, read_data, read_lora, read_micro_batch
from planner.cli.output import HomeOption, JsonFlag, check_positive, print_document, say
from planner.cli.run_summary import say_result
from planner.cli.scaling_output import print_scaling
from planner.errors import InputError, StoreError
from planner.model.answer import SweepDocument
from planner.model.run import RunRecord
from planner.model.workload import BenchMode, BenchWorkload, Checkpointing, Method, Precision, Strategy
from planner.use_cases import catalogs, networks, runs
from planner.use_cases.expectations import expect_from, loss_kind, start_micro_batch

if TYPE_CHECKING:
    from launcher.bench import Settings

PROGRESS_EVERY_S = 2.0
EXAMPLES = (
    "Examples: planner bench cpu-smoke --gpus 2 --quick | planner bench gpt-305m --mode tuned --repeats 3 --calibrate "
    "| planner bench llama3-8b --layers 4 --compile | planner bench mine.yaml --data tokens/ --sweep-gpus 1,2,4,8"
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(bench)


def bench(
    workload: Annotated[
        str, typer.Argument(metavar="WORKLOAD", help="A preset (cpu-smoke, gpt-305m, ...) or an architecture file.")
    ],
    gpus: Annotated[
        int | None,
        typer.Option(help="Accelerators, or processes on a CPU; default all accelerators.", show_default=False),
    ] = None,
    sweep_gpus: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Measure on each of these counts, then print how well it scales.",
            show_default=False,
        ),
    ] = None,
    layers: Annotated[
        int | None,
        typer.Option(
            help="Cut the network to so many layers, to fit one device: another workload.", show_default=False
        ),
    ] = None,
    seq_len: Annotated[
        int | None, typer.Option(help="Tokens in a sample; default the workload's own.", show_default=False)
    ] = None,
    nodes: Annotated[int, typer.Option(help="This command runs on one node.")] = 1,
    strategy: Annotated[Strategy, typer.Option(help="How states and work are spread.")] = Strategy.DDP,
    precision: Annotated[
        Precision | None, typer.Option(help="Default: the workload's own.", show_default=False)
    ] = None,
    mode: Annotated[
        BenchMode,
        typer.Option(help="matched: the workload's micro-batch; tuned: this device's best at the same global batch."),
    ] = BenchMode.MATCHED,
    micro_batch: Annotated[
        str | None, typer.Option(metavar="N|auto", help="Samples per device; auto searches.", show_default=False)
    ] = None,
    global_batch: Annotated[
        int | None,
        typer.Option(
            help="Samples of one optimizer step of all devices, by accumulation; tuned: default the workload's own.",
            show_default=False,
        ),
    ] = None,
    checkpointing: Annotated[
        Checkpointing, typer.Option(help="Which activations are recomputed.")
    ] = Checkpointing.NONE,
    compiled: Annotated[bool, typer.Option("--compile", help="Compile the model with torch.compile.")] = False,
    loss_chunks: Annotated[int, typer.Option(help="Compute the loss in so many pieces, to save memory.")] = 1,
    method: Annotated[
        Method, typer.Option(help="Train all weights, or low-rank adapters beside frozen ones.")
    ] = Method.FULL,
    lora_rank: Annotated[
        int | None, typer.Option(help="Of the adapters; with --method lora; default 16.", show_default=False)
    ] = None,
    lora_targets: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Linear maps with adapters, with commas: query,key,value,out (default), gate,up,down.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Token shards (.npy, .bin) or their folder in place of synthetic tokens.",
            show_default=False,
        ),
    ] = None,
    data_dtype: Annotated[
        str | None,
        typer.Option(metavar="uint16|uint32", help="Of raw .bin shards; default uint16.", show_default=False),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="First measure what this machine can do at best: up to 90 s.")
    ] = False,
    channels_last: Annotated[
        bool, typer.Option("--channels-last/--contiguous", help="Memory layout of a resnet's images.")
    ] = True,
    repeats: Annotated[int, typer.Option(help="Fresh starts; the median counts, the range is kept.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Measure for seconds: a demonstration, not evidence.")] = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine; the record goes to the workspace. Needs the extra `bench`."""
    if nodes != 1:
        raise InputError(
            f"--nodes {nodes}: this command runs on this machine alone.",
            fix="Start torchrun on every node by hand; workloads/README.md says how.",
        )
    for value, name in (
        *((gpus, "--gpus"), (repeats, "--repeats"), (loss_chunks, "--loss-chunks"), (lora_rank, "--lora-rank")),
        *((layers, "--layers"), (seq_len, "--seq-len"), (global_batch, "--global-batch")),
    ):
        check_positive(value, name)
    if method is Method.FULL and (lora_rank is not None or lora_targets is not None):
        raise InputError(
            "--lora-rank and --lora-targets say how to train adapters, and --method full trains all weights.",
            fix="Add --method lora, or leave them out.",
        )
    if data is None and data_dtype is not None:
        raise InputError(f"--data-dtype {data_dtype}: is of token shards, and none were given.", fix="Add --data PATH.")
    counts = read_counts(sweep_gpus)
    if counts and gpus is not None:
        raise InputError("--gpus and --sweep-gpus: both say how many.", fix="Give one of them.")
    catalog = catalogs.open_catalog(home)
    target = networks.bench_workload(workload, catalog, layers=layers, seq_len=seq_len)
    size = read_micro_batch(micro_batch)
    if mode is BenchMode.TUNED and isinstance(size, int):
        raise InputError(
            f"--mode tuned searches for the micro-batch, and --micro-batch {size} names one.", fix="Give one of them."
        )

    from launcher.bench import Settings
    from launcher.local import check_machine, cuda_device_name, cuda_devices

    if counts:
        check_machine(counts[-1])
    devices = counts[0] if counts else gpus or max(1, cuda_devices())
    settings = Settings(
        devices=devices,
        series=tuple(counts),
        strategy=strategy,
        precision=precision,
        mode=mode,
        micro_batch=size if isinstance(size, int) else None,
        search_micro_batch=size == "auto",
        start_micro_batch=start_micro_batch(
            target,
            accelerator_aliases().get(cuda_device_name() or ""),
            catalog,
            devices=devices,
            strategy=strategy,
            precision=precision,
            checkpointing=checkpointing,
            loss=loss_kind(compiled=compiled, loss_chunks=loss_chunks),
        ),
        global_batch=global_batch,
        calibrate=calibrate,
        data=None if data is None else read_data(data, data_dtype or "uint16"),
        repeats=repeats,
        quick=quick,
        checkpointing=checkpointing,
        compile=compiled,
        loss_chunks=loss_chunks,
        channels_last=channels_last,
        lora=read_lora(lora_rank, lora_targets) if method is Method.LORA else None,
    )
    if counts:
        print_scaling(_sweep(target, settings, counts, home), None, as_json=as_json)
        return
    record = _measure(target, settings, home)
    if as_json:
        print_document(record)


def _measure(
    target: BenchWorkload, settings: Settings, home: str | None, *, base: RunRecord | None = None
) -> RunRecord:
    """Measure once, store the record, and say what came out. `base`: the same on fewer devices."""
    from launcher.bench import Talk, benchmark

    stamp = datetime.now(tz=UTC).strftime("%Y%m%d-%H%M%S-%f")
    work_dir = workspace_dir(home) / "bench" / f"{target.name}-{stamp}"
    record = benchmark(
        target,
        settings,
        work_dir=work_dir,
        aliases=accelerator_aliases(),
        talk=Talk(say=say, step=_Progress()),
        expect=expect_from(catalogs.open_catalog(home)),
    )
    if base is not None:
        record = runs.doubted_as_too_good(record, base)
    say_result(record)
    try:
        path = runs.store_run(record, home)
    except StoreError:
        say(f"The record could not be stored; keep it, planner runs add reads it: {record.model_dump_json()}")
        raise
    say(f"Stored as {path}.")
    return record


def _sweep(target: BenchWorkload, settings: Settings, counts: Sequence[int], home: str | None) -> SweepDocument:
    """Measure on each count with one micro-batch, the one that the smallest count took. Each record is stored at once.

    What was measured before a failure stays in the store.
    """
    records: list[RunRecord] = []
    for count in counts:
        chosen = records[0].micro_batch if records else settings.micro_batch
        search = settings.search_micro_batch and not records
        asked = replace(settings, devices=count, micro_batch=chosen, search_micro_batch=search)
        records.append(_measure(target, asked, home, base=records[0] if records else None))
    return runs.scaling_of(records)


class _Progress:
    """Prints a step now and then: the last one on a line of its own, so that logs stay readable."""

    def __init__(self) -> None:
        self._next_s = time.monotonic()

    def __call__(self, step: dict[str, object]) -> None:
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + PROGRESS_EVERY_S
        unit = "images" if "images" in step else "tokens"
        seconds, done = float(str(step["seconds"])), float(str(step[unit]))
        rate = done / seconds if seconds > 0 else 0.0
        text = f"  {step['phase']} step {step['step']}: {seconds:.3f} s, {rate:,.4g} {unit}/s"
        print(text, file=sys.stderr, flush=True)
