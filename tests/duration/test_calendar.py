"""Hours and days of a campaign in its plan's zone, each counted by hand."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from planner.duration.calendar import Calendar
from planner.model.plan.campaign_limits import CampaignLimits

TODAY = date(2026, 12, 1)


def calendar(**limits: str) -> Calendar:
    return Calendar.of(CampaignLimits.model_validate(limits), today=TODAY)


@pytest.mark.parametrize(
    ("limits", "begins"),
    [
        pytest.param({}, datetime(2026, 12, 1, 12, tzinfo=UTC), id="noon of today"),
        pytest.param({"timezone": "Asia/Seoul"}, datetime(2026, 12, 1, 3, tzinfo=UTC), id="noon there"),
        pytest.param({"start": "2026-12-01"}, datetime(2026, 12, 1, tzinfo=UTC), id="a stated day from its begin"),
        pytest.param(
            {"start": "2026-12-01", "timezone": "America/Los_Angeles"}, datetime(2026, 12, 1, 8, tzinfo=UTC),
            id="its begin there",
        ),
    ],
)  # fmt: skip
def test_work_begins(limits: dict[str, str], begins: datetime) -> None:
    assert calendar(**limits).start == begins
    assert calendar(**limits).first == TODAY


def test_an_hour_in_utc_is_later_in_seoul() -> None:
    """11:30 UTC is 20:30 in Seoul: 24 + 20.5 h after the day before began there."""
    assert calendar(start="2026-12-01", timezone="Asia/Seoul").hours(
        datetime(2026, 12, 2, 11, 30, tzinfo=UTC)
    ) == pytest.approx(44.5)
    assert calendar(start="2026-12-01").hours(datetime(2026, 12, 2, 11, 30, tzinfo=UTC)) == pytest.approx(35.5)


@pytest.mark.parametrize(
    ("limits", "hours", "day"),
    [
        pytest.param({}, 12.0, date(2026, 12, 1), id="12 h after noon: midnight ends the day"),
        pytest.param({}, 12.01, date(2026, 12, 2), id="and no longer"),
        pytest.param({"start": "2026-12-01"}, 0.0, date(2026, 12, 1), id="no hours"),
        pytest.param({"start": "2027-10-31", "timezone": "Europe/Berlin"}, 25.0, date(2027, 10, 31), id="25 h"),
        pytest.param({"start": "2027-03-28", "timezone": "Europe/Berlin"}, 23.5, date(2027, 3, 29), id="23 h"),
        pytest.param({}, 1e12, date.max, id="longer than the calendar"),
    ],
)
def test_the_day_on_which_work_ends(limits: dict[str, str], hours: float, day: date) -> None:
    assert calendar(**limits).last_day(hours) == day


def test_an_order_of_today_lies_before_a_later_start() -> None:
    assert calendar(start="2026-12-03").ordered(TODAY) == -48
    assert calendar().ordered(TODAY) == 0
