"""`compare` and `own-or-rent` say the same of this campaign and of a year of such work.

The plan by hand: a training of one step of 360,000 s is 100 h on either machine. What stands there costs its
electricity alone, 2.55 kW at rest and 7.752 at work; it would sell for 300,000 USD, so that a year of it costs over
100,000. Renting is the hours alone, at 42 USD.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

STEP = {"batch": 1_953_125, "seconds": 360_000.0, "basis": "measured"}
HOURLY = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "usd_per_hour": 42.0, "step": STEP}
TERM = HOURLY | {"usd_per_hour": 20.0, "price": "savings_1y"}
ASSUMED = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0}
NO_DATA = {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0}
RENTED, OWN = "aws/p5en.48xlarge:us-east-1:on_demand", "own-8xh200"


@pytest.fixture
def plan(plan_file):
    """Write the plan with other options, limits or keys."""

    def write(options: list[dict[str, Any]], campaign: dict[str, Any] | None = None, **keys: Any) -> Path:
        text = {
            "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9}, "options": options, "assumptions": ASSUMED, "data": NO_DATA,
            "campaign": campaign or {"runs": 2},
        }  # fmt: skip
        return plan_file(yaml.safe_dump(text | keys))

    return write


@pytest.fixture
def both(planner):
    """Return both documents of a plan."""
    return lambda path: (
        planner("compare", path, "--json").document, planner("own-or-rent", path, "--json").document
    )  # fmt: skip


OURS = {"site": OWN, "step": STEP}


def test_both_commands_say_the_same_of_both_horizons(plan, both):
    """Two trainings: 200 h of its electricity now; over a year they rent for 8,400 USD, and keeping costs 54,600."""
    compared, owned = both(plan([OURS, HOURLY]))
    assert compared["horizons"] == owned["horizons"]
    found = compared["horizons"]
    assert found["campaign"] == "This campaign: keep Our HGX H200, 8x H200."
    assert found["year"].startswith("A year of such work: rent AWS p5en, 8x H200, ")
    assert found["year"].endswith(" sure to cost less than keeping ours.")
    assert (found["campaign_option"], found["year_option"]) == (OWN, RENTED)
    assert compared["recommended"] == OWN
    assert owned["by_plan"]["recommended"] == RENTED
    assert (found["year_chance"], found["year_against"]) == (pytest.approx(1.0, abs=1e-3), OWN)


@pytest.mark.parametrize("width", [100, 80])
def test_both_screens_show_them(plan, planner, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    path = plan([OURS, HOURLY])
    for command in ("compare", "own-or-rent"):
        text = " ".join(planner(command, path, "--format", "table").out.split())
        assert "This campaign: keep Our HGX H200, 8x H200. A year of such work: rent AWS p5en, 8x H200," in text


def test_the_limits_of_the_campaign_stand_in_both(plan, both):
    """A machine that does 87.66 trainings of 100 h a year, and 150 of them by a day that none keeps."""
    limits = {"runs": 150, "runs_per_year": 150, "deadline": "2027-11-20", "budget_usd": 500_000.0}
    compared, owned = both(plan([OURS | {"hold": "buy"}, HOURLY], limits))
    assert compared["recommended"] is None
    assert compared["horizons"] == owned["horizons"]
    assert compared["horizons"]["campaign"] == (
        "This campaign, by 2027-11-20 for 500,000 USD: no option keeps the limits."
    )
    assert ", which does at most 87 of 150 trainings, " in compared["horizons"]["year"]


def test_a_year_that_no_plan_counts_names_its_busy_share(plan, both, monkeypatch):
    path = plan([OURS, HOURLY], {"prefer": "cost"})
    compared, owned = both(path)
    assert compared["horizons"] == owned["horizons"]
    assert compared["horizons"]["year"].startswith("A year at 70 % busy: ")


def test_nothing_is_said_where_nothing_is_owned(plan, planner):
    document = planner("compare", plan([HOURLY]), "--json").document
    assert document["horizons"] is None
    assert not any("A year" in note for note in document["notes"])


def test_owning_is_told_against_paying_by_the_hour_and_not_against_a_term(plan, planner):
    """175,200 USD of the term for one training or 80; by the hour 36 trainings of 4,200 USD cost over 146,000."""
    document = planner("own-or-rent", plan([OURS | {"hold": "buy"}, TERM, HOURLY], {"runs": 80}), "--json").document
    year = document["by_plan"]
    rows = {row["id"]: row for row in year["options"]}
    assert year["pay_as_you_go"] == RENTED
    assert year["cheapest_firm"] != RENTED
    assert rows[year["cheapest_firm"]]["break_even"]["trainings_per_year"] == 1
    assert rows[RENTED]["break_even"]["trainings_per_year"] == 36
    assert "renting AWS p5en, 8x H200 from 36 trainings a year" in document["headline"][-1]
    screen = planner("own-or-rent", plan([OURS | {"hold": "buy"}, TERM, HOURLY], {"runs": 80}), "--format", "table").out
    assert " always" in screen


def test_cards_that_stand_there_cost_their_power_where_nobody_says_what_they_would_sell_for(plan, planner):
    """0.4 kW at work for 1,000 hours, switched off for the rest; x 0.165 USD; no cooling, no people.

    Sold for 900 USD instead, in 3 years for less: the recovery of 900 at 8 % less the rest.
    """
    step = {"own": "RTX 3090", "step": STEP, "power_kw": 0.4}
    usd = 0.4 * 1000 * 0.165
    document = planner("own-or-rent", plan([step, HOURLY], {"runs": 10}), "--json").document
    own = document["by_plan"]["options"][0]
    assert own["id"] == "own/RTX-3090-x1"
    assert own["usd_per_year"]["value"] == pytest.approx(usd, rel=1e-3)
    assert own["resale_not_counted"] is True
    sold = planner("own-or-rent", plan([step | {"resale_usd": 900.0}, HOURLY], {"runs": 10}), "--json").document
    capital = {line["part"]: line["usd_per_node_year"]["value"] for line in sold["annual"]}
    assert capital["recovery"] == pytest.approx(900 * 0.08 / (1 - 1.08**-3), rel=1e-3)
    assert sold["by_plan"]["options"][0]["resale_not_counted"] is False


@pytest.mark.parametrize(
    "option",
    [
        pytest.param({"own": "RTX 3090", "hold": "buy", "purchase_usd": 900.0, "resale_usd": 5.0}, id="to be bought"),
        pytest.param({"site": "pc-rtx4090", "resale_usd": 5.0}, id="a site"),
        pytest.param({"offer": "lambda/gpu_1x_h100_sxm5", "resale_usd": 5.0}, id="an offer"),
    ],
)
def test_a_resale_value_belongs_to_cards_that_stand_there(plan, planner, option):
    answer = planner("compare", plan([option]))
    assert answer.code == 2
    assert "resale_usd belongs to own" in answer.err


def test_both_spellings_of_a_machine_that_is_there_are_judged_alike(plan, planner):
    """0.4 kW for 1,000 h x 0.165 USD; what a PC of 3,200 USD would cost a year is the second figure alone.

    A second way to that figure is the row of the same machine where it is to be bought.
    """
    step = {"step": STEP, "power_kw": 0.4}
    site = {"site": "pc-rtx4090"} | step
    answers = {
        name: planner("own-or-rent", plan([option, HOURLY], {"runs": 10}), "--json").document["by_plan"]
        for name, option in {
            "own": {"own": "RTX 4090"} | step, "have": site | {"hold": "have"}, "buy": site | {"hold": "buy"},
        }.items()
    }  # fmt: skip
    rows = {
        name: next(row for row in answer["options"] if row["id"] == answer["owning"])
        for name, answer in answers.items()
    }
    for name in ("own", "have"):
        assert rows[name]["usd_per_year"]["value"] == pytest.approx(0.4 * 1000 * 0.165, rel=1e-3), name
        assert answers[name]["recommended"] == answers[name]["owning"]
        assert rows[name]["resale_not_counted"] is True
    bought = rows["have"]["usd_per_year_as_if_bought"]["value"]
    assert bought == pytest.approx(rows["buy"]["usd_per_year"]["value"])
    assert bought > 800
    assert rows["own"]["usd_per_year_as_if_bought"] is None


def test_a_country_on_the_command_line(plan, planner):
    """A PC at 0.3835 / 0.915 USD in Germany, 228.6 / 1,439 in Korea."""
    path = plan([{"site": "pc-rtx4090", "hold": "have", "step": STEP}, HOURLY], {"runs": 10})
    usd = {}
    for country in ("de", "KR"):
        document = planner("own-or-rent", path, "--country", country, "--json").document
        usd[country] = next(each for each in document["inputs"] if each["name"] == "usd_per_kwh")["quantity"]["value"]
    assert usd == pytest.approx({"de": 0.3835 / 0.915, "KR": 228.6 / 1439}, rel=1e-3)
    answer = planner("own-or-rent", path, "--country", "ZZ")
    assert answer.code == 2
    assert "--country: there is no country 'ZZ'" in answer.err
