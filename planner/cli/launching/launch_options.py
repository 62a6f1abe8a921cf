"""Options for where, how long and on which terms something is launched. Secrets in them are refused.

Options are written into the task of a launch, its ledger and its log.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal

import typer

from planner.adapters.answer_store import kept_answer
from planner.cli.output import check_positive
from planner.errors import InputError
from planner.launcher.plan.guard import LaunchLimits
from planner.launcher.plan.target import Purchase
from planner.redact import has_secret
from planner.use_cases.launching.launch_target import MOST_MINUTES, MOST_NODES, LaunchTerms

AnswerOption = Annotated[
    str | None, typer.Option("--answer", metavar="ID", help="Answer that asks for this run, kept with its record")
]
MOST_USD = 1e18
"""Largest limit or price."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """Nodes of a target, how they are bought, and their image."""

    heading: ClassVar = "Target"

    nodes: Annotated[int | None, typer.Option(help="Nodes per target; default: 1")] = None
    gpus: Annotated[
        str | None,
        typer.Option(metavar="[NAME:]COUNT", help="Processes per node; on k8s, ssh and slurm e.g. H100-SXM:8"),
    ] = None
    region: Annotated[str | None, typer.Option(help="Region; default: the cheapest")] = None
    spot: Annotated[bool, typer.Option("--spot", help="Use spot instances, which may be preempted")] = False
    reservation: Annotated[str | None, typer.Option(metavar="ID", help="On-Demand Capacity Reservation (cr-...)")] = (
        None
    )
    capacity_block: Annotated[str | None, typer.Option(metavar="ID", help="Purchased Capacity Block (cr-...)")] = None
    network_tier: Annotated[
        str | None, typer.Option(metavar="standard|best", help="Network of the nodes; best: EFA on AWS")
    ] = None
    image: Annotated[str | None, typer.Option(help="Container or machine image")] = None
    max_minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Job time limit; default: by the measurement's window")
    ] = None
    store: Annotated[
        str | None, typer.Option(metavar="s3://...", help="S3 prefix to which nodes copy steps and results")
    ] = None


@dataclass(frozen=True, kw_only=True)
class LaunchLimitOptions:
    """Limits on the cost and duration of a launch, and permission to start it."""

    heading: ClassVar = "Limits"

    max_usd: Annotated[
        float | None, typer.Option(metavar="X", help="Spending limit over all targets, for the worst case")
    ] = None
    deadline: Annotated[str | None, typer.Option(metavar="TIME", help="Latest end, e.g. 2026-12-01T18:00 (UTC)")] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show bill and task only; the default without --yes")] = (
        False
    )
    check: Annotated[bool, typer.Option("--check", help="Let SkyPilot or the host check the task; spends nothing")] = (
        False
    )
    accept_price: Annotated[
        bool, typer.Option("--accept-price", help="Accept no price outside clouds, or one far below the catalog's")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", help="Launch, and accept the worst-case cost")] = False

    def limits(self) -> LaunchLimits:
        """Return the limits. InputError if one is no number or no time."""
        return LaunchLimits(
            max_usd=_not_negative(self.max_usd, "--max-usd"),
            deadline_at=_read_time(self.deadline),
            accept_price=self.accept_price,
        )


def read_terms(
    target: TargetOptions, *, usd_per_hour: float | None = None, managed: bool = False, answer: str | None = None
) -> LaunchTerms:
    """Return the terms of a launch. InputError if options contradict each other, NotFoundError for the answer."""
    ways: dict[str, tuple[Purchase, object]] = {
        "--spot": ("spot", target.spot or None),
        "--reservation": ("reservation", target.reservation),
        "--capacity-block": ("capacity_block", target.capacity_block),
    }
    given = [name for name, (_, value) in ways.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: a machine is bought in one way.", fix="Give one of them.")
    check_positive(target.nodes, "--nodes", most=MOST_NODES)
    if target.max_minutes is not None and not 0 < target.max_minutes <= MOST_MINUTES:
        problem = f"--max-minutes {target.max_minutes:g}: must be over 0 and at most a week."
        raise InputError(problem, fix=f"Write minutes, at most {MOST_MINUTES:,.0f}.")
    for option in ("gpus", "region", "reservation", "capacity_block", "network_tier"):
        check_no_secret(getattr(target, option), f"--{option.replace('_', '-')}")
    return LaunchTerms(
        nodes=target.nodes,
        gpus=target.gpus,
        purchase=ways[given[0]][0] if given else "on_demand",
        reservation=target.reservation or target.capacity_block,
        region=target.region,
        network_tier=_read_tier(target.network_tier),
        image=read_image(target.image),
        managed=managed,
        usd_per_hour=_not_negative(usd_per_hour, "--usd-per-hour"),
        max_minutes=target.max_minutes,
        store=read_store(target.store),
        answer_id=None if answer is None else kept_answer(answer).id,
    )


def _read_tier(text: str | None) -> Literal["standard", "best"] | None:
    tiers: dict[str | None, Literal["standard", "best"] | None] = {None: None, "standard": "standard", "best": "best"}
    if text not in tiers:
        raise InputError(f"--network-tier {text}: is neither standard nor best.", fix="Write one of the two.")
    return tiers[text]


def _not_negative(value: float | None, name: str) -> float | None:
    """Return the number. Refuses numbers below 0 or far beyond any price, and other text."""
    if value is not None and not 0 <= value <= MOST_USD:
        raise InputError(f"{name} {value:g}: must be 0 or more, and at most {MOST_USD:g}.", fix="Write USD, as 12.5.")
    return value


def _read_time(text: str | None) -> datetime | None:
    """Read a time, in UTC if it names no zone."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--deadline {text}: is no time.", fix="Write e.g. 2026-12-01T18:00, in UTC.") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


STORE = re.compile(
    r"s3://(?!\d+\.\d+\.\d+\.\d+(?:/|$))[a-z0-9](?:(?:[a-z0-9-]|\.(?=[a-z0-9])){0,61}[a-z0-9])?"
    r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9!_.'()=+ -]{1,200}){0,20}/?"
)
"""Names of buckets by S3's rules of 2024; in a prefix the characters that S3 calls safe, without `*`."""
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,300}(?:@sha256:[0-9a-f]{4,64})?")


def check_no_secret(value: str | None, option: str, *, fix: str = "") -> None:
    """Refuse an option that holds a key, a token or a password. The message does not repeat it."""
    if value is not None and has_secret(value):
        raise InputError(
            f"{option}: holds what looks like a key, a token or a password, and it would be written to the task, "
            "the ledger and the log.",
            fix=fix or "Leave the secret out.",
        )


def read_store(text: str | None) -> str | None:
    """Return an S3 address without its last slash. InputError if it names no bucket."""
    if text is None:
        return None
    fix = "Write s3://bucket/prefix; nodes push with their own role or profile."
    check_no_secret(text, "--store", fix=fix)
    if not text.startswith("s3://"):
        raise InputError(f"--store {text}: is no S3 address.", fix="Write s3://bucket/prefix.")
    if not STORE.fullmatch(text):
        raise InputError(f"--store {text!r}: does not name a bucket and a plain prefix.", fix=fix)
    return text.rstrip("/")


def read_image(text: str | None) -> str | None:
    """Return the name of an image. InputError if it holds more than a name."""
    if text is None:
        return None
    fix = "Write e.g. docker:registry/name:tag or ami-0abc; log in to a private registry on the machine itself."
    check_no_secret(text, "--image", fix=fix)
    if not IMAGE.fullmatch(text):
        raise InputError(f"--image {text!r}: is no name of an image.", fix=fix)
    return text
