"""A year of a plan that owns nothing: terms that are paid ahead, against paying as one goes, by hand.

A training is 100 h at 42 USD: 4,200 USD. A savings plan of a year at 20 USD an hour is 20 x 8,766 = 175,320 USD, which
42 trainings (176,400 USD) use up and 41 (172,200 USD) do not.
"""

from __future__ import annotations

import pytest
import yaml

from tests.cli.owning.test_own_or_rent_year import NO_DATA, NOTHING_ELSE, RENT

TERM = RENT | {"price": "savings_1y", "usd_per_hour": 20.0}
AS_ONE_GOES, SAVINGS = "aws/p5en.48xlarge:us-east-1:on_demand", "aws/p5en.48xlarge:us-east-1:savings_1y"


@pytest.fixture
def compared(planner, plan_file):
    def answer(options, **campaign):
        plan = {
            "schema_version": 1, "name": "by hand", "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9}, "options": options, "assumptions": NOTHING_ELSE, "data": NO_DATA,
            "campaign": campaign,
        }  # fmt: skip
        return planner("compare", plan_file(yaml.safe_dump(plan)), "--json").document

    return answer


@pytest.mark.parametrize(
    ("runs", "best", "usd"),
    [
        pytest.param(5, AS_ONE_GOES, "21,000", id="few"),
        pytest.param(40, AS_ONE_GOES, "168,000", id="4 in 5 cost under 172,250"),
        pytest.param(41, SAVINGS, "175,000", id="4 in 5 cost under 176,550, and the term 175,320"),
        pytest.param(42, SAVINGS, "175,000", id="the term likely costs less"),
    ],
)
def test_the_whole_term_counts_for_the_runs_of_a_year(compared, runs, best, usd):
    """The hours are measured to 5 %: 4 in 5 years cost at most 1.05^(0.842 / 1.645) = 1.0253 times the likely ones.

    As in a campaign, what is certain comes before hours that may cost more.
    """
    answer = compared([RENT, TERM], runs=5, runs_per_year=runs)
    assert answer["recommended"] == AS_ONE_GOES
    assert answer["horizons"]["year_option"] == best
    assert answer["horizons"]["year"].startswith("A year of such work: rent AWS p5en")
    assert answer["horizons"]["year"].endswith(f" for {usd} USD.")
    assert (
        "AWS p5en 1-year savings plan, 8x H200 costs less than AWS p5en, 8x H200 from 42 trainings a year, of which "
        f"the plan has {runs}"
    ) in answer["notes"]


def test_a_term_over_the_budget_is_not_taken_for_a_year(compared):
    """3 x 8,766 h x 20 USD = 525,960 USD in all, though a year of it costs 175,320 USD and 252,000 as one goes."""
    long = TERM | {"price": "savings_3y"}
    answer = compared([RENT, long], runs=5, runs_per_year=60, budget_usd=500_000.0)
    assert answer["horizons"]["year_option"] == AS_ONE_GOES
    assert any(
        note.endswith("the plan has 60, but commits 526,000 USD, over the plan's budget") for note in answer["notes"]
    )
    within = compared([RENT, long], runs=5, runs_per_year=60, budget_usd=530_000.0)
    assert within["horizons"]["year_option"] == SAVINGS.replace("1y", "3y")


def test_a_term_may_never_pay(compared):
    """87 trainings fill a year: 365,400 USD as one goes; the term at 42 USD an hour is 368,172 USD."""
    answer = compared([RENT, TERM | {"usd_per_hour": 42.0}], runs=5, runs_per_year=5)
    assert "AWS p5en 1-year savings plan, 8x H200 never costs less a year than AWS p5en, 8x H200" in answer["notes"]


@pytest.mark.parametrize(
    ("options", "campaign"),
    [
        pytest.param([RENT, TERM], {}, id="the plan does not say how many a year has"),
        pytest.param([RENT], {"runs_per_year": 5}, id="no term"),
        pytest.param([RENT, TERM | {"commitment_bought": True}], {"runs_per_year": 5}, id="it is paid already"),
    ],
)
def test_nothing_is_said_of_a_year_that_says_nothing_new(compared, options, campaign):
    assert compared(options, runs=5, **campaign)["horizons"] is None


def test_a_term_that_is_likely_dearer_says_so(compared):
    """35 trainings: likely 147,000 USD as one goes, 4 in 5 under 147,000 x 3^(0.842 / 1.645) = 258,000; the term is
    175,320, and up to it 1.2 times as long."""
    wide = RENT["step"] | {"low_seconds": 120_000.0, "high_seconds": 1_080_000.0}
    answer = compared([RENT | {"step": wide}, TERM | {"step": wide}], runs=35)
    assert answer["recommended"] == SAVINGS
    assert (
        "AWS p5en, 8x H200 likely costs 147,000 USD: the term is cheaper only if the work takes over 1.19 times as "
        "long as estimated: measure first"
    ) in answer["notes"]
    assert not any("likely costs" in note for note in compared([RENT, TERM], runs=35)["notes"])
