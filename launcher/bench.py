"""One benchmark on this machine: spec, process restarts, and the record of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from launcher.batch_search import BatchSearch, search_micro_batch
from launcher.collect import record_of
from launcher.local import run_local
from planner.errors import NodeError
from planner.model.run import RunRecord
from planner.model.workload import Precision, Preset, Strategy, Window

PROBE_WINDOW = Window(min_warmup_steps=3, min_warmup_s=0.0, max_warmup_s=20.0, min_steps=5, min_s=1.0, max_s=20.0)


@dataclass(frozen=True)
class Settings:
    """What the person asked for; None stands for the preset's own value, `auto` for a search."""

    devices: int
    strategy: Strategy = Strategy.DDP
    precision: Precision | None = None
    micro_batch: int | None = None
    search_micro_batch: bool = False
    repeats: int = 1
    quick: bool = False


@dataclass(frozen=True)
class Talk:
    """How the benchmark speaks while it runs: whole sentences, and single steps."""

    say: Callable[[str], None]
    step: Callable[[dict[str, object]], None]


def spec_of(preset: Preset, settings: Settings, *, micro_batch: int, window: Window) -> dict[str, Any]:
    """Return the `spec.json` of one run."""
    return {
        "schema_version": 1,
        "kind": "spec",
        "workload": preset.name,
        "architecture": preset.architecture.model_dump(mode="json"),
        "seq_len": preset.seq_len,
        "micro_batch": micro_batch,
        "grad_accumulation": 1,
        "strategy": settings.strategy.value,
        "precision": (settings.precision or preset.precision).value,
        "seed": 0,
        "window": window.model_dump(mode="json"),
    }


def benchmark(
    preset: Preset, settings: Settings, *, work_dir: Path, aliases: Mapping[str, str], talk: Talk
) -> RunRecord:
    """Run the preset here, `repeats` times from a fresh start, and return one record.

    The files of every start stay in `work_dir` as evidence. Raises NodeError where nothing was measured.
    """
    micro_batch = settings.micro_batch or preset.micro_batch
    if settings.search_micro_batch:
        micro_batch = _search(preset, settings, work_dir=work_dir, talk=talk)
    window = preset.quick_window if settings.quick else preset.window
    spec = spec_of(preset, settings, micro_batch=micro_batch, window=window)
    results = []
    for start in range(1, settings.repeats + 1):
        talk.say(
            f"{preset.name}: {settings.devices} process(es), {spec['precision']}, {settings.strategy.value}, "
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
    return record_of(results, aliases=aliases, where=str(work_dir))


def _search(preset: Preset, settings: Settings, *, work_dir: Path, talk: Talk) -> int:
    def probe(micro_batch: int) -> float | None:
        spec = spec_of(preset, settings, micro_batch=micro_batch, window=PROBE_WINDOW)
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

    found: BatchSearch = search_micro_batch(probe, start=preset.micro_batch)
    if found.chosen is None:
        raise NodeError(f"{preset.name} does not fit this machine even at micro-batch 1.")
    talk.say(f"micro-batch {found.chosen} is the smallest within 3 % of the best")
    return found.chosen


def _patience_s(window: Window) -> float:
    """Seconds after which a run has hung: its own limits, with time for imports and slow steps."""
    return 600.0 + 2 * (window.max_warmup_s + window.max_s)
