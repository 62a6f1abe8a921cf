"""Old prices, spot, providers and what is sold out, through the command line on a plan file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.refusals import one_error

STEP = {"batch": 64, "seconds": 1.0, "basis": "measured"}
SPOT = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "spot", "step": STEP}
FIRM = {"offer": "runpod/8x-h200-sxm", "usd_per_hour": 20.0, "step": STEP}
LAMBDA = {"offer": "lambda/gpu_8x_h100_sxm5", "step": STEP}
OWN = {"site": "own-8xh200", "step": STEP}
FIRM_ID, SPOT_ID, LAMBDA_ID = (
    "runpod/8x-h200-sxm:any:on_demand", "aws/p5en.48xlarge:us-east-1:spot", "lambda/gpu_8x_h100_sxm5:any:on_demand"
)  # fmt: skip
WON = {"code": "KRW", "per_usd": 1400.0, "low": 1300.0, "high": 1500.0, "as_of": "2026-11-20", "source": "a bank"}


@pytest.fixture
def asked(plan_file, planner):
    """Answer a plan of equal machines for 10,000 steps of a second: 2.8 hours, whose price alone decides."""

    def ask(*options, command="compare", **keys):
        plan = {
            "schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"steps": 10_000},
            "training": {"global_batch": 64}, "options": options, **keys,
        }  # fmt: skip
        return planner(command, plan_file(json.dumps(plan)), "--json")

    return ask


def test_spot_is_held_against_firm_at_the_price_of_august(asked):
    """A firm hour of 20 USD lies between the 14.82 that spot was asked in May and the 27.20 of August."""
    answer = asked(SPOT, FIRM)
    assert answer.document["recommended"] == FIRM_ID
    spot = answer.option(SPOT_ID)
    assert spot["usd_per_hour"]["value"] == 27.2
    assert (spot["firm"], spot["observations"], spot["price_stale"]) == (False, 2, True)
    assert "2 observations of 2026-05-24 to 2026-08-06 (14.8209 to 27.2)" in spot["usd_per_hour"]["source"]


def test_a_stale_firm_price_is_doubted_and_a_stated_one_is_not(asked):
    """Lambda's list of 2026-09-20 says 31.92 USD/h; 62 days are 32 over: 1.21 ^ (32 / 130) = 1.0480 both ways."""
    answer = asked(LAMBDA, FIRM)
    price = answer.option(LAMBDA_ID)["usd_per_hour"]
    assert (price["low"], price["value"], price["high"]) == pytest.approx((30.4562, 31.92, 33.4541), rel=1e-4)
    assert "62 days old, +-4.8 %" in price["source"]
    stated = answer.option(FIRM_ID)["usd_per_hour"]
    assert (stated["low"], stated["high"]) == (20, 20)


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        pytest.param({"spot": "never"}, {FIRM_ID, LAMBDA_ID, "own-8xh200"}, id="spot: never"),
        pytest.param({"providers": {"allow": ["aws"]}}, {SPOT_ID, "own-8xh200"}, id="AWS alone"),
        pytest.param({"providers": {"deny": ["aws", "lambda"]}}, {FIRM_ID, "own-8xh200"}, id="two are denied"),
    ],
)
def test_limits_on_offers_leave_the_others_and_what_is_owned(asked, limits, left):
    answer = asked(OWN, SPOT, FIRM, LAMBDA, limits=limits)
    options = answer.document["options"]
    assert {option["id"] for option in options if option["not_allowed"] is None} == left
    assert all(option["why_not"].startswith("not allowed: ") for option in options if option["id"] not in left)
    assert answer.document["recommended"] in left


def test_a_provider_that_nobody_knows_is_refused_with_its_neighbours(asked):
    answer = asked(FIRM, limits={"providers": {"allow": ["lamda", "aws"]}})
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (2, "not_found")
    assert "limits.providers.allow: there is no provider 'lamda'" in answer.out + answer.err
    assert "Did you mean lambda" in answer.out + answer.err


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"limits": {"spot": "sometimes"}}, ["limits.spot", "'never'", "'sometimes'"]),
        ({"limits": {"providers": ["aws"]}}, ["limits.providers"]),
        ({"limits": {"providers": {"allow": ["aws"], "deny": ["aws"]}}}, ["'aws' is both allowed and denied"]),
        ({"campaign": {"budget_local": 1e6}}, ["campaign.budget_local is in the plan's own currency"]),
        ({"currency": WON, "campaign": {"budget_local": 1e6, "budget_usd": 700.0}}, ["two budgets"]),
    ],
)
def test_bad_limits_are_one_clear_error(plan_file, planner, keys, words):
    plan = {"schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9}}
    one_error(planner("compare", plan_file(json.dumps(plan | {"options": [FIRM]} | keys))), *words)


@pytest.mark.parametrize(("won", "code"), [(200_000.0, 0), (50_000.0, 3)])
def test_a_budget_in_the_plan_s_currency_is_held_at_its_rate(asked, won, code):
    """2.8 h x 20 USD and a launch cost 60 to 80 USD: 200,000 won are 143 USD, 50,000 are 36."""
    answer = asked(FIRM, currency=WON, campaign={"budget_local": won})
    assert answer.code == code
    assert answer.document["budget_usd"] == pytest.approx(won / 1400)
    assert 60 < answer.option(FIRM_ID)["campaign_usd"]["value"] < 80


@pytest.mark.parametrize(
    ("as_of", "available", "says", "code"),
    [
        pytest.param("2026-11-20", "false", "no", 3, id="sold out this week"),
        pytest.param("2026-11-20", "true", "yes", 0, id="to be had"),
        pytest.param("2026-09-20", "false", "unknown", 0, id="sold out in September"),
        pytest.param("2026-11-20", "", "unknown", 0, id="not said"),
    ],
)
def test_what_is_sold_out_is_not_to_be_had(asked, as_of, available, says, code):
    path = Path(os.environ["PLANNER_HOME"]) / "prices" / "mine.csv"
    path.parent.mkdir(parents=True)
    path.write_text(
        "provider,instance_type,region,price_kind,usd_per_hour,source,as_of,available\n"
        f"lambda,gpu_8x_h100_sxm5,any,on_demand,30,their page,{as_of},{available}\n"
    )
    answer = asked(LAMBDA)
    option = answer.option(LAMBDA_ID)
    assert (answer.code, option["availability"]) == (code, says)
    assert option["not_allowed"] == ("not to be had (their page, 2026-11-20)" if says == "no" else None)


def test_a_lock_of_a_plan_with_limits_answers_as_the_plan(plan_file, planner):
    """The denied provider stands in no option; its name is still known to the lock."""
    plan = {"schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9}}
    limits = {"spot": "never", "providers": {"deny": ["vast"]}}
    path = plan_file(json.dumps(plan | {"options": [SPOT, FIRM], "limits": limits}))
    assert planner("estimate", path, "--freeze").code == 0
    locked = planner("compare", path, "--locked", "--json")
    assert (locked.code, locked.document["recommended"]) == (0, FIRM_ID)
    assert locked.err.strip() == ""


def test_the_table_of_prices_shows_the_spot_price_that_a_plan_is_given(planner):
    narrowed = ("prices", "show", "--kind", "spot", "--region", "us-east-1", "--provider", "aws", "--json")

    def rows(*more):
        found = planner(*narrowed, *more).document["prices"]
        return sorted((row["usd_per_hour"], row["used"]) for row in found if row["item"] == "aws/p5en.48xlarge")

    assert rows() == [(27.2, True)]
    assert rows("--all") == [(14.8209, False), (27.2, True)]
