"""Arguments that say where, how long and on which terms something is launched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli.output import check_positive
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.use_cases.launch_target import Terms

OnOption = Annotated[
    list[str],
    typer.Option(
        "--on",
        metavar="TARGET",
        help="aws/TYPE, lambda/TYPE, k8s/CONTEXT, ssh/POOL, slurm/CLUSTER, host/NAME, local. Repeat for several.",
    ),
]
NodesOption = Annotated[int | None, typer.Option(help="Nodes of each target; default 1.", show_default=False)]
GpusOption = Annotated[
    str | None,
    typer.Option(
        metavar="[NAME:]COUNT",
        help="Processes on each node; k8s, ssh and slurm need the accelerator's name, e.g. H100:8.",
        show_default=False,
    ),
]
SpotFlag = Annotated[bool, typer.Option("--spot", help="Cheaper, and the provider may take it away.")]
ReservationOption = Annotated[
    str | None, typer.Option(metavar="ID", help="An On-Demand Capacity Reservation, cr-...", show_default=False)
]
BlockOption = Annotated[
    str | None, typer.Option(metavar="ID", help="A Capacity Block that you bought, cr-...", show_default=False)
]
RateOption = Annotated[
    float | None,
    typer.Option(metavar="X", help="What a node costs an hour; default the catalog's.", show_default=False),
]
RegionOption = Annotated[str | None, typer.Option(help="Default: the cheapest.", show_default=False)]
TierOption = Annotated[str | None, typer.Option(metavar="standard|best", help="best: EFA on AWS.", show_default=False)]
ImageOption = Annotated[str | None, typer.Option(help="A container image or machine image.", show_default=False)]
ManagedFlag = Annotated[
    bool, typer.Option("--managed", help="As a SkyPilot managed job, which restarts preempted nodes.")
]
MinutesOption = Annotated[
    float | None, typer.Option(metavar="M", help="Of the job on the node; default by its window.", show_default=False)
]
StoreOption = Annotated[
    str | None,
    typer.Option(metavar="s3://...", help="Nodes push steps and results there meanwhile.", show_default=False),
]


def read_terms(
    *,
    spot: bool,
    reservation: str | None,
    capacity_block: str | None,
    network_tier: str | None,
    nodes: int | None,
    max_minutes: float | None,
    usd_per_hour: float | None,
    gpus: str | None,
    region: str | None,
    image: str | None,
    managed: bool,
    store: str | None,
) -> Terms:
    """Return the terms; InputError where options contradict each other."""
    from planner.use_cases.launch_target import Terms

    given = [
        name
        for name, value in (
            ("--spot", spot or None),
            ("--reservation", reservation),
            ("--capacity-block", capacity_block),
        )
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: a machine is bought in one way.", fix="Give one of them.")
    check_positive(nodes, "--nodes")
    if max_minutes is not None and not 0 < max_minutes <= 7 * 24 * 60:
        raise InputError(f"--max-minutes {max_minutes:g}: must be over 0 and at most a week.")
    tier: Literal["standard", "best"] | None = None
    if network_tier in ("standard", "best"):
        tier = network_tier  # type: ignore[assignment]
    elif network_tier is not None:
        raise InputError(f"--network-tier {network_tier}: is neither standard nor best.")
    if store is not None and not store.startswith("s3://"):
        raise InputError(f"--store {store}: is no S3 address.", fix="Write s3://bucket/prefix.")
    purchase = {"--spot": "spot", "--reservation": "reservation", "--capacity-block": "capacity_block"}
    return Terms(
        nodes=nodes,
        gpus=gpus,
        purchase=purchase[given[0]] if given else "on_demand",  # type: ignore[arg-type]
        reservation=reservation or capacity_block,
        region=region,
        network_tier=tier,
        image=image,
        managed=managed,
        usd_per_hour=not_negative(usd_per_hour, "--usd-per-hour"),
        max_minutes=max_minutes,
        store=store.rstrip("/") if store else None,
    )


def not_negative(value: float | None, name: str) -> float | None:
    """Return the number, refusing one below 0 and what is no number."""
    if value is not None and not 0 <= value < float("inf"):
        raise InputError(f"{name} {value:g}: must be 0 or more.")
    return value


def read_time(text: str | None) -> datetime | None:
    """Read a time, in UTC where it names no zone."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--deadline {text}: is no time.", fix="Write e.g. 2026-12-01T18:00, in UTC.") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
