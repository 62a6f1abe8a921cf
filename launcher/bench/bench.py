"""One benchmark on this machine: spec, search for the micro-batch, process restarts, and the record of them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from launcher.bench.local import run_local
from launcher.collect.expectations import Expect
from launcher.collect.probe_record import PROBE_WINDOW, failed_probe, probe_of
from launcher.collect.record import parse_result, record_of
from launcher.collect.saturation import has_room
from planner.errors import InputError, NodeError
from planner.model.evidence.run import Probe, RunRecord
from planner.model.network.architecture import Resnet
from planner.model.network.workload import (
    BenchMode,
    BenchWorkload,
    BusyDevice,
    Checkpointing,
    Precision,
    Strategy,
    Window,
    usual_frozen,
)
from workloads.batch.batch_search import search_micro_batch
from workloads.contract.spec import SpecError, from_json
from workloads.inputs.shards import check_shards

LARGEST_MICRO_BATCH = 4096


@dataclass(frozen=True)
class LoraSettings:
    """Train adapters of this rank beside frozen weights; `targets` are the spec's names of linear maps."""

    rank: int
    targets: tuple[str, ...]
    alpha: float = 32.0


@dataclass(frozen=True)
class DataSettings:
    """A file or folder of token shards, on the node; `dtype` is that of raw .bin files."""

    path: str
    dtype: str = "uint16"


@dataclass(frozen=True)
class Settings:
    """What the person asked for; None stands for the workload's own value."""

    devices: int
    """Processes in all, over all nodes."""
    series: tuple[int, ...] = ()
    """All counts of a series that this run belongs to: one micro-batch must serve each of them."""
    strategy: Strategy = Strategy.DDP
    precision: Precision | None = None
    mode: BenchMode = BenchMode.MATCHED
    micro_batch: int | None = None
    search_micro_batch: bool = False
    start_micro_batch: int | None = None
    """Where the search begins: what the memory estimate says fits."""
    global_batch: int | None = None
    repeats: int = 1
    quick: bool = False
    checkpointing: Checkpointing = Checkpointing.NONE
    compile: bool = False
    loss_chunks: int = 1
    channels_last: bool = True
    """Where images go into convolutions: colours beside each other in memory, as their kernels like it."""
    lora: LoraSettings | None = None
    """None: all weights are trained."""
    calibrate: bool = False
    """Before the first start: the machine stays the same."""
    data: DataSettings | None = None
    """None: synthetic tokens."""
    busy_device: BusyDevice = BusyDevice.REFUSE

    @property
    def searches(self) -> bool:
        """Tuned mode searches unless a search before it (of a smaller count) has told the micro-batch."""
        return self.search_micro_batch or (self.mode is BenchMode.TUNED and self.micro_batch is None)


@dataclass(frozen=True)
class Talk:
    """How the benchmark speaks while it runs: whole sentences, and single steps."""

    say: Callable[[str], None]
    step: Callable[[dict[str, object]], None]


def spec_of(
    workload: BenchWorkload,
    settings: Settings,
    *,
    micro_batch: int | None = None,
    window: Window | None = None,
) -> dict[str, Any]:
    """Return the `spec.json` of one run, whatever machine it goes to.

    grad_accumulation = global batch / (micro_batch x devices); 1 where no global batch is asked for. Raises InputError
    where that is no whole number.
    """
    micro_batch = micro_batch or settings.micro_batch or workload.micro_batch
    return {
        "schema_version": 1,
        "kind": "spec",
        "workload": workload.name,
        "architecture": workload.architecture.model_dump(mode="json"),
        "seq_len": workload.seq_len,
        "micro_batch": micro_batch,
        "grad_accumulation": _accumulation(workload, settings, micro_batch),
        "strategy": settings.strategy.value,
        "precision": (settings.precision or workload.precision).value,
        "seed": 0,
        "window": (window or window_of(workload, settings)).model_dump(mode="json"),
        "checkpointing": settings.checkpointing.value,
        "compile": settings.compile,
        "loss_chunks": settings.loss_chunks,
        "method": "full" if settings.lora is None else "lora",
        "channels_last": isinstance(workload.architecture, Resnet) and settings.channels_last,
        "lora": lora_document(settings.lora, settings.precision or workload.precision),
        "calibrate": settings.calibrate,
        "data": None if settings.data is None else asdict(settings.data),
        "mode": settings.mode.value,
        "note": workload.note,
        "busy_device": settings.busy_device.value,
    }


def lora_document(lora: LoraSettings | None, precision: Precision) -> dict[str, Any] | None:
    """Return the spec's part on adapters; the weights beside them are kept in the products' format."""
    if lora is None:
        return None
    frozen = usual_frozen(precision)
    return asdict(lora) | {"targets": list(lora.targets), "frozen": frozen.value if frozen else None}


def window_of(workload: BenchWorkload, settings: Settings) -> Window:
    """Return how long it is to be measured."""
    return workload.quick_window if settings.quick else workload.window


SPEC_FIX = "Change it in the workload's file, or by an option of this command."


def check_spec(spec: dict[str, Any], *, runs_here: bool) -> None:
    """Refuse here, before a process is started, what every rank would refuse.

    `runs_here`: also what only the machine that runs it can tell, its data and what its torch can do.
    """
    try:
        checked = from_json(spec, where=str(spec["workload"]))
        if runs_here and checked.data is not None:
            check_shards(checked)
    except SpecError as error:
        raise InputError(str(error), fix=SPEC_FIX) from error
    if spec["precision"] == "float8" and runs_here:
        from workloads.models.float8 import problem_here

        missing = problem_here()
        if missing is not None:
            raise InputError(missing)


def benchmark(
    workload: BenchWorkload,
    settings: Settings,
    *,
    work_dir: Path,
    aliases: Mapping[str, str],
    talk: Talk,
    expect: Expect | None = None,
) -> RunRecord:
    """Run the workload here, `repeats` times from a fresh start, and return one record.

    Where no search has tried several micro-batches and a full measurement left half of the memory empty, this one and
    its double are probed: only then can the verdict tell a batch that is too small for the device.
    The files of every start stay in `work_dir` as evidence. Raises NodeError where nothing was measured.
    """
    sizes = allowed_micro_batches(workload, settings) if settings.searches else None
    for count in settings.series:
        spec_of(workload, replace(settings, devices=count), micro_batch=sizes[0] if sizes else None)
    check_spec(spec_of(workload, settings, micro_batch=sizes[0] if sizes else None), runs_here=True)
    micro_batch: int | None = None
    probes: tuple[Probe, ...] = ()
    if sizes:
        micro_batch, probes = _search(workload, settings, sizes, work_dir=work_dir, talk=talk)
    spec = spec_of(workload, settings, micro_batch=micro_batch)
    results = []
    for start in range(1, settings.repeats + 1):
        talk.say(
            f"{workload.name}: {settings.devices} process(es), {spec['precision']}, {settings.strategy.value}, "
            f"micro-batch {spec['micro_batch']} x {spec['grad_accumulation']}; start {start} of {settings.repeats}"
        )
        results.append(
            run_local(
                spec | {"calibrate": settings.calibrate and start == 1},
                devices_per_node=settings.devices,
                work_dir=work_dir / f"start-{start}",
                on_progress=talk.step,
                timeout_s=_patience_s(window_of(workload, settings)),
            )
        )
    if not probes and not settings.quick and has_room(parse_result(results[0], where=str(work_dir))):
        probes = _doubled(workload, settings, work_dir=work_dir, talk=talk)
    return record_of(results, aliases=aliases, probes=probes, where=str(work_dir), expect=expect)


def global_batch_of(workload: BenchWorkload, settings: Settings) -> int | None:
    """Return the samples of one optimizer step of all devices; None where nobody asks for so many."""
    tuned = settings.mode is BenchMode.TUNED
    return settings.global_batch or (workload.global_batch if tuned else None)


def _accumulation(workload: BenchWorkload, settings: Settings, micro_batch: int) -> int:
    global_batch = global_batch_of(workload, settings)
    if global_batch is None:
        return 1
    if global_batch % (micro_batch * settings.devices):
        raise InputError(
            f"a global batch of {global_batch} is no multiple of micro-batch {micro_batch} x {settings.devices} "
            "device(s).",
            fix=f"Give --global-batch a multiple of {micro_batch * settings.devices}, or another --micro-batch.",
        )
    return global_batch // (micro_batch * settings.devices)


def allowed_micro_batches(workload: BenchWorkload, settings: Settings) -> list[int]:
    """Return the micro-batches that may be chosen: with a global batch, those that divide each device's share."""
    global_batch = global_batch_of(workload, settings)
    if global_batch is None and settings.mode is BenchMode.TUNED:
        raise InputError(
            f"tuned runs are compared at one global batch, and {workload.name} states none.",
            fix=f"Give one, e.g. --global-batch {32 * settings.devices}.",
        )
    if global_batch is None:
        return list(range(1, LARGEST_MICRO_BATCH + 1))
    counts = settings.series or (settings.devices,)
    for count in counts:
        if global_batch % count:
            raise InputError(
                f"a global batch of {global_batch} cannot be split evenly over {count} device(s).",
                fix=f"Give --global-batch a multiple of {math.lcm(*counts)}.",
            )
    share = math.gcd(*(global_batch // count for count in counts))
    return [size for size in range(1, share + 1) if share % size == 0]


def _search(
    workload: BenchWorkload, settings: Settings, sizes: list[int], *, work_dir: Path, talk: Talk
) -> tuple[int, tuple[Probe, ...]]:
    one_fits = False

    def probe(micro_batch: int) -> Probe:
        nonlocal one_fits
        outcome = _probe(workload, settings, micro_batch, work_dir=work_dir, talk=talk, may_die=one_fits)
        one_fits = one_fits or outcome.fits
        return outcome

    start = settings.micro_batch or settings.start_micro_batch or workload.micro_batch
    search = search_micro_batch(probe, start=start, allowed=sizes)
    if search.chosen is None:
        raise NodeError(
            f"{workload.name} does not fit this machine even at micro-batch {sizes[0]}.",
            fix="Shard it (--strategy fsdp2), recompute (--checkpointing full), or take a cut (--layers).",
        )
    talk.say(f"micro-batch {search.chosen} is the smallest within 3 % of the best")
    return search.chosen, search.probes


def _doubled(workload: BenchWorkload, settings: Settings, *, work_dir: Path, talk: Talk) -> tuple[Probe, ...]:
    """Probe the measured micro-batch and its double in the same way; nothing where the global batch forbids it."""
    micro_batch = settings.micro_batch or workload.micro_batch
    global_batch = global_batch_of(workload, settings)
    if global_batch is not None and global_batch % (2 * micro_batch * settings.devices):
        return ()
    talk.say(f"under half of the memory was used: is micro-batch {2 * micro_batch} faster?")
    return tuple(
        _probe(workload, settings, size, work_dir=work_dir, talk=talk, may_die=True)
        for size in (micro_batch, 2 * micro_batch)
    )


def _probe(
    workload: BenchWorkload, settings: Settings, micro_batch: int, *, work_dir: Path, talk: Talk, may_die: bool
) -> Probe:
    """Run a few steps. `may_die`: a run that leaves nothing was too large; otherwise it failed for another reason."""
    spec = spec_of(workload, settings, micro_batch=micro_batch, window=PROBE_WINDOW) | {"calibrate": False}
    try:
        result = run_local(
            spec,
            devices_per_node=settings.devices,
            work_dir=work_dir / f"probe-{micro_batch}",
            timeout_s=_patience_s(PROBE_WINDOW),
        )
        outcome = probe_of(result)
    except NodeError as error:
        if not may_die:
            raise
        outcome = failed_probe(spec, error)
    rate = "" if outcome.samples_per_s is None else f"{outcome.samples_per_s:.4g} samples/s"
    talk.say(f"micro-batch {micro_batch}: {', '.join(part for part in (rate, outcome.refused) if part)}")
    return outcome


def _patience_s(window: Window) -> float:
    """Seconds after which a run counts as hung: its own limits, and time for imports and slow steps."""
    return 600.0 + 2 * (window.max_warmup_s + window.max_s)
