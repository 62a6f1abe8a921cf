"""Ancillary costs of a launch besides its machines: disks, public addresses, the controller of managed jobs.
Pure. Each cost is the highest of all regions, because a cap must hold in every region.
"""

from __future__ import annotations

from datetime import date

from planner.launcher.plan.bill import AncillaryCost
from planner.launcher.plan.target import LaunchProvider, Target
from planner.launcher.plan.task import DISK_GB
from planner.model.quantity import Basis

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
