"""`planner bench WORKLOAD`: measures this machine with the standard benchmark."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from launcher.bench import bench as benchmarks
from launcher.bench import local
from launcher.bench.bench import Settings, Talk
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import workspace_dir
from planner.cli.launching.bench_options import (
    BenchWorkloadOptions,
    MeasurementOptions,
    TrainingOptions,
    read_counts,
    read_settings,
)
from planner.cli.output import HomeOption, JsonFlag, TableOptions, check_positive
from planner.cli.registration import command, command_app
from planner.cli.run_summary import say_result
from planner.cli.scaling_output import print_scaling
from planner.cli.streams import print_document, say
from planner.errors import InputError, StoreError
from planner.model.answer.sweep_answer import SweepDocument
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchWorkload
from planner.use_cases import catalogs, networks, runs
from planner.use_cases.expectations import expect_from, most_micro_batch, start_micro_batch

app = command_app()

PROGRESS_EVERY_S = 2.0


@command(app, example="planner bench gpt-305m --mode tuned --repeats 3 --calibrate")
def bench(
    workload: BenchWorkloadOptions,
    training: TrainingOptions,
    measurement: MeasurementOptions,
    gpus: Annotated[
        int | None, typer.Option(help="Accelerators, or processes on a CPU; default: all accelerators")
    ] = None,
    sweep_gpus: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Measure on each of these counts, then show how well it scales"),
    ] = None,
    nodes: Annotated[int, typer.Option(help="Number of nodes, which must be 1")] = 1,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine with the standard benchmark.

    The run record goes to the workspace. Needs the extra `bench`. A first try: planner bench cpu-smoke --quick
    """
    if nodes != 1:
        raise InputError(
            f"--nodes {nodes}: this command runs on this machine alone.",
            fix="Start torchrun on every node by hand; workloads/README.md says how.",
        )
    check_positive(gpus, "--gpus")
    workload.check()
    settings = read_settings(workload, training, measurement, here=True)
    counts = read_counts(sweep_gpus)
    if counts and gpus is not None:
        raise InputError("--gpus and --sweep-gpus: both say how many.", fix="Give one of them.")
    catalog = catalogs.open_catalog(home)
    target = networks.bench_workload(
        workload.workload,
        catalog,
        lora=settings.lora is not None,
        layers=workload.layers,
        seq_len=workload.seq_len,
    )
    if counts:
        local.check_machine(counts[-1])
    devices = counts[0] if counts else gpus or max(1, local.cuda_devices())
    settings = replace(settings, devices=devices, series=tuple(counts))
    accelerator = accelerator_aliases().get(local.cuda_device_name() or "")
    settings = replace(
        settings,
        start_micro_batch=start_micro_batch(target, accelerator, catalog, settings),
        most_micro_batch=most_micro_batch(target, accelerator, catalog, settings),
    )
    if counts:
        print_scaling(_sweep(target, settings, counts, home), TableOptions(as_json=as_json))
        return
    record = _measure(target, settings, home)
    if as_json:
        print_document(record)


def _measure(
    target: BenchWorkload, settings: Settings, home: str | None, *, base: RunRecord | None = None
) -> RunRecord:
    """Measure once, store the record, and print its summary. `base`: the same on fewer devices."""
    stamp = datetime.now(tz=UTC).strftime("%Y%m%d-%H%M%S-%f")
    work_dir = workspace_dir(home) / "bench" / f"{target.name}-{stamp}"
    record = benchmarks.benchmark(
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
        say(f"The record could not be stored. Save it and give it to planner runs add: {record.model_dump_json()}")
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
