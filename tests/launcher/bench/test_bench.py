"""Settings of the benchmark: batches of both modes; and one search on a machine whose memory really ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError, NodeError
from planner.launcher.bench import bench, local
from planner.launcher.bench.bench import Talk, benchmark, spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.model.network.workload import BenchMode, BenchWorkload, Window
from planner.workloads.batch.micro_batch_probe import probe_of
from tests.bundled import bundled_catalog

PRESETS = bundled_catalog().presets
TUNED = BenchMode.TUNED
GIB = 2**30


@pytest.mark.parametrize(
    ("settings", "micro_batch", "accumulation"),
    [
        pytest.param(BenchSettings(devices=8), 4, 1, id="matched: the workload's own"),
        pytest.param(BenchSettings(devices=8, micro_batch=2), 2, 1, id="matched: as told"),
        pytest.param(BenchSettings(devices=2, global_batch=64), 4, 8, id="matched, with a global batch"),
        pytest.param(BenchSettings(devices=8, mode=TUNED, micro_batch=16), 16, 1, id="tuned: 128 / (16 x 8)"),
        pytest.param(BenchSettings(devices=1, mode=TUNED, micro_batch=16), 16, 8, id="tuned on one: 128 / 16"),
        pytest.param(BenchSettings(devices=1, mode=TUNED, micro_batch=16, global_batch=16), 16, 1, id="tuned, as told"),
    ],
)
def test_accumulation_makes_the_global_batch(settings: BenchSettings, micro_batch: int, accumulation: int) -> None:
    spec = spec_of(PRESETS["gpt-305m"], settings)
    assert (spec["micro_batch"], spec["grad_accumulation"], spec["mode"]) == (
        micro_batch,
        accumulation,
        settings.mode.value,
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param(
            BenchSettings(devices=3, global_batch=32), "32 is not a multiple of micro-batch 4 x 3", id="matched"
        ),
        pytest.param(
            BenchSettings(devices=8, mode=TUNED), "compared at one global batch, and .* states none", id="none"
        ),
        pytest.param(BenchSettings(devices=10, mode=TUNED), "128 cannot be split evenly over 10", id="tuned"),
        pytest.param(
            BenchSettings(devices=1, series=(1, 3), mode=TUNED),
            "128 cannot be split evenly over 3",
            id="a series, tuned",
        ),
        pytest.param(
            BenchSettings(devices=1, series=(1, 64), global_batch=128),
            "128 is not a multiple of micro-batch 4 x 64",
            id="a series, matched",
        ),
    ],
)
def test_a_global_batch_that_does_not_divide_is_refused_before_anything_runs(
    tmp_path: Path, settings: BenchSettings, message: str
) -> None:
    preset = PRESETS["gpt-305m"]
    workload = preset.model_copy(update={"global_batch": None}) if "states none" in message else preset
    with pytest.raises(InputError, match=message):
        benchmark(workload, settings, work_dir=tmp_path, aliases={}, talk=SILENT)
    assert not list(tmp_path.iterdir())


SILENT = Talk(say=lambda _: None, step=lambda _: None)


@pytest.mark.parametrize(
    ("changes", "fits", "refused"),
    [
        pytest.param({}, True, None, id="fits"),
        pytest.param({"exit_reason": "out_of_memory", "window_s": 0.0}, False, "out of memory", id="out of memory"),
        pytest.param({"allocator_retries": 2.0}, False, "try again 2 times", id="retries"),
        pytest.param({"peak_reserved_gib": 95.1}, False, "fills 95% of the device", id="over 95 %"),
        pytest.param({"exit_reason": "loss_not_finite"}, False, "ended with 'loss_not_finite'", id="no loss"),
    ],
)
def test_which_probes_can_be_taken(changes: dict[str, object], fits: bool, refused: str | None) -> None:
    memory: dict[str, object] = {"peak_reserved_gib": 94.0, "device_gib": 100.0, "allocator_retries": 0.0}
    result: dict[str, object] = {
        **{"exit_reason": "completed", "samples": 50, "window_s": 2.0, "memory": memory},
        "spec": spec_of(PRESETS["gpt-305m"], BenchSettings(devices=1)),
    }
    for key, value in changes.items():
        (memory if key in memory else result)[key] = value
    probe = probe_of(result)
    assert probe.fits == fits
    assert (probe.refused is None) == (refused is None)
    assert refused is None or refused in str(probe.refused)
    if fits:
        assert (probe.samples_per_s, probe.device_memory_fraction) == (25.0, 0.94)


@pytest.mark.parametrize("failing", [8, 4], ids=["after one that fits", "the first"])
def test_a_probe_that_leaves_nothing_is_too_large_only_where_a_smaller_one_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Such as a process that the system killed for its memory."""

    def run(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
        if spec["micro_batch"] >= failing:
            raise NodeError("the benchmark ended with code 1 and left no result.")
        return {"exit_reason": "completed", "samples": spec["micro_batch"], "window_s": 1.0, "memory": {}, "spec": spec}

    class SearchedError(Exception):
        """The search is over."""

    def record(*_: Any, probes: Any, **__: Any) -> None:
        raise SearchedError(str([(probe.micro_batch, probe.fits) for probe in probes]))

    monkeypatch.setattr(bench, "run_local", run)
    monkeypatch.setattr(bench, "record_of", record)
    expected = NodeError if failing == 4 else SearchedError
    asked = BenchSettings(devices=1, mode=TUNED, global_batch=8)
    with pytest.raises(expected) as ended:
        benchmark(PRESETS["gpt-305m"], asked, work_dir=tmp_path, aliases={}, talk=SILENT)
    assert failing == 4 or str(ended.value) == "[(4, True), (8, False), (2, True)]"


class BenchMachine:
    """Substitute for the processes: rates by micro-batch, and the used part of the device's 100 GiB."""

    def __init__(self, rates: dict[int, float], reserved_gib: float = 7.0) -> None:
        self.rates, self.reserved_gib = rates, reserved_gib
        self.ran: list[str] = []

    def __call__(self, spec: dict[str, Any], *, work_dir: Path, **_: Any) -> dict[str, Any]:
        micro_batch = spec["micro_batch"]
        self.ran.append(work_dir.name)
        if micro_batch not in self.rates:
            raise NodeError("the benchmark ended with code 1 and left no result.")
        samples = 60 * micro_batch * spec["grad_accumulation"]
        memory: dict[str, object] = {
            "peak_reserved_gib": self.reserved_gib,
            "device_gib": 100.0,
            "allocator_retries": 0.0,
        }
        return self.template | {
            "spec": spec,
            "memory": memory,
            "samples": samples,
            "tokens": samples * spec["seq_len"],
            "global_batch": micro_batch * spec["grad_accumulation"],
            "steps": 60,
            "step_seconds": [samples / self.rates[micro_batch] / 60] * 60,
            "window_s": samples / self.rates[micro_batch],
        }

    template: dict[str, Any]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, result: Callable[..., dict[str, Any]]) -> Callable[..., BenchMachine]:
    def made(rates: dict[int, float], **how: float) -> BenchMachine:
        stand_in = BenchMachine(rates, **how)
        stand_in.template = result(world_size=1, devices_per_node=1, rank_step_seconds=[], rank_work_seconds=[])
        monkeypatch.setattr(bench, "run_local", stand_in)
        return stand_in

    return made


@pytest.mark.parametrize(
    ("settings", "rates", "reserved_gib", "ran", "said"),
    [
        pytest.param(
            BenchSettings(devices=1), {4: 2.0, 8: 3.0}, 7.0, [4, 8], "50% faster at 8", id="too small a batch"
        ),
        pytest.param(BenchSettings(devices=1), {4: 2.0, 8: 2.08}, 7.0, [4, 8], None, id="4 % is not worth it"),
        pytest.param(BenchSettings(devices=1), {4: 2.0}, 7.0, [4, 8], None, id="the double does not run"),
        pytest.param(BenchSettings(devices=1), {4: 2.0, 8: 3.0}, 51.0, [], None, id="a full device"),
        pytest.param(BenchSettings(devices=1, quick=True), {4: 2.0, 8: 3.0}, 7.0, [], None, id="a first look"),
        pytest.param(
            BenchSettings(devices=1, global_batch=4), {4: 2.0, 8: 3.0}, 7.0, [], None, id="8 is over the global"
        ),
    ],
)
def test_a_matched_run_with_room_is_held_against_its_double(
    tmp_path: Path,
    machine: Callable[..., BenchMachine],
    settings: BenchSettings,
    rates: dict[int, float],
    reserved_gib: float,
    ran: list[int],
    said: str | None,
) -> None:
    made = machine(rates, reserved_gib=reserved_gib)
    record = benchmark(PRESETS["gpt-305m"], settings, work_dir=tmp_path, aliases={}, talk=SILENT)
    assert made.ran == ["start-1", *(f"probe-{size}" for size in ran)]
    assert [probe.micro_batch for probe in record.probes] == ran
    found = [problem for problem in record.verdict if "the device is not full: it used 7% of its memory" in problem]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_a_tuned_series_tries_only_what_divides_the_global_batch_at_every_count(
    tmp_path: Path, machine: Callable[..., BenchMachine]
) -> None:
    """128 on 16 devices are 8 for each: 16 would be faster on one device, and could not be run on sixteen."""
    made = machine({size: float(size) for size in (1, 2, 4, 8, 16, 32)})
    asked = BenchSettings(devices=1, series=(1, 16), mode=TUNED)
    record = benchmark(PRESETS["gpt-305m"], asked, work_dir=tmp_path, aliases={}, talk=SILENT)
    assert (record.micro_batch, record.grad_accumulation) == (8, 16)
    assert made.ran == ["probe-4", "probe-8", "start-1"]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each process of the benchmark have 1.2 GiB of data; this one keeps what it has, or its threads would die."""
    whole = local.torchrun_command

    def limited(**where: Any) -> list[str]:
        return ["bash", "-c", f'ulimit -d {int(1.2 * GIB / 1024)} && exec "$@"', "bash", *whole(**where)]

    monkeypatch.setattr(local, "torchrun_command", limited)


@pytest.mark.slow
def test_a_tuned_run_takes_what_fits_and_keeps_its_probes(
    tmp_path: Path, little_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample's logits take 1,536 x 32,768 x 4 bytes, 192 MiB, and a step holds four times that: 2 samples 1.5 GiB."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    blink = Window(min_warmup_steps=1, min_warmup_s=0.0, max_warmup_s=0.1, min_steps=2, min_s=0.1, max_s=5.0)
    smoke = PRESETS["cpu-smoke"]
    small = {"layers": 1, "hidden": 16, "heads": 1, "kv_heads": 1, "head_dim": 16, "ffn_hidden": 16}
    network = BenchWorkload(
        name="wide-head",
        architecture=smoke.architecture.model_copy(update={**small, "vocab": 32_768, "max_positions": 1536}),
        seq_len=1536,
        micro_batch=1,
        precision=smoke.precision,
        window=blink,
        quick_window=blink,
        global_batch=2,
        note="made up",
    )
    asked = BenchSettings(devices=1, mode=TUNED, start_micro_batch=2)
    record = benchmark(network, asked, work_dir=tmp_path, aliases={}, talk=SILENT)
    tried = {probe.micro_batch: probe for probe in record.probes}
    assert list(tried) == [2, 1]
    assert (tried[2].refused, tried[2].samples_per_s) == ("out of memory", None)
    assert tried[1].fits
    assert (record.mode, record.global_batch, record.note) == (TUNED, 2, "made up")
    assert (record.micro_batch, record.grad_accumulation) == (1, 2)
