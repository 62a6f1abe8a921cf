"""Estimates stay valid while the limits of a plan change, except for the first day."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from planner.adapters.workspace import examples_dir
from planner.decide.options.estimate_plan import estimate_options, without_limits
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan
from planner.present.page.words import Words
from planner.scenario.candidate import Candidate, expand
from planner.scenario.job import Job
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.speed import Speed
from planner.use_cases.plans import compare, estimates_of, read_plan
from planner.use_cases.reports import report_of
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 25)
OTHERS = {
    "runs": 7, "at_once": 2, "deadline": date(2027, 3, 1), "budget_usd": 5000.0, "confidence": 0.95, "prefer": "time",
    "runs_per_year": 40, "timezone": "Asia/Seoul", "waiting_usd_per_hour": 3.0,
}  # fmt: skip
EXAMPLES = sorted(examples_dir().glob("*.yaml"))


def starting(plan: Plan, start: date | None, **limits: object) -> Plan:
    return plan.model_copy(update={"campaign": CampaignLimits.model_validate({"start": start} | limits)})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_plan_is_answered_the_same_with_estimates_that_are_known(path: Path) -> None:
    """Answers under other limits from the plan's old estimates equal new answers.

    Blocks and grants hold one training with the confidence, so another confidence needs new estimates of them.
    """
    plan, catalog = read_plan(path), bundled_catalog()
    known = estimates_of(plan, catalog, today=TODAY)
    assert known == estimate_options(plan, catalog, today=TODAY)
    others = starting(plan, plan.campaign.start, **OTHERS)
    if without_limits(others) != without_limits(plan):
        others = starting(plan, plan.campaign.start, **OTHERS | {"confidence": plan.campaign.confidence})
    assert without_limits(others) == without_limits(plan)
    for asked in (plan, others):
        assert compare(asked, catalog, today=TODAY, estimated=known) == compare(asked, catalog, today=TODAY)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own_8xh200", "rtx3090_cluster"])
def test_a_report_times_each_machine_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparison, advice and the years of owning use the same speeds."""
    plan, catalog = read_plan(examples_dir() / f"{name}.yaml"), bundled_catalog()
    timed: list[str] = []

    def once(job: Job, candidate: Candidate, known: Catalog) -> tuple[Candidate, Speed]:
        timed.append(candidate.id)
        return fastest(job, candidate, known)

    for room in ("estimate_plan", "option"):
        monkeypatch.setattr(f"planner.decide.options.{room}.fastest", once)
    report = report_of(plan, catalog, Words("en"), today=TODAY, plan_words="plan.yaml")
    assert report.advice is not None
    assert sorted(timed) == sorted(candidate.id for candidate in expand(plan, catalog))


def test_another_first_day_is_another_estimate() -> None:
    """A plan with another first day has estimates of its own; one with only other limits shares them."""
    plan = read_plan(EXAMPLES[0])
    assert without_limits(starting(plan, None, **OTHERS)) == without_limits(starting(plan, None))
    assert without_limits(starting(plan, date(2027, 1, 4))) != without_limits(starting(plan, None))
