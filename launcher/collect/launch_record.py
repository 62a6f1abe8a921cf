"""Record of a launch: the node's measurement joined with the machine, its price, and the cost of the launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from planner.errors import InputError
from planner.launcher.collect.expectations import GetExpected
from planner.launcher.collect.node_result import GOOD_EXITS
from planner.launcher.collect.probe_record import probe_record_of
from planner.launcher.collect.record import record_of
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry
from planner.launcher.plan.bill import NodeRate, billed_usd
from planner.launcher.plan.target import Target
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import LaunchFacts, Probe, RunHardware, RunRecord
from planner.model.quantity import Basis, Quantity, Unit, weakest

Record = TypeVar("Record", RunRecord, ProbeRecord)
TRUNCATED_ENDS = (*GOOD_EXITS, "interrupted")
BOOT_DOUBT = 0.25
"""Relative doubt of the billed duration.

A provider bills from boot to termination, within the ledger's interval, so the low end subtracts a quarter.
"""


def record_of_launch(
    entry: LedgerEntry,
    results: Sequence[Mapping[str, Any]],
    *,
    aliases: Mapping[str, str],
    where: str,
    expect: GetExpected | None = None,
    probes: Sequence[Probe] = (),
) -> RunRecord:
    """Return the record of a launch that is over. Raises NodeError if nothing was measured."""
    facts = _facts_of(entry)
    measured = [result for result in results if result.get("exit_reason") in TRUNCATED_ENDS and result.get("samples")]
    record = record_of(
        measured or results, aliases=aliases, probes=probes, where=where, expect=expect, accepted_exits=TRUNCATED_ENDS
    )
    return _joined(record, entry.launch.target, facts).model_copy(update={"answer_id": entry.launch.answer_id})


def probe_of_launch(
    entry: LedgerEntry, result: Mapping[str, Any], *, aliases: Mapping[str, str], where: str
) -> ProbeRecord:
    """Return the probe of a launch that is over. Raises NodeError if nothing was measured."""
    record = probe_record_of(result, aliases=aliases, where=where)
    return _joined(record, entry.launch.target, _facts_of(entry)).model_copy(
        update={"answer_id": entry.launch.answer_id}
    )


def _facts_of(entry: LedgerEntry) -> LaunchFacts:
    launch, bill = entry.launch, entry.launch.bill
    truncated = entry.outcome is not LaunchOutcome.COMPLETED
    return LaunchFacts(
        run_id=launch.run_id,
        target=launch.target.id,
        nodes=launch.target.nodes,
        region=launch.target.region,
        purchase=bill.price_kind,
        price=None if bill.rate is None else quoted_price(bill.rate),
        no_price_reason=bill.no_price_reason,
        billed=billed_quantity(entry),
        worst_case_usd=bill.worst_case_usd,
        submitted_at=None if entry.submitted_at is None else _text(entry.submitted_at),
        down_at=None if entry.ended_at is None else _text(entry.ended_at),
        truncated=truncated,
    )


def record_by_hand(
    result: Mapping[str, Any],
    *,
    target: Target,
    rate: NodeRate | None,
    no_price_reason: str | None,
    aliases: Mapping[str, str],
    where: str,
    expect: GetExpected | None = None,
) -> RunRecord:
    """Return the record of a result that was brought home by hand, with its target."""
    record = record_of([result], aliases=aliases, where=where, expect=expect)
    facts = LaunchFacts(
        target=target.id,
        nodes=record.hardware.nodes,
        region=target.region,
        purchase=target.purchase if target.is_cloud else "own",
        price=None if rate is None else quoted_price(rate),
        no_price_reason=None if rate is not None else no_price_reason or "none was given",
    )
    if target.accelerator is not None and target.accelerator != record.hardware.accelerator:
        raise InputError(
            f"{where}: was measured on {record.hardware.accelerator}, and {target.id} has {target.accelerator}.",
            fix="Name the target that it ran on.",
        )
    return _joined(record, target, facts)


def quoted_price(rate: NodeRate) -> Quantity:
    """Return the price of a node-hour with its range: from the price itself up to the highest."""
    return Quantity(
        value=rate.usd_per_node_hour,
        low=rate.usd_per_node_hour,
        high=max(rate.usd_per_node_hour, rate.highest_usd_per_node_hour),
        unit=Unit.USD_PER_HOUR,
        basis=rate.basis,
        source=rate.source,
        as_of=rate.as_of,
    )


def billed_quantity(entry: LedgerEntry) -> Quantity | None:
    """Return the cost of a launch by the ledger's interval; None while it is open or if a price is missing."""
    bill = entry.launch.bill
    seconds = entry.billed_seconds
    usd = None if seconds is None else billed_usd(bill, seconds=seconds)
    if bill.rate is None or usd is None or seconds is None:
        return None
    highest = usd * max(1.0, bill.rate.highest_usd_per_node_hour / bill.rate.usd_per_node_hour) if usd else usd
    return Quantity(
        value=usd,
        low=usd * (1 - BOOT_DOUBT),
        high=highest,
        unit=Unit.USD,
        basis=weakest(bill.rate.basis, Basis.MODELLED),
        source=f"{bill.nodes} node(s) x {bill.rate.usd_per_node_hour:g} USD/h x {seconds / 3600:.3f} h from submission "
        f"to the proof that nothing runs, by the ledger; {bill.rate.source}",
        as_of=bill.rate.as_of,
    )


def _joined(record: Record, target: Target, facts: LaunchFacts) -> Record:
    hardware = record.hardware
    verdict = list(record.verdict)
    if target.is_cloud:  # the catalog knows this machine better than the result does
        hardware = RunHardware(**hardware.model_dump(exclude={"node"}), node=target.id)
    if target.accelerator is not None and target.accelerator != hardware.accelerator:
        verdict.append(f"{target.id} should have {target.accelerator}, and it ran on {hardware.accelerator}")
    if facts.truncated:
        verdict.append("truncated: the launch was stopped before its end, and what it had measured counts")
    return record.model_copy(update={"hardware": hardware, "launch": facts, "verdict": tuple(verdict)})


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
