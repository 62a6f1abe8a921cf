"""Compares the planned worst case of launches with the ledger's costs and the provider's bills."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.launcher.collect.launch_record import billed_quantity
from planner.launcher.documents import BillDocument, BilledLine
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.plan.target import LaunchProvider


def bill_document(entries: Sequence[LedgerEntry], *, ask: bool, today: date) -> BillDocument:
    """Return one line per launch. The provider is asked only if `ask` is set, because each request costs money."""
    said = _cost_explorer(entries, today=today) if ask else {}
    return BillDocument(
        lines=tuple(
            BilledLine(
                run_id=entry.launch.run_id,
                target=entry.launch.target.id,
                worst_case_usd=entry.launch.bill.worst_case_usd,
                ledger=billed_quantity(entry),
                provider_usd=said[entry.launch.run_id][0] if entry.launch.run_id in said else None,
                provider_note=said[entry.launch.run_id][1] if entry.launch.run_id in said else _why_not(entry),
            )
            for entry in entries
        )
    )


def _cost_explorer(entries: Sequence[LedgerEntry], *, today: date) -> dict[str, tuple[float | None, str]]:
    asked = [entry for entry in entries if entry.launch.target.provider is LaunchProvider.AWS and entry.submitted_at]
    days = [at.date() for entry in asked for at in (entry.submitted_at, entry.ended_at) if at is not None]
    if not asked:
        return {}
    from planner.launcher.cloud.cost_explorer import billed

    last = max(days) if all(entry.ended_at for entry in asked) else today
    bills = billed([entry.launch.run_id for entry in asked], first=min(days), last=last, today=today)
    return {run_id: (bill.usd, bill.reason or "AWS Cost Explorer, unblended, by tag") for run_id, bill in bills.items()}


def _why_not(entry: LedgerEntry) -> str:
    provider = entry.launch.target.provider
    if entry.submitted_at is None:
        return "nothing was submitted"
    if provider is LaunchProvider.AWS:
        return "not asked; add --ask"
    if provider is LaunchProvider.LAMBDA:
        return "Lambda has no interface for bills: compare with its invoice"
    return "no provider bills it"
