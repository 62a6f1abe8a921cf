"""Plans launches: which machine, at which price, with which task, and what that can cost at worst. Spends nothing."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import workloads
from launcher.backends.base import Launch
from launcher.backends.hosts import Host, HostsFile
from launcher.bill import Bill, Rate, TimeCaps, bill_of
from launcher.launch_record import record_by_hand
from launcher.target import Provider, Purchase, Target, parse_target
from launcher.task import DISK_GB, cluster_name, task_of
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.documents import read_model
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.estimate.candidate import current_price
from planner.model.base import Frozen, NonNegative
from planner.model.catalog import Catalog
from planner.model.offer import Price, PriceKind
from planner.model.quantity import Basis
from planner.model.run import RunRecord
from planner.model.workload import BenchWorkload, Window
from planner.use_cases.expectations import expect_from

HOSTS_FILE = "hosts.yaml"
BUDGET_FILE = "budget.yaml"
DISK_USD_PER_GB_MONTH = 0.16
"""Of an AWS gp3 disk at worst: 0.08 in us-east-1, under 0.16 in every region. Source: AWS, Amazon EBS pricing."""
PREPARATION_MINUTES = 5.0
"""Imports, topology, first steps and teardown of one start."""
SLOW_FACTOR = 1.5
"""Blocks of steps end after their limit."""
KINDS: Mapping[Purchase, PriceKind] = {
    "on_demand": PriceKind.ON_DEMAND,
    "spot": PriceKind.SPOT,
    "reservation": PriceKind.ON_DEMAND,
    "capacity_block": PriceKind.CAPACITY_BLOCK,
}


@dataclass(frozen=True)
class Terms:
    """How and for how long to launch, beside the target's name; None where nobody said."""

    nodes: int | None = None
    gpus: str | None = None
    """Processes on each node, or `NAME:COUNT` where SkyPilot must be told the accelerator."""
    purchase: Purchase = "on_demand"
    reservation: str | None = None
    region: str | None = None
    network_tier: Literal["standard", "best"] | None = None
    image: str | None = None
    managed: bool = False
    usd_per_hour: float | None = None
    max_minutes: float | None = None
    starts: int = 1
    store: str | None = None


@dataclass(frozen=True)
class Planned:
    """A launch that can be written down, and what has to be said of it."""

    launch: Launch
    notes: tuple[str, ...] = field(default=())


class BudgetFile(Frozen):
    """What all launches of a workspace may cost together: `budget.yaml`."""

    schema_version: Literal[1]
    total_usd: NonNegative


def read_hosts(home: str | None) -> dict[str, Host]:
    """Return the hosts of the workspace; none where there is no file."""
    path = workspace_dir(home) / HOSTS_FILE
    return read_model(HostsFile, path).hosts if path.exists() else {}


def read_budget_usd(home: str | None) -> float | None:
    """Return the workspace's budget; None where nobody set one."""
    path = workspace_dir(home) / BUDGET_FILE
    return read_model(BudgetFile, path).total_usd if path.exists() else None


def resolve_target(text: str, terms: Terms, catalog: Catalog, hosts: Mapping[str, Host]) -> Target:
    """Read a target and join it with what the catalog and hosts.yaml know of the machine."""
    target = parse_target(text, instance_types=catalog.nodes, hosts=hosts)
    _check_terms(target, terms)
    accelerator, devices = _gpus(terms.gpus)
    if target.is_cloud:
        node = catalog.nodes[target.id]
        if accelerator is not None:
            raise InputError(f"--gpus {terms.gpus}: {target.id} has {node.accelerators}x {node.accelerator}.")
        if devices is not None and devices > node.accelerators and node.accelerator != "CPU":
            raise InputError(f"--gpus {devices}: {target.id} has {node.accelerators}.", fix="Ask for fewer.")
        accelerator, devices = node.accelerator, devices or (node.accelerators if node.accelerator != "CPU" else None)
    elif target.provider is Provider.HOST:
        host = hosts[target.name]
        accelerator, devices = accelerator or host.accelerator, devices or host.accelerators
    elif target.through_sky and devices is not None and accelerator is None:
        raise InputError(f"--gpus {terms.gpus}: {target.id} needs the accelerator's name.", fix="Write e.g. H100:8.")
    return target.model_copy(
        update={
            "nodes": terms.nodes or target.nodes,
            "accelerator": accelerator,
            "devices_per_node": devices,
            "purchase": terms.purchase if target.is_cloud else "on_demand",
            "reservation": terms.reservation if target.is_cloud else None,
            "region": terms.region,
            "network_tier": terms.network_tier,
            "image": terms.image,
            "managed": terms.managed,
        }
    )


def rate_of(
    target: Target, terms: Terms, catalog: Catalog, hosts: Mapping[str, Host]
) -> tuple[Rate | None, str | None, str | None]:
    """Return the price of a node-hour, or the reason why there is none, and the region that goes with it."""
    if terms.usd_per_hour is not None:
        rate = Rate(
            usd_per_node_hour=terms.usd_per_hour,
            highest_usd_per_node_hour=terms.usd_per_hour,
            basis=Basis.QUOTED,
            source="--usd-per-hour, by whoever launched it",
            as_of=None,
        )
        return rate, None, target.region
    if target.provider is Provider.HOST and hosts[target.name].usd_per_hour is not None:
        own = float(hosts[target.name].usd_per_hour or 0.0)
        rate = Rate(
            usd_per_node_hour=own,
            highest_usd_per_node_hour=own,
            basis=Basis.QUOTED,
            source=f"hosts.yaml: {target.name}: usd_per_hour",
            as_of=None,
        )
        return rate, None, None
    if not target.is_cloud:
        return None, f"{target.id} stands there already; launching on it makes no invoice of its own", target.region
    row = current_price(target.id, catalog, kind=KINDS[target.purchase], region=target.region)
    if row is None or row.usd_per_hour is None:
        where = f" in {target.region}" if target.region else ""
        reason = row.no_price_reason if row is not None else None
        return None, reason or f"the catalog has no {target.purchase} price of {target.id}{where}", target.region
    return _rate(row), None, target.region or (None if row.region == "any" else row.region)


def plan_launch(
    text: str,
    workload: BenchWorkload,
    spec: Mapping[str, Any],
    window: Window,
    terms: Terms,
    *,
    catalog: Catalog,
    hosts: Mapping[str, Host],
    now: datetime,
    run_id: str | None = None,
    workloads_dir: Path | str | None = None,
) -> Planned:
    """Return the intent to run one benchmark on one target. Asks nobody and needs no credentials."""
    target = resolve_target(text, terms, catalog, hosts)
    rate, reason, region = rate_of(target, terms, catalog, hosts)
    target = target.model_copy(update={"region": region})
    caps = TimeCaps(max_minutes=terms.max_minutes or default_minutes(window, starts=terms.starts))
    run_id = run_id or f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    bill = _bill(target, rate, reason, caps)
    task = task_of(
        run_id=run_id,
        target=target,
        spec=spec,
        caps=caps,
        workloads=workloads_dir or Path(workloads.__file__).resolve().parent,
        starts=terms.starts,
        expires_at=now + timedelta(minutes=caps.worst_minutes),
        store=terms.store,
    )
    launch = Launch(
        run_id=run_id,
        cluster=cluster_name(run_id),
        workload=workload.name,
        target=target,
        task=task,
        bill=bill,
        store=terms.store,
        planned_at=now,
    )
    return Planned(launch, tuple(_notes(target, terms, rate)))


def by_hand_record(
    result: Mapping[str, Any],
    text: str,
    *,
    usd_per_hour: float | None,
    catalog: Catalog,
    home: str | None,
    where: str,
) -> RunRecord:
    """Return the record of a result that was measured on this target without the planner's launcher."""
    hosts = read_hosts(home)
    terms = Terms(usd_per_hour=usd_per_hour)
    target = resolve_target(text, terms, catalog, hosts)
    rate, reason, region = rate_of(target, terms, catalog, hosts)
    return record_by_hand(
        result,
        target=target.model_copy(update={"region": region}),
        rate=rate,
        no_price_reason=reason,
        aliases=accelerator_aliases(),
        where=where,
        expect=expect_from(catalog),
    )


def default_minutes(window: Window, *, starts: int) -> float:
    """Return how long the job may take: every start's own limits and its preparation, in whole minutes.

    minutes = ceil(starts x (5 + 1.5 x (max warm-up s + max s) / 60))
    """
    return float(math.ceil(starts * (PREPARATION_MINUTES + SLOW_FACTOR * (window.max_warmup_s + window.max_s) / 60.0)))


def _bill(target: Target, rate: Rate | None, reason: str | None, caps: TimeCaps) -> Bill:
    return bill_of(
        nodes=target.nodes,
        invoiced=target.is_cloud,
        price_kind=target.purchase if target.is_cloud else "own",
        rate=rate,
        no_price_reason=reason,
        caps=caps,
        storage_gb_per_node=DISK_GB if target.provider is Provider.AWS else 0.0,
        usd_per_gb_month=DISK_USD_PER_GB_MONTH,
    )


def _rate(row: Price) -> Rate:
    price = float(row.usd_per_hour or 0.0)
    return Rate(
        usd_per_node_hour=price,
        highest_usd_per_node_hour=max(price, row.high_usd_per_hour or price),
        basis=Basis.ASSUMED if row.confidence == "estimate" else Basis.QUOTED,
        source=f"{row.price_kind.value} in {row.region}: {row.source}",
        as_of=row.as_of,
        minimum_hours=0.0 if row.price_kind is PriceKind.CAPACITY_BLOCK else row.minimum_hours,
        note=row.note,
    )


def _notes(target: Target, terms: Terms, rate: Rate | None) -> list[str]:
    notes = []
    if rate is not None and rate.note:
        notes.append(f"price: {rate.note}")
    if target.purchase == "capacity_block":
        notes.append("the Capacity Block itself is paid for in advance and whole; this counts the hours used of it")
        if terms.usd_per_hour is None and rate is not None:
            notes.append("the rate is the catalog's; give your block's with --usd-per-hour")
    if target.purchase == "spot" and not target.managed:
        notes.append("spot: the provider may take the machine away; --managed starts it again, --store keeps the steps")
    if not target.is_cloud and rate is None:
        notes.append(f"{target.id}: no price is counted; give --usd-per-hour if an hour of it costs you something")
    if target.provider is Provider.SLURM:
        notes.append("slurm: written after SkyPilot's documentation and not run")
    return notes


def _check_terms(target: Target, terms: Terms) -> None:
    def refuse(option: str, why: str) -> None:
        raise InputError(f"{option}: {target.id} {why}.", fix="Leave it out, or choose another target.")

    if terms.purchase == "spot" and target.provider is not Provider.AWS:
        refuse("--spot", "has no spot instances")
    if terms.reservation is not None and target.provider is not Provider.AWS:
        refuse("--reservation", "has no reservations")
    if terms.network_tier is not None and not target.through_sky:
        refuse("--network-tier", "takes its network as it is")
    if terms.image is not None and (not target.through_sky or target.provider is Provider.LAMBDA):
        refuse("--image", "cannot run another image")
    if terms.managed and not target.through_sky:
        refuse("--managed", "is not run by SkyPilot")
    if terms.region is not None and not target.is_cloud:
        refuse("--region", "has no regions")
    if terms.nodes is not None and not target.through_sky and terms.nodes != target.nodes:
        refuse(f"--nodes {terms.nodes}", f"is {target.nodes} node(s); several hosts are written host/a+b")


def _gpus(text: str | None) -> tuple[str | None, int | None]:
    if text is None:
        return None, None
    name, _, number = text.rpartition(":")
    if not number.isdigit() or int(number) < 1:
        raise InputError(f"--gpus {text}: is no count.", fix="Write e.g. 8, or H100-SXM:8.")
    return name or None, int(number)
