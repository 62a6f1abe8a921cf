"""AWS's public price list of EC2, on a server of this machine.

The files are written from the shape that docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-an-offer.html
documents (five lines, then a header); they were not recorded. Reserved rates in them are made up.
"""

from __future__ import annotations

import json
from datetime import date

import pytest

from planner.adapters.price_sources import aws_list as source
from planner.adapters.price_sources.aws_list import INDEX, aws_list_prices
from planner.errors import PriceSourceError
from tests.adapters.price_sources.conftest import says_so
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
NODES = {name: bundled_catalog().nodes[name] for name in ("aws/p5.48xlarge", "aws/g6.xlarge", "gcp/a2-highgpu-1g")}
COLUMNS = (
    "SKU", "OfferTermCode", "TermType", "PriceDescription", "Unit", "PricePerUnit", "Currency", "LeaseContractLength",
    "PurchaseOption", "OfferingClass", "Instance Type", "vCPU", "Tenancy", "Operating System", "License Model",
    "CapacityStatus", "Pre Installed S/W", "MarketOption", "Region Code",
)  # fmt: skip
USUAL = {
    "SKU": "A", "OfferTermCode": "B", "TermType": "OnDemand", "PriceDescription": 'per "hour", Linux', "Unit": "Hrs",
    "PricePerUnit": "55.04", "Currency": "USD", "Instance Type": "p5.48xlarge", "vCPU": "192", "Tenancy": "Shared",
    "Operating System": "Linux", "License Model": "No License required", "CapacityStatus": "Used",
    "Pre Installed S/W": "NA", "MarketOption": "OnDemand", "Region Code": "eu-west-1",
}  # fmt: skip
RESERVED = {"TermType": "Reserved", "PurchaseOption": "No Upfront", "OfferingClass": "standard"}


def table(*rows, columns=COLUMNS):
    preface = [("FormatVersion", "v1.0"), ("Disclaimer", "x"), ("Publication Date", "2026-11-20T00:00:00Z"),
               ("Version", "20261120"), ("OfferCode", "AmazonEC2")]  # fmt: skip
    lines = [*preface, columns, *([(USUAL | row).get(name, "") for name in columns] for row in rows)]
    quoted = (",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in lines)
    return ("\n".join(quoted) + "\n").encode()


@pytest.fixture
def listed(vendor, make_reply, monkeypatch):
    def ask(**bodies):
        monkeypatch.setenv("PLANNER_AWS_LIST_URL", vendor.url)
        regions = {}
        for name, body in bodies.items():
            region = name.replace("_", "-")
            path = f"/offers/v1.0/aws/AmazonEC2/20261120/{region}/index"
            regions[region] = {"regionCode": region, "currentVersionUrl": f"{path}.json"}
            vendor.replies[f"{path}.csv"] = make_reply(body=body)
        vendor.replies[INDEX] = make_reply(body=json.dumps({"formatVersion": "v1.0", "regions": regions}).encode())
        asked = [*regions, "eu-moon-1"]
        return aws_list_prices(nodes=NODES, today=TODAY, regions=asked)

    return ask


def test_on_demand_and_reserved_prices_of_our_machines(listed):
    others = ({"Tenancy": "Dedicated"}, {"Operating System": "Windows"},
              {"CapacityStatus": "UnusedCapacityReservation"},
              {"Instance Type": "m5.large"}, {"PricePerUnit": "0.0"}, {"MarketOption": "CapacityBlock"},
              RESERVED | {"LeaseContractLength": "3yr", "OfferingClass": "convertible"})  # fmt: skip
    answer = listed(
        eu_west_1=table({}, RESERVED | {"LeaseContractLength": "1yr", "PricePerUnit": "40.5"}, *others),
        ap_south_1=table({"Instance Type": "g6.xlarge", "PricePerUnit": "0.99"}),
    )
    assert [(row.node, row.region, row.price_kind.value, row.usd_per_hour) for row in answer.prices] == [
        ("aws/p5.48xlarge", "eu-west-1", "on_demand", 55.04),
        ("aws/p5.48xlarge", "eu-west-1", "reserved_1y", 40.5),
        ("aws/g6.xlarge", "ap-south-1", "on_demand", 0.99),
    ]
    assert {row.source_version for row in answer.prices} == {"20261120"}
    assert [(read.region, read.price_kind.value) for read in answer.lists] == [
        ("eu-west-1", "on_demand"), ("ap-south-1", "on_demand"),
    ]  # fmt: skip
    assert answer.problems == ["AWS's price list of eu-moon-1: there is none of this region."]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"<html><p>Proxy", "a web page instead of prices", id="a page"),
        pytest.param(table({}, columns=COLUMNS[:5]), "the column Operating System is missing", id="other columns"),
        pytest.param(b"", "the column Operating System is missing", id="empty"),
    ],
)
def test_a_region_that_fails_loses_itself_alone(listed, body, says):
    answer = listed(us_east_1=body, eu_west_1=table({}))
    assert [row.region for row in answer.prices] == ["eu-west-1"]
    assert says in answer.problems[0]
    assert "us-east-1" in answer.problems[0]


def test_an_index_of_another_shape_is_an_error(vendor, make_reply, monkeypatch):
    monkeypatch.setenv("PLANNER_AWS_LIST_URL", vendor.url)
    vendor.replies[INDEX] = make_reply(body=b"[]")
    with pytest.raises(PriceSourceError, match="its index has another shape"):
        aws_list_prices(nodes=NODES, today=TODAY, regions=("eu-west-1",))


def test_a_region_whose_reading_breaks_loses_itself_alone(listed, broken_for):
    broken_for(source, "eu-west-1")
    answer = listed(eu_west_1=table({}), us_east_1=table({"Region Code": "us-east-1"}))
    assert {row.region for row in answer.prices} == {read.region for read in answer.lists} == {"us-east-1"}
    broken, unknown = answer.problems
    assert says_so(broken, "AWS's price list of eu-west-1")
    assert unknown == "AWS's price list of eu-moon-1: there is none of this region."
