"""`planner prices` and the price book, as a person calls them."""

from __future__ import annotations

import csv
import json
import os
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from planner.adapters.workspace import workspace_dir
from tests.cli.prices.price_answers import PLAN, shown
from tests.cli.refusals import one_error
from tests.conftest import NOON

HEADER = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n"
ROW = "aws,p5.48xlarge,us-east-1,on_demand,{usd},our contract,{day}\n"
ROW_FIELDS = {
    "provider", "instance_type", "accelerator", "accelerators", "region", "zone", "price_kind", "usd_per_hour",
    "no_price_reason", "currency", "minimum_hours", "minimum_term_hours", "upfront_fraction", "source",
    "source_version", "as_of", "fetched_at", "confidence", "usd_per_accelerator_hour", "age_days", "stale",
}  # fmt: skip
BOOK = """
schema_version: 1
as_of: 2026-11-01
discounts:
  - {name: enterprise, provider: aws, discount_fraction: 0.5, source: contract 7}
"""
TODAY = NOON.date()


@pytest.fixture
def home():
    folder = workspace_dir()
    (folder / "prices").mkdir(parents=True)
    return folder


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def compute(option):
    """Return the cost of the training itself, without storage, set-up and transfer."""
    return next(line["usd"]["value"] for line in option["bill"]["lines"] if line["what"] == "compute")


class TestShow:
    def test_the_document_has_the_fields_of_a_price_row(self, planner):
        document = planner("prices", "show", "--json").document
        assert (document["schema_version"], document["kind"]) == (1, "prices")
        assert len(document["prices"]) > 400
        assert all(set(row) >= ROW_FIELDS for row in document["prices"])

    def test_rows_come_cheapest_accelerator_first_and_unpriced_last(self, planner):
        rows = shown(planner, "--accelerator", "H200", "--sort", "usd_per_accelerator_hour")
        rates = [row["usd_per_accelerator_hour"] for row in rows]
        known = [rate for rate in rates if rate is not None]
        assert known == sorted(known)
        assert rates == known + [None] * (len(rates) - len(known))
        assert {row["accelerator"] for row in rows} == {"H200-SXM"}

    def test_a_family_name_means_all_its_forms(self, planner):
        assert {row["accelerator"] for row in shown(planner, "--accelerator", "h100")} == {
            "H100-SXM", "H100-PCIe", "H100-NVL",
        }  # fmt: skip
        rows = shown(planner, "--accelerator", "nvidia a100 40gb")
        assert {row["accelerator"] for row in rows} == {"A100-40GB-SXM", "A100-40GB-PCIe"}

    def test_a_driver_s_name_means_one(self, planner):
        rows = shown(planner, "--accelerator", "NVIDIA H100 80GB HBM3")
        assert {row["accelerator"] for row in rows} == {"H100-SXM"}

    def test_filters_narrow(self, planner):
        rows = shown(planner, "--provider", "aws", "--region", "us-east-1", "--kind", "spot")
        assert rows
        assert {(row["provider"], row["region"], row["price_kind"]) for row in rows} == {("aws", "us-east-1", "spot")}

    def test_p5e_says_why_it_has_no_on_demand_price(self, planner):
        rows = [row for row in shown(planner, "--kind", "on_demand") if row["item"] == "aws/p5e.48xlarge"]
        assert rows
        assert all(row["usd_per_hour"] is None and row["no_price_reason"] for row in rows)

    def test_age_and_staleness_are_those_of_today(self, planner, home):
        for name, days in (("new", 0), ("old", 31)):
            text = HEADER + ROW.format(usd=50, day=TODAY - timedelta(days=days)).replace("us-east-1", name)
            (home / "prices" / f"{name}.csv").write_text(text)
        rows = {row["region"]: row for row in shown(planner, "--provider", "aws") if row["origin"] == "user"}
        assert (rows["new"]["age_days"], rows["new"]["stale"]) == (0, False)
        assert (rows["old"]["age_days"], rows["old"]["stale"]) == (31, True)

    def test_all_shows_what_another_price_has_replaced(self, planner, home):
        (home / "prices" / "ours.csv").write_text(HEADER + ROW.format(usd=50, day="2026-01-01"))
        arguments = ("--provider", "aws", "--region", "us-east-1", "--kind", "on_demand", "--accelerator", "H100-SXM")
        used = [row for row in shown(planner, *arguments) if row["item"] == "aws/p5.48xlarge"]
        both = [row for row in shown(planner, *arguments, "--all") if row["item"] == "aws/p5.48xlarge"]
        assert [(row["usd_per_hour"], row["origin"]) for row in used] == [(50, "user")]
        assert sorted((row["usd_per_hour"], row["used"]) for row in both) == [(50, True), (55.04, False)]
        table = csv.DictReader(planner("prices", "show", *arguments, "--all", "--format", "csv").out.splitlines())
        told = {row["USD/h"]: row["used"] for row in table if row["item"] == "aws/p5.48xlarge"}
        assert told == {"50.00": "yes", "55.04": "no"}

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--accelerator", "H1000"), "there is no accelerator 'H1000'"),
            (("--provider", "awss"), "there is no provider 'awss'"),
            (("--region", "mars"), "there is no region 'mars'"),
            (("--kind", "hourly"), "hourly"),
            (("--sort", "beauty"), "beauty"),
        ],
    )
    def test_an_unknown_name_is_refused(self, planner, arguments, words):
        answer = planner("prices", "show", *arguments)
        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err


class TestHistory:
    def test_the_blocks_of_p5en_rose(self, planner):
        document = planner("prices", "history", "aws/p5en.48xlarge", "--json").document
        assert document["kind"] == "price_history"
        here = [span for span in document["spans"] if span["region"] == "us-east-1"]
        (span,) = [span for span in here if span["price_kind"] == "capacity_block"]
        assert (span["low_usd_per_hour"], span["high_usd_per_hour"], span["observations"]) == (36.18, 63.16, 4)

    def test_an_unknown_item_names_the_nearest(self, planner):
        answer = planner("prices", "history", "aws/p5.48xlrge")
        assert answer.code == 2
        assert "aws/p5.48xlarge" in answer.err


class TestCheck:
    def test_a_good_file_shows_what_it_comes_to(self, planner, tmp_path):
        path = tmp_path / "offer.csv"
        path.write_text(HEADER.replace("usd_per_hour", "usd_per_month") + ROW.format(usd=35064, day="2026-11-20"))
        (row,) = planner("prices", "check", path, "--json").document["prices"]
        assert row["usd_per_hour"] == pytest.approx(48)
        assert row["usd_per_accelerator_hour"] == pytest.approx(6)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (HEADER + ROW.format(usd="$50", day="2026-11-20"), "offer.csv:2: usd_per_hour: has a currency sign"),
            (HEADER + ROW.format(usd=35064, day="2026-11-20"), "a price per month?"),
            (HEADER + ROW.format(usd=50, day="2099-01-01"), "offer.csv:2: as_of: 2099-01-01 is still to come"),
            (HEADER + ROW.format(usd=50, day="2026-11-20").replace("p5.48", "p99"), "aws/p99xlarge is not in"),
        ],
        ids=["a dollar sign", "per month", "of a day to come", "an unknown instance"],
    )
    def test_a_bad_file_is_one_error(self, planner, tmp_path, text, words):
        path = tmp_path / "offer.csv"
        path.write_text(text)
        answer = planner("prices", "check", path, "--json")
        assert answer.code == 2
        assert words in answer.document["error"]["message"]

    def test_a_price_book_is_checked_too(self, planner, tmp_path):
        path = tmp_path / "price_book.yaml"
        path.write_text(BOOK)
        assert "Order: enterprise." in planner("prices", "check", path).err
        path.write_text(BOOK.replace("0.5", "1.3"))
        answer = planner("prices", "check", path)
        assert answer.code == 2
        assert f"{path}:5: discounts.0.discount_fraction" in answer.err


@pytest.fixture
def lambda_api(monkeypatch):
    """Start a loopback Lambda: one instance type, dearer than the bundled list says."""
    document: dict[str, Any] = {
        "data": {
            "gpu_8x_h100_sxm5": {
                "instance_type": {"name": "gpu_8x_h100_sxm5", "price_cents_per_hour": 3510, "specs": {"gpus": 8}},
                "regions_with_capacity_available": [],
            }
        }
    }

    class PriceListHandler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), PriceListHandler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        document["url"] = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("PLANNER_LAMBDA_API_URL", document["url"])
        monkeypatch.setenv("LAMBDA_API_KEY", "key")
        yield document
        server.shutdown()
        thread.join()


@pytest.fixture
def closed_network(monkeypatch, tmp_path):
    """Nothing answers, and no account is logged in."""
    monkeypatch.setenv("GPUHUNT_CATALOG_URL", "http://127.0.0.1:9")
    monkeypatch.delenv("GPUHUNT_CATALOG_DIR", raising=False)
    for name in ("PLANNER_SKYPILOT_CATALOG_URL", "PLANNER_AZURE_PRICES_URL", "PLANNER_AWS_LIST_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("PLANNER_LAMBDA_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in [name for name in os.environ if name.startswith("AWS_") and name != "AWS_EC2_METADATA_DISABLED"]:
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))


class TestRefresh:
    @pytest.mark.usefixtures("lambda_api")
    def test_a_fetched_price_is_used_kept_and_dated(self, planner, plan):
        before = planner("estimate", plan, "--json").option("lambda/gpu_8x_h100_sxm5:any:on_demand")
        document = planner("prices", "refresh", "--source", "lambda", "--json").document
        assert [(report["source"], report["prices"], report["new"]) for report in document["sources"]] == [
            ("lambda", 1, 1)
        ]
        after = planner("estimate", plan, "--json").option("lambda/gpu_8x_h100_sxm5:any:on_demand")
        assert (before["usd_per_hour"]["value"], after["usd_per_hour"]["value"]) == (31.92, 35.10)
        assert compute(after) == pytest.approx(compute(before) * 35.10 / 31.92, abs=0.02)
        assert (after["price_age_days"], after["price_stale"]) == (0, False)
        rows = planner("prices", "history", "lambda/gpu_8x_h100_sxm5", "--json").document["prices"]
        assert [(row["usd_per_hour"], row["origin"]) for row in rows] == [(31.92, "bundled"), (35.1, "vendor_api")]

    @pytest.mark.usefixtures("closed_network")
    def test_a_refresh_that_fails_keeps_what_was_known(self, planner, lambda_api, monkeypatch):
        monkeypatch.setenv("PLANNER_LAMBDA_API_URL", lambda_api["url"])
        assert planner("prices", "refresh", "--source", "lambda").code == 0
        monkeypatch.delenv("LAMBDA_API_KEY")
        before = shown(planner)
        answer = planner("prices", "refresh", "--json")
        assert answer.code == 4
        error = answer.document["error"]
        assert error["kind"] == "price_source"
        assert "the known prices are kept" in error["message"]
        assert all(word in error["message"] for word in ("AWS", "gpuhunt", "LAMBDA_API_KEY", "SkyPilot"))
        assert shown(planner) == before

    @pytest.mark.usefixtures("closed_network")
    def test_some_sources_may_fail(self, planner, lambda_api, monkeypatch):
        monkeypatch.setenv("PLANNER_LAMBDA_API_URL", lambda_api["url"])
        answer = planner("prices", "refresh", "--json")
        assert answer.code == 0
        problems = {report["source"]: report["problems"] for report in answer.document["sources"]}
        assert problems["lambda"] == []
        assert all(problems[source] for source in ("aws", "gpuhunt", "skypilot"))
        assert "aws: AWS: no credentials were found" in answer.err

    def test_an_implausible_price_is_set_aside(self, planner, lambda_api):
        lambda_api["data"]["gpu_8x_h100_sxm5"]["instance_type"]["price_cents_per_hour"] = 3510 * 730
        answer = planner("prices", "refresh", "--source", "lambda")
        assert answer.code == 4
        assert "Every fetched price was left out: lambda/gpu_8x_h100_sxm5 in " in answer.err
        assert shown(planner, "--provider", "lambda", "--accelerator", "H100-SXM")[0]["origin"] == "bundled"

    @pytest.mark.usefixtures("lambda_api")
    def test_a_damaged_file_is_one_clear_error_and_set_aside_by_a_refresh(self, planner, home):
        planner("prices", "refresh", "--source", "lambda")
        path = home / "prices" / "observed.sqlite"
        path.write_bytes(path.read_bytes()[:5000])
        one_error(planner("prices", "show"), f"{path}: cannot be read: ", "planner prices refresh")
        aside = f"{path}.damaged"
        assert planner("prices", "refresh", "--source", "lambda", "--json").document["healed"] == [aside]
        rows = {row["item"]: row for row in shown(planner, "--provider", "lambda", "--accelerator", "H100-SXM")}
        assert rows["lambda/gpu_8x_h100_sxm5"]["usd_per_hour"] == 35.10

    @pytest.mark.parametrize("arguments", [("--timeout-s", "0"), ("--source", "ebay")])
    def test_wrong_usage(self, planner, arguments):
        assert planner("prices", "refresh", *arguments).code == 2


class TestPriceBook:
    def test_it_stays_out_of_answers_and_reports_unless_asked_for(self, planner, plan, home, tmp_path):
        (home / "price_book.yaml").write_text(BOOK)
        for command in ("estimate", "campaign", "compare"):
            assert "enterprise" not in planner(command, plan, "--json").out
        report = tmp_path / "report.html"
        planner("report", plan, "--out", report)
        assert "enterprise" not in report.read_text()
        planner("report", plan, "--out", report, "--with-price-book")
        assert "enterprise" in report.read_text()

    def test_net_and_list_are_both_in_the_answer(self, planner, plan, home):
        (home / "price_book.yaml").write_text(BOOK)
        listed = planner("estimate", plan, "--json").option("aws/p5.48xlarge:us-east-1:on_demand")
        net = planner("estimate", plan, "--json", "--with-price-book").option("aws/p5.48xlarge:us-east-1:on_demand")
        assert (listed["usd_per_hour"]["value"], listed["list_usd_per_hour"]) == (55.04, None)
        assert (net["usd_per_hour"]["value"], net["list_usd_per_hour"]) == (27.52, 55.04)
        assert compute(net) == pytest.approx(compute(listed) / 2, abs=0.02)
        assert "list 55.04 USD/h, net 27.52" in " ".join(net["notes"])

    def test_it_can_change_the_recommendation(self, planner, plan, home):
        (home / "price_book.yaml").write_text(BOOK)
        assert planner("compare", plan, "--json").document["recommended"].startswith("lambda/")
        assert planner("compare", plan, "--json", "--with-price-book").document["recommended"].startswith("aws/")

    def test_credits_leave_less_to_pay_and_no_other_total(self, planner, plan, home):
        expires = TODAY + timedelta(days=3650)
        credit = f"credits:\n  - {{name: start, provider: aws, usd: 100, expires: {expires}, source: their mail}}\n"
        (home / "price_book.yaml").write_text("schema_version: 1\nas_of: 2026-11-01\n" + credit)
        listed = planner("compare", plan, "--json").document
        answer = planner("compare", plan, "--json", "--with-price-book")
        before = next(option for option in listed["options"] if option["id"].startswith("aws/"))["bill"]
        bill = answer.option("aws/p5.48xlarge:us-east-1:on_demand")["bill"]
        assert bill["usd_total"]["value"] == before["usd_total"]["value"] > 100
        assert bill["usd_to_pay"] == pytest.approx(before["usd_total"]["value"] - 100, abs=0.001)
        assert before["usd_to_pay"] is None
        assert [
            option["bill"]["usd_to_pay"] for option in answer.document["options"] if option["id"].startswith("lambda/")
        ] == [None]
        report = planner("report", plan, "--with-price-book").out
        assert f"credits pay start 100.00; {bill['usd_to_pay']:,.2f} USD remain to pay" in report

    @pytest.mark.parametrize(("days", "pays"), [pytest.param(3650, 100, id="lasts"), pytest.param(0, 0, id="too soon")])
    def test_credits_pay_one_training_too_where_they_last_until_it_ends(self, planner, changed, home, days, pays):
        """A training of over a day; what expires today does not last until it ends."""
        plan = changed("dgx_station_v100", {"options": [{"offer": "aws/p3.16xlarge", "region": "us-east-1"}]})
        expires = TODAY + timedelta(days=days)
        credit = f"credits:\n  - {{name: start, provider: aws, usd: 100, expires: {expires}, source: their mail}}\n"
        (home / "price_book.yaml").write_text("schema_version: 1\nas_of: 2026-11-01\n" + credit)
        (option,) = planner("estimate", plan, "--json", "--with-price-book").document["options"]
        assert option["training_hours"]["value"] > 24
        bill = option["bill"]
        assert (bill["usd_to_pay"] is None) is (pays == 0)
        assert sum(credit["usd"] for credit in bill["credits"]) == pays
        if pays:
            assert bill["usd_to_pay"] == pytest.approx(bill["usd_total"]["value"] - pays, abs=0.001)
            assert "USD remain to pay" in planner("estimate", plan, "--with-price-book", "--format", "tsv").out

    def test_show_sets_net_beside_list(self, planner, home):
        (home / "price_book.yaml").write_text(BOOK)
        arguments = ("--provider", "aws", "--accelerator", "H100-SXM", "--kind", "on_demand", "--region", "us-east-1")
        rows = {row["item"]: row for row in shown(planner, *arguments, "--with-price-book")}
        assert (rows["aws/p5.48xlarge"]["usd_per_hour"], rows["aws/p5.48xlarge"]["net_usd_per_hour"]) == (55.04, 27.52)
        assert rows["aws/p5.48xlarge"]["net_because"] == "enterprise: -50 % of the rest"
        assert all(row["net_usd_per_hour"] is None for row in shown(planner, *arguments))

    def test_asked_for_and_missing_is_an_error(self, planner, plan):
        answer = planner("compare", plan, "--with-price-book")
        assert answer.code == 2
        assert "price_book.yaml: there is no price book" in answer.err


@pytest.mark.parametrize(("days_left", "usd_per_hour"), [(0, 20), (-1, 55.04)], ids=["its last day", "over"])
def test_an_offer_that_has_run_out_is_not_used(planner, plan, home, days_left, usd_per_hour):
    row = ROW.format(usd=20, day=date(2026, 11, 1)).strip() + f",{TODAY + timedelta(days=days_left)}\n"
    (home / "prices" / "ours.csv").write_text(HEADER.strip() + ",valid_until\n" + row)
    answer = planner("estimate", plan, "--json").option("aws/p5.48xlarge:us-east-1:on_demand")
    assert answer["usd_per_hour"]["value"] == usd_per_hour


def test_a_stale_price_is_marked_where_it_ranks(planner, plan, home):
    (home / "prices" / "ours.csv").write_text(HEADER + ROW.format(usd=20, day=date(2026, 1, 1)))
    answer = planner("compare", plan, "--json").option("aws/p5.48xlarge:us-east-1:on_demand")
    assert answer["price_stale"] is True
    assert answer["price_age_days"] == (TODAY - date(2026, 1, 1)).days
    table = planner("compare", plan, "--format", "tsv").out
    assert f"20.00 USD/h of 2026-01-01 (stale: {answer['price_age_days']} days old)" in table
    planner("report", plan, "--out", home / "report.csv")
    rows = csv.DictReader((home / "report.csv").read_text(encoding="utf-8").splitlines())
    (row,) = (row for row in rows if row["option"] == "aws/p5.48xlarge:us-east-1:on_demand")
    assert (row["price_stale"], row["price_age_days"]) == ("yes", str(answer["price_age_days"]))


def test_a_price_file_larger_than_a_person_writes_is_refused(planner, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x" * 10_000_001, encoding="utf-8")
    answer = planner("prices", "check", path)
    assert answer.code == 2
    assert "has 10.0 MB; at most 10 MB are read" in answer.err
