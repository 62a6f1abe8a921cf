"""Launches for tests: tiny ones that really train, and ones that only pretend to."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planner import workloads
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.bill import NodeRate, TimeCaps, bill_of
from planner.launcher.plan.target import Target
from planner.launcher.plan.task import cluster_name, task_of
from planner.model.quantity import Basis

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TINY_SPEC: dict[str, Any] = {
    "schema_version": 1,
    "kind": "spec",
    "workload": "tiny",
    "architecture": {
        "layers": 1,
        "hidden": 64,
        "heads": 2,
        "kv_heads": 1,
        "head_dim": 32,
        "ffn_hidden": 128,
        "mlp": "swiglu",
        "norm": "rmsnorm",
        "norm_eps": 1e-6,
        "bias": False,
        "positions": "rope",
        "max_positions": 64,
        "rope_theta": 10000.0,
        "qk_norm": True,
        "vocab": 256,
        "tied_head": True,
    },
    "seq_len": 64,
    "micro_batch": 2,
    "grad_accumulation": 1,
    "strategy": "ddp",
    "precision": "bf16",
    "seed": 0,
    "window": {
        "min_warmup_steps": 10,
        "min_warmup_s": 0.0,
        "max_warmup_s": 1.0,
        "min_steps": 10,
        "min_s": 0.2,
        "max_s": 10.0,
    },
    "peer_timeout_s": 60.0,
}
ENDLESS_SPEC = {**TINY_SPEC, "window": {**TINY_SPEC["window"], "min_steps": 10**6, "min_s": 600.0, "max_s": 600.0}}


def rate(usd: float = 10.0, *, highest: float | None = None) -> NodeRate:
    """Return a quoted price."""
    return NodeRate(
        usd_per_node_hour=usd,
        highest_usd_per_node_hour=highest or usd,
        basis=Basis.QUOTED,
        source="a list of 2026-11-20",
        as_of=NOON.date(),
    )


def launch_of(
    target: Target,
    *,
    run_id: str = "r1",
    spec: dict[str, Any] | None = None,
    price: NodeRate | None = None,
    max_minutes: float = 20.0,
    caps: TimeCaps | None = None,
    starts: int = 1,
    now: datetime = NOON,
    probes: str | None = None,
) -> Launch:
    """Return an intent to launch `spec` on `target`; `caps` stand in for `max_minutes` and its usual company."""
    caps = caps or TimeCaps(max_minutes=max_minutes)
    return Launch(
        run_id=run_id,
        cluster=cluster_name(run_id),
        workload="tiny",
        target=target,
        task=task_of(
            run_id=run_id,
            target=target,
            spec=spec or TINY_SPEC,
            caps=caps,
            workloads=Path(workloads.__file__).resolve().parent,
            starts=starts,
            probes=probes,
        ),
        bill=bill_of(
            nodes=target.nodes,
            invoiced=target.is_cloud,
            price_kind=target.purchase if target.is_cloud else "own",
            rate=price,
            no_price_reason="it stands there already",
            caps=caps,
        ),
        planned_at=now,
    )


def asleep(launch: Launch) -> Launch:
    """Return the launch with a job that only sleeps, for what does not depend on training."""
    return launch.model_copy(update={"task": launch.task | {"setup": "true", "run": "sleep 600"}})
