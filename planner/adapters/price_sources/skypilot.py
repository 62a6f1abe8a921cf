"""Prices from SkyPilot's catalog tables, read as CSV by header name. Known errors in them are left out."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import statistics
from collections.abc import Iterable, Mapping
from datetime import date
from functools import partial

from planner.adapters.http_fetch import PATIENCE, TIMEOUT_S, Fetched, fetch
from planner.adapters.price_sources.source import Names, SourceAnswer, as_id
from planner.errors import PriceSourceError
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.time_limits import asked_together

CATALOG_URL = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v9"
URL_VARIABLE = "PLANNER_SKYPILOT_CATALOG_URL"
CLOUDS = ("aws", "gcp", "lambda")
"""Tables that SkyPilot fetches by itself. Those of other clouds are kept by hand and go stale."""
COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Region", "AvailabilityZone", "Price", "SpotPrice")
LIMIT_BYTES = 50_000_000
HOST_ONLY = "host without its accelerators (Google Cloud a2, a3, a4 and g2 rows)"
Row = Mapping[str, str]


def skypilot_prices(
    *, names: Names, today: date, clouds: Iterable[str] = CLOUDS, timeout_s: float = TIMEOUT_S
) -> SourceAnswer:
    """Read one table per cloud, all at once. A table that fails is skipped."""
    base = (os.environ.get(URL_VARIABLE) or CATALOG_URL).rstrip("/")
    answer, tables = SourceAnswer(), {cloud: f"SkyPilot's table of {cloud}" for cloud in clouds}
    asks = [
        partial(
            fetch, f"{base}/{cloud}/vms.csv", what=what, timeout_s=timeout_s, limit_bytes=LIMIT_BYTES, patience=PATIENCE
        )
        for cloud, what in tables.items()
    ]
    for (cloud, what), table in zip(tables.items(), asked_together(asks), strict=True):
        with answer.alone(what):
            fetched = table.result()
            version = hashlib.sha256(fetched.data).hexdigest()[:12]
            as_of = min(today, fetched.last_modified or today)
            _add(answer, cloud, _rows(fetched, what), names=names, version=version, as_of=as_of, today=today)
    if not answer.prices and answer.problems:
        raise PriceSourceError(f"SkyPilot: no table could be read: {answer.problems[0]}")
    return answer


def _rows(fetched: Fetched, what: str) -> list[Row]:
    try:
        reader = csv.DictReader(io.StringIO(fetched.data.decode("utf-8-sig")))
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise PriceSourceError(f"{what}: the column {missing[0]} is missing.", fix="Its format has changed.")
        return list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise PriceSourceError(f"{what}: is not a CSV table: {error}.", fix="Try again.") from error


def _add(
    answer: SourceAnswer, cloud: str, rows: Iterable[Row], *, names: Names, version: str, as_of: date, today: date
) -> None:
    """Add one price per instance, region and kind. Spot is the median over the zones, with the lowest and highest."""
    grouped: dict[tuple[str, str, PriceKind], list[tuple[float, Row]]] = {}
    for row in rows:
        reason = _unusable(cloud, row)
        if reason is not None:
            answer.left_out[reason] += 1
            continue
        tpu = row["AcceleratorName"].startswith("tpu-")  # the instance type of every slice is TPU-VM
        instance = as_id(row["AcceleratorName"] if tpu else row["InstanceType"])
        for column, kind in (("Price", PriceKind.ON_DEMAND), ("SpotPrice", PriceKind.SPOT)):
            usd = _number(row[column])
            if usd:
                grouped.setdefault((instance, row["Region"], kind), []).append((usd, row))
    for (instance, region, kind), cells in grouped.items():
        all_usd, first = [value for value, _ in cells], cells[0][1]
        tpu = first["AcceleratorName"].startswith("tpu-")
        name = first["AcceleratorName"].rpartition("-")[0].removeprefix("tpu-") if tpu else first["AcceleratorName"]
        carried = names.find(f"{cloud}/{instance}", name, None)
        if carried is None:
            answer.left_out[f"accelerator '{name}' is not in the catalog"] += 1
            continue
        count = _tpu_chips(first["AcceleratorName"]) if tpu else round(_number(first["AcceleratorCount"]) or 1)
        spot = kind is PriceKind.SPOT
        zones = f"median of {len(all_usd)} zone{'s' if len(all_usd) > 1 else ''} at one instant" if spot else None
        answer.add(
            provider=cloud, instance_type=instance, accelerator=carried.accelerator, accelerators=count,
            region="any" if cloud == "lambda" else region, price_kind=kind, usd_per_hour=statistics.median(all_usd),
            low_usd_per_hour=min(all_usd) if spot else None, high_usd_per_hour=max(all_usd) if spot else None,
            origin=PriceOrigin.SKYPILOT, source=f"SkyPilot catalog v9 {cloud}/vms.csv", source_version=version,
            as_of=as_of, fetched_at=today, confidence="third_party",
            note="; ".join(part for part in (zones, carried.note) if part) or None,
        )  # fmt: skip
    if cloud == "lambda":
        answer.prices[:] = _once(answer.prices)


def _unusable(cloud: str, row: Row) -> str | None:
    """Return why a row is not the price of a machine for training; None if it is."""
    if None in row.values() or not row["Region"]:
        return "rows cut short"
    tpu = row["AcceleratorName"].startswith("tpu-")
    if cloud == "gcp" and not tpu:
        return HOST_ONLY if row["InstanceType"] else "accelerators priced apart from their host (Google Cloud)"
    if not row["AcceleratorName"]:
        return "instances without an accelerator"
    if (_number(row["AcceleratorCount"]) or 1) < 1:
        return "shares of an accelerator"
    return None


def _number(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _tpu_chips(name: str) -> int:
    """Return the chips of a slice. v2 to v4 and v5p are named after cores, two per chip; the others after chips."""
    generation, _, size = name.removeprefix("tpu-").rpartition("-")
    count = int(size) if size.isdecimal() else 1
    return max(1, count // 2) if generation in {"v2", "v3", "v4", "v5p"} else count


def _once(prices: list[Price]) -> list[Price]:
    """Keep one of the rows that Lambda repeats for each region."""
    kept: dict[tuple[object, ...], Price] = {}
    for price in prices:
        kept.setdefault((price.node, price.region, price.price_kind), price)
    return list(kept.values())
