"""Prices from AWS's public bulk list of EC2, without credentials: on demand and reserved, one file per region."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial

from planner.adapters.http_fetch import PATIENCE, TIMEOUT_S, fetch
from planner.adapters.price_sources.source import SourceAnswer
from planner.errors import PriceSourceError
from planner.model.hardware.machines import Node
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.quantity.time_units import AWS_HOURS_PER_YEAR

LIST_URL = "https://pricing.us-east-1.amazonaws.com"
URL_VARIABLE = "PLANNER_AWS_LIST_URL"
INDEX = "/offers/v1.0/aws/AmazonEC2/current/region_index.json"
LIMIT_BYTES = 2_000_000_000
PREFACE_LINES = 6
"""Lines before the rows: five with the file's own data, then the header."""
WANTED = {
    "Operating System": "Linux", "Tenancy": "Shared", "Pre Installed S/W": "NA", "CapacityStatus": "Used",
    "License Model": "No License required", "Currency": "USD", "Unit": "Hrs",
}  # fmt: skip
NEEDED = (
    *WANTED, "TermType", "PricePerUnit", "LeaseContractLength", "PurchaseOption", "OfferingClass", "Instance Type",
)  # fmt: skip
RESERVED = {"1yr": (PriceKind.RESERVED_1Y, AWS_HOURS_PER_YEAR), "3yr": (PriceKind.RESERVED_3Y, 3 * AWS_HOURS_PER_YEAR)}


def aws_list_prices(
    *, nodes: Mapping[str, Node], today: date, regions: Iterable[str], timeout_s: float = TIMEOUT_S
) -> SourceAnswer:
    """Read the files of several regions at once, as they stream past, for our machines. A region that fails is skipped.

    Source of the format: docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-an-offer.html.
    """
    base = (os.environ.get(URL_VARIABLE) or LIST_URL).rstrip("/")
    ours = {name.removeprefix("aws/"): node for name, node in nodes.items() if name.startswith("aws/")}
    files = _files(fetch(base + INDEX, what="AWS's price list", timeout_s=timeout_s, limit_bytes=5_000_000).data)
    urls = {region: base + files[region] if region in files else None for region in regions}
    asks = [
        partial(_region_answer, url, region, ours, today=today, timeout_s=timeout_s) for region, url in urls.items()
    ]
    return SourceAnswer.of_parts(asks, source="AWS's price list")


def _region_answer(
    url: str | None, region: str, ours: Mapping[str, Node], *, today: date, timeout_s: float
) -> SourceAnswer:
    what, answer = f"AWS's price list of {region}", SourceAnswer()
    with answer.alone(what):
        if url is None:
            raise PriceSourceError(f"{what}: there is none of this region.")
        _read_region(answer, url, region, ours, today=today, timeout_s=timeout_s, what=what)
        if answer.prices:
            answer.read_whole("aws", PriceOrigin.AWS_API, today, region=region)
    return answer


def _files(data: bytes) -> dict[str, str]:
    """Return the path of each region's CSV file."""
    try:
        regions = json.loads(data)["regions"]
        paths = {str(name): str(entry["currentVersionUrl"]) for name, entry in regions.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PriceSourceError("AWS's price list: its index has another shape.", fix="Try again later.") from error
    return {name: path.removesuffix(".json") + ".csv" for name, path in paths.items() if path.startswith("/offers/")}


def _read_region(
    answer: SourceAnswer, url: str, region: str, ours: Mapping[str, Node], *, today: date, timeout_s: float, what: str
) -> None:
    marks = tuple(f'"{instance}"'.encode() for instance in ours)
    fetched = fetch(
        url, what=what, timeout_s=timeout_s, limit_bytes=LIMIT_BYTES, patience=PATIENCE, first_lines=PREFACE_LINES,
        keep_line=lambda line: any(mark in line for mark in marks),
    )  # fmt: skip
    lines = fetched.data.decode("utf-8", errors="replace").splitlines()
    version = _version(lines[: PREFACE_LINES - 1])
    try:
        rows = list(csv.reader(lines[PREFACE_LINES - 1 :]))
    except csv.Error as error:
        raise PriceSourceError(f"{what}: is not a CSV table: {error}.", fix="Try again.") from error
    header = rows[0] if rows else []
    missing = [column for column in NEEDED if column not in header]
    if missing:
        raise PriceSourceError(f"{what}: the column {missing[0]} is missing.", fix="Its format has changed.")
    for cells in rows[1:]:
        if len(cells) == len(header):
            _add(answer, dict(zip(header, cells, strict=True)), region, ours, version=version, today=today)
        else:
            answer.left_out["rows cut short"] += 1


def _version(preface: Sequence[str]) -> str | None:
    cells = (line.replace('"', "").split(",") for line in preface)
    return next((row[1][:40] for row in cells if row[0] == "Version" and len(row) > 1 and row[1]), None)


def _add(
    answer: SourceAnswer, row: Mapping[str, str], region: str, ours: Mapping[str, Node], *, version: str | None,
    today: date,
) -> None:  # fmt: skip
    node = ours.get(row["Instance Type"])
    kind, hours = committed_terms(
        row["TermType"], row["PurchaseOption"], row["OfferingClass"], row["LeaseContractLength"]
    )
    market = row.get("MarketOption", "OnDemand")
    if node is None or kind is None or market not in ("", "OnDemand", "NA"):
        return
    if any(row[column] != value for column, value in WANTED.items()):
        return
    try:
        usd = float(row["PricePerUnit"])
    except ValueError:
        usd = 0.0
    if not usd > 0:
        answer.left_out["rows without a price"] += 1
        return
    answer.add(
        provider="aws", instance_type=row["Instance Type"], accelerator=node.accelerator,
        accelerators=node.accelerators, region=region, price_kind=kind, usd_per_hour=usd, minimum_hours=1 / 60,
        billing_granularity_s=1.0, minimum_term_hours=hours, origin=PriceOrigin.AWS_API,
        source="AWS price list of EC2, without credentials", source_version=version, as_of=today, fetched_at=today,
        confidence="api",
    )  # fmt: skip


def committed_terms(
    term: str, option: str | None, offering: str | None, length: str | None
) -> tuple[PriceKind | None, float]:
    """Return the kind of a term and the committed hours. Reserved means standard, without upfront payment."""
    if term == "OnDemand":
        return PriceKind.ON_DEMAND, 0.0
    if (option, offering) != ("No Upfront", "standard"):
        return None, 0.0
    return RESERVED.get(length or "", (None, 0.0))
