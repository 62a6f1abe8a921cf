"""A block with a window of its own, and waits of less than a day, of one option alone. A run takes 10 h."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.campaign.alone import each_alone
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
STEP = {"batch": 10, "seconds": 10.0, "low_seconds": 10.0, "high_seconds": 10.0, "basis": "measured"}


def alone(given: dict[str, Any], **limits: Any) -> CampaignOption:
    option = {"offer": "aws/p4d.24xlarge", "region": "us-east-1", "usd_per_hour": 20.0, "step": STEP} | given
    (found,) = all_alone([option], **limits)
    return found


def all_alone(options: list[dict[str, Any]], **limits: Any) -> tuple[CampaignOption, ...]:
    plan = {
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": options,
        "campaign": {"start": "2026-12-01"} | limits,
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
            "support_fraction": 0.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    return each_alone(Plan.model_validate(plan), bundled_catalog(), today=TODAY).options


def block(hours: str) -> dict[str, Any]:
    return {"window": {"start": "2026-12-01T00:00:00+00:00", "end": f"2026-12-{hours}:00+00:00"}}


def test_a_block_is_paid_whole():
    found = alone(block("02T00:00"))
    assert found.campaign_usd is not None
    assert found.campaign_usd.value == pytest.approx(24 * 20)
    assert found.not_allowed is None


@pytest.mark.parametrize(("ends", "allowed"), [("01T20:30", True), ("01T20:00", False)])
def test_a_block_that_ends_before_the_campaign_does_is_not_taken(ends, allowed):
    """Two runs end after 20 h; the machines go half an hour before the end."""
    found = alone(block(ends), runs=2)
    assert (found.not_allowed is None) is allowed
    assert [reason.code.value for reason in found.not_allowed_reasons] == ([] if allowed else ["window_too_short"])


@pytest.mark.parametrize(("confidence", "allowed"), [(0.5, True), (0.9, False)])
def test_a_block_must_hold_the_campaign_with_the_confidence(confidence, allowed):
    """Two runs take 20 h, and over 22 h in one of twenty cases; 21 h can be used.

    ln(21 / 20) / (ln(22 / 20) / 1.645) = 0.842 standard deviations: the block holds them with 80 %.
    """
    step = STEP | {"low_seconds": 9.0, "high_seconds": 11.0}
    found = alone(block("01T21:30") | {"step": step}, runs=2, confidence=confidence, deadline="2026-12-31")
    assert (found.not_allowed is None) is allowed
    assert found.chance_deadline == pytest.approx(0.80, abs=0.005)


@pytest.mark.parametrize(
    ("wait", "hours", "in_time"),
    [
        pytest.param({"wait_hours": {"value": 13.0, "low": 13.0, "high": 13.0}}, 13.0, True, id="13 h, then 10"),
        pytest.param({"wait_hours": {"value": 15.0, "low": 15.0, "high": 15.0}}, 15.0, False, id="15 h, then 10"),
        pytest.param({"tries": {"had": 4, "of": 4, "every_hours": 24.0}}, 0.0, True, id="always there"),
        pytest.param({"queue": {"jobs": 0, "job_hours": 9.0}}, 0.0, True, id="an empty queue"),
    ],
)
def test_a_wait_of_hours_counts_from_the_campaigns_first(wait, hours, in_time):
    found = alone(wait, deadline="2026-12-01", confidence=0.5)
    assert found.wait_hours == pytest.approx(hours)
    assert found.meets_deadline is in_time
    assert found.finish == date(2026, 12, 1 if in_time else 2)


def test_two_words_on_one_wait_are_refused():
    with pytest.raises(ValueError, match="wait_hours and queue both say"):
        alone({"wait_hours": 3.0, "queue": {"jobs": 1, "job_hours": 2.0}})


def turns(*given: tuple[str, str]) -> dict[str, Any]:
    """Return turns of other people with one machine: (day and hour, day and hour) of December 2026."""
    return {"taken": [{"start": f"2026-12-{a}:00:00+00:00", "end": f"2026-12-{b}:00:00+00:00", "nodes": 1}
                      for a, b in given]}  # fmt: skip


@pytest.mark.parametrize(
    ("taken", "limits", "hours"),
    [
        pytest.param([("01T08", "01T20")], {"runs": 2}, 40.0, id="8 h are too short for a run: both after the turn"),
        pytest.param([("01T12", "01T20")], {"runs": 2}, 30.0, id="one before, one after"),
        pytest.param([("01T20", "02T20")], {"runs": 2}, 20.0, id="both before"),
        pytest.param([("01T00", "01T20")], {"runs": 2, "at_once": 2}, 20.0, id="both on the machine that is left"),
        pytest.param([("01T00", "01T08")], {"runs": 2, "at_once": 2}, 18.0, id="one at once, one after the turn"),
    ],
)
def test_turns_of_others_count_in_its_hours(taken, limits, hours):
    found = alone(turns(*taken), **limits)
    assert found.campaign_hours is not None
    assert found.campaign_hours.value == pytest.approx(hours, abs=0.001)


@pytest.mark.parametrize("shown", [0, 1])
def test_turns_hold_for_every_option_of_the_machine(shown):
    """Stated on one option of a station, 8 h are too short for a run of 10 h on the other as well: 40 h for two."""
    station = {"site": "dgx-station-v100", "step": STEP}
    half = station | {"accelerators": 2}
    given = [station | turns(("01T08", "01T20")), half] if shown else [half, station | turns(("01T08", "01T20"))]
    options = all_alone(given, runs=2)
    assert [option.campaign_hours.value for option in options] == pytest.approx([40.0, 40.0], abs=0.001)
    assert all(any("turns of others" in note for note in option.notes) for option in options)


def test_a_turn_that_ends_too_late_for_the_deadline_makes_it_late():
    """Two runs one after another end 40 h after the start; by the end of 2026-12-01 there are 24."""
    found = alone(turns(("01T08", "01T20")), runs=2, at_once=1, deadline="2026-12-01")
    assert found.chance_deadline == pytest.approx(0.0, abs=0.01)


DOUBTFUL = STEP | {"low_seconds": 10 / 1.5, "high_seconds": 15.0}
"""Step of runs of 10 h; 9 in 10 take 6.67 to 15 h, so the standard deviation of ln h is ln(1.5) / 1.645 = 0.2465."""


@pytest.mark.parametrize(
    ("deadline", "chance"),
    [
        # one run before noon and one after 20:00, or, above 12 h, both after it: 20 + 2 h <= 48 asks for h <= 14
        pytest.param("2026-12-02", 0.914, id="Phi(ln(14 / 10) / 0.2465): runs of up to 14 h"),
        # both before noon, or one before it and one in the 4 h after the turn
        pytest.param("2026-12-01", 0.019, id="Phi(ln(6 / 10) / 0.2465): runs of up to 6 h"),
    ],
)
def test_the_chance_with_turns_is_that_of_runs_that_fit_between_them(deadline, chance):
    found = alone(turns(("01T12", "01T20")) | {"step": DOUBTFUL}, runs=2, at_once=1, deadline=deadline)
    assert found.chance_deadline == pytest.approx(chance, abs=0.002)


def test_turns_hold_up_each_end_of_the_range_by_itself():
    """Runs of 6.67 h and of 10 h: one before noon, one from 20:00; of 15 h: both from 20:00."""
    hours = alone(turns(("01T12", "01T20")) | {"step": DOUBTFUL}, runs=2).campaign_hours
    assert hours is not None
    assert (hours.low, hours.value, hours.high) == pytest.approx((26.667, 30.0, 50.0), abs=0.001)


def test_a_window_costs_the_same_however_long_the_work_may_take():
    """24 h at 20 USD are the whole block; two runs of 10 h fit into 23.5 h with Phi(ln(23.5 / 20) / 0.2465)."""
    found = alone(block("02T00:00") | {"step": DOUBTFUL}, runs=2, confidence=0.7, deadline="2026-12-31", budget_usd=500)
    assert found.campaign_usd is not None
    assert (found.campaign_usd.low, found.campaign_usd.high) == pytest.approx((480.0, 480.0))
    assert found.chance_both == pytest.approx(0.744, abs=0.002)
    assert found.not_allowed is None


def test_work_beyond_the_end_of_its_window_adds_nothing_to_the_bill():
    """Three runs of 10 h do not fit into the 24 h, which cost 480 USD all the same."""
    found = alone(block("02T00:00"), runs=3)
    assert found.bill is not None
    assert found.bill.usd_total.value == pytest.approx(480.0)
    assert [reason.code.value for reason in found.not_allowed_reasons] == ["window_too_short"]


def test_each_set_buys_a_block_for_its_own_runs():
    """Five runs of 10 h on two sets: 30 h need a block of 48 h, 20 h one of 24 h; at 20 USD an hour 1,440 USD."""
    found = alone({"price": "capacity_block"}, runs=5, at_once=2)
    assert found.campaign_usd is not None
    assert found.campaign_usd.value == pytest.approx(20 * (48 + 24))
    assert found.paid_ahead_hours == pytest.approx(min(47.5, 23.5 * 3 / 2))


def test_hours_of_today_that_have_passed_are_no_wait():
    """Today counts from noon: a machine that is ready in two days is waited for 36 h, which cost 5 USD each."""
    found = alone({"ready_on": "2026-11-26"}, start=None, waiting_usd_per_hour=5.0)
    assert found.wait_hours == pytest.approx(36.0)
    assert found.waiting_usd == pytest.approx(5.0 * (36 + 10))


def test_waiting_counts_the_days_until_the_machine_is_ready():
    """Nine days and a run of 10 h, at 5 USD an hour."""
    found = alone({"ready_on": "2026-12-10"}, waiting_usd_per_hour=5.0)
    assert found.waiting_usd == pytest.approx(5.0 * (9 * 24 + 10))


def test_the_row_and_the_headline_take_their_days_from_the_same_samples():
    """Three of four tries succeed at once; every other one costs ten days. The mean wait is 80 h, the median is none.

    A run takes 10 h: it is done on the first day in three of four cases.
    """
    found = alone({"tries": {"had": 3, "of": 4, "every_hours": 240.0}}, confidence=0.7)
    assert found.wait_hours == pytest.approx(80)
    first = date(2026, 12, 1)
    assert (found.ready_on, found.finish, found.done_by, found.done_by_confident) == (first, first, first, first)
