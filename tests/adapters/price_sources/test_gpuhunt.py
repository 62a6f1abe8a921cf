"""gpuhunt itself reads the catalogs; they come from a loopback server, or from a folder."""

from __future__ import annotations

import io
import zipfile
from datetime import date

import pytest

from planner.adapters.price_sources import gpuhunt as source
from planner.adapters.price_sources.gpuhunt import gpuhunt_prices
from planner.adapters.price_sources.source import Machines
from planner.errors import PriceSourceError
from planner.model.prices.offer import PriceKind, PriceOrigin
from tests.adapters.price_sources.conftest import says_so
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 21)
MACHINES = Machines(bundled_catalog().nodes)
HEADER = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,"
    "cpu_arch,provider_data\n"
)
AWS = (
    HEADER
    + "p5.48xlarge,us-east-1,55.04,192,2048.0,8,H100,80.0,False,,nvidia,,x86,{}\n"
    + "p5.48xlarge,us-east-1,17.1,192,2048.0,8,H100,80.0,True,,nvidia,,x86,{}\n"
    + "p5.48xlarge,us-east-1,16.95,192,2048.0,8,H100,80.0,True,,nvidia,,x86,{}\n"
    + "p9.mystery,us-east-1,1.5,4,16.0,1,Q900,80.0,False,,nvidia,,x86,{}\n"
    + "p4d.24xlarge,us-east-1,0.0,96,1152.0,8,A100,40.0,False,,nvidia,,x86,{}\n"
    + "m5.large,us-east-1,0.096,2,8.0,0,,,False,,,,x86,{}\n"
)
GCP = HEADER + "a2-highgpu-1g,us-central1-a,3.67,12,85.0,1,A100,40.0,False,,nvidia,,x86,{}\n"
RUNPOD = HEADER + "NVIDIA H100 80GB PCIe,US-KS-2,2.89,16,188.0,1,H100,80.0,False,,nvidia,,x86,{}\n"
CATALOGS = {"aws": AWS, "gcp": GCP, "runpod": RUNPOD}


def packed(provider: str, text: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{provider}.csv", text)
    return data.getvalue()


@pytest.fixture
def published(vendor, make_reply, monkeypatch):
    """Publish catalogs as gpuhunt's own server does: a version, and a zip under it."""
    monkeypatch.delenv(source.FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv(source.URL_VARIABLE, f"{vendor.url}/v3/")

    def publish(provider: str, text: str, version: str = "20261120-7", archive: bytes | None = None) -> None:
        vendor.replies[f"/v3/{provider}/version"] = make_reply(body=f"{version}\n".encode())
        vendor.replies[f"/v3/{provider}/{version}/catalog.zip"] = make_reply(body=archive or packed(provider, text))

    return publish


def fetched(names, *providers):
    return gpuhunt_prices(names=names, machines=MACHINES, today=TODAY, providers=providers)


def test_prices_come_with_the_version_s_date(published, names):
    for provider, text in CATALOGS.items():
        published(provider, text)
    answer = fetched(names, *CATALOGS)
    rows = [(row.node, row.region, row.zone, row.price_kind.value, row.usd_per_hour) for row in answer.prices]
    assert rows == [
        ("aws/p5.48xlarge", "us-east-1", None, "on_demand", 55.04),
        ("aws/p5.48xlarge", "us-east-1", None, "spot", 16.95),
        ("gcp/a2-highgpu-1g", "us-central1", "us-central1-a", "on_demand", 3.67),
        ("runpod/1x-h100-pcie", "US-KS-2", None, "on_demand", 2.89),
    ]
    assert {(row.as_of, row.source_version, row.origin) for row in answer.prices} == {
        (date(2026, 11, 20), "20261120-7", PriceOrigin.GPUHUNT)
    }
    assert answer.problems == []


def test_what_cannot_train_or_has_no_price_is_counted_not_priced_zero(published, names):
    published("aws", AWS)
    answer = fetched(names, "aws")
    assert dict(answer.left_out) == {"accelerator 'Q900' is not in the catalog": 1, "rows without a price": 1}


def test_the_card_is_that_of_our_node_or_named_by_the_instance(published, names):
    for provider, text in CATALOGS.items():
        published(provider, text)
    cards = {row.node: row.accelerator for row in fetched(names, *CATALOGS).prices}
    assert cards == {
        "aws/p5.48xlarge": "H100-SXM",
        "gcp/a2-highgpu-1g": "A100-40GB-SXM",
        "runpod/1x-h100-pcie": "H100-PCIe",
    }


def test_one_provider_that_fails_leaves_the_others(published, names):
    published("aws", AWS)
    published("gcp", "", archive=packed("gcp", GCP)[:-30])
    published("runpod", RUNPOD, version="../../etc")
    whole = packed("lambdalabs", RUNPOD)
    start = whole.index(b".csv") + 20
    published("lambdalabs", "", archive=whole[:start] + bytes(8) + whole[start + 8 :])
    answer = fetched(names, "aws", "gcp", "lambdalabs", "runpod", "verda")
    assert {row.provider for row in answer.prices} == {"aws"}
    assert [problem.partition(": ")[2].partition(":")[0] for problem in answer.problems] == [
        "the download is damaged", "the download is damaged", "'../../etc' is no version.", "answered 404",
    ]  # fmt: skip


def test_a_table_with_other_columns_is_a_problem(published, names):
    published("aws", AWS)
    published("gcp", "name,usd\nx,1\n")
    answer = fetched(names, "aws", "gcp")
    assert len(answer.prices) == 2
    assert "gpuhunt's catalog of gcp: holds no accelerator" in answer.problems[0]


def test_rows_that_gpuhunt_cannot_read_are_counted_not_logged_each(published, names, capfd):
    published("runpod", RUNPOD + RUNPOD.partition("\n")[2].replace(",2.89,", ",,") * 50)
    published("gcp", GCP.replace("price,", "usd,"))
    answer = fetched(names, "runpod", "gcp")
    assert "Skipping" not in capfd.readouterr().err
    assert {reason: rows for reason, rows in answer.left_out.items() if "could not read" in reason} == {
        "rows of runpod that it could not read: Required field 'price' is empty": 50,
        "rows of gcp that it could not read: Required field 'price' is missing": 1,
    }
    assert len(answer.prices) == 1
    assert answer.problems == [
        "gpuhunt's catalog of gcp: holds no accelerator that it could read: Required field 'price' is missing. "
        "Its format has changed."
    ]
    assert not answer.lists, "a list with unread rows is not whole: what it lacks may still be sold"


def test_no_catalog_at_all_is_an_error(published, names):
    with pytest.raises(PriceSourceError, match=r"no catalog could be read: gpuhunt's catalog of aws: answered 404"):
        fetched(names, "aws")


def test_an_archive_that_swells_is_refused(published, names, monkeypatch):
    monkeypatch.setattr(source, "UNPACKED_LIMIT_BYTES", 1_000)
    published("aws", AWS + "x" * 100_000)
    with pytest.raises(PriceSourceError, match="unpacks to more than"):
        fetched(names, "aws")


def test_a_folder_of_the_user_s_own_is_read(tmp_path, monkeypatch, names):
    (tmp_path / "aws.csv").write_text(AWS)
    monkeypatch.setenv(source.FOLDER_VARIABLE, str(tmp_path))
    answer = fetched(names, "aws", "gcp")
    assert [row.price_kind for row in answer.prices] == [PriceKind.ON_DEMAND, PriceKind.SPOT]
    assert "has no gcp.csv" in answer.problems[0]


def test_every_cloud_that_gpuhunt_knows_is_asked_or_named_with_a_reason(published, names):
    from gpuhunt._internal.catalog import OFFLINE_PROVIDERS, ONLINE_PROVIDERS

    assert sorted(source.PROVIDERS) == sorted(OFFLINE_PROVIDERS)
    assert sorted(source.NOT_ASKED) == sorted(ONLINE_PROVIDERS)
    published("aws", AWS)
    said = "; ".join(fetched(names, "aws").not_asked)
    assert all(name in said for name in ONLINE_PROVIDERS)


@pytest.mark.parametrize("provider", source.PROVIDERS)
def test_a_catalog_of_each_published_cloud_is_taken(published, names, provider):
    published(provider, HEADER + "seven-h100,somewhere-1,21.5,192,2048.0,7,H100,80.0,False,,nvidia,,x86,{}\n")
    (price,) = fetched(names, provider).prices
    assert price.node == f"{source.OUR_NAMES.get(provider, provider)}/seven-h100"
    assert (price.usd_per_hour, price.accelerators) == (21.5, 7)
    assert price.accelerator.startswith("H100")


def test_one_name_for_several_numbers_of_cards_is_several_machines(published, names):
    """RunPod calls one card and eight of it by one name."""
    row = "NVIDIA H200,US-KS-2,{usd},16,188.0,{count},H200,141.0,False,,nvidia,,x86,{{}}\n"
    text = HEADER + "".join(row.format(usd=4.39 * count, count=count) for count in (1, 2, 8))
    published("runpod", text)
    prices = {row.node: (row.accelerators, row.usd_per_hour) for row in fetched(names, "runpod").prices}
    assert prices == {
        "runpod/1x-h200-sxm": (1, 4.39), "runpod/8x-h200-sxm": (8, 35.12), "runpod/2x-NVIDIA-H200": (2, 8.78),
    }  # fmt: skip


def test_a_list_is_whole_unless_it_failed_held_nothing_or_leaves_machines_out(published, names):
    published("aws", AWS)
    published("gcp", HEADER)
    published("runpod", RUNPOD)
    answer = fetched(names, "aws", "gcp", "runpod", "verda")
    assert [(read.provider, read.price_kind.value, read.region) for read in answer.lists] == [
        ("runpod", "on_demand", "*")
    ]


def test_a_provider_whose_reading_breaks_loses_itself_alone(published, names, monkeypatch):
    for provider, text in CATALOGS.items():
        published(provider, text)
    add = source._add

    def breaks(answer, items, **named):
        if any(item.instance_name == "p5.48xlarge" for item in items):
            raise AttributeError("'NoneType' object has no attribute 'strip'")
        add(answer, items, **named)

    monkeypatch.setattr(source, "_add", breaks)
    answer = fetched(names, "aws", "gcp", "runpod")
    assert {row.provider for row in answer.prices} == {"gcp", "runpod"}
    (problem,) = answer.problems
    assert says_so(problem, "gpuhunt's catalog of aws")
    assert "aws" not in {read.provider for read in answer.lists}
