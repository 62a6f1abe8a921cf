"""Prices from AWS's own APIs, with the user's credentials: lists, spot history, Capacity Blocks, plans, quotas."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from planner.adapters.http_fetch import TIMEOUT_S
from planner.adapters.price_sources.source import SourceAnswer
from planner.aws_session import aws_session
from planner.errors import PriceSourceError
from planner.model.hardware.machines import Node
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.quantity.time_units import AWS_HOURS_PER_YEAR
from planner.time_limits import asked_together

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
MOST_PAGES = 100
REFUSED_TO_ALL = ("AccessDenied", "AccessDeniedException", "AuthFailure", "ExpiredToken", "UnauthorizedOperation")
SILENT = ("ConnectTimeoutError", "ReadTimeoutError", "EndpointConnectionError")
"""Names of botocore exceptions after which a silent service is not asked again."""
MINUTES_BEFORE_THE_END = 30
"""Minutes before a block's end at which its instances are ended."""


@dataclass
class _Question:
    """One region's question to AWS, with the place for its answers."""

    session: boto3.Session
    region: str
    nodes: Mapping[str, Node]
    """Nodes by instance type."""
    now: datetime
    timeout_s: float
    answer: SourceAnswer
    vcpus: dict[str, int]
    making_clients: Lock
    """Lock for making clients: a session is for one thread at a time, its clients for any."""

    def client(self, service: str, region: str | None = None) -> Any:
        from botocore.config import Config

        config = Config(connect_timeout=self.timeout_s, read_timeout=self.timeout_s, retries={"mode": "standard"})
        with self.making_clients:
            return self.session.client(service, region_name=region or self.region, config=config)  # type: ignore[call-overload]

    def add(self, instance: str, **cells: Any) -> None:
        node, today = self.nodes[instance], self.now.date()
        self.answer.add(
            **{
                "provider": "aws", "instance_type": instance, "accelerator": node.accelerator,
                "accelerators": node.accelerators, "region": self.region, "origin": PriceOrigin.AWS_API,
                "as_of": today, "fetched_at": today, "confidence": "api", "source_version": today.isoformat(),
            } | cells
        )  # fmt: skip


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
    answer, one_at_a_time = SourceAnswer(), Lock()
    questions = [
        _Question(session, region, ours, now, timeout_s, SourceAnswer(), {}, one_at_a_time) for region in regions
    ]
    for of_region in asked_together([partial(_of_region, question) for question in questions]):
        answer.take(of_region.result())
    if not answer.prices and answer.problems:
        raise PriceSourceError(f"no price came from AWS. {answer.problems[0]}.")
    return answer


def _of_region(question: _Question) -> SourceAnswer:
    for name, ask in ASKED.items():
        with _alone(question, name):
            ask(question)
    return question.answer


@contextmanager
def _alone(question: _Question, what: str, *, of_many: bool = False) -> Iterator[None]:
    """Let only the refused part fail: it is named among the problems, once for each reason.

    A refusal to the account covers all types and quotas, so a refusal to `of_many` ends the question.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
        return
    except (ClientError, BotoCoreError) as error:
        problem = _reason(error)
        if of_many and (problem.partition(":")[0] in REFUSED_TO_ALL or type(error).__name__ in SILENT):
            raise
    except Exception as error:  # noqa: BLE001  # whatever one answer is, the others are kept
        problem = f"an answer of unknown shape: {error!r}"
    said = [problem in earlier and f" in {question.region}:" in earlier for earlier in question.answer.problems]
    if not any(said):
        question.answer.problems.append(f"AWS {what} in {question.region}: {problem}")


def _reason(error: Exception) -> str:
    response: Mapping[str, Any] = getattr(error, "response", {})
    detail = response.get("Error", {})
    if detail.get("Code"):
        return f"{detail['Code']}: {detail.get('Message', '')}".strip(": ")
    return " ".join(str(error).split())


def _pages(call: Callable[..., Mapping[str, Any]], token: str, **request: Any) -> Iterator[Mapping[str, Any]]:
    """Call until no token comes back, at most a hundred times."""
    for _ in range(MOST_PAGES):
        page = call(**request)
        yield page
        following = page.get(token)
        if not following:
            return
        request[token] = following


def _list_prices(question: _Question) -> None:
    """Add on-demand and reserved prices of each instance type: `GetProducts`."""
    pricing = question.client("pricing", PRICING_REGION)
    for instance in question.nodes:
        wanted = {"instanceType": instance, "regionCode": question.region} | LIST_FILTERS
        filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
        with _alone(question, f"list prices of {instance}", of_many=True):
            pages = _pages(
                pricing.get_products, "NextToken",
                ServiceCode="AmazonEC2", FormatVersion="aws_v1", MaxResults=100, Filters=filters,
            )  # fmt: skip
            for text in (text for page in pages for text in page["PriceList"]):
                _add_product(question, instance, json.loads(text))


def _add_product(question: _Question, instance: str, product: Mapping[str, Any]) -> None:
    vcpu = product["product"]["attributes"].get("vcpu")
    if vcpu:
        question.vcpus[instance] = int(vcpu)
    version = str(product.get("version") or question.now.date())
    for term_kind, terms in product.get("terms", {}).items():
        for term in terms.values():
            kind, hours = _terms(term_kind, term.get("termAttributes", {}))
            if kind is None:
                continue
            for dimension in term["priceDimensions"].values():
                usd = float(dimension["pricePerUnit"].get("USD", 0))
                if dimension["unit"] == "Hrs" and usd > 0:
                    question.add(
                        instance, price_kind=kind, usd_per_hour=usd, minimum_term_hours=hours, source_version=version,
                        source="AWS Pricing API, GetProducts", **SECOND,
                    )  # fmt: skip


def _terms(kind: str, attributes: Mapping[str, str]) -> tuple[PriceKind | None, float]:
    """Return the kind of a term and the committed hours. Reserved means standard, without upfront payment."""
    if kind == "OnDemand":
        return PriceKind.ON_DEMAND, 0.0
    if (attributes.get("PurchaseOption"), attributes.get("OfferingClass")) != ("No Upfront", "standard"):
        return None, 0.0
    reserved = {
        "1yr": (PriceKind.RESERVED_1Y, AWS_HOURS_PER_YEAR),
        "3yr": (PriceKind.RESERVED_3Y, 3 * AWS_HOURS_PER_YEAR),
    }
    return reserved.get(attributes.get("LeaseContractLength", ""), (None, 0.0))


def _spot_prices(question: _Question) -> None:
    """Add spot prices: lowest, median and highest over the zones and the last week.

    Zone ids are the same in all accounts.
    """
    ec2 = question.client("ec2")
    pages = _pages(
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


def _capacity_blocks(question: _Question) -> None:
    """Add Capacity Blocks of one instance for a day. The fee is for the whole block, paid ahead, not refundable."""
    ec2 = question.client("ec2")
    for instance in question.nodes:
        if instance.partition(".")[0] not in BLOCK_TYPES:
            continue
        offers: list[tuple[float, Mapping[str, Any]]] = []
        with _alone(question, f"Capacity Blocks of {instance}", of_many=True):
            pages = _pages(
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


def _savings_plans(question: _Question) -> None:
    """Add Compute Savings Plans without upfront payment, for one and three years."""
    plans = question.client("savingsplans", PRICING_REGION)
    instances = list(question.nodes)
    pages = _pages(
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


def _quotas(question: _Question) -> None:
    """Add to each price whether the account may start one instance. Quotas count vCPU."""
    client = question.client("service-quotas")
    for code, (name, kind, families) in QUOTAS.items():
        limit = None
        with _alone(question, f"quota {code} ({name})", of_many=True):
            limit = client.get_service_quota(ServiceCode="ec2", QuotaCode=code)["Quota"]["Value"]
        if limit is not None:
            _limit(question, code=code, name=name, kind=kind, families=families, limit=limit)
    counted = tuple(each for _, kind, families in QUOTAS.values() if kind is PriceKind.SPOT for each in families)
    others = {price.instance_type for price in question.answer.prices
              if price.region == question.region and price.price_kind is PriceKind.SPOT
              and not price.instance_type.startswith(counted)}  # fmt: skip
    if others:
        with _alone(question, "quotas by name"):
            _quotas_by_name(question, {re.split("[-.]", instance)[0] for instance in others})


def _quotas_by_name(question: _Question, families: Collection[str]) -> None:
    """Add the quotas of spot families whose code is not known here (p6), found by name."""
    call = question.client("service-quotas").list_service_quotas
    names = {quota["QuotaName"]: quota for page in _pages(call, "NextToken", ServiceCode="ec2")
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
    question: _Question, *, code: str, name: str, kind: PriceKind, families: tuple[str, ...], limit: float
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


ASKED: dict[str, Callable[[_Question], None]] = {
    "list prices": _list_prices,
    "spot history": _spot_prices,
    "Capacity Blocks": _capacity_blocks,
    "savings plans": _savings_plans,
    "quotas": _quotas,
}
"""Questions in order. Quotas look at the prices that came before."""
