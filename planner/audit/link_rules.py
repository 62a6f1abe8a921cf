"""Compares runs of one setup on several counts of one accelerator, and each with the slowest possible link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from planner.audit.findings import Fact, doubtful
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Measurement
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Link
from planner.speed.diagnosis.run_setup import RunSetup, expectations, setup_of

SLOWEST_GBIT = 10.0
"""Assumed network between nodes if it is not stated."""


def link_findings(
    runs: Sequence[StatedRun], setups: Sequence[Hashable], catalog: Catalog
) -> Mapping[int, list[Finding]]:
    """Return findings by the place of a run, each compared with the best on fewer accelerators of the same setup.

    efficiency explained = expected rate of each of many / of each of few, at the low end of the range of the many.
    """
    findings: dict[int, list[Finding]] = {}
    for place, (many, setup) in enumerate(zip(runs, setups, strict=True)):
        fewer = [
            run
            for run, other in zip(runs, setups, strict=True)
            if other == setup and run.devices < many.devices and run.samples_per_s
        ]
        if fewer and many.samples_per_s:
            few = max(fewer, key=lambda run: (run.samples_per_s or 0.0) / run.devices)
            found = _held_against(many, few, catalog)
            if found is not None:
                findings[place] = [found]
    return findings


def _held_against(many: StatedRun, few: StatedRun, catalog: Catalog) -> Finding | None:
    assert many.record is not None
    assert few.record is not None
    begin, end = setup_of(few.record, catalog), setup_of(many.record, catalog)
    if begin is None or end is None or catalog.calibration is None or not many.samples_per_s or not few.samples_per_s:
        return None
    few_expected, all_ = expectations([begin, _slowest(end, many.record, catalog)], catalog.calibration)
    if few_expected is None or all_ is None:
        return None
    each = few_expected.value / begin.devices
    explained, least = all_.value / end.devices / each, all_.low / end.devices / each
    efficiency = many.samples_per_s / many.devices / (few.samples_per_s / few.devices)
    if efficiency >= least:
        return None
    says = (
        f"Each of {many.devices} accelerators does {efficiency:.0%} of what each of {few.devices} did; the slowest "
        f"link of such a machine explains {explained:.0%}, at worst {least:.0%}."
    )
    facts: tuple[Fact, ...] = (
        ("efficiency", efficiency, "of linear scaling", "the runs"),
        ("explained", explained, "of linear scaling", "the estimator, slowest link"),
        ("least", least, "of linear scaling", "the same, low end of its range"),
    )
    fix = f"planner check-run {many.id}: look for other load, a slow rank, NCCL on a slow interface."
    return doubtful("scaling_below_link", says, *facts, fix=fix)


def _slowest(setup: RunSetup, record: RunRecord, catalog: Catalog) -> RunSetup:
    """Return the run with the slowest links that its record allows."""
    if record.hardware.node in catalog.nodes:
        return setup
    slow: dict[str, object] = {}
    if setup.per_node > 1 and setup.node.link in (Link.PCIE, Link.PCIE_NO_P2P, Link.OTHER):
        slow["link"] = Link.PCIE_NO_P2P
    if setup.nodes > 1:
        slow["network_gbit_per_s"] = SLOWEST_GBIT
    return setup.changed(node=setup.node.model_copy(update=slow))


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
