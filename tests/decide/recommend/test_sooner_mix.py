"""A mix that is not cheap enough to be recommended, but ends sooner. Its figures are those of `planner campaign`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner.decide.campaign.alone import each_alone
from planner.decide.recommend.mix import best_mix
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.sooner_mix import RejectedMix, sooner_mix_note
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.recommend import by_hand
from tests.decide.recommend.test_mix import HALF, P4D, P5EN, TODAY, advised, answered, option, plan

UNSURE_HOURS = {"low_seconds": 0.85, "high_seconds": 1.2}


def unsure(given: dict[str, Any], hours: float, **update: Any) -> dict[str, Any]:
    """Return an option whose hours have a range of their own, so that the errors of two options partly cancel."""
    made = option(given, hours, **update)
    return made | {"step": made["step"] | {key: hours * times for key, times in UNSURE_HOURS.items()}}


@pytest.mark.parametrize(
    ("hours", "usd", "named"),
    [
        pytest.param(347.0, 2900.0, True, id="312 of 347 hours, 11 USD more"),
        pytest.param(346.0, 2900.0, False, id="over nine tenths of the hours"),
        pytest.param(347.0, 2870.0, True, id="41 USD more, under 2 %"),
        pytest.param(347.0, 2850.0, False, id="61 USD more, over 2 %"),
    ],
)
def test_a_mix_is_named_that_ends_a_tenth_sooner_at_about_the_cost(hours: float, usd: float, named: bool) -> None:
    """The mix of 26 runs of 1.20 USD in 312 h and 24 of 120 USD costs 2,911.20 USD."""
    alone = each_alone(plan(HALF, deadline="2026-12-13"), bundled_catalog(), today=TODAY)
    mix = best_mix(alone, bundled_catalog(), today=TODAY)
    assert mix is not None
    best = by_hand.option("best", hours, usd, hours_confident=hours)
    said = sooner_mix_note(RejectedMix(mix, "it is work"), best, Phrases(alone.limits))
    assert said == (
        "sooner: mixing DGX Station, 4x V100 (26) and AWS p5en, 8x H200 (24), done by 2026-12-13, at most 2,920 USD, "
        "99 %, as planner campaign plans; but it is work"
        if named
        else None
    )


def test_compare_and_recommend_name_the_plan_of_campaign() -> None:
    """A run costs 120 USD on either; each has its own error, so that the mix stays under less, by under 5 %."""
    options = [unsure(P5EN, 2.0), unsure(P4D, 4.0, usd_per_hour=30.0)]
    compared = answered(options)
    planned = plans.campaign(plan(options), bundled_catalog(), today=TODAY)
    (said,) = (note for note in compared.notes if note.startswith("sooner: "))
    assert said in advised(options).notes
    assert compared.mix is None
    for placed in planned.placements:
        assert f"{placed.name} ({placed.runs})" in said
    assert f"done by {planned.done_by_confident}" in said
    reason = said.split("; but ")[1]
    assert re.fullmatch(r"a mix must cost 5 % less; this one costs [\d.]+ % less", reason)
    assert any(note.endswith(reason) and note.startswith("compare recommends ") for note in planned.notes)


def test_a_mix_that_is_not_sure_enough_keeps_no_limit() -> None:
    """Without an option that keeps the limits, the document counts as feasible only if the mix reaches 80 %."""
    found = advised(HALF, deadline="2026-12-13").model_copy(update={"recommended": None})
    assert found.feasible
    assert not found.model_copy(update={"chance_both": 0.76}).feasible
    assert found.model_copy(update={"chance_both": 0.8}).feasible
