"""Prices from AWS's own APIs, with the user's credentials: lists, spot history, Capacity Blocks, plans, quotas."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from planner.adapters.http_fetch import TIMEOUT_S
from planner.adapters.price_sources.aws_list import committed_terms
from planner.adapters.price_sources.aws_question import AwsQuestion, pages_of, refusals_noted
from planner.adapters.price_sources.source import SourceAnswer
from planner.aws_session import aws_session
from planner.errors import PriceSourceError
from planner.model.hardware.machines import Node
from planner.model.prices.offer import PriceKind

if TYPE_CHECKING:
    import boto3

PRICING_REGION = "us-east-1"
REGIONS = (
    "us-east-1", "us-east-2", "us-west-2", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "ap-northeast-1",
    "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
)  # fmt: skip
"""Regions asked by default."""
BLOCK_TYPES = ("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300", "trn1", "trn2")
"""Families that AWS sells in Capacity Blocks."""
BLOCK_HOURS = 24
BLOCK_SEARCH_DAYS = 56
"""Farthest start of a search: blocks are sold at most eight weeks ahead."""
SPOT_HISTORY_DAYS = 7
LIST_FILTERS = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "licenseModel": "No License required",
    "marketoption": "OnDemand",
}
QUOTAS = {
    "L-417A185B": ("P on demand", PriceKind.ON_DEMAND, ("p",)),
    "L-DB2E81BA": ("G and VT on demand", PriceKind.ON_DEMAND, ("g", "vt")),
    "L-1945791B": ("Inf on demand", PriceKind.ON_DEMAND, ("inf",)),
    "L-2C3B7624": ("Trn on demand", PriceKind.ON_DEMAND, ("trn",)),
    "L-6E869C2A": ("DL on demand", PriceKind.ON_DEMAND, ("dl",)),
    "L-3819A6DF": ("G and VT spot", PriceKind.SPOT, ("g", "vt")),
    "L-B5D1601B": ("Inf spot", PriceKind.SPOT, ("inf",)),
    "L-6B0D517C": ("Trn spot", PriceKind.SPOT, ("trn",)),
    "L-85EED4F7": ("DL spot", PriceKind.SPOT, ("dl",)),
    "L-7212CCBC": ("P4, P3 and P2 spot", PriceKind.SPOT, ("p4", "p3", "p2")),
    "L-C4BD4855": ("P5 spot", PriceKind.SPOT, ("p5",)),
}
"""Service quotas, in vCPU: code, name, kind, and prefixes of the instance types that each counts."""
SECOND = {"minimum_hours": 1 / 60, "billing_granularity_s": 1.0}
"""EC2 bills Linux by the second, a minute at least."""
MINUTES_BEFORE_THE_END = 30
"""Minutes before a block's end at which its instances are ended."""


def aws_prices(
    *, session: boto3.Session | None, nodes: Mapping[str, Node], now: datetime, regions: Iterable[str] = REGIONS,
    timeout_s: float = TIMEOUT_S,
) -> SourceAnswer:  # fmt: skip
    """Ask several regions at once for list and reserved prices, spot history, Capacity Blocks, savings plans, quotas.

    Each answer is independent: a refusal or failure is named among the problems, and the rest is returned. Only the
    instance types of our `nodes` are asked for. Without a session, the user's default one is used.
    """
    session = session or aws_session(extra="prices")
    if session.get_credentials() is None:
        raise PriceSourceError("AWS: no credentials were found.", fix="Configure them with: aws configure")
    ours = {node_id.removeprefix("aws/"): node for node_id, node in nodes.items() if node_id.startswith("aws/")}
    one_at_a_time = Lock()
    questions = [
        AwsQuestion(session, region, ours, now, timeout_s, SourceAnswer(), {}, one_at_a_time) for region in regions
    ]
    return SourceAnswer.of_parts([partial(_region_answer, question) for question in questions], source="AWS")


def _region_answer(question: AwsQuestion) -> SourceAnswer:
    for name, ask in ASKED.items():
        with refusals_noted(question, name):
            ask(question)
    return question.answer


def _list_prices(question: AwsQuestion) -> None:
    """Add on-demand and reserved prices of each instance type: `GetProducts`."""
    pricing = question.client("pricing", PRICING_REGION)
    for instance in question.nodes:
        wanted = {"instanceType": instance, "regionCode": question.region} | LIST_FILTERS
        filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
        with refusals_noted(question, f"list prices of {instance}", of_many=True):
            pages = pages_of(
                pricing.get_products, "NextToken",
                ServiceCode="AmazonEC2", FormatVersion="aws_v1", MaxResults=100, Filters=filters,
            )  # fmt: skip
            for text in (text for page in pages for text in page["PriceList"]):
                _add_product(question, instance, json.loads(text))


def _add_product(question: AwsQuestion, instance: str, product: Mapping[str, Any]) -> None:
    vcpu = product["product"]["attributes"].get("vcpu")
    if vcpu:
        question.vcpus[instance] = int(vcpu)
    version = str(product.get("version") or question.now.date())
    for term_kind, terms in product.get("terms", {}).items():
        for term in terms.values():
            attributes = term.get("termAttributes", {})
            option, offering = attributes.get("PurchaseOption"), attributes.get("OfferingClass")
            kind, hours = committed_terms(term_kind, option, offering, attributes.get("LeaseContractLength"))
            if kind is None:
                continue
            for dimension in term["priceDimensions"].values():
                usd = float(dimension["pricePerUnit"].get("USD", 0))
                if dimension["unit"] == "Hrs" and usd > 0:
                    question.add(
                        instance, price_kind=kind, usd_per_hour=usd, minimum_term_hours=hours, source_version=version,
                        source="AWS Pricing API, GetProducts", **SECOND,
                    )  # fmt: skip


def _spot_prices(question: AwsQuestion) -> None:
    """Add spot prices: lowest, median and highest over the zones and the last week.

    Zone ids are the same in all accounts.
    """
    ec2 = question.client("ec2")
    pages = pages_of(
        ec2.describe_spot_price_history, "NextToken",
        InstanceTypes=list(question.nodes), ProductDescriptions=["Linux/UNIX"],
        StartTime=question.now - timedelta(days=SPOT_HISTORY_DAYS), EndTime=question.now,
    )  # fmt: skip
    seen: dict[str, list[tuple[float, str]]] = {}
    for row in (row for page in pages for row in page["SpotPriceHistory"]):
        zone = row.get("AvailabilityZoneId") or row.get("AvailabilityZone") or "?"
        seen.setdefault(row["InstanceType"], []).append((float(row["SpotPrice"]), zone))
    for instance, prices in seen.items():
        usd = [price for price, _ in prices if price > 0]
        if instance not in question.nodes or not usd:
            continue
        zones = len({zone for _, zone in prices})
        question.add(
            instance, price_kind=PriceKind.SPOT, usd_per_hour=statistics.median(usd), low_usd_per_hour=min(usd),
            high_usd_per_hour=max(usd), source="AWS EC2 API, DescribeSpotPriceHistory", **SECOND,
            note=f"median of {len(usd)} prices in {zones} zone(s) over {SPOT_HISTORY_DAYS} days; "
            f"the lowest in {min(prices)[1]}",
        )  # fmt: skip


def _capacity_blocks(question: AwsQuestion) -> None:
    """Add Capacity Blocks of one instance for a day. The fee is for the whole block, paid ahead, not refundable."""
    ec2 = question.client("ec2")
    for instance in question.nodes:
        if instance.partition(".")[0] not in BLOCK_TYPES:
            continue
        offers: list[tuple[float, Mapping[str, Any]]] = []
        with refusals_noted(question, f"Capacity Blocks of {instance}", of_many=True):
            pages = pages_of(
                ec2.describe_capacity_block_offerings, "NextToken",
                InstanceType=instance, InstanceCount=1, CapacityDurationHours=BLOCK_HOURS,
                StartDateRange=question.now, EndDateRange=question.now + timedelta(days=BLOCK_SEARCH_DAYS),
            )  # fmt: skip
            offers = [
                (_block_usd_per_hour(offer), offer)
                for page in pages
                for offer in page["CapacityBlockOfferings"]
                if offer.get("CurrencyCode", "USD") == "USD"
            ]
        if not offers:
            continue
        usd, first = min(offers, key=lambda pair: (pair[0], pair[1]["StartDate"]))
        question.add(
            instance, price_kind=PriceKind.CAPACITY_BLOCK, usd_per_hour=usd,
            low_usd_per_hour=usd, high_usd_per_hour=max(price for price, _ in offers),
            minimum_hours=float(BLOCK_HOURS), billing_granularity_s=86_400.0, upfront_fraction=1.0,
            available=True,
            source="AWS EC2 API, DescribeCapacityBlockOfferings",
            note=f"{len(offers)} offer(s), the cheapest from {_day(first['StartDate'])} to {_day(first['EndDate'])} "
            f"in {first['AvailabilityZone']}; instances end {MINUTES_BEFORE_THE_END} minutes before the block",
        )  # fmt: skip


def _block_usd_per_hour(offer: Mapping[str, Any]) -> float:
    """Return USD per instance-hour = fee / instances / hours."""
    return float(offer["UpfrontFee"]) / (int(offer["InstanceCount"]) * int(offer["CapacityBlockDurationHours"]))


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _savings_plans(question: AwsQuestion) -> None:
    """Add Compute Savings Plans without upfront payment, for one and three years."""
    plans = question.client("savingsplans", PRICING_REGION)
    instances = list(question.nodes)
    pages = pages_of(
        plans.describe_savings_plans_offering_rates, "nextToken",
        savingsPlanPaymentOptions=["No Upfront"], savingsPlanTypes=["Compute"], products=["EC2"],
        serviceCodes=["AmazonEC2"], maxResults=1000,
        filters=[
            {"name": "region", "values": [question.region]},
            {"name": "instanceType", "values": instances},
            {"name": "productDescription", "values": ["Linux/UNIX"]},
            {"name": "tenancy", "values": ["shared"]},
        ],
    )  # fmt: skip
    years = {1: PriceKind.SAVINGS_1Y, 3: PriceKind.SAVINGS_3Y}
    for rate in (rate for page in pages for rate in page["searchResults"]):
        properties = {item["name"]: item["value"] for item in rate.get("properties", [])}
        offering = rate["savingsPlanOffering"]
        kind = years.get(round(offering["durationSeconds"] / 31_536_000))
        instance, usd = properties.get("instanceType", ""), float(rate["rate"])
        usual = rate.get("unit") == "Hrs" and offering.get("currency", "USD") == "USD"
        if kind is not None and instance in question.nodes and usual and usd > 0:
            question.add(
                instance, price_kind=kind, usd_per_hour=usd, minimum_term_hours=offering["durationSeconds"] / 3600,
                source="AWS Savings Plans API, DescribeSavingsPlansOfferingRates",
                note="the commitment is in USD an hour, used or not", **SECOND,
            )  # fmt: skip


def _quotas(question: AwsQuestion) -> None:
    """Add to each price whether the account may start one instance. Quotas count vCPU."""
    client = question.client("service-quotas")
    for code, (name, kind, families) in QUOTAS.items():
        limit = None
        with refusals_noted(question, f"quota {code} ({name})", of_many=True):
            limit = client.get_service_quota(ServiceCode="ec2", QuotaCode=code)["Quota"]["Value"]
        if limit is not None:
            _limit(question, code=code, name=name, kind=kind, families=families, limit=limit)
    counted = tuple(family for _, kind, families in QUOTAS.values() if kind is PriceKind.SPOT for family in families)
    others = {price.instance_type for price in question.answer.prices
              if price.region == question.region and price.price_kind is PriceKind.SPOT
              and not price.instance_type.startswith(counted)}  # fmt: skip
    if others:
        with refusals_noted(question, "quotas by name"):
            _quotas_by_name(question, {re.split("[-.]", instance)[0] for instance in others})


def _quotas_by_name(question: AwsQuestion, families: Collection[str]) -> None:
    """Add the quotas of spot families whose code is not known here (p6), found by name."""
    call = question.client("service-quotas").list_service_quotas
    names = {quota["QuotaName"]: quota for page in pages_of(call, "NextToken", ServiceCode="ec2")
             for quota in page["Quotas"] if "Spot Instance Requests" in quota["QuotaName"]}  # fmt: skip
    for family in sorted(families):
        for name, quota in names.items():
            if re.search(rf"\b{family}\b", name, re.IGNORECASE):
                _limit(
                    question, code=quota["QuotaCode"], name=f"{family.capitalize()} spot", kind=PriceKind.SPOT,
                    families=(family,), limit=quota["Value"],
                )  # fmt: skip
                break
        else:
            question.answer.problems.append(
                f"AWS quotas in {question.region}: none names {family} on the spot; whether one may start is unknown"
            )


def _limit(
    question: AwsQuestion, *, code: str, name: str, kind: PriceKind, families: tuple[str, ...], limit: float
) -> None:  # fmt: skip
    """Write a quota beside the prices that it limits."""
    prices = question.answer.prices
    for position, price in enumerate(prices):
        vcpus = question.vcpus.get(price.instance_type)
        if (
            price.region != question.region
            or price.price_kind is not kind
            or vcpus is None
            or not price.instance_type.startswith(families)
        ):
            continue
        note = f"your quota, {name}: {limit:g} vCPU; one instance needs {vcpus}"
        if limit < vcpus:
            note += f"; ask for {vcpus} of {code} in {question.region} (Service Quotas, EC2)"
        notes = "; ".join(part for part in (price.note, note) if part)
        prices[position] = price.model_copy(update={"available": limit >= vcpus, "note": notes})


ASKED: dict[str, Callable[[AwsQuestion], None]] = {
    "list prices": _list_prices,
    "spot history": _spot_prices,
    "Capacity Blocks": _capacity_blocks,
    "savings plans": _savings_plans,
    "quotas": _quotas,
}
"""Questions in order. Quotas look at the prices that came before."""
