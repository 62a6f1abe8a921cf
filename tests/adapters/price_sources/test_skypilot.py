"""SkyPilot's tables, from a loopback server; rows are written in the published columns, in another order."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.price_sources import skypilot as source
from planner.adapters.price_sources.skypilot import HOST_ONLY, skypilot_prices
from planner.errors import PriceSourceError
from tests.adapters.price_sources.conftest import says_so

TODAY = date(2026, 11, 21)
HEADER = (
    "Region,AvailabilityZone,InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice\n"
)
AWS = (
    HEADER
    + "us-east-1,use1-az1,p3.2xlarge,V100,1.0,8,61,\"{'Gpus': [{'Name': 'V100'}]}\",3.06,0.50\n"
    + "us-east-1,use1-az2,p3.2xlarge,V100,1.0,8,61,,3.06,0.40\n"
    + "us-east-1,use1-az4,p3.2xlarge,V100,1.0,8,61,,3.06,0.90\n"
    + "us-east-2,use2-az1,p5e.48xlarge,H200,8.0,192,2048,,,19.8\n"
    + "us-east-1,use1-az1,m5.large,,,2,8,,0.096,0.03\n"
    + "us-east-1,use1-az1,g6f.large,L4,0.125,2,8,,0.2,0.1\n"
)
GCP = (
    HEADER
    + "us-central1,us-central1-a,a2-highgpu-8g,,,96,680,,5.91582,3.10496\n"
    + "us-central1,us-central1-a,,A100,8,,,,23.5,8.0\n"
    + "us-central1,us-central1-a,TPU-VM,tpu-v5p-8,1,,,,16.8,3.12\n"
    + "us-central1,us-central1-a,TPU-VM,tpu-v5litepod-8,1,,,,9.6,2.38\n"
)
LAMBDA = HEADER + "".join(f"{region},,gpu_1x_a10,A10,1,30,200,,1.29,\n" for region in ("us-east-1", "us-west-1"))


@pytest.fixture
def published(vendor, make_reply, monkeypatch):
    monkeypatch.setenv(source.URL_VARIABLE, f"{vendor.url}/v9")
    day = {"Last-Modified": "Fri, 20 Nov 2026 09:00:00 GMT"}
    for cloud, text in {"aws": AWS, "gcp": GCP, "lambda": LAMBDA}.items():
        vendor.replies[f"/v9/{cloud}/vms.csv"] = make_reply(body=text.encode(), headers=day)


@pytest.fixture
def answer(published, names):
    return skypilot_prices(names=names, today=TODAY)


def prices(answer, node):
    return {row.price_kind.value: row for row in answer.prices if row.node == node}


def test_spot_is_the_median_over_zones_with_lowest_and_highest(answer):
    spot = prices(answer, "aws/p3.2xlarge")["spot"]
    assert (spot.low_usd_per_hour, spot.usd_per_hour, spot.high_usd_per_hour) == (0.40, 0.50, 0.90)
    assert "3 zones" in spot.note


def test_p5e_has_no_on_demand_price(answer):
    assert set(prices(answer, "aws/p5e.48xlarge")) == {"spot"}


def test_a_host_without_its_accelerators_is_no_price(answer):
    assert not prices(answer, "gcp/a2-highgpu-8g")
    assert answer.left_out[HOST_ONLY] == 1
    assert not any(row.accelerator.startswith("A100") for row in answer.prices)


def test_a_slice_counts_cores_or_chips_by_its_generation(answer):
    chips = {row.accelerator: row.accelerators for row in answer.prices if row.provider == "gcp"}
    assert chips == {"TPU-v5p": 4, "TPU-v5e": 8}


def test_a_share_of_a_card_and_a_plain_processor_are_left_out(answer):
    assert answer.left_out["shares of an accelerator"] == 1
    assert answer.left_out["instances without an accelerator"] == 1


def test_the_same_price_in_all_regions_stands_once(answer):
    assert [(row.region, row.usd_per_hour) for row in answer.prices if row.provider == "lambda"] == [("any", 1.29)]


def test_the_day_is_the_server_s(answer):
    assert {row.as_of for row in answer.prices} == {date(2026, 11, 20)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("InstanceType,Price\np5,1\n", "the column AcceleratorName is missing", id="another header"),
        pytest.param("\xff\xfe", "is not a CSV table", id="not text"),
    ],
)
def test_a_table_of_another_shape_is_refused(vendor, make_reply, names, monkeypatch, text, words):
    monkeypatch.setenv(source.URL_VARIABLE, vendor.url)
    vendor.replies["/aws/vms.csv"] = make_reply(body=text.encode("latin-1"))
    with pytest.raises(PriceSourceError, match=words):
        skypilot_prices(names=names, today=TODAY, clouds=["aws"])


def test_half_a_table_loses_only_the_last_line(vendor, make_reply, names, monkeypatch):
    monkeypatch.setenv(source.URL_VARIABLE, vendor.url)
    vendor.replies["/aws/vms.csv"] = make_reply(body=(HEADER + AWS.splitlines()[2][:30]).encode())
    vendor.replies["/lambda/vms.csv"] = make_reply(body=LAMBDA.encode())
    answer = skypilot_prices(names=names, today=TODAY, clouds=["aws", "lambda"])
    assert (len(answer.prices), answer.left_out["rows cut short"]) == (1, 1)


def test_a_cloud_whose_reading_breaks_loses_itself_alone(published, names, broken_for):
    broken_for(source, "aws")
    answer = skypilot_prices(names=names, today=TODAY)
    assert {row.provider for row in answer.prices} == {"gcp", "lambda"}
    (problem,) = answer.problems
    assert says_so(problem, "SkyPilot's table of aws")
