"""Limits on places, and a plan's own currency, through the command line."""

from __future__ import annotations

from datetime import timedelta

import pytest

from planner import clock
from tests.cli.refusals import one_error, replaced

WON = {"code": "KRW", "per_usd": 1400.0, "low": 1300.0, "high": 1500.0, "as_of": "2026-11-20", "source": "a bank"}
SITE, P3DN, LAMBDA = 0, 5, 9
OFFER = {"offer": "aws/p3dn.24xlarge", "region": "us-east-1"}


class TestPlaces:
    def test_an_option_elsewhere_is_not_recommended_and_says_why(self, planner, changed):
        plan = changed("dgx_station_v100", {"limits": {"allowed_regions": ["us-east-1"]}})
        document = planner("compare", plan, "--json").document
        assert (document["recommended"] or document["nearest"]).split(":")[1] == "us-east-1"
        for option in document["options"]:
            elsewhere = option["region"] != "us-east-1"
            assert (option["not_allowed"] is not None) is elsewhere, option["id"]
            if elsewhere:
                assert option["why_not"].startswith("not allowed: ")
                assert option["pareto"] is False

    def test_an_unknown_region_is_not_allowed(self, planner, changed):
        """Lambda has one price for any region: the machine's place is not stated."""
        plan = changed("dgx_station_v100", {"limits": {"allowed_regions": ["any", "us-east-1"]}}, only=[LAMBDA])
        answer = planner("compare", plan, "--json")
        assert answer.code == 3
        assert "its region is not known" in answer.document["options"][0]["not_allowed"]
        assert "no option lies where the plan allows it" in answer.document["sentence"]

    @pytest.mark.parametrize(
        ("limits", "allowed"),
        [
            pytest.param({"allowed_regions": ["dgx-station-v100"]}, True, id="the site is listed"),
            pytest.param({"data_region": "dgx-station-v100"}, True, id="the data are on the site"),
            pytest.param({"allowed_regions": ["us-east-1"]}, False, id="another place is listed"),
            pytest.param(
                {"allowed_regions": ["dgx-station-v100", "us-east-1"], "data_region": "us-east-1"},
                False,
                id="allowed, but the data stay elsewhere",
            ),
        ],
    )
    def test_an_owned_machine_stands_where_its_site_is(self, planner, changed, limits, allowed):
        plan = changed("dgx_station_v100", {"limits": limits}, only=[SITE])
        answer = planner("compare", plan, "--json")
        assert answer.code == (0 if allowed else 3)
        assert (answer.document["options"][0]["not_allowed"] is None) is allowed


class TestCurrency:
    def test_amounts_are_shown_in_both(self, planner, changed):
        plan = changed("dgx_station_v100", {"currency": WON}, only=[P3DN])
        document = planner("compare", plan, "--json").document
        assert document["currency"]["code"] == "KRW"
        bill = document["options"][0]["bill"]
        cent = 0.01 * 1400  # the won are exact, the dollars beside them are rounded
        assert bill["local_total"]["value"] == pytest.approx(bill["usd_total"]["value"] * 1400, abs=cent)
        assert all(line["local"] == pytest.approx(line["usd"]["value"] * 1400, abs=cent) for line in bill["lines"])
        assert sum(line["local"] for line in bill["lines"]) == bill["local_total"]["value"]
        assert all(line["local"].is_integer() for line in bill["lines"])
        assert " KRW" in planner("compare", plan).out
        report = planner("report", plan).out
        assert "KRW counted with 1,400 a USD (1,300 to 1,500) of 2026-11-20, a bank." in report

    def test_a_price_in_won_costs_its_dollars_with_the_rate_s_range(self, planner, changed):
        """28,000 KRW / 1,400 = 20 USD; 18.67 to 21.54 at 1,500 and 1,300."""
        changes = {"currency": WON, "options": [OFFER | {"local_per_hour": 28000.0}]}
        (option,) = planner("estimate", changed("dgx_station_v100", changes), "--json").document["options"]
        price = option["usd_per_hour"]
        assert [price["low"], price["value"], price["high"]] == pytest.approx([28000 / 1500, 20.0, 28000 / 1300])
        assert "1400 KRW a USD (a bank)" in price["source"]
        assert option["bill"]["lines"][0]["currency"] == "KRW"

    def test_a_price_in_won_is_not_aged_by_its_exchange_rate(self, planner, changed):
        """The price has no date of its own, as `usd_per_hour` has none; a note tells the age of the rate."""
        options = [{**OFFER, "local_per_hour": 28000.0, "price": kind} for kind in ("on_demand", "spot")]
        for days in (30, 400):
            as_of = str(clock.today() - timedelta(days=days))
            changes = {"currency": WON, "options": options, "currency.as_of": as_of}
            document = planner("compare", changed("dgx_station_v100", changes), "--json").document
            for option in document["options"]:
                assert (option["price_age_days"], option["price_stale"]) == (None, None)
                assert "price_too_old" not in option["why_not_codes"]
            rate = [note for note in document["notes"] if "exchange rate" in note]
            told = "the exchange rate, 1,400 KRW a USD, is 400 days old: write today's under currency in the plan"
            assert rate == ([told] if days == 400 else [])

    def test_hours_at_a_price_in_won_cost_exactly_those_won(self, planner, changed):
        """1,000 samples of 36.18 s are 10.05 h; at 60,000 KRW 603,000 KRW, whatever the rate and the cents."""
        changes = {
            "currency": WON | {"per_usd": 1439.0},
            "work": {"epochs": 1.0, "samples_per_epoch": 1000.0},
            "options": [
                OFFER | {"local_per_hour": 60000.0, "step": {"batch": 1, "seconds": 36.18, "basis": "measured"}}
            ],
            "assumptions": {"goodput_fraction": 1.0},
        }
        (option,) = planner("estimate", changed("dgx_station_v100", changes), "--json").document["options"]
        assert option["bill"]["lines"][0]["local"] == 603_000

    def test_a_commitment_in_won_takes_its_won_off_again(self, planner, changed):
        """Payments in won cancel out in won, so no exchange rate can turn the answer by it."""
        bought = OFFER | {"local_per_hour": 60000.0, "price": "savings_1y", "commitment_bought": True}
        changes = {"currency": WON, "options": [bought], "campaign": {"runs": 2}}
        lines = planner("campaign", changed("dgx_station_v100", changes), "--json").document["options"][0]["bill"][
            "lines"
        ]
        in_won = [line for line in lines if line["currency"] == "KRW"]
        assert in_won[-1]["what"] in ("commitment already bought", "support")
        assert sum(line["usd"]["value"] for line in in_won) == pytest.approx(0, abs=0.05)

    def test_a_tariff_in_won(self, planner, changed):
        """168 KRW / 1,400 = 0.12 USD."""
        assumed = {"electricity_usd_per_kwh": 0.12, "pue": 1.4}
        in_won = {"electricity_local_per_kwh": 168.0, "pue": 1.4}
        usd, won = (
            planner("estimate", changed("local_pc", changes), "--json").option("pc-rtx4090")["usd_marginal"]["value"]
            for changes in ({"assumptions": assumed}, {"assumptions": in_won, "currency": WON})
        )
        assert won == pytest.approx(usd)

    def test_the_rate_that_turns_the_answer_is_named(self, planner, changed):
        """One machine at 28,000 KRW or at 25 USD an hour: equal at 28,000 / 25 = 1,120 KRW a USD."""
        alone = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0}
        options = [OFFER | {"local_per_hour": 28000.0}, OFFER | {"usd_per_hour": 25.0}]
        changes = {
            "currency": WON | {"low": 1000.0, "high": 1900.0},
            "options": options,
            "assumptions": alone,
            "campaign": {"runs": 50},
        }
        plan = changed("dgx_station_v100", changes)
        document = planner("compare", plan, "--json").document
        (rate,) = document["switching_rates"]
        assert (rate["code"], rate["side"], rate["today_per_usd"]) == ("KRW", "below", 1400.0)
        assert rate["per_usd"] == pytest.approx(1120.0, rel=1e-6)
        assert "is cheaper below 1,120 KRW a USD; today 1,400" in document["sentence"]

    def test_a_recommendation_has_the_same_amounts_of_money_as_the_comparison(self, planner, changed):
        """Amounts hold the error of the rate, which dollars at today's rate do not."""
        plan = changed("dgx_station_v100", {"currency": WON}, only=[0, 2, 4, 6, 9])
        options = planner("compare", plan, "--json").document["options"]
        compared = {option["id"]: option["local_confident"] for option in options}
        others = planner("recommend", plan, "--json").document["alternatives"]
        assert others
        assert {other["option"]: other["local_confident"] for other in others}.items() <= compared.items()
        table = planner("recommend", plan).out.split("not recommended")[1]
        assert " KRW " in table
        assert " USD " not in table.split("why not")[0]

    def test_without_a_currency_nothing_is_converted(self, planner, changed):
        document = planner("compare", changed("dgx_station_v100"), "--json").document
        assert document["currency"] is None
        assert document["switching_rates"] == []
        assert all(option["bill"] is None or option["bill"]["local_total"] is None for option in document["options"])


RATE = "currency: {code: KRW, per_usd: 1400.0, as_of: 2026-11-20, source: a bank}\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(
            replaced("schema_version: 1", RATE.replace("KRW", "USD") + "schema_version: 1"),
            ["currency", "leave currency out"],
            id="USD",
        ),
        pytest.param(
            replaced("schema_version: 1", RATE.replace("1400.0", "-1400.0") + "schema_version: 1"),
            ["currency.per_usd", "greater than 0"],
            id="a negative rate",
        ),
        pytest.param(
            replaced("schema_version: 1", RATE.replace("as_of", "low: 1500.0, as_of") + "schema_version: 1"),
            ["per_usd 1400 lies outside its range 1500 to 1400"],
            id="a rate outside its range",
        ),
        pytest.param(
            replaced("schema_version: 1", RATE.replace(", source: a bank", "") + "schema_version: 1"),
            ["currency.source", "is missing"],
            id="a rate without a source",
        ),
        pytest.param(
            replaced("price: spot", "price: spot, local_per_hour: 20000.0"),
            ["local_per_hour is in the plan's own currency", "state currency"],
            id="a local price without a rate",
        ),
        pytest.param(
            replaced("price: spot", "price: spot, local_per_hour: 2.0, usd_per_hour: 2.0"),
            ["two prices of one hour"],
            id="two prices",
        ),
        pytest.param(
            replaced("price: spot", "price: spot, commitment_bought: true"),
            ["commitment_bought belongs to a price with a term"],
            id="a commitment to spot",
        ),
        pytest.param(
            replaced("assumptions: {", "data: {dataset_gb: -1.0}\nassumptions: {"),
            ["data.dataset_gb", "greater than or equal to 0"],
            id="negative gigabytes",
        ),
        pytest.param(
            replaced("assumptions: {", "assumptions: {support_fraction: 1.3, "),
            ["assumptions.support_fraction", "less than 1"],
            id="130 % support",
        ),
        pytest.param(
            replaced("assumptions: {", "limits: {allowed_regions: []}\nassumptions: {"),
            ["limits.allowed_regions", "at least one"],
            id="no place allowed",
        ),
        pytest.param(
            replaced("assumptions: {", "limits: {allowed_region: [us-east-1]}\nassumptions: {"),
            ["limits.allowed_region", "not a key"],
            id="a limit misspelt",
        ),
    ],
)
def test_a_wrong_plan(planner, plan_file, content, words):
    one_error(planner("estimate", plan_file(content)), *words)


def test_a_group_of_regions_allows_all_of_its_regions_and_no_other(planner, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "schema_version: 1\nname: at home\nworkload: {ref: llama3-8b}\nwork: {tokens: 1e9}\n"
        "limits: {allowed_regions: [apac]}\noptions:\n"
        "  - {offer: aws/p4d.24xlarge, region: us-east-1}\n  - {offer: aws/p4d.24xlarge, region: ap-northeast-1}\n",
        encoding="utf-8",
    )
    answer = planner("estimate", plan, "--json")
    allowed = {option["region"]: option["not_allowed"] for option in answer.document["options"]}
    assert allowed["ap-northeast-1"] is None
    assert "us-east-1" in allowed["us-east-1"]
    plan.write_text(plan.read_text(encoding="utf-8").replace("[apac]", "[us-eats-1]"), encoding="utf-8")
    refused = planner("estimate", plan)
    assert refused.code == 2
    assert "limits.allowed_regions: there is no region 'us-eats-1'" in refused.err
    assert "us-east-1" in refused.err
