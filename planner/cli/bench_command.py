"""`planner bench WORKLOAD`: measures this machine with the standard benchmark."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import workspace_dir
from planner.cli.bench_arguments import read_counts
from planner.cli.output import HomeOption, JsonFlag, check_positive, print_document, say
from planner.cli.run_summary import say_result
from planner.cli.scaling_output import print_scaling
from planner.cli.workload_options import (
    CalibrateFlag,
    ChannelsLastFlag,
    CheckpointingOption,
    CompileFlag,
    DataDtypeOption,
    DataOption,
    GlobalBatchOption,
    LayersOption,
    LoraRankOption,
    LoraTargetsOption,
    LossChunksOption,
    MethodOption,
    MicroBatchOption,
    ModeOption,
    PrecisionOption,
    QuickFlag,
    RepeatsOption,
    SeqLenOption,
    StrategyOption,
    WorkloadArgument,
    read_settings,
)
from planner.errors import InputError, StoreError
from planner.model.answer.documents import SweepDocument
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchMode, BenchWorkload, Checkpointing, Method, Strategy
from planner.use_cases import catalogs, networks, runs
from planner.use_cases.expectations import expect_from, start_micro_batch

if TYPE_CHECKING:
    from launcher.bench.bench import Settings

PROGRESS_EVERY_S = 2.0
EXAMPLES = (
    "Examples: planner bench cpu-smoke --gpus 2 --quick | planner bench gpt-305m --mode tuned --repeats 3 --calibrate "
    "| planner bench llama3-8b --layers 4 --compile | planner bench mine.yaml --data tokens/ --sweep-gpus 1,2,4,8"
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(bench)


def bench(
    workload: WorkloadArgument,
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
    layers: LayersOption = None,
    seq_len: SeqLenOption = None,
    nodes: Annotated[int, typer.Option(help="This command runs on one node.")] = 1,
    strategy: StrategyOption = Strategy.DDP,
    precision: PrecisionOption = None,
    mode: ModeOption = BenchMode.MATCHED,
    micro_batch: MicroBatchOption = None,
    global_batch: GlobalBatchOption = None,
    checkpointing: CheckpointingOption = Checkpointing.NONE,
    compiled: CompileFlag = False,
    loss_chunks: LossChunksOption = 1,
    method: MethodOption = Method.FULL,
    lora_rank: LoraRankOption = None,
    lora_targets: LoraTargetsOption = None,
    data: DataOption = None,
    data_dtype: DataDtypeOption = None,
    calibrate: CalibrateFlag = False,
    channels_last: ChannelsLastFlag = True,
    repeats: RepeatsOption = 1,
    quick: QuickFlag = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine; the record goes to the workspace. Needs the extra `bench`."""
    if nodes != 1:
        raise InputError(
            f"--nodes {nodes}: this command runs on this machine alone.",
            fix="Start torchrun on every node by hand; workloads/README.md says how.",
        )
    for value, name in ((gpus, "--gpus"), (layers, "--layers"), (seq_len, "--seq-len")):
        check_positive(value, name)
    settings = read_settings(
        devices=1,
        here=True,
        strategy=strategy,
        precision=precision,
        mode=mode,
        micro_batch=micro_batch,
        global_batch=global_batch,
        checkpointing=checkpointing,
        compiled=compiled,
        loss_chunks=loss_chunks,
        method=method,
        lora_rank=lora_rank,
        lora_targets=lora_targets,
        data=data,
        data_dtype=data_dtype,
        calibrate=calibrate,
        channels_last=channels_last,
        repeats=repeats,
        quick=quick,
    )
    counts = read_counts(sweep_gpus)
    if counts and gpus is not None:
        raise InputError("--gpus and --sweep-gpus: both say how many.", fix="Give one of them.")
    catalog = catalogs.open_catalog(home)
    target = networks.bench_workload(workload, catalog, lora=settings.lora is not None, layers=layers, seq_len=seq_len)

    from launcher.bench.local import check_machine, cuda_device_name, cuda_devices

    if counts:
        check_machine(counts[-1])
    settings = replace(settings, devices=counts[0] if counts else gpus or max(1, cuda_devices()), series=tuple(counts))
    accelerator = accelerator_aliases().get(cuda_device_name() or "")
    settings = replace(settings, start_micro_batch=start_micro_batch(target, accelerator, catalog, settings))
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
    from launcher.bench.bench import Talk, benchmark

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
