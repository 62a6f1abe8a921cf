"""Detects runs on more accelerators that are slower than even the slowest possible link explains."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from planner.audit.findings import Fact, doubtful
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.catalog import Catalog
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
