"""Launches as the ledger keeps them, for tests of backends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from launcher.backends.base import Launch
from launcher.bench import Settings, spec_of
from launcher.bill import Rate, TimeCaps, bill_of
from launcher.target import Target
from launcher.task import cluster_name, task_of
from planner.adapters.catalog import load_catalog
from planner.model.quantity import Basis
from planner.model.workload import Window

ROOT = Path(__file__).parents[2]
QUICK = Window(min_warmup_steps=2, min_warmup_s=0.0, max_warmup_s=20.0, min_steps=5, min_s=1.0, max_s=20.0)
PLANNED_AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def launch_of(
    run_id: str,
    target: Target,
    *,
    workload: str = "cpu-smoke",
    usd_per_node_hour: float = 1.0,
    caps: TimeCaps | None = None,
    store: str | None = None,
    planned_at: datetime = PLANNED_AT,
) -> Launch:
    """Return a launch of the workload on the target, as the command line would plan it."""
    caps = caps or TimeCaps(max_minutes=30.0)
    preset = load_catalog().presets[workload]
    spec: dict[str, Any] = spec_of(
        preset, Settings(devices=target.devices_per_node or 1), micro_batch=preset.micro_batch, window=QUICK
    )
    ends_at = planned_at + timedelta(minutes=caps.watchdog_minutes)
    rate = Rate(
        usd_per_node_hour=usd_per_node_hour,
        highest_usd_per_node_hour=usd_per_node_hour,
        basis=Basis.QUOTED,
        source="a test",
        as_of=planned_at.date(),
    )
    bill = bill_of(
        nodes=target.nodes,
        invoiced=target.is_cloud,
        price_kind=target.purchase if target.is_cloud else "own",
        rate=rate,
        no_price_reason=None,
        caps=caps,
    )
    task = task_of(
        run_id=run_id,
        target=target,
        spec=spec,
        caps=caps,
        workloads=ROOT / "workloads",
        expires_at=planned_at + timedelta(minutes=caps.worst_minutes) if target.through_sky else None,
        store=store,
    )
    return Launch(
        run_id=run_id,
        cluster=cluster_name(run_id),
        workload=workload,
        target=target,
        task=task,
        bill=bill,
        store=store,
        planned_at=planned_at,
        deadline_at=ends_at,
    )
