"""One benchmark on this machine: spec, process restarts, and the record of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from launcher.batch_search import BatchSearch, search_micro_batch
from launcher.collect import record_of
from launcher.local import run_local
from planner.errors import InputError, NodeError
from planner.model.architecture import Resnet
from planner.model.run import Probe, RunRecord
from planner.model.workload import BenchWorkload, Checkpointing, Precision, Strategy, Window
from workloads.spec import SpecError, from_json

PROBE_WINDOW = Window(min_warmup_steps=3, min_warmup_s=0.0, max_warmup_s=20.0, min_steps=5, min_s=1.0, max_s=20.0)


@dataclass(frozen=True)
class LoraSettings:
    """Train adapters of this rank beside frozen weights; `targets` are the spec's names of linear maps."""

    rank: int = 16
    alpha: float = 32.0
    targets: tuple[str, ...] = ("query", "key", "value", "out")


@dataclass(frozen=True)
class Settings:
    """What the person asked for; None stands for the workload's own value, `auto` for a search."""

    devices: int
    strategy: Strategy = Strategy.DDP
    precision: Precision | None = None
    micro_batch: int | None = None
    search_micro_batch: bool = False
    repeats: int = 1
    quick: bool = False
    checkpointing: Checkpointing = Checkpointing.NONE
    compile: bool = False
    loss_chunks: int = 1
    channels_last: bool = True
    """Where images go into convolutions: colours beside each other in memory, as their kernels like it."""
    lora: LoraSettings | None = None
    """None: all weights are trained."""


@dataclass(frozen=True)
class Talk:
    """How the benchmark speaks while it runs: whole sentences, and single steps."""

    say: Callable[[str], None]
    step: Callable[[dict[str, object]], None]


def spec_of(workload: BenchWorkload, settings: Settings, *, micro_batch: int, window: Window) -> dict[str, Any]:
    """Return the `spec.json` of one run."""
    return {
        "schema_version": 1,
        "kind": "spec",
        "workload": workload.name,
        "architecture": workload.architecture.model_dump(mode="json"),
        "seq_len": workload.seq_len,
        "micro_batch": micro_batch,
        "grad_accumulation": 1,
        "strategy": settings.strategy.value,
        "precision": (settings.precision or workload.precision).value,
        "seed": 0,
        "window": window.model_dump(mode="json"),
        "checkpointing": settings.checkpointing.value,
        "compile": settings.compile,
        "loss_chunks": settings.loss_chunks,
        "method": "full" if settings.lora is None else "lora",
        "channels_last": isinstance(workload.architecture, Resnet) and settings.channels_last,
        "lora": None if settings.lora is None else asdict(settings.lora) | {"targets": list(settings.lora.targets)},
    }


def benchmark(
    workload: BenchWorkload, settings: Settings, *, work_dir: Path, aliases: Mapping[str, str], talk: Talk
) -> RunRecord:
    """Run the workload here, `repeats` times from a fresh start, and return one record.

    The files of every start stay in `work_dir` as evidence. Raises NodeError where nothing was measured.
    """
    micro_batch = settings.micro_batch or workload.micro_batch
    window = workload.quick_window if settings.quick else workload.window
    _check(spec_of(workload, settings, micro_batch=micro_batch, window=window))
    probes: tuple[Probe, ...] = ()
    if settings.search_micro_batch:
        micro_batch, probes = _search(workload, settings, work_dir=work_dir, talk=talk)
    spec = spec_of(workload, settings, micro_batch=micro_batch, window=window)
    results = []
    for start in range(1, settings.repeats + 1):
        talk.say(
            f"{workload.name}: {settings.devices} process(es), {spec['precision']}, {settings.strategy.value}, "
            f"micro-batch {micro_batch}; start {start} of {settings.repeats}"
        )
        results.append(
            run_local(
                spec,
                devices_per_node=settings.devices,
                work_dir=work_dir / f"start-{start}",
                on_progress=talk.step,
                timeout_s=_patience_s(window),
            )
        )
    return record_of(results, aliases=aliases, probes=probes, where=str(work_dir), note=workload.note)


def _check(spec: dict[str, Any]) -> None:
    """Refuse here, before a process is started, what every rank would refuse."""
    try:
        from_json(spec, where=str(spec["workload"]))
    except SpecError as error:
        raise InputError(str(error)) from error
    if spec["precision"] == "float8":
        from workloads.float8 import problem_here

        missing = problem_here()
        if missing is not None:
            raise InputError(missing)


def _search(
    workload: BenchWorkload, settings: Settings, *, work_dir: Path, talk: Talk
) -> tuple[int, tuple[Probe, ...]]:
    def probe(micro_batch: int) -> float | None:
        spec = spec_of(workload, settings, micro_batch=micro_batch, window=PROBE_WINDOW)
        result = run_local(
            spec,
            devices_per_node=settings.devices,
            work_dir=work_dir / f"probe-{micro_batch}",
            timeout_s=_patience_s(PROBE_WINDOW),
        )
        if result["exit_reason"] == "out_of_memory":
            talk.say(f"micro-batch {micro_batch}: out of memory")
            return None
        rate = float(str(result["samples"])) / float(str(result["window_s"]))
        talk.say(f"micro-batch {micro_batch}: {rate:.4g} samples/s")
        return rate

    found: BatchSearch = search_micro_batch(probe, start=workload.micro_batch)
    if found.chosen is None:
        raise NodeError(f"{workload.name} does not fit this machine even at micro-batch 1.")
    talk.say(f"micro-batch {found.chosen} is the smallest within 3 % of the best")
    probes = tuple(Probe(micro_batch=tried, samples_per_s=rate) for tried, rate in found.probes)
    return found.chosen, probes


def _patience_s(window: Window) -> float:
    """Seconds after which a run has hung: its own limits, with time for imports and slow steps."""
    return 600.0 + 2 * (window.max_warmup_s + window.max_s)
