"""Prices from Lambda's own API: the price of each instance type, and where it is available now."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner.adapters.http_fetch import TIMEOUT_S, fetch
from planner.adapters.price_sources.source import Names, SourceAnswer, as_id
from planner.errors import PriceSourceError
from planner.model.prices.offer import PriceKind, PriceOrigin

API_URL = "https://cloud.lambda.ai/api/v1"
LIMIT_BYTES = 5_000_000
BILLED_BY_S = 60.0
WHAT = "Lambda's API"


class _LambdaDocument(BaseModel):
    """A document of Lambda. Unknown keys are allowed."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Specs(_LambdaDocument):
    gpus: int = 0


class _Type(_LambdaDocument):
    name: str
    description: str = ""
    gpu_description: str = ""
    price_cents_per_hour: Annotated[float, Field(gt=0)]
    specs: _Specs = _Specs()


class _Region(_LambdaDocument):
    name: str


class _Entry(_LambdaDocument):
    instance_type: _Type
    regions_with_capacity_available: tuple[_Region, ...] = ()


def lambda_prices(
    *, key: str, names: Names, today: date, api_url: str = API_URL, timeout_s: float = TIMEOUT_S
) -> SourceAnswer:
    """Read `GET /instance-types`: one price for all regions, whole instance, in cents; billed by the minute, no spot.

    An empty list of regions means sold out; the price is valid anyway.
    """
    fetched = fetch(
        f"{api_url.rstrip('/')}/instance-types", what=WHAT, timeout_s=timeout_s, limit_bytes=LIMIT_BYTES,
        headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
    )  # fmt: skip
    answer = SourceAnswer()
    for name, raw in _entries(fetched.data).items():
        try:
            entry = _Entry.model_validate(raw)
        except ValidationError as error:
            detail = error.errors()[0]
            where = ".".join(str(part) for part in detail["loc"])
            answer.problems.append(f"{WHAT}: {name}: {where}: {detail['msg']}; left out")
            continue
        kind = entry.instance_type
        if kind.specs.gpus < 1:
            answer.left_out["instances without an accelerator"] += 1
            continue
        text = kind.gpu_description or kind.description
        gpu, hbm_gib = _gpu(text)
        carried = names.find(f"lambda/{as_id(kind.name)}", gpu, hbm_gib, hint=text)
        if carried is None:
            answer.left_out[f"accelerator '{gpu}' is not in the catalog"] += 1
            continue
        regions = [region.name for region in entry.regions_with_capacity_available]
        where = f"to be had in {', '.join(regions)}" if regions else "sold out when read"
        answer.add(
            provider="lambda", instance_type=as_id(kind.name), accelerator=carried.accelerator,
            accelerators=kind.specs.gpus, region="any", price_kind=PriceKind.ON_DEMAND,
            usd_per_hour=kind.price_cents_per_hour / 100, billing_granularity_s=BILLED_BY_S,
            available=bool(regions), origin=PriceOrigin.VENDOR_API, source="Lambda API, instance-types",
            source_version="v1", as_of=today, fetched_at=today, confidence="api",
            note="; ".join(part for part in (where, carried.note) if part),
        )  # fmt: skip
    if not answer.problems:
        answer.read_whole("lambda", PriceOrigin.VENDOR_API, today)
    return answer


def _entries(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
        entries = document["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise PriceSourceError(f"{WHAT}: the answer is not the expected JSON document.", fix="Try again.") from error
    if not isinstance(entries, dict):
        raise PriceSourceError(f"{WHAT}: the answer lists no instance types.", fix="Try again.")
    return entries


def _gpu(description: str) -> tuple[str, float | None]:
    """Split `H100 (80 GB SXM5)` into the name and the memory."""
    name, _, rest = description.partition("(")
    size = rest.split(" ")[0]
    return name.strip(), float(size) if size.isdecimal() else None
