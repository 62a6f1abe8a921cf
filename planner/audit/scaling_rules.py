"""Compares runs of one setup on several counts of one accelerator, per device and in total."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from planner.audit.findings import Fact, doubtful
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.evidence.measurement import Measurement

ABOVE_LINEAR = 1.05
SAME_OF_ROWS = (
    "source", "model", "precision", "seq_len", "unit", "packing", "method", "lora_rank", "quantization", "zero", "tp",
    "pp", "cp", "ep", "activation_checkpointing", "compile_kernels", "framework"
)  # fmt: skip
SAME_OF_RECORDS = ("seq_len", "strategy", "precision", "micro_batch", "checkpointing", "compiled", "method", "data")


def setup_of_row(row: Measurement, run: StatedRun) -> Hashable:
    """Return what rows must share for their counts to be compared: everything but batch, count and throughput."""
    table = row.source_ref.split("#")[0].split(" row ")[0]
    return (run.accelerator_name, table, *(getattr(row, name) for name in SAME_OF_ROWS))


def setup_of_record(run: StatedRun) -> Hashable:
    """Return what run records must share for their counts to be compared."""
    record = run.record
    assert record is not None
    network = record.workload if record.architecture is None else record.architecture.model_dump_json()
    return (run.accelerator_name, network, *(getattr(record, name) for name in SAME_OF_RECORDS))


def scaling_findings(
    runs: Sequence[StatedRun], setups: Sequence[Hashable], rates: Sequence[float | None], *, slower: bool = True
) -> Mapping[int, list[Finding]]:
    """Return findings by the place of a run. `rates` are of all devices together, in any one unit of a setup.

    `slower` also reports what is slower in total, as tables of different batches often are. Each run is compared with
    the fastest on fewer accelerators, because a single slow run among those explains nothing.
    """
    groups: dict[Hashable, list[tuple[int, int, float]]] = defaultdict(list)
    for place, (run, setup, rate) in enumerate(zip(runs, setups, rates, strict=True)):
        if rate is not None:
            groups[setup].append((run.devices, place, rate))
    findings: dict[int, list[Finding]] = defaultdict(list)
    for group in groups.values():
        for devices, place, rate in group:
            fewer = [(rate_ / devices_, devices_, rate_) for devices_, _, rate_ in group if devices_ < devices]
            if not fewer:
                continue
            each, count, _ = max(fewer)
            ratio = rate / devices / each
            if ratio > ABOVE_LINEAR:
                says = f"Each of {devices} accelerators does {ratio:.0%} of what each of {count} did in the same setup."
                fact: Fact = ("efficiency", ratio, "of linear scaling", "rate / devices over that of the best on fewer")
                fix = "Repeat the run on fewer: something slowed it, or the settings differ."
                findings[place].append(doubtful("scaling_above_linear", says, fact, fix=fix))
            total, before = max((rate_, devices_) for _, devices_, rate_ in fewer)
            if slower and rate < total:
                says = f"{devices} accelerators do {rate:.4g} together, and {before} did {total:.4g}."
                fact = ("ratio", rate / total, "of the rate on fewer", "the runs")
                fix = "Repeat both, and record the link: planner check-run"
                findings[place].append(doubtful("slower_with_more", says, fact, fix=fix))
    return findings
