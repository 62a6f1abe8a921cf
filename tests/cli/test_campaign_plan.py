"""`planner campaign`: what runs where and when. Figures by hand.

examples/campaign_mix.yaml: a unit of work takes 20, 10, 5 h on own, p4d and two p5en, and costs 2, 240, 300 USD.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Planner

Changed = Callable[..., Path]
NAME = "campaign_mix"
OWN, P4D, P5EN = "dgx-station-v100", "aws/p4d.24xlarge:us-east-1:on_demand", "aws/p5en.48xlarge:us-east-1:on_demand"


def placed(document: dict[str, Any]) -> dict[str, int]:
    return {placement["option"]: placement["runs"] for placement in document["placements"]}


def test_the_cheapest_mix(planner: Planner, changed: Changed) -> None:
    """72 h: 3 of 12 units fit on the own machine, the others on two p4d, as one is late alone: 3 x 2 + 9 x 240."""
    document = planner("campaign", changed(NAME), "--json").document
    assert (document["schema_version"], document["kind"], document["feasible"]) == (1, "campaign", True)
    assert document["objective"] == "cost"
    assert document["campaign_usd"]["value"] == pytest.approx(2166)
    assert document["campaign_hours"]["value"] == pytest.approx(60)
    assert document["optimality_gap_pct"] == 0
    assert sum(placement["usd"] for placement in document["placements"]) == pytest.approx(2166)
    assert sum(placed(document).values()) == 9
    assert len(document["options"]) == 3


def test_more_groups_on_options_than_can_be_priced_are_refused(
    planner: Planner, changed: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two groups on three options are six pairs."""
    limit = "planner.decide.placement.plan_campaign.MOST_PAIRS"
    monkeypatch.setattr(limit, 5)
    answer = planner("campaign", changed(NAME))
    assert (answer.code, answer.err.splitlines()[0]) == (
        2, "Error: campaign: 2 groups on 3 options are 6 pairs to price; at most 5.",
    )  # fmt: skip
    monkeypatch.setattr(limit, 6)
    assert planner("campaign", changed(NAME)).code == 0


def test_the_fastest(planner: Planner, changed: Changed) -> None:
    """Capacity of 20 h: 1 unit on own, 4 on two p4d, 8 on two p5en, over 12; in less than 20 h fewer than 12.

    p4d and p5en may take 5 % longer, 9 times in 10: the later of the two ends by 20 h x 1.05 ^ (0.545 / 1.645) in half
    of all cases, as Phi(0.545) squared is one half.
    """
    document = planner("campaign", changed(NAME), "--json", "--objective", "time").document
    assert document["campaign_hours"]["value"] == pytest.approx(20 * 1.05 ** (0.545 / 1.645), rel=2e-3)


def test_the_front_begins_with_the_cheapest_and_ends_with_the_fastest(planner: Planner, changed: Changed) -> None:
    front = planner("campaign", changed(NAME), "--json", "--objective", "front").document["front"]
    assert front[0]["campaign_usd"]["value"] == pytest.approx(2166)
    assert front[-1]["campaign_hours"]["value"] == pytest.approx(20 * 1.05 ** (0.545 / 1.645), rel=2e-3)
    usd, hours = ([point[key]["value"] for point in front] for key in ("campaign_usd", "campaign_hours"))
    assert usd == sorted(usd)
    assert hours == sorted(hours, reverse=True)


@pytest.mark.parametrize(
    ("change", "binding"),
    [
        pytest.param({"campaign.start": "2026-10-01", "campaign.deadline": "2026-10-03"}, "deadline", id="past"),
        pytest.param({"campaign.deadline": "2026-12-01", "campaign.at_once": 1}, "deadline", id="24 h are too few"),
        pytest.param({"campaign.budget_usd": 1000.0}, "budget deadline", id="1,000 USD are too few"),
    ],
)
def test_nothing_fits(planner: Planner, changed: Changed, change: dict[str, Any], binding: str) -> None:
    answer = planner("campaign", changed(NAME, change), "--json")
    assert answer.code == 3
    assert answer.document["feasible"] is False
    assert sorted(answer.document["binding_limits"]) == binding.split()  # in the order of the nearest plans


def test_a_quota_of_nothing(planner: Planner, changed: Changed) -> None:
    answer = planner("campaign", changed(NAME, {"options.2.quota": 0, "campaign.at_once": 1}, only=[0, 1, 2]), "--json")
    assert answer.code == 3
    assert P5EN not in {placement["option"] for placement in answer.document["nearest_feasible"]["placements"]}


def test_a_block_that_ends_before_a_run_does(planner: Planner, changed: Changed) -> None:
    window = {"start": "2026-12-01T00:00:00+00:00", "end": "2026-12-01T05:00:00+00:00"}
    answer = planner("campaign", changed(NAME, {"options.0.window": window}, only=[2]), "--json")
    assert answer.code == 3
    assert answer.document["binding_limits"] == ["window_too_short"]


def test_a_wait_is_charged(planner: Planner, changed: Changed) -> None:
    """One training at a time, p4d after 8 h: 6 units in the 64 h that are left, instead of 7."""
    document = planner(
        "campaign", changed(NAME, {"options.1.wait_hours": 8.0, "campaign.at_once": 1}), "--json"
    ).document
    assert document["campaign_usd"]["value"] == pytest.approx(3 * 2 + 6 * 240 + 3 * 300)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        pytest.param("UTC", "2027-10-31", 24, id="a day of 24 h"),
        pytest.param("Europe/Berlin", "2027-10-31", 25, id="clocks go back"),
        pytest.param("Europe/Berlin", "2027-03-28", 23, id="clocks go forward"),
    ],
)
def test_a_day_is_as_long_as_it_is(planner: Planner, changed: Changed, zone: str, day: str, hours: int) -> None:
    """Runs of 24.5 h and of 23.5 h: one fits where the day is long enough."""
    seconds = 3600 * (hours - 0.5) / 3600
    step = {"batch": 1, "seconds": seconds, "low_seconds": seconds, "high_seconds": seconds, "basis": "measured"}
    longer = step | dict.fromkeys(("seconds", "low_seconds", "high_seconds"), seconds + 1.0)
    work = {"work": {"epochs": 1, "samples_per_epoch": 3600}, "options.0.step": step}
    limits = {"campaign": {"runs": 1, "start": day, "deadline": day, "timezone": zone}}
    assert planner("campaign", changed(NAME, work | limits, only=[0]), "--json").code == 0
    assert planner("campaign", changed(NAME, work | limits | {"options.0.step": longer}, only=[0]), "--json").code == 3


def test_an_objective_that_is_none(planner: Planner, changed: Changed) -> None:
    answer = planner("campaign", changed(NAME), "--objective", "speed")
    assert answer.code == 2
    assert "cost, time or front" in answer.err
