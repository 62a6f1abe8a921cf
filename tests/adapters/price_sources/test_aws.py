"""AWS's APIs through the real botocore: requests are serialised and responses parsed; only the wire is replaced.

The responses are written from the services' published shapes (Pricing GetProducts, EC2 DescribeSpotPriceHistory and
DescribeCapacityBlockOfferings, Savings Plans DescribeSavingsPlansOfferingRates, Service Quotas GetServiceQuota); they
were not recorded from an account. Prices in them are those of the catalog's published lists, where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from planner.adapters.price_sources.aws import QUOTAS, aws_prices
from planner.cost.cloud.availability import availability_reasons
from planner.errors import PriceSourceError
from planner.model.prices.offer import PriceKind
from tests.bundled import bundled_catalog

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ALL = bundled_catalog().nodes
NODES = {name: ALL[name] for name in ("aws/p5.48xlarge", "aws/p5e.48xlarge", "aws/g6.xlarge", "gcp/a2-highgpu-1g")}
EC2_XML = (
    '<{name}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>{body}</{name}Response>'
)


def product(instance: str, usd: str, vcpu: str) -> str:
    """One element of PriceList: JSON inside JSON, with on-demand and reserved terms."""

    def term(sku: str, usd: str, unit: str = "Hrs", **attributes: str) -> dict[str, object]:
        dimension = {"unit": unit, "description": "per hour", "pricePerUnit": {"USD": usd}}
        return {"priceDimensions": {f"{sku}.6YS6EN2CT7": dimension}, "termAttributes": attributes, "sku": sku}

    year, three = {"LeaseContractLength": "1yr"}, {"LeaseContractLength": "3yr"}
    none, full = {"PurchaseOption": "No Upfront"}, {"PurchaseOption": "All Upfront"}
    standard, convertible = {"OfferingClass": "standard"}, {"OfferingClass": "convertible"}
    return json.dumps(
        {
            "product": {"productFamily": "Compute Instance", "attributes": {"instanceType": instance, "vcpu": vcpu}},
            "serviceCode": "AmazonEC2",
            "version": "20261119221530",
            "terms": {
                "OnDemand": {"a": term("a", usd)},
                "Reserved": {
                    "b": term("b", "30.0", **year, **none, **standard),
                    "c": term("c", "20.0", **three, **none, **standard),
                    "d": term("d", "25.0", **three, **none, **convertible),
                    "e": term("e", "400000", unit="Quantity", **three, **full, **standard),
                },
            },
        }
    )


def get_products(request: dict[str, Any]) -> dict[str, object]:
    wanted = {item["Field"]: item["Value"] for item in request["Filters"]}
    assert wanted["operatingSystem"] == "Linux"
    assert wanted["marketoption"] == "OnDemand"
    assert wanted["regionCode"] == "us-east-1"
    prices = {"p5.48xlarge": ("55.04", "192"), "g6.xlarge": ("0.8048", "4"), "p6-b200.48xlarge": ("113.93", "192")}
    if wanted["instanceType"] == "p5.48xlarge" and "NextToken" not in request:
        return {"FormatVersion": "aws_v1", "PriceList": [], "NextToken": "more"}
    cells = prices.get(wanted["instanceType"])
    return {"FormatVersion": "aws_v1", "PriceList": [product(wanted["instanceType"], *cells)] if cells else []}


def spot_history(request: dict[str, list[str]]) -> str:
    assert request["ProductDescription.1"] == ["Linux/UNIX"]
    seen = [("use1-az1", "17.1"), ("use1-az2", "16.95"), ("use1-az2", "20.5"), ("use1-az6", "30.25")]
    if "NextToken" in request:
        seen, token = [("use1-az6", "18.0")], ""
    else:
        token = "<nextToken>more</nextToken>"
    items = "".join(
        f"<item><instanceType>{request['spot of'][0]}</instanceType><productDescription>Linux/UNIX</productDescription>"
        f"<spotPrice>{usd}</spotPrice><timestamp>2026-11-20T12:00:00.000Z</timestamp>"
        f"<availabilityZone>us-east-1a</availabilityZone><availabilityZoneId>{zone}</availabilityZoneId></item>"
        for zone, usd in seen
    )
    return EC2_XML.format(
        name="DescribeSpotPriceHistory", body=f"<spotPriceHistorySet>{items}</spotPriceHistorySet>{token}"
    )


def capacity_blocks(request: dict[str, list[str]]) -> str:
    assert request["CapacityDurationHours"] == ["24"]
    offers = {"p5e.48xlarge": [("955.20", "2026-11-25"), ("1146.24", "2026-11-28")]}
    items = "".join(
        f"<item><capacityBlockOfferingId>cb-{day}</capacityBlockOfferingId><instanceType>p5e.48xlarge</instanceType>"
        f"<availabilityZone>us-east-1a</availabilityZone><instanceCount>1</instanceCount>"
        f"<startDate>{day}T11:30:00.000Z</startDate><endDate>{day[:-2]}{int(day[-2:]) + 1}T11:30:00.000Z</endDate>"
        f"<capacityBlockDurationHours>24</capacityBlockDurationHours><upfrontFee>{fee}</upfrontFee>"
        f"<currencyCode>USD</currencyCode><tenancy>default</tenancy></item>"
        for fee, day in offers.get(request["InstanceType"][0], [])
    )
    return EC2_XML.format(
        name="DescribeCapacityBlockOfferings", body=f"<capacityBlockOfferingSet>{items}</capacityBlockOfferingSet>"
    )


def savings_plans(request: dict[str, Any]) -> dict[str, object]:
    assert {item["name"] for item in request["filters"]} == {"region", "instanceType", "productDescription", "tenancy"}
    return {
        "searchResults": [
            {
                "savingsPlanOffering": {
                    "offeringId": f"o{years}", "paymentOption": "No Upfront", "planType": "Compute",
                    "durationSeconds": years * 31_536_000, "currency": "USD",
                },
                "rate": rate, "unit": "Hrs", "productType": "EC2", "serviceCode": "AmazonEC2",
                "usageType": "BoxUsage:p5.48xlarge", "operation": "RunInstances",
                "properties": [
                    {"name": "region", "value": "us-east-1"}, {"name": "instanceType", "value": "p5.48xlarge"},
                    {"name": "productDescription", "value": "Linux/UNIX"}, {"name": "tenancy", "value": "shared"},
                ],
            }
            for years, rate in ((1, "41.61"), (3, "31.5"))
        ]
    }  # fmt: skip


def quota(request: dict[str, object]) -> dict[str, object]:
    code = str(request["QuotaCode"])
    vcpus = {"L-417A185B": 192.0, "L-C4BD4855": 96.0}.get(code, 0.0)
    return {"Quota": {"ServiceCode": "ec2", "QuotaCode": code, "Value": vcpus, "Unit": "None"}}


def quotas(request: dict[str, object]) -> dict[str, object]:
    """Answer with two pages of made-up quotas, of which the second counts p6."""
    if "NextToken" not in request:
        spot = {"QuotaName": "All P5 Spot Instance Requests", "QuotaCode": "L-C4BD4855", "Value": 96.0}
        return {"Quotas": [spot], "NextToken": "more"}
    names = ("Running Dedicated p6-b200 Hosts", "All P6 Spot Instance Requests")
    return {"Quotas": [{"QuotaName": name, "QuotaCode": f"L-{len(name)}", "Value": 64.0} for name in names]}


class Wire:
    """Answers botocore's requests in place of the network."""

    def __init__(self) -> None:
        self.spot_of = "p5.48xlarge"
        self.refused: dict[str, str] = {}
        self.asked: list[str] = []

    def __call__(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        body = request.body.decode() if isinstance(request.body, bytes) else str(request.body or "")
        operation, answer = self._route(request, body)
        self.asked.append(operation)
        status = 200
        if operation in self.refused:
            status, answer = 403, self._refusal(operation)
        return AWSResponse(request.url, status, {"Content-Type": "text/xml"}, _Raw(answer.encode()))

    def _route(self, request: AWSPreparedRequest, body: str) -> tuple[str, str]:
        target = request.headers.get("X-Amz-Target", b"")
        target = target.decode() if isinstance(target, bytes) else target
        answers: dict[str, Callable[[dict[str, object]], dict[str, object]]] = {
            "GetProducts": get_products, "GetServiceQuota": quota, "ListServiceQuotas": quotas,
        }  # fmt: skip
        if target:
            operation = target.rpartition(".")[2]
            return operation, json.dumps(answers[operation](json.loads(body)))
        if "savingsplans" in request.url:
            return "DescribeSavingsPlansOfferingRates", json.dumps(savings_plans(json.loads(body)))
        form = parse_qs(body) | {"spot of": [self.spot_of]}
        xml = {"DescribeSpotPriceHistory": spot_history, "DescribeCapacityBlockOfferings": capacity_blocks}
        return form["Action"][0], xml[form["Action"][0]](form)

    def _refusal(self, operation: str) -> str:
        if "Spot" in operation or "Block" in operation:
            code = self.refused[operation]
            return f"<Response><Errors><Error><Code>{code}</Code><Message>not you</Message></Error></Errors></Response>"
        return json.dumps({"__type": self.refused[operation], "message": "not you", "Message": "not you"})


class _Raw:
    """The little that botocore reads of a raw response."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self, **_: object):
        yield self._data


WIRE = Wire()


@pytest.fixture
def wire() -> Iterator[Wire]:
    WIRE.refused, WIRE.asked = {}, []
    yield WIRE
    WIRE.refused = {}


@pytest.fixture(scope="module")
def session():
    """One session for all: reading the service models is slow."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        made = boto3.Session(aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="example", region_name="us-east-1")
        made.events.register("before-send.*.*", WIRE)
        yield made


@pytest.fixture(scope="module")
def answer(session):
    return aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])


def by_kind(answer, instance):
    return {row.price_kind: row for row in answer.prices if row.instance_type == instance}


def test_the_list_price_and_the_reserved_ones_without_upfront(answer):
    p5 = by_kind(answer, "p5.48xlarge")
    assert p5[PriceKind.ON_DEMAND].usd_per_hour == 55.04
    assert (p5[PriceKind.RESERVED_1Y].usd_per_hour, p5[PriceKind.RESERVED_1Y].minimum_term_hours) == (30.0, 8760)
    assert (p5[PriceKind.RESERVED_3Y].usd_per_hour, p5[PriceKind.RESERVED_3Y].minimum_term_hours) == (20.0, 26280)
    assert p5[PriceKind.ON_DEMAND].source_version == "20261119221530"
    assert p5[PriceKind.ON_DEMAND].billing_granularity_s == 1


def test_spot_is_the_median_over_zones_and_the_week(answer):
    """16.95, 17.1, 18.0, 20.5, 30.25: the second page counts."""
    spot = by_kind(answer, "p5.48xlarge")[PriceKind.SPOT]
    assert (spot.low_usd_per_hour, spot.usd_per_hour, spot.high_usd_per_hour) == (16.95, 18.0, 30.25)
    assert "5 prices in 3 zone(s)" in spot.note
    assert "lowest in use1-az2" in spot.note


def test_a_block_s_fee_is_for_all_of_it(answer):
    """955.20 USD for 24 hours of one instance is 39.80 an hour, the rate since January 2026."""
    block = by_kind(answer, "p5e.48xlarge")[PriceKind.CAPACITY_BLOCK]
    assert block.usd_per_hour == pytest.approx(39.80)
    assert block.high_usd_per_hour == pytest.approx(1146.24 / 24)
    assert (block.minimum_hours, block.upfront_fraction) == (24, 1)
    assert "2 offer(s), the cheapest from 2026-11-25 to 2026-11-26" in block.note


def test_p5e_has_no_on_demand_price_and_gets_none(answer):
    assert set(by_kind(answer, "p5e.48xlarge")) == {PriceKind.CAPACITY_BLOCK}


def test_savings_plans_bind_for_a_year_or_three(answer):
    p5 = by_kind(answer, "p5.48xlarge")
    plans = p5[PriceKind.SAVINGS_1Y], p5[PriceKind.SAVINGS_3Y]
    assert [(row.usd_per_hour, row.minimum_term_hours, row.upfront_fraction) for row in plans] == [
        (41.61, 8760, 0),
        (31.5, 26280, 0),
    ]


def test_quotas_stand_beside_the_prices_they_limit(answer):
    p5, g6 = by_kind(answer, "p5.48xlarge"), by_kind(answer, "g6.xlarge")
    assert p5[PriceKind.ON_DEMAND].available is True
    assert p5[PriceKind.SPOT].available is False, "96 vCPU are half an instance"
    assert g6[PriceKind.ON_DEMAND].available is False
    assert "0 vCPU; one instance needs 4" in g6[PriceKind.ON_DEMAND].note
    assert p5[PriceKind.SAVINGS_1Y].available is None


def test_a_quota_that_is_too_small_names_the_request_to_make(answer):
    g6 = by_kind(answer, "g6.xlarge")[PriceKind.ON_DEMAND]
    assert "ask for 4 of L-DB2E81BA in us-east-1" in g6.note
    (reason,) = availability_reasons(g6, today=NOW.date())
    assert reason.text.startswith("not to be had (AWS Pricing API, GetProducts, 2026-11-21): your quota")
    assert "ask for 4 of L-DB2E81BA" in reason.text


@pytest.mark.parametrize("node", [name for name in ALL if name.startswith("aws/")])
def test_on_demand_machines_of_every_family_have_one_quota(node):
    """One code for each; of spot all but p6, whose quota is looked up by name."""
    instance = node.removeprefix("aws/")
    of = {kind: [code for code, (_, of_kind, families) in QUOTAS.items()
                 if of_kind is kind and instance.startswith(families)]
          for kind in (PriceKind.ON_DEMAND, PriceKind.SPOT)}  # fmt: skip
    assert len(of[PriceKind.ON_DEMAND]) == 1
    assert len(of[PriceKind.SPOT]) == (0 if instance.startswith("p6") else 1)


P6 = {"aws/p6-b200.48xlarge": ALL["aws/p6-b200.48xlarge"]}


def test_a_spot_family_without_a_known_code_has_the_quota_that_names_it(session, wire):
    wire.spot_of = "p6-b200.48xlarge"
    answer = aws_prices(session=session, nodes=P6, now=NOW, regions=["us-east-1"])
    spot = by_kind(answer, wire.spot_of)[PriceKind.SPOT]
    assert spot.available is False
    assert "your quota, P6 spot: 64 vCPU; one instance needs 192; ask for 192 of L-29 in us-east-1" in spot.note
    assert not answer.problems


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ([], "none names p6 on the spot; whether one may start is unknown"),
        (None, "quotas by name in us-east-1: AccessDeniedException: not you"),
    ],
)
def test_where_no_quota_names_it_none_is_made_up(session, wire, monkeypatch, pages, problem):
    wire.spot_of = "p6-b200.48xlarge"
    monkeypatch.setattr(f"{__name__}.quotas", lambda _: {"Quotas": pages or []})
    if pages is None:
        wire.refused["ListServiceQuotas"] = "AccessDeniedException"
    answer = aws_prices(session=session, nodes=P6, now=NOW, regions=["us-east-1"])
    assert by_kind(answer, wire.spot_of)[PriceKind.SPOT].available is None
    assert [text for text in answer.problems if problem in text] == answer.problems != []


def test_only_our_own_instances_are_asked_for(session, wire):
    answer = aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])
    assert {row.instance_type for row in answer.prices} <= {"p5.48xlarge", "p5e.48xlarge", "g6.xlarge"}
    assert wire.asked.count("DescribeCapacityBlockOfferings") == 2, "g6 is not sold in blocks"
    assert not answer.problems


@pytest.mark.parametrize(
    ("operation", "name", "kind"),
    [
        ("GetProducts", "list prices", PriceKind.ON_DEMAND),
        ("DescribeSpotPriceHistory", "spot history", PriceKind.SPOT),
        ("DescribeCapacityBlockOfferings", "Capacity Blocks", PriceKind.CAPACITY_BLOCK),
        ("DescribeSavingsPlansOfferingRates", "savings plans", PriceKind.SAVINGS_1Y),
    ],
)
def test_what_is_refused_is_named_and_the_rest_is_kept(session, wire, operation, name, kind):
    wire.refused[operation] = "AccessDeniedException"
    answer = aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])
    assert answer.problems == [f"AWS {name} in us-east-1: AccessDeniedException: not you"]
    kinds = {row.price_kind for row in answer.prices}
    assert kind not in kinds
    assert kinds


def test_a_refused_quota_leaves_prices_untouched(session, wire):
    wire.refused["GetServiceQuota"] = "AccessDeniedException"
    answer = aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])
    assert answer.problems == ["AWS quotas in us-east-1: AccessDeniedException: not you"]
    assert by_kind(answer, "p5.48xlarge")[PriceKind.ON_DEMAND].available is None


def test_nothing_allowed_is_an_error(session, wire):
    wire.refused = dict.fromkeys(
        (
            "GetProducts", "DescribeSpotPriceHistory", "DescribeCapacityBlockOfferings",
            "DescribeSavingsPlansOfferingRates", "GetServiceQuota",
        ),
        "UnauthorizedOperation",
    )  # fmt: skip
    with pytest.raises(PriceSourceError, match=r"no price came from AWS\. AWS list prices in us-east-1: Unauth"):
        aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])


def test_without_credentials_the_message_says_so(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(PriceSourceError, match="no credentials were found"):
        aws_prices(session=None, nodes=NODES, now=NOW)


@pytest.mark.parametrize("fault", [KeyError, AttributeError, ZeroDivisionError])
def test_one_type_that_fails_loses_itself_alone(session, monkeypatch, fault):
    from planner.adapters.price_sources import aws as source

    add = source._add_product

    def fails_for_one(question, instance, product):
        if instance == "p5.48xlarge":
            raise fault("attributes")
        add(question, instance, product)

    monkeypatch.setattr(source, "_add_product", fails_for_one)
    answer = aws_prices(session=session, nodes=NODES, now=NOW, regions=["us-east-1"])
    listed = {row.instance_type for row in answer.prices if row.price_kind is PriceKind.ON_DEMAND}
    assert listed == {"g6.xlarge"}
    (problem,) = answer.problems
    assert problem.startswith("AWS list prices of p5.48xlarge in us-east-1: an answer of unknown shape")
