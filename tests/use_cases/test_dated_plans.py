"""Moment from which work is counted: no hour counts that has passed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner import clock
from planner.errors import InputError
from planner.model.plan.campaign_limits import CampaignLimits
from planner.use_cases import locks, plans
from planner.use_cases.plans import counted_from
from tests.bundled import bundled_catalog

SEOUL, LOS_ANGELES = {"timezone": "Asia/Seoul"}, {"timezone": "America/Los_Angeles"}
EVENING = datetime(2026, 11, 27, 17, 54, tzinfo=UTC)
HOURS = 30


@pytest.mark.parametrize(
    ("limits", "now", "expected"),
    [
        pytest.param({}, "27T12:00:00", ("27", None), id="noon itself"),
        pytest.param({}, "27T12:00:01", ("27", "28"), id="after noon"),
        pytest.param(SEOUL, "27T17:54:00", ("28", None), id="02:54 of the next day in Seoul"),
        pytest.param(SEOUL, "27T03:01:00", ("27", "28"), id="12:01 in Seoul"),
        pytest.param(LOS_ANGELES, "27T19:59:00", ("27", None), id="11:59 in Los Angeles"),
        pytest.param(LOS_ANGELES, "27T20:01:00", ("27", "28"), id="12:01 in Los Angeles"),
        pytest.param({"start": "2026-11-27"}, "27T17:54:00", ("27", None), id="the plan states its start"),
        pytest.param({"deadline": "2026-11-26"}, "27T17:54:00", ("27", None), id="the deadline has passed"),
        pytest.param({"deadline": "2026-11-28"}, "27T17:54:00", ("27", "28"), id="until tomorrow"),
    ],
)
def test_from_when_work_is_counted(limits: dict[str, Any], now: str, expected: tuple[str, str | None]) -> None:
    counted = counted_from(CampaignLimits.model_validate(limits), now=datetime.fromisoformat(f"2026-11-{now}+00:00"))
    day, start = expected
    assert counted.today == date(2026, 11, int(day))
    assert counted.start == (None if start is None else date(2026, 11, int(start)))
    assert bool(counted.assumed) is (start is not None and "deadline" in limits)


def test_a_deadline_of_today_is_refused_after_noon() -> None:
    limits = CampaignLimits(deadline=date(2026, 11, 27))
    with pytest.raises(InputError, match="ends today"):
        counted_from(limits, now=EVENING)
    assert counted_from(limits, now=EVENING.replace(hour=9)).start is None


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a plan of 30 h until tomorrow, asked in the evening: from noon 36 h would be left, in fact 24 count."""
    step = {"batch": 10, "seconds": 10.0, "low_seconds": 10.0, "high_seconds": 10.0, "basis": "measured"}
    content = {
        "schema_version": 1,
        "name": "until tomorrow",
        "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 3600 * HOURS},
        "campaign": {"deadline": "2026-11-28"},
        "options": [{"offer": "aws/p4d.24xlarge", "region": "us-east-1", "usd_per_hour": 20.0, "step": step}],
        "assumptions": {
            "setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0, "goodput_fraction": 1.0,
        },
        "data": {"dataset_gb": 0.0, "checkpoint_gb": 0.0, "egress_gb": 0.0},
    }  # fmt: skip
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(clock, "now", lambda: EVENING)
    return path


def test_an_answer_of_the_evening_counts_from_the_next_day(plan: Path) -> None:
    answer = planner.compare(plan)
    (option,) = answer.document.options
    assert answer.document.recommended is None
    assert answer.document.deadline_hours == 24
    assert option.finish == date(2026, 11, 29)
    assert any("counted from 2026-11-28" in line for line in answer.assumed)


def test_of_the_morning_from_noon(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: EVENING.replace(hour=9))
    answer = planner.compare(plan)
    assert answer.document.recommended is not None
    assert answer.document.deadline_hours == 36
    assert answer.assumed == ()


def test_a_lock_of_the_evening_gives_the_same_answer_the_next_day(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = bundled_catalog()
    locks.freeze(plan, catalog, now=EVENING)
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 11, 28, 9, tzinfo=UTC))
    answer = locks.locked_answer(plan)
    assert answer.differs == ()
    assert answer.lock.frozen_on == date(2026, 11, 27)
    assert answer.lock.comparison.deadline_hours == 24
    frozen = locks.frozen_answer(answer.lock, plan)
    again = plans.compare(frozen.plan, catalog, today=frozen.frozen_on)
    assert again.sentence == answer.lock.comparison.sentence
