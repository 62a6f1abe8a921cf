"""All commands give the same answer to generated plans, to a cent and a minute, or a line names the difference."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner import clock
from planner.cli.main import run
from planner.decide.recommend.rank import is_feasible
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.owning.acquisition import Hold
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan, Training
from planner.ui.ask.form import Start
from planner.ui.ask.question import answer_form, campaign_of
from planner.ui.catalogs import known_catalog
from planner.ui.scenario import first_form
from planner.use_cases import owning, plans
from planner.use_cases.find import find_machines
from tests.bundled import bundled_catalog, share
from tests.decide.recommend.generated_plans import TODAY, drawn_plan

CENT, MINUTE = 0.01, 1 / 60
NOON = datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC)
SEEDS = [pytest.param(seed, id=str(seed), marks=() if seed < 20 else (pytest.mark.slow,)) for seed in range(220)]
AT_THE_LIMIT = [pytest.param(seed, id=str(seed)) for seed in (284, 1790, 1791, 1983)]
"""Plans in which the chance of an option is the confidence, or just above it."""
FEW, FOUND = SEEDS[:3] + SEEDS[20:40], SEEDS[:1] + SEEDS[20:30]
"""Settings for tests that run whole commands or search every offer."""
OF_CAMPAIGN = {
    "bill": "what keeping a machine costs by the day",
    "notes": "when the machines can be had",
    "display_name": "how many run at once",
    "why_not": "the limits", "why_not_codes": "the limits", "reasons": "the limits",
}  # fmt: skip
"""Fields of an estimate that a campaign changes, with what it adds to them."""
OF_OTHERS = ("usd_apart", "why_not", "why_not_codes", "reasons", "earliest_start_hours", "quota")
"""Fields of a row that depend on the plan's other options, or that only one of both commands looks up."""


@pytest.fixture(autouse=True)
def _what_never_changes_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    share(monkeypatch)
    monkeypatch.setattr(clock, "now", lambda: NOON)


def asked(plan: dict[str, Any], **campaign: Any) -> Plan:
    return Plan.model_validate(plan | {"campaign": plan["campaign"] | campaign})


def compared(plan: Plan) -> ComparisonDocument:
    return plans.compare(plan, bundled_catalog(), today=TODAY)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_estimate_is_the_comparison_of_one_run(seed: int) -> None:
    """Hours are those of a run with its launch. Cost is what the work adds; a purchase counts as bought."""
    plan = asked(drawn_plan(seed), runs=1, at_once=1)
    rows = {row.id: row for row in compared(plan).options}
    for estimate in plans.estimate(plan, bundled_catalog(), today=TODAY).options:
        row = rows[estimate.id]
        unlike = {name for name in OptionEstimate.model_fields if getattr(estimate, name) != getattr(row, name)}
        assert unlike <= set(OF_CAMPAIGN), estimate.id
        if estimate.time is not None and row.campaign_hours is not None:
            launch = estimate.time.launch_hours.value if estimate.time.launch_hours is not None else 0.0
            assert row.campaign_hours.value == pytest.approx(estimate.time.wall_hours.value + launch, abs=MINUTE)
        if row.hold is not Hold.BUY and row.campaign_usd is not None:
            assert estimate.usd_marginal is not None
            assert row.campaign_usd.value == pytest.approx(estimate.usd_marginal.value, abs=CENT), estimate.id


@pytest.mark.parametrize("seed", SEEDS + AT_THE_LIMIT)
def test_a_row_is_the_campaign_on_that_option_alone(seed: int) -> None:
    """Each comparison has its own `usd_apart`, the range without the costs that its rows share."""
    drawn = drawn_plan(seed)
    rows = {row.id: row for row in compared(asked(drawn)).options}
    for option in drawn["options"]:
        planned = plans.campaign(asked(drawn | {"options": [option]}), bundled_catalog(), today=TODAY)
        (alone,) = planned.options
        row = rows[alone.id]
        for name in CampaignOption.model_fields:
            assert name in OF_OTHERS or getattr(alone, name) == getattr(row, name), (alone.id, name)
        said = any("compare" in note for note in planned.notes)
        assert planned.feasible is is_feasible(row) or said, alone.id
        if not planned.feasible or said:
            continue
        owed = row.owed_usd
        assert owed is not None
        assert planned.campaign_usd is not None
        assert planned.campaign_usd.value == pytest.approx(owed.value, abs=CENT), alone.id
        if row.campaign_hours is not None and planned.campaign_hours is not None:
            ends = row.campaign_hours.value + row.wait_hours
            assert planned.campaign_hours.value == pytest.approx(ends, abs=MINUTE), alone.id
        for name in ("usd_confident", "done_by_confident", "chance_deadline", "chance_budget", "chance_both"):
            assert getattr(planned, name) == getattr(row, name), (alone.id, name)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_year_of_the_campaign_is_billed_as_the_campaign(seed: int) -> None:
    """Rented machines agree. An owned machine counts only what the work adds, so it costs more in the year."""
    drawn = drawn_plan(seed)
    kept = {name: value for name, value in drawn["campaign"].items() if name in ("runs", "confidence")}
    plan = Plan.model_validate(drawn | {"campaign": kept | {"at_once": 1}})
    document = owning.own_or_rent(plan, bundled_catalog(), today=TODAY)
    year = document.by_plan
    assert year is not None
    if year.trainings != year.trainings_wanted:
        return
    rows = {row.id: row for row in compared(plan).options}
    for option in year.options:
        row = rows[option.id]
        if option.usd_per_year is None or row.campaign_usd is None or row.site is not None:
            continue
        assert option.usd_per_year.value == pytest.approx(row.campaign_usd.value, abs=CENT), option.id
    own = rows[year.owning]
    if own.hold is Hold.HAVE and document.marginal_usd_per_training is not None and own.campaign_usd is not None:
        added = document.marginal_usd_per_training.value * plan.campaign.runs
        assert own.campaign_usd.value == pytest.approx(added, abs=CENT)


@pytest.mark.parametrize("seed", FEW)
def test_app_and_python_say_what_the_command_line_says(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(drawn_plan(seed)), encoding="utf-8")

    def told(*arguments: str) -> dict[str, Any]:
        capsys.readouterr()
        run([arguments[0], str(path), *arguments[1:], "--json"])
        return dict(json.loads(capsys.readouterr().out))

    form = first_form(Start.PLAN, None, path.read_text(encoding="utf-8"))
    known = known_catalog([], TODAY)
    answered = answer_form(form, known, now=clock.now())
    comparison = told("compare")
    assert planner.compare(path).document.model_dump(mode="json") == comparison
    assert answered.document.model_dump(mode="json") == comparison
    assert planner.estimate(path).document.model_dump(mode="json") == told("estimate")
    planned = campaign_of(form, answered.dated, known, "cost")
    assert planned.model_dump(mode="json") == told("campaign", "--objective", "cost")


@pytest.mark.parametrize("seed", FOUND)
def test_find_says_what_a_plan_with_all_offers_says(seed: int, tmp_path: Path) -> None:
    """Only suggestions of other setups differ: find adds them to notes, and to a headline without recommendation."""
    plan = drawn_plan(seed) | {"workload": {"ref": "llama3-8b"}, "work": {"tokens": 1e8}, "options": "auto"}
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    found = find_machines(
        str(path),
        FindFilters(),
        tokens=None,
        seq_len=None,
        training=Training(),
        adapters=None,
        home=None,
        now=clock.now(),
    ).document
    auto = planner.compare(path).document
    unlike = {name for name in ComparisonDocument.model_fields if getattr(found, name) != getattr(auto, name)}
    assert unlike <= ({"notes"} if auto.recommended else {"notes", "headline", "sentence"})
    assert found.notes[-len(auto.notes) :] == auto.notes
