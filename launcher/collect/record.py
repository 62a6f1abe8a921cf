"""Builds the RunRecord from a node's `result.json`."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from planner.errors import InputError
from planner.launcher.collect.expectations import NOT_KNOWN, Expected, GetExpected, memory_facts, mfu_by_name
from planner.launcher.collect.node_result import (
    GOOD_EXITS,
    accelerator_id,
    day_of,
    first_problem,
    hardware_of,
    machine_name,
    parse_result,
)
from planner.launcher.collect.verdict import problems_of, restart_problems, wrong_speed
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe, RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.workload import BenchMode, Checkpointing, Precision, Strategy
from planner.model.quantity import Basis, Quantity, Unit
from planner.workloads.measure.telemetry import MEAN_POWER

SHORT_WINDOW_S = 10.0
ENERGY_ERROR = 0.10
"""Relative error of the devices' energy counters and power readings.

Source: measurement protocol in workloads/README.md.
"""


def record_of(
    results: Sequence[Mapping[str, Any]],
    *,
    aliases: Mapping[str, str],
    probes: Sequence[Probe] = (),
    where: str = "result",
    expect: GetExpected | None = None,
    accepted_exits: Collection[str] = GOOD_EXITS,
) -> RunRecord:
    """Return one record from the restarts of one benchmark and the probes that chose its micro-batch.

    throughput = median over restarts of samples / window_s; its range spans the restarts.
    `aliases` maps drivers' names to accelerator ids. `expect` returns the values to compare the run with.
    A run with another exit reason than `accepted_exits` raises NodeError.
    """
    parsed = [parse_result(result, where=where, accepted_exits=accepted_exits) for result in results]
    try:
        return _joined(results, parsed, aliases, probes, expect)
    except (ValidationError, ValueError, ArithmeticError) as error:  # each figure may be valid, but not all together
        raise InputError(
            f"{where}: its figures do not fit together: {first_problem(error)}.",
            fix="Measure again; see the log of the run.",
        ) from error


def _joined(
    results: Sequence[Mapping[str, Any]],
    parsed: Sequence[NodeResult],
    aliases: Mapping[str, str],
    probes: Sequence[Probe],
    expect: GetExpected | None,
) -> RunRecord:
    first = parsed[0]
    accelerator = accelerator_id(first, aliases)
    expected = NOT_KNOWN if expect is None else expect(first, accelerator)
    rates = tuple(result.samples / result.window_s for result in parsed)
    return RunRecord(
        schema_version=1,
        id=_id(results, first),
        hardware=hardware_of(first, accelerator),
        **_training(first),
        **_settings(first),
        **_observations(first, expected),
        throughput=_throughput(parsed, rates),
        samples=sum(result.samples for result in parsed),
        wall_seconds=sum(result.window_s for result in parsed),
        repeats=rates,
        data_wait_fraction=_data_wait_fraction(parsed),
        slowest_rank=_slowest_rank(parsed),
        probes=tuple(probes),
        accelerator_power=_accelerator_power(parsed),
        telemetry=tuple(result.telemetry for result in parsed if result.telemetry is not None),
        calibration=tuple(result.calibration for result in parsed if result.calibration is not None),
        short_window=any(result.window_s < SHORT_WINDOW_S for result in parsed),
        verdict=_for_each_start(parsed, lambda start: problems_of(start, probes, expected), restart_problems(rates)),
        wrong_speed=_for_each_start(parsed, lambda start: wrong_speed(start, expected)),
    )


def _training(result: NodeResult) -> dict[str, Any]:
    """Return the network and the data that were trained."""
    spec = result.spec
    architecture = TypeAdapter[Architecture](Architecture).validate_python(spec["architecture"])
    return {
        "workload": str(spec["workload"]),
        "architecture": architecture,
        "parameters": result.parameters,
        "seq_len": spec.get("seq_len"),
        "method": spec.get("method", "full"),
        "channels_last": spec.get("channels_last", False) if architecture.is_convolutional else None,
        "trained_parameters": result.trained_parameters,
        "adapters": adapters_of(spec.get("lora")),
        "data": "shards" if spec.get("data") else "synthetic",
        "note": _note(spec),
    }


FASTER_SETTINGS = {
    "fused_loss": (True, "the loss computed with its gradients"),
    "attention": ("trial", "the attention kernel chosen by trial"),
    "cuda_graphs": (True, "compiled blocks launched as CUDA graphs"),
}
"""Settings that speed a benchmark up: the value that switches each on, and its words for the note."""


def _note(spec: Mapping[str, Any]) -> str | None:
    """Return the spec's note, followed by the settings that make the run faster than the plain benchmark."""
    faster = [text for name, (value, text) in FASTER_SETTINGS.items() if spec.get(name) == value]
    return "; ".join([*([spec["note"]] if spec.get("note") else []), *faster]) or None


def _settings(result: NodeResult) -> dict[str, Any]:
    """Return the training settings: strategy, format, batch."""
    spec = result.spec
    return {
        "strategy": Strategy(spec["strategy"]),
        "precision": Precision(spec["precision"]),
        "checkpointing": Checkpointing(spec.get("checkpointing", "none")),
        "compiled": bool(spec.get("compile", False)),
        "loss_chunks": int(spec.get("loss_chunks", 1)),
        "mode": BenchMode(spec.get("mode", "matched")),
        "micro_batch": int(spec["micro_batch"]),
        "grad_accumulation": int(spec.get("grad_accumulation", 1)),
        "global_batch": result.global_batch,
    }


def _observations(result: NodeResult, expected: Expected) -> dict[str, Any]:
    """Return what the first start observed besides its speed. It is the same in the other starts."""
    return {
        "device_busy_seconds": result.device_busy_seconds,
        "losses_first10": result.losses_first10,
        "state_bytes": result.state_bytes,
        "matmul_flops_by_dtype": result.matmul_flops_by_dtype,
        "sdpa_backend": result.sdpa_backend,
        "memory": result.memory | memory_facts(result, expected),
        "mfu": mfu_by_name(result, expected),
        "phases": result.phases,
        "topology": result.topology,
        "environment": result.environment | {"machine": machine_name(result)},
        "method_version": result.method_version,
    }


def _throughput(results: Sequence[NodeResult], rates: Sequence[float]) -> Quantity:
    steps = sum(result.steps for result in results)
    seconds = sum(result.window_s for result in results)
    return Quantity(
        value=statistics.median(rates),
        low=min(rates),
        high=max(rates),
        unit=Unit.SAMPLES_PER_S,
        basis=Basis.MEASURED,
        source=f"standard benchmark, method {results[0].method_version}: {steps} steps in {seconds:.1f} s, "
        f"{len(results)} start(s)",
        as_of=day_of(results[0]),
    )


def _data_wait_fraction(results: Sequence[NodeResult]) -> float | None:
    waits = [result.data_wait_s / result.window_s for result in results if result.data_wait_s is not None]
    return max(waits, default=None)


def _slowest_rank(results: Sequence[NodeResult]) -> float | None:
    """Return the seconds of the slowest rank's own work / the median rank's; the largest ratio of all starts."""
    ratios = [
        max(result.rank_work_seconds) / statistics.median_low(result.rank_work_seconds)
        for result in results
        if len(result.rank_work_seconds) > 1 and min(result.rank_work_seconds) > 0
    ]
    return max(ratios, default=None)


def _for_each_start(
    results: Sequence[NodeResult], problems: Callable[[NodeResult], list[str]], common_problems: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the problems of every start, then `common_problems`. With several starts each problem names its start."""
    named = len(results) > 1
    found = [
        f"start {number}: {problem}" if named else problem
        for number, result in enumerate(results, start=1)
        for problem in problems(result)
    ]
    return tuple(dict.fromkeys([*found, *common_problems]))


def _accelerator_power(results: Sequence[NodeResult]) -> Quantity | None:
    """Return energy / seconds of all accelerators, averaged over starts; None if a start did not read it.

    The source says whether energy comes from the devices' counters or, in a short window, from mean power x seconds.

    This is not the power of the machine: CPUs, fans, network and power supplies are left out, so `power` stays unknown.
    """
    kilowatts = []
    reading = "energy counters"
    for result in results:
        energy_j, seconds = ((result.telemetry or {}).get(key) for key in ("energy_j", "seconds"))
        if not energy_j or not seconds:
            return None
        kilowatts.append(energy_j / seconds / 1000.0)
        if (result.telemetry or {}).get("energy_from") == MEAN_POWER:
            reading = "mean power readings (the window is too short for energy counters)"
    return Quantity(
        value=statistics.mean(kilowatts),
        low=min(kilowatts) * (1 - ENERGY_ERROR),
        high=max(kilowatts) * (1 + ENERGY_ERROR),
        unit=Unit.KW,
        basis=Basis.MEASURED,
        source=f"{reading} of the {results[0].world_size} accelerator(s) alone over the window; "
        "CPUs, fans, network and power supplies are left out",
        as_of=day_of(results[0]),
    )


def adapters_of(lora: dict[str, Any] | None) -> Adapters | None:
    """Return the adapters of a spec. Older specs do not say how the frozen weights are kept."""
    if lora is None:
        return None
    return Adapters(rank=lora["rank"], targets=lora["targets"], frozen=lora.get("frozen"))


def _id(results: Sequence[Mapping[str, Any]], first: NodeResult) -> str:
    stamp = re.sub(r"\D", "", first.finished_at)[:14]
    digest = hashlib.sha256(json.dumps(list(results), sort_keys=True, default=str).encode()).hexdigest()[:6]
    return f"{first.spec['workload']}-{first.device_type}-x{first.world_size}-{stamp}-{digest}"
