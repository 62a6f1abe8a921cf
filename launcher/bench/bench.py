"""One benchmark on this machine: its spec, the search for the micro-batch, the restarts, and the combined record."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from planner.errors import InputError, NodeError
from planner.launcher.bench.bench_settings import BenchSettings, LoraSettings
from planner.launcher.bench.local import RESULT_NAME, run_local
from planner.launcher.collect.expectations import GetExpected
from planner.launcher.collect.node_result import GOOD_EXITS
from planner.launcher.collect.record import record_of
from planner.model.evidence.run import Probe, RunRecord
from planner.model.network.workload import (
    BenchMode,
    BenchWorkload,
    Precision,
    Window,
    usual_frozen,
)
from planner.workloads.batch.micro_batch_probe import PROBE_WINDOW, ProbeResult
from planner.workloads.batch.prober import Prober, allowed_sizes
from planner.workloads.contract.spec import SpecError
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.shards import check_shards


@dataclass(frozen=True)
class Talk:
    """Callbacks for output while the benchmark runs: whole sentences, and single steps."""

    say: Callable[[str], None]
    step: Callable[[dict[str, object]], None]


def spec_of(
    workload: BenchWorkload,
    settings: BenchSettings,
    *,
    micro_batch: int | None = None,
    window: Window | None = None,
) -> dict[str, Any]:
    """Return the `spec.json` of one run, for any machine.

    grad_accumulation = global batch / (micro_batch x devices), or 1 without a global batch. Raises InputError if that
    is not a whole number.
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
        "channels_last": workload.architecture.is_convolutional and settings.channels_last,
        "lora": lora_document(settings.lora, settings.precision or workload.precision),
        "calibrate": settings.calibrate,
        "data": None if settings.data is None else asdict(settings.data),
        "mode": settings.mode.value,
        "note": workload.note,
        "busy_device": settings.busy_device.value,
        **_where_asked(settings),
    }


def _where_asked(settings: BenchSettings) -> dict[str, Any]:
    """Return keys that older copies of workloads/ do not know, if they differ from what these copies would do."""
    return {
        **({} if settings.probe is None else {"probe": asdict(settings.probe)}),
        **({"fused_loss": True} if settings.fused_loss else {}),
        **({"attention": "trial"} if settings.attention_by_trial else {}),
        **({"cuda_graphs": True} if settings.cuda_graphs else {}),
    }


def lora_document(lora: LoraSettings | None, precision: Precision) -> dict[str, Any] | None:
    """Return the spec's part on adapters. The frozen weights are kept in the format of the products."""
    if lora is None:
        return None
    frozen = usual_frozen(precision)
    return asdict(lora) | {"targets": list(lora.targets), "frozen": frozen.value if frozen else None}


def window_of(workload: BenchWorkload, settings: BenchSettings) -> Window:
    """Return how long to measure."""
    return workload.quick_window if settings.quick else workload.window


SPEC_FIX = "Change it in the workload's file, or by an option of this command."


def check_spec(spec: dict[str, Any], *, runs_here: bool) -> None:
    """Refuse here, before a process starts, what every rank would refuse.

    `runs_here` also checks what only the running machine knows: its data and its torch.
    """
    try:
        checked = from_json(spec, where=str(spec["workload"]))
        if runs_here and checked.data is not None:
            check_shards(checked)
    except SpecError as error:
        raise InputError(str(error), fix=SPEC_FIX) from error
    if spec["precision"] == "float8" and runs_here:
        from planner.workloads.models.float8 import problem_here

        missing = problem_here()
        if missing is not None:
            raise InputError(missing)


def benchmark(
    workload: BenchWorkload,
    settings: BenchSettings,
    *,
    work_dir: Path,
    aliases: Mapping[str, str],
    talk: Talk,
    expect: GetExpected | None = None,
) -> RunRecord:
    """Run the workload here `repeats` times from a fresh start, and return one record.

    If a full measurement left half of the memory empty and no search tried several micro-batches, its micro-batch and
    the double are probed. The verdict can then tell whether the batch is too small for the device. The files of every
    start stay in `work_dir` as evidence. Raises NodeError if nothing was measured.
    """
    sizes = allowed_micro_batches(workload, settings) if settings.searches else None
    for count in settings.series:
        spec_of(workload, replace(settings, devices=count), micro_batch=sizes[0] if sizes else None)
    spec = spec_of(workload, settings, micro_batch=sizes[0] if sizes else None)
    check_spec(spec, runs_here=True)
    prober = _prober(workload, settings, spec, work_dir=work_dir, talk=talk)
    probes: Sequence[ProbeResult] = ()
    if sizes:
        first = settings.micro_batch or settings.start_micro_batch or workload.micro_batch
        chosen, probes = prober.search(start=first, most=settings.most_micro_batch, allowed=sizes)
        if chosen is None:
            raise NodeError(
                f"{workload.name} does not fit this machine even at micro-batch {sizes[0]}.",
                fix="Shard it (--strategy fsdp2), recompute (--checkpointing full), or take a cut (--layers).",
            )
        spec = spec_of(workload, settings, micro_batch=chosen)
    window = window_of(workload, settings)
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
                timeout_s=_patience_s(window.max_warmup_s, window.max_s),
            )
        )
    if not probes and not settings.quick:
        probes = prober.double(results[0])
    tried = [Probe.model_validate(asdict(probe)) for probe in probes]
    return record_of(results, aliases=aliases, probes=tried, where=str(work_dir), expect=expect)


def record_of_complete_starts(
    work_dir: Path, *, aliases: Mapping[str, str], expect: GetExpected | None = None
) -> tuple[RunRecord, int] | None:
    """Return one record of the starts that ran to their end, with their number; None if there is none.

    This serves a benchmark that was stopped. Its probes and launch seconds are not in the record.
    """
    results = []
    for start in itertools.count(1):
        path = work_dir / f"start-{start}" / RESULT_NAME
        if not path.exists():
            break
        result = json.loads(path.read_text(encoding="utf-8"))
        if result["exit_reason"] in GOOD_EXITS:
            results.append(result)
    if not results:
        return None
    return record_of(results, aliases=aliases, where=str(work_dir), expect=expect), len(results)


def global_batch_of(workload: BenchWorkload, settings: BenchSettings) -> int | None:
    """Return the samples of one optimizer step over all devices; None if no global batch is asked for."""
    tuned = settings.mode is BenchMode.TUNED
    return settings.global_batch or (workload.global_batch if tuned else None)


def _accumulation(workload: BenchWorkload, settings: BenchSettings, micro_batch: int) -> int:
    global_batch = global_batch_of(workload, settings)
    if global_batch is None:
        return 1
    if global_batch % (micro_batch * settings.devices):
        raise InputError(
            f"a global batch of {global_batch} is not a multiple of micro-batch {micro_batch} x {settings.devices} "
            "device(s).",
            fix=f"Give --global-batch a multiple of {micro_batch * settings.devices}, or another --micro-batch.",
        )
    return global_batch // (micro_batch * settings.devices)


def allowed_micro_batches(workload: BenchWorkload, settings: BenchSettings) -> Sequence[int]:
    """Return the allowed micro-batches. With a global batch they must divide each device's share."""
    global_batch = global_batch_of(workload, settings)
    if global_batch is None and settings.mode is BenchMode.TUNED:
        raise InputError(
            f"tuned runs are compared at one global batch, and {workload.name} states none.",
            fix=f"Give one, e.g. --global-batch {32 * settings.devices}.",
        )
    if global_batch is None:
        return allowed_sizes(None)
    counts = settings.series or (settings.devices,)
    for count in counts:
        if global_batch % count:
            raise InputError(
                f"a global batch of {global_batch} cannot be split evenly over {count} device(s).",
                fix=f"Give --global-batch a multiple of {math.lcm(*counts)}.",
            )
    return allowed_sizes(math.gcd(*(global_batch // count for count in counts)))


def _prober(
    workload: BenchWorkload, settings: BenchSettings, spec: dict[str, Any], *, work_dir: Path, talk: Talk
) -> Prober:
    """Return the prober for the spec's benchmark on this machine."""
    global_batch = global_batch_of(workload, settings)

    def run(probe: dict[str, Any]) -> dict[str, object]:
        return run_local(
            probe,
            devices_per_node=settings.devices,
            work_dir=work_dir / f"probe-{probe['micro_batch']}",
            timeout_s=_patience_s(PROBE_WINDOW["max_warmup_s"], PROBE_WINDOW["max_s"]),
        )

    share = None if global_batch is None else global_batch // settings.devices
    return Prober(spec=spec, share=share, run=run, failed=NodeError, say=talk.say)


def _patience_s(max_warmup_s: float, max_s: float) -> float:
    """Return the seconds after which a run counts as hung: its own limits plus time for imports and slow steps."""
    return 600.0 + 2 * (max_warmup_s + max_s)
