"""Plans a launch: machine, price, task and worst-case cost. Spends nothing."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from planner import workloads
from planner.adapters.catalog import accelerator_aliases
from planner.adapters.documents import read_model
from planner.adapters.workspace import workspace_dir
from planner.errors import InputError
from planner.launcher.backends.hosts import Host
from planner.launcher.bench.bench import check_spec, spec_of, window_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.collect.launch_record import record_by_hand
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.bill import LaunchBill, TimeCaps, bill_of
from planner.launcher.plan.guard import ancillary_costs_of, check_price_again
from planner.launcher.plan.target import LaunchProvider, Target
from planner.launcher.plan.task import cluster_name, task_of
from planner.model.base import Frozen, NonNegative
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchWorkload, Window
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.expectations import expect_from
from planner.use_cases.launching.launch_rate import Priced, launch_price
from planner.use_cases.launching.launch_target import (
    MOST_MINUTES,
    LaunchTerms,
    Probes,
    probes_of,
    read_hosts,
    resolve_target,
    settings_on,
)
from planner.use_cases.networks import bench_workload
from planner.use_cases.runs import probe_workload

BUDGET_FILE = "budget.yaml"
BUDGET_FIX = (
    "Write schema_version: 1 and, of all launches of the workspace together, total_usd: 200; or of all workspaces of "
    "an account, account_usd: 200; or both"
)
PREPARATION_MINUTES = 5.0
"""Minutes for imports, topology, first steps and teardown of one start."""
PROBE_MINUTES = 8.0
"""Minutes for imports, two minutes of kernels and compilation, doubled for safety."""
SLOW_FACTOR = 1.5
"""Factor on a window's limits, because a block of steps ends after the limit."""
DEAREST_USD_PER_HOUR = 1_000_000
"""Price of a node from which it counts as a typing error: over a thousand times the dearest one."""


@dataclass(frozen=True)
class Planned:
    """A launch that can be written into the ledger, with notes for the user."""

    launch: Launch
    notes: tuple[str, ...] = field(default=())
    terms: LaunchTerms | None = None
    """Terms of the launch; None if its price is not to be checked again."""


class BudgetFile(Frozen):
    """Limits on the cost of all launches together: `budget.yaml`."""

    schema_version: Literal[1]
    total_usd: NonNegative | None = None
    """Limit in USD for all launches of the workspace, including finished ones."""
    account_usd: NonNegative | None = None
    """Limit in USD for all machines that run in one account at a time, of all workspaces."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.total_usd is None and self.account_usd is None:
            raise ValueError("total_usd or account_usd is missing")
        return self


def read_budget(home: str | None) -> BudgetFile | None:
    """Return the workspace's budget; None if there is no file."""
    path = workspace_dir(home) / BUDGET_FILE
    return read_model(BudgetFile, path, fix=BUDGET_FIX) if path.exists() else None


def plan_launches(
    workload: str,
    on: Sequence[str],
    terms: LaunchTerms,
    settings: BenchSettings,
    *,
    layers: int | None,
    seq_len: int | None,
    home: str | None,
    now: datetime,
) -> list[Planned]:
    """Plan one benchmark on several targets."""
    if len(set(on)) != len(on):
        raise InputError("--on: names a target twice.", fix="Name each once; --repeats measures it again.")
    for value, name in ((terms.usd_per_hour, "--usd-per-hour"), (terms.reservation, terms.reservation)):
        if value is not None and len(on) > 1:
            raise InputError(f"{name}: is of one machine, and {len(on)} targets are named.", fix="Launch it alone.")
    catalog, hosts = open_catalog(home), read_hosts(home)
    target = (
        bench_workload(workload, catalog, lora=settings.lora is not None, layers=layers, seq_len=seq_len)
        if settings.probe is None
        else probe_workload(catalog)
    )
    return [plan_launch(text, target, settings, terms, catalog=catalog, hosts=hosts, now=now) for text in on]


def plan_launch(
    text: str,
    workload: BenchWorkload,
    settings: BenchSettings,
    terms: LaunchTerms,
    *,
    catalog: Catalog,
    hosts: Mapping[str, Host],
    now: datetime,
) -> Planned:
    """Plan one benchmark on one target, without network access or credentials.

    Settings that every rank would refuse are refused here.
    """
    target = resolve_target(text, terms, catalog, hosts)
    priced = launch_price(target, terms, catalog, hosts, today=now.date())
    target = target.model_copy(update={"region": priced.region})
    settings = settings_on(target, settings)
    probes = probes_of(workload, settings, target, catalog)
    spec = spec_of(workload, settings, micro_batch=probes.micro_batch)
    check_spec(spec, runs_here=False)
    window = window_of(workload, settings)
    minutes = terms.max_minutes or (
        default_minutes(window, starts=settings.repeats, probes=probes) if settings.probe is None else PROBE_MINUTES
    )
    caps = TimeCaps(max_minutes=minutes)
    if minutes > MOST_MINUTES:
        raise InputError(
            f"{workload.name}: its run may take {minutes:,.0f} minutes, and a launch at most {MOST_MINUTES:,}.",
            fix="Shorten the window in the workload's file, or name a limit: --max-minutes 60",
        )
    run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    _check_rate(target, priced)
    bill = _bill(target, priced, caps)
    task = task_of(
        run_id=run_id,
        target=target,
        spec=spec,
        caps=caps,
        workloads=Path(workloads.__file__).resolve().parent,
        starts=settings.repeats,
        probes=probes.asked,
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
        answer_id=terms.answer_id,
        store=terms.store,
        planned_at=now,
    )
    return Planned(launch, (*priced.notes, *_notes(launch)), terms)


def check_prices_again(planned: Sequence[Planned], *, home: str | None, today: date) -> None:
    """Raise RefusedError if prices rose above a launch's bill since it was planned, because a yes may come late."""
    catalog, hosts = open_catalog(home), read_hosts(home)
    for plan in planned:
        if plan.terms is not None:
            target = plan.launch.target
            priced = launch_price(target, plan.terms, catalog, hosts, today=today)
            check_price_again(target, plan.launch.bill, _bill(target, priced, plan.launch.bill.caps))


def by_hand_record(
    result: Mapping[str, Any],
    text: str,
    *,
    usd_per_hour: float | None,
    catalog: Catalog,
    home: str | None,
    where: str,
    today: date,
) -> RunRecord:
    """Return the record of a result that was measured on a target without the planner's launcher."""
    hosts = read_hosts(home)
    terms = LaunchTerms(usd_per_hour=usd_per_hour)
    target = resolve_target(text, terms, catalog, hosts)
    priced = launch_price(target, terms, catalog, hosts, today=today)
    return record_by_hand(
        result,
        target=target.model_copy(update={"region": priced.region}),
        rate=priced.rate,
        no_price_reason=priced.no_price_reason,
        aliases=accelerator_aliases(),
        where=where,
        expect=expect_from(catalog),
    )


def default_minutes(window: Window, *, starts: int, probes: Probes) -> float:
    """Return the time limit of the job in whole minutes, from the limits and the preparation of every start.

    minutes = ceil(starts x (5 + 1.5 x (max warm-up s + max s) / 60) + minutes of the probes)
    """
    start = PREPARATION_MINUTES + SLOW_FACTOR * (window.max_warmup_s + window.max_s) / 60.0
    return float(math.ceil(starts * start + probes.minutes))


def _check_rate(target: Target, priced: Priced) -> None:
    rate = priced.rate
    if rate is not None and rate.highest_usd_per_node_hour > DEAREST_USD_PER_HOUR:
        raise InputError(
            f"{target.id}: {rate.highest_usd_per_node_hour:g} USD per node-hour is over {DEAREST_USD_PER_HOUR:,}.",
            fix="Correct usd_per_hour in hosts.yaml or the price book, or --usd-per-hour.",
        )


def _bill(target: Target, priced: Priced, caps: TimeCaps) -> LaunchBill:
    return bill_of(
        nodes=target.nodes,
        invoiced=target.is_cloud,
        price_kind=target.purchase if target.is_cloud else "own",
        rate=priced.rate,
        no_price_reason=priced.no_price_reason,
        caps=caps,
        ancillary=ancillary_costs_of(target),
    )


def _notes(launch: Launch) -> list[str]:
    target, bill = launch.target, launch.bill
    notes = []
    if target.purchase == "spot" and not target.managed:
        notes.append("spot: the provider may take the machine away; --managed starts it again, --store keeps the steps")
    if target.through_sky and not target.managed and launch.store is None:
        notes.append(
            f"the machine takes itself down {bill.caps.idle_minutes:g} minutes after the job, with all results that "
            "were not collected by then; --store s3://... keeps them"
        )
    if not target.is_cloud and bill.rate is None:
        notes.append(f"{target.id}: no price is counted; give --usd-per-hour if an hour of it costs you something")
    if target.provider is LaunchProvider.SLURM:
        notes.append("slurm: written after SkyPilot's documentation and not run")
    return notes
