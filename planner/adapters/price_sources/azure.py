"""Prices from Azure's retail price list, without a key: on demand, spot and savings plans of each machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from planner.adapters.http_fetch import TIMEOUT_S, fetch
from planner.adapters.price_sources.source import SourceAnswer
from planner.errors import PriceSourceError
from planner.model.hardware.machines import Node
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.quantity.time_units import AWS_HOURS_PER_YEAR

API_URL = "https://prices.azure.com/api/retail/prices"
VERSION = "2023-01-01-preview"
"""API version that has savings plans."""
LIMIT_BYTES = 20_000_000
MOST_PAGES = 20
NOT_THESE = ("windows", "low priority", "cloudservices", "dedicated host")
"""Words in the name of a product or size that is not a plain Linux machine."""
TERMS = {"1 Year": (PriceKind.SAVINGS_1Y, 1), "3 Years": (PriceKind.SAVINGS_3Y, 3)}


class _AzureDocument(BaseModel):
    """A document of Azure. Unknown keys are allowed."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, alias_generator=to_camel)


class _Saving(_AzureDocument):
    term: str
    retail_price: Annotated[float, Field(ge=0)]


class _Item(_AzureDocument):
    arm_sku_name: str
    arm_region_name: str
    retail_price: Annotated[float, Field(ge=0)]
    product_name: str = ""
    sku_name: str = ""
    type: str = "Consumption"
    unit_of_measure: str = "1 Hour"
    currency_code: str = "USD"
    savings_plan: tuple[_Saving, ...] = ()


def azure_prices(
    *, nodes: Mapping[str, Node], today: date, api_url: str = API_URL, timeout_s: float = TIMEOUT_S
) -> SourceAnswer:
    """Ask for each of our Azure machines, in all regions, several at once. A request that fails is skipped.

    Source of the format: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices.
    """
    sizes = {name.removeprefix("azure/"): node for name, node in nodes.items() if name.startswith("azure/")}
    asks = [
        partial(_ask, size, node, today=today, api_url=api_url, timeout_s=timeout_s) for size, node in sizes.items()
    ]
    answer = SourceAnswer.of_parts(asks, source="Azure")
    if not answer.problems:
        answer.read_whole("azure", PriceOrigin.VENDOR_API, today)
    return answer


def _ask(size: str, node: Node, *, today: date, api_url: str, timeout_s: float) -> SourceAnswer:
    answer, what = SourceAnswer(), f"Azure's price list of {size}"
    with answer.alone(what):
        _read_pages(answer, size, node, today=today, api_url=api_url, timeout_s=timeout_s, what=what)
    return answer


def _read_pages(
    answer: SourceAnswer, size: str, node: Node, *, today: date, api_url: str, timeout_s: float, what: str
) -> None:
    asked = {"api-version": VERSION, "$filter": f"serviceName eq 'Virtual Machines' and armSkuName eq '{size}'"}
    for page in range(MOST_PAGES):
        skip = {"$skip": str(100 * page)} if page else {}
        url = f"{api_url.rstrip('/')}?{urlencode(asked | skip)}"
        document = _document(fetch(url, what=what, timeout_s=timeout_s, limit_bytes=LIMIT_BYTES).data, what)
        for raw in document["Items"]:
            _add(answer, raw, size, node, today=today, what=what)
        if not document.get("NextPageLink") or not document["Items"]:
            return


def _document(data: bytes, what: str) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PriceSourceError(f"{what}: the answer is not the expected JSON document.", fix="Try again.") from error
    if not isinstance(document, dict) or not isinstance(document.get("Items"), list):
        raise PriceSourceError(f"{what}: the answer has no list of Items.", fix="Its format has changed.")
    return document


def _add(answer: SourceAnswer, raw: object, size: str, node: Node, *, today: date, what: str) -> None:
    try:
        item = _Item.model_validate(raw)
    except ValidationError as error:
        detail = error.errors()[0]
        answer.left_out[f"{what}: {'.'.join(map(str, detail['loc']))}: {detail['msg']}"] += 1
        return
    named = f"{item.product_name} {item.sku_name}".casefold()
    usual = item.type == "Consumption" and item.unit_of_measure == "1 Hour" and item.currency_code == "USD"
    if not usual or item.arm_sku_name != size or any(word in named for word in NOT_THESE):
        answer.left_out["other systems, terms and units"] += 1
        return
    if not item.retail_price:
        answer.left_out["rows without a price"] += 1
        return
    spot = "spot" in named
    terms = [(PriceKind.SPOT if spot else PriceKind.ON_DEMAND, item.retail_price, 0)]
    if not spot:
        for saving in item.savings_plan:
            if saving.term in TERMS and saving.retail_price:
                kind, years = TERMS[saving.term]
                terms.append((kind, saving.retail_price, years))
    for kind, usd, years in terms:
        answer.add(
            provider="azure", instance_type=size, accelerator=node.accelerator, accelerators=node.accelerators,
            region=item.arm_region_name, price_kind=kind, usd_per_hour=usd,
            minimum_term_hours=years * AWS_HOURS_PER_YEAR,
            origin=PriceOrigin.VENDOR_API, source="Azure retail price list", source_version=VERSION, as_of=today,
            fetched_at=today, confidence="api",
        )  # fmt: skip
