"""Launches as documents: plan, state, costs compared with the provider's bills, and tasks to run by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.launcher.collect.launch_record import billed_quantity
from planner.launcher.documents import BillDocument, BilledLine, LaunchState, PlannedLaunch
from planner.launcher.ledger.entry import LedgerEntry, State
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.target import LaunchProvider
from planner.launcher.plan.task import BY_HAND, EXPIRY_LABEL, RUN_LABEL, cluster_name, sky_config_of
from planner.use_cases.launching.launch_plan import Planned


def state_of(entry: LedgerEntry) -> LaunchState:
    """Return the state of a launch as a document."""
    launch = entry.launch
    return LaunchState(
        run_id=launch.run_id,
        cluster=launch.cluster,
        workload=launch.workload,
        target=launch.target.id,
        state=entry.state,
        outcome=entry.outcome,
        planned_at=launch.planned_at,
        submitted_at=entry.submitted_at,
        deadline_at=launch.deadline_at,
        ended_at=entry.ended_at,
        worst_case_usd=launch.bill.worst_case_usd,
        billed=billed_quantity(entry),
        record_id=entry.record_id,
    )


def planned_document(planned: Planned, checks: tuple[str, ...] = ()) -> PlannedLaunch:
    """Return a planned launch as a document."""
    launch = planned.launch
    return PlannedLaunch(
        run_id=launch.run_id,
        target=launch.target,
        workload=launch.workload,
        bill=launch.bill,
        task=launch.task,
        answer_id=launch.answer_id,
        notes=planned.notes,
        checks=checks,
    )


def open_ids(entries: Sequence[LedgerEntry]) -> list[str]:
    """Return the ids of launches that are not over."""
    return [entry.launch.run_id for entry in entries if entry.state is not State.DOWN_VERIFIED]


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


def by_hand(launch: Launch) -> tuple[dict[str, Any], str]:
    """Return the task without entries that need a ledger (run id, expiry), and a header that tells how to run it.

    The folder of the benchmark is written relative to the working directory if it lies below it.
    """
    if not launch.target.through_sky:
        raise InputError(
            f"{launch.target.id} is not run by SkyPilot, so it has no task file.",
            fix=f"Launch it with: planner launch {launch.workload} --on {launch.target.id}",
        )
    task = dict(launch.task)
    task["name"] = cluster_name(BY_HAND)
    labels = {key: value for key, value in task["resources"]["labels"].items() if key != EXPIRY_LABEL}
    task["resources"] = {**task["resources"], "labels": {**labels, RUN_LABEL: BY_HAND}}
    task["envs"] = {**task["envs"], "PLANNER_RUN_ID": BY_HAND}
    ((remote, local),) = task["file_mounts"].items()
    task["file_mounts"] = {remote: _relative(Path(local))}
    return task, _header(launch)


def _header(launch: Launch) -> str:
    config = "".join(
        f" --config '{key}={json.dumps(value)}'"
        for key, value in sky_config_of(launch.target, launch.bill.caps).items()
    )
    return (
        f"{launch.workload} on {launch.target.id}, made by: planner task {launch.workload} --on {launch.target.id}\n"
        f"Run it with: sky launch{config} THIS_FILE; it ends by itself and takes its machine down when idle.\n"
        "Results: ~/planner-results/by-hand/start-*/result.json on node 0, then: "
        f"planner runs add result.json --target {launch.target.id}\n"
    )


def _relative(folder: Path) -> str:
    try:
        return f"./{folder.relative_to(Path.cwd())}"
    except ValueError:
        return str(folder)
