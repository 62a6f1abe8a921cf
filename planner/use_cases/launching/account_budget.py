"""Checks the total cost of the planner's machines in an account, including those of other workspaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from planner.errors import NodeError, RefusedError
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.cloud.provider_machines import WHO, machines_of_anybody
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.bill import billed_usd
from planner.launcher.plan.guard import worst_total_usd
from planner.launcher.plan.target import CLOUDS, LaunchProvider
from planner.model.catalog import Catalog
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import current_price

HOURS_UNKNOWN = 24.0
"""Hours counted for another workspace's machine without a stated end (Lambda keeps no labels)."""
SECONDS_PER_HOUR = 3600.0
NOT_SET = (
    "budget.yaml has no account_usd: what other workspaces run in the same account is not counted. To cap them "
    "together, add a line to each workspace's budget.yaml: account_usd: 100"
)


@dataclass(frozen=True)
class AccountCheck:
    """Launches and the other machines in their accounts, compared with the limit on their total cost."""

    launches: Sequence[Launch]
    running: Mapping[LaunchProvider, Sequence[ListedMachine]]
    """Result of `running_in_accounts`."""
    account_usd: float
    catalog: Catalog
    now: datetime

    def raise_where_too_dear(self, entries: Collection[LedgerEntry]) -> None:
        """Raise RefusedError if an account's planner machines and these launches may together cost more than allowed.

        USD = worst case of these launches and of this ledger's open ones there, listed or not
              + USD per hour x hours of each other planner machine that the account lists
        """
        for provider in self.running:
            self._check(provider, entries)

    def _check(self, provider: LaunchProvider, entries: Collection[LedgerEntry]) -> None:
        asked = [launch for launch in self.launches if launch.target.provider is provider]
        own = [entry.launch for entry in entries if entry.open and entry.launch.target.provider is provider]
        known = {launch.run_id for launch in own}
        others = [machine for machine in self.running[provider] if machine.run_id not in known]
        worst, open_usd = (
            worst_total_usd([launch.bill for launch in asked]),
            worst_total_usd([launch.bill for launch in own]),
        )
        others_usd = sum(_usd(machine, provider, self.catalog, now=self.now) for machine in others)
        if worst + open_usd + others_usd > self.account_usd:
            names = ", ".join(dict.fromkeys(machine.name for machine in others)) or "none"
            raise RefusedError(
                f"account_usd {self.account_usd:,.2f}: the worst case is {worst:,.2f} USD, open launches of this "
                f"workspace may cost {open_usd:,.2f} USD, and other workspaces' machines in the account "
                f"{others_usd:,.2f} USD ({names}).",
                fix="Wait until they are gone (planner launches reap --everywhere), or raise account_usd in "
                "budget.yaml.",
            )


def running_in_accounts(launches: Sequence[Launch]) -> dict[LaunchProvider, list[ListedMachine]]:
    """Return the planner's machines that live in the accounts of these launches, by cloud.

    Raises NodeError if a provider does not answer, because its machines could not be counted.
    """
    asked = {cloud: [launch for launch in launches if launch.target.provider is cloud] for cloud in CLOUDS}
    return {cloud: _running(cloud, launched) for cloud, launched in asked.items() if launched}


def _running(provider: LaunchProvider, launches: Sequence[Launch]) -> list[ListedMachine]:
    answers = [
        answer
        for answer in machines_of_anybody([launch.target for launch in launches])
        if answer.where.startswith(WHO[provider])
    ]
    problem = next((answer.problem for answer in answers if answer.problem is not None), None)
    if problem is not None:
        raise NodeError(
            f"account_usd cannot be checked: {problem}", fix="Try again, or take account_usd out of budget.yaml."
        )
    return [machine for answer in answers for machine in answer.machines if machine.alive]


def _usd(machine: ListedMachine, provider: LaunchProvider, catalog: Catalog, *, now: datetime) -> float:
    """Return the USD that a machine may cost from its start to the end in its label."""
    name = f"{provider.value}/{machine.instance_type}"
    rows = [current_price(name, catalog, kind=PriceKind.ON_DEMAND, region=region) for region in (machine.where, None)]
    usd = next((float(row.usd_per_hour) for row in rows if row is not None and row.usd_per_hour), None)
    if usd is None:
        raise RefusedError(
            f"account_usd cannot be checked: {machine.name} of another workspace is a {name} of unknown price.",
            fix="Add its price to your price files, or take account_usd out of budget.yaml.",
        )
    if machine.expires_at is None:
        return usd * HOURS_UNKNOWN
    seconds = (max(machine.expires_at, now) - (machine.started_at or now)).total_seconds()
    return usd * max(0.0, seconds) / SECONDS_PER_HOUR


def used_usd(entries: Collection[LedgerEntry]) -> float:
    """Return the used part of the budget: the bills of finished launches and the worst case of the others.

    A launch whose machines were seen running beyond its worst case counts until then.
    """
    total = 0.0
    for entry in entries:
        bill, seconds = entry.launch.bill, entry.billed_seconds
        if entry.open:
            seen_up_usd = billed_usd(bill, seconds=entry.seen_up_s or 0.0) or 0.0
            total += max(bill.worst_case_usd or 0.0, seen_up_usd)
        elif seconds is not None:
            total += billed_usd(bill, seconds=seconds) or 0.0
    return total
