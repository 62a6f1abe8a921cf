"""Checks before a launch (prices, caps, deadline), and comparison of the supplied machines with the order. Pure.

Each of the three time limits has its own enforcer: `timeout` on the node, autostop with down at the provider
(launcher/plan/task.py), and the client's watchdog (launcher/drive/drive.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from planner.errors import RefusedError
from planner.launcher.plan.backend import Launched
from planner.launcher.plan.bill import AncillaryCost, LaunchBill, capped_usd
from planner.launcher.plan.target import LaunchProvider, Target
from planner.launcher.plan.task import DISK_GB
from planner.model.base import Frozen, NonNegative
from planner.model.quantity import Basis

ROUNDING = 1e-9
"""Tolerance for comparing two floating-point sums of the same amounts."""


class LaunchLimits(Frozen):
    """Limits on cost and time for all launches of one command; None if the user set no limit."""

    max_usd: NonNegative | None = None
    budget_usd: NonNegative | None = None
    """Budget of the whole workspace."""
    budget_used_usd: NonNegative = 0.0
    """Amount billed for finished launches plus the worst case of open ones."""
    deadline_at: datetime | None = None
    accept_price: bool = False
    """True if the user accepts a missing price (where no cloud sends a bill) or one far below the catalog's."""


def check_launches(planned: Sequence[tuple[Target, LaunchBill]], limits: LaunchLimits, *, now: datetime) -> None:
    """Raise RefusedError if a price is missing, a cap too low or time too short.

    The error says what would be allowed.
    """
    for target, bill in planned:
        _check_price(target, bill, limits)
        end = now + timedelta(minutes=bill.caps.worst_minutes)
        if limits.deadline_at is not None and end > limits.deadline_at:
            late = "has passed" if now >= limits.deadline_at else "comes too soon"
            raise RefusedError(
                f"{target.id}: the deadline {limits.deadline_at:%Y-%m-%d %H:%M %Z} {late}: the launch may last until "
                f"{end:%Y-%m-%d %H:%M %Z}.",
                fix="Give a later --deadline or fewer --max-minutes.",
            )
    total = worst_total_usd([bill for _, bill in planned])
    if limits.max_usd is not None and total > limits.max_usd:
        raise RefusedError(
            f"--max-usd {limits.max_usd:g}: the worst case is {capped_usd(total)} USD "
            f"({', '.join(_summand(target, bill) for target, bill in planned if bill.worst_case_usd)}).",
            fix="Raise --max-usd, or ask for fewer --max-minutes, nodes or targets.",
        )
    if limits.budget_usd is not None and limits.budget_used_usd + total > limits.budget_usd:
        left = max(0.0, limits.budget_usd - limits.budget_used_usd)
        raise RefusedError(
            f"the workspace's budget of {limits.budget_usd:,.2f} USD has {left:,.2f} USD left, and the worst case is "
            f"{capped_usd(total)} USD.",
            fix="Ask for less, finish open launches (planner launches list), or raise total_usd in budget.yaml.",
        )


def check_price_again(target: Target, agreed: LaunchBill, now: LaunchBill) -> None:
    """Raise RefusedError if the worst case of a launch is now higher than agreed, or its price is gone."""
    before, after = agreed.worst_case_usd, now.worst_case_usd
    lost = after is None and before is not None and target.is_cloud
    if not lost and (after is None or after <= (before or 0.0) * (1.0 + ROUNDING)):
        return
    was = "not known" if before is None else f"{before:,.2f} USD"
    raise RefusedError(
        f"{target.id}: the price rose since the bill was shown: the worst case was {was}, and is "
        f"{'not known' if after is None else f'{after:,.2f} USD'} now.",
        fix="Look at the bill again, and launch then.",
    )


def worst_total_usd(bills: Sequence[LaunchBill]) -> float:
    """Return the sum of worst-case costs. Machines without an invoice and without a rate count as zero.

    USD = sum of worst_case_usd
    """
    return sum(bill.worst_case_usd or 0.0 for bill in bills)


def mismatches(target: Target, launched: Launched) -> tuple[str, ...]:
    """Return how the supplied machines differ from the order; empty if they match.

    Skips what the provider does not report and what was not ordered (such as a region that the user did not name).
    """
    ordered: list[tuple[str, object, object]] = [
        ("instance type", target.name if target.is_cloud else None, launched.instance_type),
        ("accelerator", target.sky_accelerator, launched.accelerator),
        ("nodes", target.nodes, launched.nodes),
        ("region", target.region, launched.region),
        ("spot", target.spot if target.is_cloud else None, launched.spot),
        ("reservation", target.reservation, launched.reservation),
    ]
    if target.sky_accelerator is not None:
        ordered.append(("accelerators per node", target.devices_per_node, launched.accelerators_per_node))
    return tuple(
        f"{name}: asked for {wanted}, got {got}"
        for name, wanted, got in ordered
        if wanted is not None and got is not None and wanted != got
    )


def _check_price(target: Target, bill: LaunchBill, limits: LaunchLimits) -> None:
    if bill.worst_case_usd is None and _needs_price(target, limits):
        raise RefusedError(
            f"{target.id}: no price is known, so no cap can be checked: {bill.no_price_reason}.",
            fix=_price_fix(target),
        )
    rate = bill.rate
    if rate is not None and rate.far_below_list and not limits.accept_price:
        raise RefusedError(
            f"{target.id}: {rate.usd_per_node_hour:g} USD per node-hour is under a third of the catalog's "
            f"{rate.list_usd_per_node_hour:g}, and the budget would count too little.",
            fix="Correct --usd-per-hour; if the price is right, add --accept-price.",
        )


def _needs_price(target: Target, limits: LaunchLimits) -> bool:
    """Return whether a launch without a price is forbidden.

    Clouds always need one. A cluster or a pool may be rented, so it needs one until the user says that it costs
    nothing. Hosts need one only under a cap or a budget. This machine never does.
    """
    if target.is_cloud:
        return True
    capped = limits.max_usd is not None or limits.budget_usd is not None
    return not limits.accept_price and (target.through_sky or (capped and target.provider is LaunchProvider.HOST))


def _price_fix(target: Target) -> str:
    if target.provider is LaunchProvider.AWS and target.purchase == "on_demand":
        return (
            "Give a Capacity Block with its rate: --capacity-block cr-... --usd-per-hour X --region R; or use "
            "spot: --spot."
        )
    if not target.is_cloud:
        where = " here or in hosts.yaml" if target.provider is LaunchProvider.HOST else ""
        return f"Give --usd-per-hour X for a node{where}; if an hour costs nothing more, add --accept-price."
    return "Give --usd-per-hour X, or another --region."


def _summand(target: Target, bill: LaunchBill) -> str:
    rate = bill.rate
    each = "" if rate is None else f" at up to {rate.highest_usd_per_node_hour:g} USD/h"
    worst = capped_usd(bill.worst_case_usd or 0.0)
    return f"{target.id}: {bill.nodes} node(s) x {bill.caps.worst_minutes:g} min{each} = {worst}"


AWS_HOURS_PER_MONTH = 730.0
"""Hours in a month: 8,760 / 12, as AWS quotes it (AWS Pricing Calculator). The planner's mean month has 730.5."""


DEAREST_REGION = 2.0
"""Factor on us-east-1 prices. Sao Paulo, the most expensive region, charges 1.9 times as much for gp3."""


GP3_USD_PER_GB_MONTH = 0.08


GP3_USD_PER_IOPS_MONTH = 0.005
"""Price of each IOPS over the first 3,000."""


GP3_USD_PER_MB_S_MONTH = 0.04
"""Price of each MB/s over the first 125."""


EXTRA_IOPS, EXTRA_MB_S = 3500 - 3000, 3500 // 16 - 125
"""Performance beyond what is free.

SkyPilot orders 3,500 IOPS and 3,500 / 16 MB/s (sky/clouds/aws.py of skypilot 0.14.1).
"""


IPV4_USD_PER_HOUR = 0.005


CONTROLLER_USD_PER_HOUR = 0.192
"""Price of an m6i.xlarge in us-east-1. SkyPilot asks for 4 vCPUs with 16 GB or more (sky/jobs/constants.py)."""


def ancillary_costs_of(target: Target) -> tuple[AncillaryCost, ...]:
    """Return the ancillary costs: none on Lambda and on machines that already exist.

    disk = nodes x (GB x USD per GB-month + extra IOPS x USD + extra MB/s x USD) x 2 / 730
    """
    if target.provider is not LaunchProvider.AWS:
        return ()
    month = DISK_GB * GP3_USD_PER_GB_MONTH + EXTRA_IOPS * GP3_USD_PER_IOPS_MONTH + EXTRA_MB_S * GP3_USD_PER_MB_S_MONTH
    disks = AncillaryCost(
        what=f"{target.nodes} disk(s) of {DISK_GB} GB",
        usd_per_hour=target.nodes * month * DEAREST_REGION / AWS_HOURS_PER_MONTH,
        basis=Basis.ASSUMED,
        source=f"gp3 with 3,500 IOPS and 218 MB/s at us-east-1's {GP3_USD_PER_GB_MONTH} USD/GB-month, "
        f"{GP3_USD_PER_IOPS_MONTH}/IOPS and {GP3_USD_PER_MB_S_MONTH}/MB/s (AWS, Amazon EBS pricing), times "
        f"{DEAREST_REGION:g} for the dearest region",
        as_of=date(2026, 11, 21),
    )
    addresses = AncillaryCost(
        what=f"{target.nodes} public IPv4 address(es)",
        usd_per_hour=target.nodes * IPV4_USD_PER_HOUR,
        basis=Basis.QUOTED,
        source="AWS, Amazon VPC pricing: 0.005 USD an hour in every region since 2024-02-01",
        as_of=date(2024, 2, 1),
    )
    return (disks, addresses, *([_controller()] if target.managed else []))


def _controller() -> AncillaryCost:
    return AncillaryCost(
        what="SkyPilot's controller of managed jobs",
        usd_per_hour=CONTROLLER_USD_PER_HOUR * DEAREST_REGION,
        basis=Basis.ASSUMED,
        source=f"an m6i.xlarge at us-east-1's {CONTROLLER_USD_PER_HOUR} USD/h (AWS, EC2 on-demand pricing), times "
        f"{DEAREST_REGION:g} for another type or region; it takes itself down after 10 idle minutes",
        as_of=date(2026, 11, 21),
    )
