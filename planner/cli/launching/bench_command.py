"""`planner bench WORKLOAD`: measures this machine with the standard benchmark, and shows its progress."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from planner.adapters.answer_store import kept_answer
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import workspace_dir
from planner.cli.launching.bench_options import (
    BenchTrainingOptions,
    BenchWorkloadOptions,
    MeasurementOptions,
    read_counts,
    read_settings,
)
from planner.cli.launching.launch_options import AnswerOption
from planner.cli.output import HomeOption, JsonFlag, TableOptions, check_positive
from planner.cli.registration import command, command_app
from planner.cli.runs.run_summary import print_scaling, summary
from planner.cli.stop_signals import StopSignal, stop_signals
from planner.cli.streams import print_document, say
from planner.cli.visible_output import Drawn
from planner.errors import InputError, StoppedError, StoreError
from planner.launcher.bench import bench as benchmarks
from planner.launcher.bench import local
from planner.launcher.bench.bench import Talk
from planner.launcher.bench.bench_settings import BenchSettings
from planner.model.answer.sweep_answer import SweepDocument
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchWorkload
from planner.text.visible_text import visible_text
from planner.use_cases import catalogs, networks, runs
from planner.use_cases.expectations import expect_from, most_micro_batch, start_micro_batch

app = command_app()


@dataclass(frozen=True, kw_only=True)
class ThisMachineOptions:
    """Number of this machine's accelerators that are measured."""

    gpus: Annotated[int | None, typer.Option(help="Accelerators, or processes on a CPU; default: all accelerators")] = (
        None
    )
    sweep_gpus: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Measure on each of these counts, then show how well it scales"),
    ] = None
    nodes: Annotated[int, typer.Option(help="Number of nodes, which must be 1")] = 1


@command(app, example="planner bench gpt-305m --mode tuned --repeats 3 --calibrate")
def bench(
    workload: BenchWorkloadOptions,
    training: BenchTrainingOptions,
    measurement: MeasurementOptions,
    machine: ThisMachineOptions,
    answer: AnswerOption = None,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Measure this machine with the standard benchmark.

    The run record goes to the workspace. Needs the extra `bench`. A first try: planner bench cpu-smoke --quick
    """
    gpus = machine.gpus
    if machine.nodes != 1:
        raise InputError(
            f"--nodes {machine.nodes}: this command runs on this machine alone.",
            fix="Start torchrun on every node by hand; workloads/README.md says how.",
        )
    check_positive(gpus, "--gpus")
    workload.check()
    answer_id = None if answer is None else kept_answer(answer).id
    settings = read_settings(workload, training, measurement, here=True)
    counts = read_counts(machine.sweep_gpus)
    if counts and gpus is not None:
        raise InputError("--gpus and --sweep-gpus: both say how many.", fix="Give one of them.")
    catalog = catalogs.open_catalog(home)
    target = networks.bench_workload(
        workload.workload, catalog, lora=settings.lora is not None, layers=workload.layers, seq_len=workload.seq_len
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
        print_scaling(_sweep(target, settings, counts, home, answer_id=answer_id), TableOptions(as_json=as_json))
        return
    record = _measure(target, settings, home, answer_id=answer_id)
    if as_json:
        print_document(record)


def _measure(
    target: BenchWorkload,
    settings: BenchSettings,
    home: str | None,
    *,
    answer_id: str | None,
    base: RunRecord | None = None,
) -> RunRecord:
    """Measure once, store the record, and print its summary. `base` is the same benchmark on fewer devices."""
    stamp = datetime.now(tz=UTC).strftime("%Y%m%d-%H%M%S-%f")
    work_dir = workspace_dir(home) / "bench" / f"{target.name}-{stamp}"
    progress = BenchProgress()
    try:
        with stop_signals():
            record = benchmarks.benchmark(
                target,
                settings,
                work_dir=work_dir,
                aliases=accelerator_aliases(),
                talk=Talk(say=progress.say, step=progress.step),
                expect=expect_from(catalogs.open_catalog(home)),
            )
    except StopSignal as stop:
        raise _stopped(stop, settings, work_dir, home, answer_id) from stop
    finally:
        progress.close()
    if base is not None:
        record = runs.doubted_as_too_good(record, base)
    try:
        record = record.model_copy(update={"answer_id": answer_id})
        path = runs.store_run(record, home)
    except StoreError:
        say(f"The record could not be stored. Save it and give it to planner runs add: {record.model_dump_json()}")
        raise
    for line in summary(record, path, quick=settings.quick):
        say(line)
    return record


def _stopped(
    stop: StopSignal, settings: BenchSettings, work_dir: Path, home: str | None, answer_id: str | None
) -> StoppedError:
    """Store what was measured before the signal; return the error that says where it is."""
    kept = None
    if work_dir.exists():
        expect = expect_from(catalogs.open_catalog(home))
        kept = benchmarks.record_of_complete_starts(work_dir, aliases=accelerator_aliases(), expect=expect)
    if kept is not None:
        record, starts = kept
        record = record.model_copy(update={"answer_id": answer_id})
        where = f"{starts} of {settings.repeats} starts were complete: {runs.store_run(record, home)}"
    elif work_dir.exists():
        where = f"No start was complete; the steps until then are in {work_dir}"
    else:
        where = "Nothing had been started."
    return StoppedError(
        f"stopped by {stop.number.name}; every process of the benchmark has ended.",
        signal_number=stop.number,
        fix=where,
    )


def _sweep(
    target: BenchWorkload, settings: BenchSettings, counts: Sequence[int], home: str | None, *, answer_id: str | None
) -> SweepDocument:
    """Measure on each count with one micro-batch, the one of the smallest count. Each record is stored at once.

    Measurements before a failure stay in the store.
    """
    records: list[RunRecord] = []
    for count in counts:
        chosen = records[0].micro_batch if records else settings.micro_batch
        search = settings.search_micro_batch and not records
        asked = replace(settings, devices=count, micro_batch=chosen, search_micro_batch=search)
        records.append(_measure(target, asked, home, answer_id=answer_id, base=records[0] if records else None))
    return runs.scaling_of(records)


REDRAW_EVERY_S = 0.5
ERASED = "\r\x1b[2K"


class BenchProgress:
    """Sentences and steps of a running benchmark, on stderr."""

    def __init__(self) -> None:
        self._on_terminal = sys.stderr.isatty()
        self._drawn = False
        self._next_s = 0.0
        self._phase: object = None

    def say(self, text: str) -> None:
        """Print a sentence on its own line."""
        self.close()
        self._phase = None  # the next start prints its phases again
        say(text)

    def step(self, step: Mapping[str, object]) -> None:
        """Show a step: on a terminal in place of the step before it, elsewhere only the first step of a phase."""
        if not self._on_terminal:
            if step["phase"] != self._phase:
                say(f"  {_step_text(step)}")
        elif time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + REDRAW_EVERY_S
            width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be rewritten
            sys.stderr.write(Drawn(ERASED + visible_text(f"  {_step_text(step)}")[:width]))
            sys.stderr.flush()
            self._drawn = True
        self._phase = step["phase"]

    def close(self) -> None:
        """Erase the line of the last step."""
        if self._drawn:
            sys.stderr.write(Drawn(ERASED))
            sys.stderr.flush()
            self._drawn = False


def _step_text(step: Mapping[str, object]) -> str:
    unit = "images" if "images" in step else "tokens"
    seconds, done = float(str(step["seconds"])), float(str(step[unit]))
    rate = done / seconds if seconds > 0 else 0.0
    return f"{step['phase']} step {step['step']}: {seconds:.3f} s, {rate:,.4g} {unit}/s"
